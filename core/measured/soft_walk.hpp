// Walks that spread rows over the leaves of a tree by the probability that their latent values are there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "measured/soft_forest.hpp"
#include "walk/walk.hpp"

namespace hedgerow::measured {

using base::Poll;

// The leaves that the rows of a block reach in one tree after another.
//
// At a node that u reaches with probability p and passes to the first child with conditional probability q, the
// children get p·q and p − p·q. If the smaller of the two is at most an eighth of what may still be moved in this tree,
// `tolerance` at its root, all of p goes to the other. So nothing is lost, and no more than `tolerance` of the row's
// probability is in another leaf than where it belongs: a mean over leaves is off by at most `tolerance` times the
// difference between the tree's largest and smallest leaf.
//
// A node is visited once for all rows of the block that reach it, the first child before the second: a row meets the
// same nodes in the same order whatever block it is in, so that blocks do not change a bit. Rows at a node are listed,
// and lists are divided without a branch: where a row goes is a coin toss to a processor that would guess.
class SoftBlockWalk {
public:
    SoftBlockWalk(const SoftForest& forest, double tolerance) : forest_(forest), tolerance_(tolerance) {}

    // Reads the numbers of a block of rows, at most 65,536.
    void load(const data::Rows& below, std::int64_t first_row, std::int64_t n_rows) {
        n_rows_ = static_cast<std::size_t>(n_rows);
        zeros_ = below.n_columns;
        columns_.resize(static_cast<std::size_t>(below.n_columns + 2) * n_rows_);
        constexpr std::int64_t tile = 8;  // numbers of a line of the cache
        for (std::int64_t begin = 0; begin < below.n_columns; begin += tile)
            for (std::size_t row = 0; row < n_rows_; ++row) {
                const double* numbers = below[first_row + static_cast<std::int64_t>(row)];
                for (std::int64_t c = begin; c < std::min(begin + tile, below.n_columns); ++c)
                    columns_[static_cast<std::size_t>(c) * n_rows_ + row] = numbers[c];
            }
        std::fill_n(columns_.begin() + zeros_ * n_rows, n_rows_, 0.0);
        std::fill_n(columns_.begin() + (zeros_ + 1) * n_rows, n_rows_, 1.0);
        most_.resize(n_rows_);
        reserve(n_rows_);
    }

    // Calls use(leaf, rows, shares, n) for each leaf that rows of the block reach with the tree's `takes(row)`; rows
    // are counted in the block, leaves in the tree. A row's probabilities add up to 1.
    template <class Takes, class Use>
    void operator()(std::int64_t tree, const Takes& takes, const Use& use) {
        const std::int64_t root = forest_.forest.tree_start[tree];
        const forest::Node* nodes = forest_.forest.nodes + root;
        const SoftNode* soft = forest_.nodes + root;
        std::fill(most_.begin(), most_.end(), tolerance_ / 8);
        std::size_t n = 0;
        for (std::size_t row = 0; row < n_rows_; ++row) {
            rows_[n] = static_cast<std::uint16_t>(row);
            shares_[n] = 1.0;
            n += static_cast<std::size_t>(takes(row));
        }
        if (n > 0) waiting_.push_back({0, 0, n});
        while (!waiting_.empty()) {
            const Waiting here = waiting_.back();
            waiting_.pop_back();
            const std::int32_t first = nodes[here.node].first_child;
            if (soft[here.node].at == soft_leaf) {
                use(first, rows_.data() + here.begin, shares_.data() + here.begin, here.n);
                continue;
            }
            reserve(here.begin + 2 * here.n);
            const auto [n_first, n_second] = divide(soft[here.node], here.begin, here.n);
            if (n_second > 0) waiting_.push_back({first + 1, here.begin, n_second});
            if (n_first > 0) waiting_.push_back({first, here.begin + n_second, n_first});
        }
    }

private:
    // Rows at a node, listed from `begin` on; those of nodes that wait longer come before.
    struct Waiting {
        std::int32_t node;
        std::size_t begin, n;
    };

    void reserve(std::size_t size) {
        if (rows_.size() < size) rows_.resize(2 * size), shares_.resize(2 * size);
        if (first_.size() < n_rows_) first_.resize(n_rows_), to_first_.resize(n_rows_), to_first_rows_.resize(n_rows_);
    }

    const double* column(std::int32_t at, std::int64_t otherwise) const {
        return columns_.data() + static_cast<std::size_t>(at < 0 ? otherwise : at) * n_rows_;
    }

    // Replaces a list by that of the second child, followed by that of the first; their lengths.
    std::pair<std::size_t, std::size_t> divide(const SoftNode& node, std::size_t begin, std::size_t n) {
        if (node.at == soft_nominal)
            find_first_nominal(node, begin, n);
        else
            find_first(node, begin, n);
        std::uint16_t* rows = rows_.data() + begin;
        double* shares = shares_.data() + begin;
        std::size_t n_first = 0, n_second = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint16_t row = rows[i];
            const double share = shares[i], low = share * first_[i], high = share - low;
            const double smaller = std::min(low, high), most = most_[row];
            const bool both = smaller > most, to_second = low < high;
            most_[row] = both ? most : most - smaller / 8;
            to_first_rows_[n_first] = row;
            to_first_[n_first] = both ? low : share;
            n_first += static_cast<std::size_t>(both | !to_second);
            rows[n_second] = row;
            shares[n_second] = both ? high : share;
            n_second += static_cast<std::size_t>(both | to_second);
        }
        std::copy_n(to_first_rows_.data(), n_first, rows + n_second);
        std::copy_n(to_first_.data(), n_first, shares + n_second);
        return {n_first, n_second};
    }

    // P(first child | node, x) of each row of a list. Differences of rounded probabilities may be a little outside.
    void find_first(const SoftNode& node, std::size_t begin, std::size_t n) {
        const double *at = column(node.at, 0), *low = column(node.low, zeros_), *high = column(node.high, zeros_ + 1);
        const std::uint16_t* rows = rows_.data() + begin;
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint16_t row = rows[i];
            const double from = low[row], inside = high[row] - from, part = (at[row] - from) / inside;
            first_[i] = inside > 0 ? std::clamp(part, 0.0, 1.0) : 0.5;
        }
    }

    void find_first_nominal(const SoftNode& node, std::size_t begin, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t row = rows_[begin + i];
            double first = 0, rest = 0;
            for (std::int32_t c = node.low; c < node.high; ++c) first += column(forest_.categories[c], 0)[row];
            for (std::int32_t c = node.high; c < node.end; ++c) rest += column(forest_.categories[c], 0)[row];
            first_[i] = first + rest > 0 ? first / (first + rest) : 0.5;
        }
    }

    SoftForest forest_;
    double tolerance_;
    std::size_t n_rows_ = 0;
    std::int64_t zeros_ = 0;       // column of zeros; that of ones is the next
    std::vector<double> columns_;  // numbers of the block's rows, one column after the other
    std::vector<double> most_;     // an eighth of what may still be moved of each row
    std::vector<std::uint16_t> rows_;
    std::vector<double> shares_;
    std::vector<Waiting> waiting_;
    std::vector<double> first_;  // of the list that is divided: conditional probability of the first child
    std::vector<std::uint16_t> to_first_rows_;
    std::vector<double> to_first_;
};

// As walk::fold, of soft walks: `below` has the numbers of each row, see SoftForest.
void soft_fold(const SoftForest& forest, const data::Rows& below, double tolerance,
               const std::vector<walk::LeafTable>& tables, const walk::FoldOptions& options, const Poll& poll);

// As walk::spread.
walk::Spread soft_spread(const SoftForest& forest, const data::Rows& below, double tolerance, std::int64_t n_threads,
                         const Poll& poll);

}  // namespace hedgerow::measured
