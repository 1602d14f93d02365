// Interventional contributions of a row beside a background row, where the tree spreads neither.
//
// At a split where the two part, the column is decided: leaves below one branch are reached with the row's value, those
// below the other with the background's. A leaf v that needs a columns of the row and b of the background is worth
// v·(a-1)!·b!/(a+b)! to each of the former and -v·a!·(b-1)!/(a+b)! to each of the latter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "contributions/contributions.hpp"
#include "contributions/tree_shares.hpp"
#include "forest/splits.hpp"

namespace hedgerow::contributions {

class RowPairs {
public:
    RowPairs(const Forest& forest, const TreeShares& tree, const LeafValues& leaves)
        : forest_(forest),
          tree_(tree),
          leaves_(leaves),
          n_weights_(static_cast<std::size_t>(tree.most_on_path + 1)),
          side_(tree.columns.size(), Side::both) {
        // weights_[a, b] = a!·b!/(a+b+1)!, by (a, b) from (a, b-1).
        weights_.resize(n_weights_ * n_weights_);
        for (std::size_t a = 0; a < n_weights_; ++a) {
            double weight = 1.0 / static_cast<double>(a + 1);
            for (std::size_t b = 0; b < n_weights_; ++b) {
                if (b > 0) weight *= static_cast<double>(b) / static_cast<double>(a + b + 1);
                weights_[a * n_weights_ + b] = weight;
            }
        }
    }

    // `values` are those of the row: n_features × n_outputs numbers.
    void add(const double* row, const double* background, double* values) {
        row_ = row;
        background_ = background;
        values_ = values;
        of_row_.clear();
        of_background_.clear();
        visit(0);
    }

private:
    enum class Side : std::uint8_t { both, row, background };
    using Slots = std::vector<std::size_t>;

    // Recursion only where the rows part: at most once for each column of a path.
    void visit(std::int64_t node) {
        while (!tree_.is_leaf(node)) {
            const auto slot = static_cast<std::size_t>(tree_.slot[static_cast<std::size_t>(node)]);
            const std::int64_t first = tree_.first_child(forest_, node);
            const Side side = side_[slot];
            if (side != Side::both) {
                node = first + branch_of(node, side == Side::row ? row_ : background_);
                continue;
            }
            const std::int64_t of_row = branch_of(node, row_), of_background = branch_of(node, background_);
            if (of_row == of_background) {
                node = first + of_row;
                continue;
            }
            visit_side(slot, Side::row, of_row_, first + of_row);
            visit_side(slot, Side::background, of_background_, first + of_background);
            side_[slot] = Side::both;
            return;
        }
        add_leaf(node);
    }

    void visit_side(std::size_t slot, Side side, Slots& decided, std::int64_t node) {
        side_[slot] = side;
        decided.push_back(slot);
        visit(node);
        decided.pop_back();
    }

    std::int64_t branch_of(std::int64_t node, const double* row) const {
        const std::int64_t at = tree_.root + node;
        const forest::Node& test = forest_.nodes[at];
        const double x = row[test.feature];
        if (forest_.is_threshold(at) && x == x) return x > test.threshold;
        return forest::child_number(forest_, at, row);
    }

    void add_leaf(std::int64_t node) {
        const double* v = leaves_[tree_.first_leaf + forest_.nodes[tree_.root + node].first_child];
        const std::size_t a = of_row_.size(), b = of_background_.size();
        if (a > 0) add_to(of_row_, weights_[(a - 1) * n_weights_ + b], v);
        if (b > 0) add_to(of_background_, -weights_[a * n_weights_ + b - 1], v);
    }

    void add_to(const Slots& slots, double weight, const double* v) {
        for (const std::size_t slot : slots) {
            double* values = values_ + tree_.columns[slot] * leaves_.n_outputs;
            for (std::int64_t c = 0; c < leaves_.n_outputs; ++c) values[c] += weight * v[c];
        }
    }

    const Forest& forest_;
    const TreeShares& tree_;
    const LeafValues& leaves_;
    std::size_t n_weights_;
    std::vector<double> weights_;
    std::vector<Side> side_;  // of each slot
    Slots of_row_, of_background_;
    const double* row_ = nullptr;
    const double* background_ = nullptr;
    double* values_ = nullptr;
};

}  // namespace hedgerow::contributions
