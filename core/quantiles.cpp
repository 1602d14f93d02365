#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "block.hpp"
#include "spread.hpp"
#include "walk.hpp"

namespace hedgerow {
namespace {

// Weights of the training targets for one row, by rank of the target. A bit for each rank that was touched keeps them in
// order: a look at all bits is cheaper than a sort of those that are set.
class TargetWeights {
public:
    explicit TargetWeights(const LeafSamples& samples)
        : samples_(samples),
          weight_(static_cast<std::size_t>(samples.n_values), 0.0),
          touched_(static_cast<std::size_t>(samples.n_values + 63) / 64, 0) {}

    // Two calls for all leaves of a row before they are added: the samples of a forest are more than a cache holds, and
    // the waits for them overlap.
    void expect_start(std::int64_t leaf) const { prefetch(samples_.start + leaf); }
    void expect_samples(std::int64_t leaf) const {
        prefetch(samples_.ranks + samples_.start[leaf]);
        prefetch(samples_.shares + samples_.start[leaf]);
    }

    // A leaf that the row reaches with this share.
    void add_leaf(std::int64_t leaf, double share) {
        for (std::int64_t i = samples_.start[leaf]; i < samples_.start[leaf + 1]; ++i) {
            const auto rank = static_cast<std::uint32_t>(samples_.ranks[i]);
            weight_[rank] += share * samples_.shares[i];
            touched_[rank / 64] |= std::uint64_t{1} << rank % 64;
        }
        total_ += share;
    }

    // The least target whose cumulated share reaches each probability (ascending); clears the weights.
    void take(const double* probabilities, std::int64_t n, double* out) {
        double sum = 0, largest = 0;
        std::int64_t next = 0;
        for (std::size_t word = 0; word < touched_.size(); ++word) {
            for (std::uint64_t rest = std::exchange(touched_[word], 0); rest != 0; rest &= rest - 1) {
                const std::size_t rank = 64 * word + static_cast<std::size_t>(std::countr_zero(rest));
                sum += std::exchange(weight_[rank], 0.0);
                largest = samples_.values[rank];
                // Rounding may leave a sum of shares a little short of what it stands for.
                while (next < n && sum >= (probabilities[next] - 1e-12) * total_) out[next++] = largest;
            }
        }
        std::fill(out + next, out + n, largest);  // shares that rounding left shorter than that
        total_ = 0;
    }

private:
    static void prefetch([[maybe_unused]] const void* address) {
#if defined(__GNUC__)
        __builtin_prefetch(address);
#endif
    }

    const LeafSamples& samples_;
    std::vector<double> weight_;
    std::vector<std::uint64_t> touched_;
    double total_ = 0;
};

}  // namespace

void quantiles(const Forest& forest, const Rows& rows, const LeafSamples& samples, const double* probabilities,
               std::int64_t n_probabilities, double* out, std::int64_t n_threads, const Poll& poll) {
    const auto packed = pack(forest, rows, 0, forest.n_trees);
    for_each_block(
        rows, 8 * forest.n_trees, n_threads,  // a leaf's samples cost about as much as eight walks
        [&](std::int64_t first_row, std::int64_t n_rows, const Cancelled& cancelled) {
            // All rows of the block down each tree first, then row by row: both stay in the cache.
            const std::int64_t n_trees = forest.n_trees;
            std::vector<std::int32_t> leaf(static_cast<std::size_t>(n_rows * n_trees));
            Block block(forest, rows, packed ? &*packed : nullptr, first_row, n_rows);
            for (std::int64_t tree = 0; tree < n_trees && !cancelled; ++tree)
                block.walk(tree, KeepAll{}, [&](const Block::List& list) {
                    for (const std::uint32_t row : list)
                        leaf[static_cast<std::size_t>(row * n_trees + tree)] = block.leaf(row);
                });
            TargetWeights weights(samples);
            TreeSpread tree_spread;
            for (std::int64_t row = 0; row < n_rows && !cancelled; ++row) {
                const std::int32_t* numbers = leaf.data() + row * n_trees;
                const auto for_each_leaf = [&](const auto& use) {
                    for (std::int64_t tree = 0; tree < n_trees; ++tree)
                        if (numbers[tree] != spreads) use(forest.leaf_start[tree] + numbers[tree]);
                };
                for_each_leaf([&](std::int64_t number) { weights.expect_start(number); });
                for_each_leaf([&](std::int64_t number) { weights.expect_samples(number); });
                for_each_leaf([&](std::int64_t number) { weights.add_leaf(number, 1.0); });
                for (std::int64_t tree = 0; tree < n_trees; ++tree) {
                    if (numbers[tree] != spreads) continue;
                    for (const auto& [reached, share] : tree_spread(forest, tree, rows[first_row + row]))
                        weights.add_leaf(forest.leaf_start[tree] + reached, share);
                }
                weights.take(probabilities, n_probabilities, out + (first_row + row) * n_probabilities);
            }
        },
        poll);
}

}  // namespace hedgerow
