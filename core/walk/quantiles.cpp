#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/prefetch.hpp"
#include "walk/block.hpp"
#include "walk/tree_spread.hpp"
#include "walk/walk.hpp"

namespace hedgerow::walk {

using base::prefetch;

namespace {

// Weights of the training targets of one row, by rank, in two passes that fit the first-level cache: first of blocks of
// ranks, which locate each quantile; then, over the same leaves, of the ranks in those blocks alone. Both cost about
// the square root of the number of targets, beside the samples.
class TargetWeights {
public:
    TargetWeights(const LeafSamples& samples, const double* probabilities, std::int64_t n_probabilities)
        : samples_(samples),
          probabilities_(probabilities),
          place_(static_cast<std::size_t>(n_probabilities)),
          shift_(std::bit_width(static_cast<std::uint64_t>(samples.n_values)) / 2),
          of_block_((static_cast<std::size_t>(samples.n_values) >> shift_) + 1, 0.0),
          slot_(of_block_.size(), 0) {}

    // Prefetches in two steps while earlier rows are processed: the samples of a forest exceed the cache, and their
    // offsets must be known first.
    void prefetch_start(std::int64_t leaf) const { prefetch(samples_.start + leaf); }
    void prefetch_samples(std::int64_t leaf) const {
        prefetch(samples_.ranks + samples_.start[leaf]);
        prefetch(samples_.ranks + samples_.start[leaf + 1] - 1);
        if (samples_.shares) prefetch(samples_.shares + samples_.start[leaf]);
    }

    // The least target whose cumulated share reaches each probability (ascending). for_each_leaf(use) calls use(leaf,
    // share) for the leaves that the row reaches, the same ones each time.
    template <class ForEachLeaf>
    void quantiles(const ForEachLeaf& for_each_leaf, double* out) {
        double total = 0;
        double* const of_block = of_block_.data();
        for_each_leaf([&, shift = shift_](std::int64_t leaf, double share) {
            total += share;
            for_each_sample(leaf, share, [=](std::size_t rank, double weight) { of_block[rank >> shift] += weight; });
        });
        find_blocks(total);
        double* const of_rank = of_rank_.data();
        for_each_leaf([&, shift = shift_, slot = slot_.data()](std::int64_t leaf, double share) {
            for_each_sample(leaf, share, [=, within = (std::size_t{1} << shift) - 1](std::size_t rank, double weight) {
                of_rank[slot[rank >> shift] + (rank & within)] += weight;
            });
        });
        for (std::size_t i = 0; i < place_.size(); ++i) out[i] = samples_.values[find_rank(i, total)];
        std::fill(of_block_.begin(), of_block_.end(), 0.0);
    }

private:
    struct QuantilePosition {
        std::size_t block;
        double before;  // weight of the lower blocks
    };

    template <class Use>
    void for_each_sample(std::int64_t leaf, double share, const Use& use) const {
        const std::int64_t begin = samples_.start[leaf], end = samples_.start[leaf + 1];
        const auto rank = [ranks = samples_.ranks](std::int64_t i) { return static_cast<std::uint32_t>(ranks[i]); };
        if (!samples_.shares) {
            const double equal = share / static_cast<double>(end - begin);
            for (std::int64_t i = begin; i < end; ++i) use(rank(i), equal);
        } else {
            for (std::int64_t i = begin; i < end; ++i) use(rank(i), share * samples_.shares[i]);
        }
    }

    std::size_t block_size() const { return std::size_t{1} << shift_; }

    // Rounding may leave a sum of shares a little short.
    bool reached(double sum, std::size_t i, double total) const { return sum >= (probabilities_[i] - 1e-12) * total; }

    // Finds the block of each quantile, and gives each such block a slot in `of_rank_`; all others share the first
    // slot.
    void find_blocks(double total) {
        std::fill(slot_.begin(), slot_.end(), 0);
        std::size_t next = 0, n_slots = 1;
        QuantilePosition last{0, 0};
        double before = 0;
        for (std::size_t block = 0; block < of_block_.size() && next < place_.size(); ++block) {
            if (of_block_[block] == 0) continue;
            last = {block, before};
            const double sum = before + of_block_[block];
            if (reached(sum, next, total)) slot_[block] = n_slots++ << shift_;
            for (; next < place_.size() && reached(sum, next, total); ++next) place_[next] = last;
            before = sum;
        }
        // Sums that rounding left shorter still: the largest target.
        if (next < place_.size() && slot_[last.block] == 0) slot_[last.block] = n_slots++ << shift_;
        std::fill(place_.begin() + static_cast<std::ptrdiff_t>(next), place_.end(), last);
        of_rank_.assign(n_slots << shift_, 0.0);
    }

    std::size_t find_rank(std::size_t i, double total) const {
        const auto [block, before] = place_[i];
        const double* weight = of_rank_.data() + slot_[block];
        std::size_t last = 0;  // that has any: the one, should the sums of its block have been rounded down
        double sum = before;
        for (std::size_t at = 0; at < block_size(); ++at) {
            if (weight[at] == 0) continue;
            last = at;
            if (reached(sum += weight[at], i, total)) break;
        }
        return (block << shift_) + last;
    }

    const LeafSamples& samples_;
    const double* probabilities_;
    std::vector<QuantilePosition> place_;  // of each quantile
    int shift_;
    std::vector<double> of_block_;
    std::vector<std::size_t> slot_;
    std::vector<double> of_rank_;
};

constexpr std::int32_t skipped = -2;  // leaf of a row in a tree that it leaves out; `spreads` is -1
static_assert(skipped != spreads && spreads < 0);

void mark_skipped(const std::uint8_t* skip, std::int64_t n_all_rows, std::int64_t n_trees, std::int64_t first_row,
                  std::int64_t n_rows, std::int32_t* leaf) {
    for (std::int64_t tree = 0; tree < n_trees; ++tree) {
        const std::uint8_t* bits = skip + tree * ((n_all_rows + 7) / 8);
        for (std::int64_t i = 0; i < n_rows; ++i) {
            const std::int64_t row = first_row + i;
            if (bits[row / 8] >> (row % 8) & 1) leaf[i * n_trees + tree] = skipped;
        }
    }
}

}  // namespace

void quantiles(const Forest& forest, Packing& packing, const Rows& rows, const LeafSamples& samples,
               const double* probabilities, std::int64_t n_probabilities, const std::uint8_t* skip, double* out,
               std::int64_t n_threads, const Poll& poll) {
    const auto packed = packing.packed_for(forest, rows, 0, forest.n_trees);
    // The leaves of a block's rows in all trees should stay in the cache too.
    const std::int64_t most = (std::int64_t{1} << 19) / std::max<std::int64_t>(forest.n_trees, 1);
    const std::int64_t size =
        std::min(rows_per_block(forest, packed.get(), rows, n_threads), std::max<std::int64_t>(most, 64));
    for_each_block(
        rows, size, 8 * forest.n_trees, n_threads,  // a leaf's samples cost about as much as eight walks
        [&](std::int64_t first_row, std::int64_t n_rows, const Cancelled& cancelled) {
            // First all rows of the block down each tree, then row by row: both stay in the cache.
            const std::int64_t n_trees = forest.n_trees;
            std::vector<std::int32_t> leaf(static_cast<std::size_t>(n_rows * n_trees));
            Block block(forest, rows, packed.get(), first_row, n_rows);
            for (std::int64_t tree = 0; tree < n_trees && !cancelled; ++tree)
                for (const std::uint32_t row : block.walk(tree, KeepAll{}))
                    leaf[static_cast<std::size_t>(row * n_trees + tree)] = block.leaf(row);
            if (skip) mark_skipped(skip, rows.n_rows, n_trees, first_row, n_rows, leaf.data());
            TargetWeights weights(samples, probabilities, n_probabilities);
            TreeSpread tree_spread;
            std::vector<std::pair<std::int64_t, double>> spread_leaves;
            const auto for_each_whole = [&](std::int64_t row, const auto& use) {
                if (row >= n_rows) return;
                const std::int32_t* numbers = leaf.data() + row * n_trees;
                for (std::int64_t tree = 0; tree < n_trees; ++tree)
                    if (numbers[tree] >= 0) use(forest.leaf_start[tree] + numbers[tree], 1.0);
            };
            const auto prefetch_start = [&](std::int64_t number, double) { weights.prefetch_start(number); };
            const auto prefetch_samples = [&](std::int64_t number, double) { weights.prefetch_samples(number); };
            for_each_whole(0, prefetch_start);
            for_each_whole(1, prefetch_start);
            for_each_whole(0, prefetch_samples);
            for (std::int64_t row = 0; row < n_rows && !cancelled; ++row) {
                for_each_whole(row + 2, prefetch_start);
                for_each_whole(row + 1, prefetch_samples);
                spread_leaves.clear();
                for (std::int64_t tree = 0; tree < n_trees; ++tree) {
                    if (leaf[static_cast<std::size_t>(row * n_trees + tree)] != spreads) continue;
                    for (const auto& [reached, share] : tree_spread(forest, tree, rows[first_row + row]))
                        spread_leaves.emplace_back(forest.leaf_start[tree] + reached, share);
                }
                weights.quantiles(
                    [&](const auto& use) {
                        for_each_whole(row, use);
                        for (const auto& [number, share] : spread_leaves) use(number, share);
                    },
                    out + (first_row + row) * n_probabilities);
            }
        },
        poll);
}

}  // namespace hedgerow::walk
