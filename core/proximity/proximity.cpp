#include "proximity/proximity.hpp"

#include <algorithm>
#include <utility>

namespace hedgerow::proximity {

namespace {

// Queries a thread takes at once: each block starts with sums for all others.
constexpr std::int64_t block_rows = 256;

// Sums of one query, and the others that have one.
class Sums {
public:
    explicit Sums(std::int64_t n_others) : sum_(static_cast<std::size_t>(n_others), 0.0) {}

    void add(const Sparse& queries, std::int64_t query, const Sparse& leaves) {
        for (std::int64_t i = queries.start[query]; i < queries.start[query + 1]; ++i) {
            const std::int64_t leaf = queries.index[i];
            for (std::int64_t j = leaves.start[leaf]; j < leaves.start[leaf + 1]; ++j) {
                const std::int64_t other = leaves.index[j];
                double& sum = sum_[static_cast<std::size_t>(other)];
                const double part = queries.weight[i] * leaves.weight[j];
                if (!(part > 0)) continue;
                if (sum == 0) touched_.push_back(other);
                sum += part;
            }
        }
    }

    // Moves what was added to the end of `near`, and starts again.
    void move_to(Near& near, std::int64_t n_most, std::int64_t left_out) {
        std::erase_if(touched_, [&](std::int64_t other) {
            if (other == left_out) sum_[static_cast<std::size_t>(other)] = 0;
            return other == left_out;
        });
        const auto of = [&](std::int64_t other) { return sum_[static_cast<std::size_t>(other)]; };
        const auto closer = [&](std::int64_t a, std::int64_t b) { return of(a) != of(b) ? of(a) > of(b) : a < b; };
        auto end = touched_.end();
        if (n_most > 0) {
            end = touched_.begin() + std::min<std::int64_t>(n_most, static_cast<std::int64_t>(touched_.size()));
            std::partial_sort(touched_.begin(), end, touched_.end(), closer);
        } else {
            std::sort(touched_.begin(), end);
        }
        near.others.insert(near.others.end(), touched_.begin(), end);
        std::transform(touched_.begin(), end, std::back_inserter(near.shares), of);
        near.row_start.push_back(static_cast<std::int64_t>(near.others.size()));
        for (const std::int64_t other : touched_) sum_[static_cast<std::size_t>(other)] = 0;
        touched_.clear();
    }

private:
    std::vector<double> sum_;
    std::vector<std::int64_t> touched_;
};

}  // namespace

Near proximity(const Sparse& queries, const Sparse& leaves, std::int64_t n_others, std::int64_t n_most, bool same,
               std::int64_t n_threads, const Poll& poll) {
    const std::int64_t n_blocks = (queries.n_rows + block_rows - 1) / block_rows;
    std::vector<Near> blocks(static_cast<std::size_t>(n_blocks));
    base::parallel_for(
        n_blocks, n_threads,
        [&](std::int64_t block, const base::Cancelled& cancelled) {
            Near& near = blocks[static_cast<std::size_t>(block)];
            Sums sums(n_others);
            const std::int64_t last = std::min((block + 1) * block_rows, queries.n_rows);
            for (std::int64_t query = block * block_rows; query < last && !cancelled; ++query) {
                sums.add(queries, query, leaves);
                sums.move_to(near, n_most, same ? query : -1);
            }
        },
        poll);

    Near whole;
    whole.row_start.push_back(0);
    for (const Near& near : blocks) {
        const auto before = static_cast<std::int64_t>(whole.others.size());
        for (const std::int64_t end : near.row_start) whole.row_start.push_back(before + end);
        whole.others.insert(whole.others.end(), near.others.begin(), near.others.end());
        whole.shares.insert(whole.shares.end(), near.shares.begin(), near.shares.end());
    }
    return whole;
}

}  // namespace hedgerow::proximity
