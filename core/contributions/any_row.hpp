// Contributions of any row, one at a time: also one that nodes spread, and with the values of pairs of columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "contributions/contributions.hpp"
#include "contributions/points.hpp"
#include "contributions/tree_shares.hpp"
#include "forest/splits.hpp"

namespace hedgerow::contributions {

// The share that a row takes of each branch of a node: all of one, or the shares of training weight where it is spread.
inline double share_taken(const Forest& forest, const TreeShares& tree, std::int64_t node, std::int64_t child,
                          std::int64_t branch) {
    if (branch != forest::no_child) return branch == child ? 1.0 : 0.0;
    return tree.share[static_cast<std::size_t>(tree.first_child(forest, node) + child)];
}

// Shares of training weight, in place of columns that are not known.
struct TrainingShares {
    std::int64_t branch(const Forest&, std::int64_t) const { return forest::no_child; }
};

// Branches of a background row, in place of columns that are not known.
struct BackgroundShares {
    const double* row;
    std::int64_t branch(const Forest& forest, std::int64_t node) const {
        return forest::child_number(forest, node, row);
    }
};

class AnyRow {
public:
    AnyRow(const Forest& forest, const TreeShares& tree, const Points<0>& points, const LeafValues& leaves)
        : forest_(forest),
          tree_(tree),
          points_(points),
          leaves_(leaves),
          n_(static_cast<std::size_t>(points.size())),
          n_outputs_(static_cast<std::size_t>(leaves.n_outputs)),
          levels_(static_cast<std::size_t>(tree.depth + 1)),
          columns_(tree.columns.size()) {
        for (Level& level : levels_) {
            level.product.resize(n_);
            level.sum.resize(n_ * n_outputs_);
            for (auto* vector : {&level.factor, &level.slope_before, &level.change}) vector->resize(n_);
        }
        for (Column& column : columns_) column.slope.resize(n_);
    }

    // `values` and `pairs` (or null) are those of the row: n_features (× n_features) × n_outputs numbers.
    template <class Unknown>
    void add(const double* row, const Unknown& unknown, std::int64_t n_features, double* values, double* pairs) {
        if (tree_.is_leaf(0)) return;
        row_ = row;
        values_ = values;
        pairs_ = pairs;
        n_features_ = static_cast<std::size_t>(n_features);
        levels_[0].product.assign(n_, 1.0);
        std::size_t depth = 0;
        enter(levels_[0], 0, unknown);
        for (;;) {
            Level& level = levels_[depth];
            if (level.child == level.n_children) {
                leave(level);
                if (depth == 0) return;
                Level& above = levels_[--depth];
                take_back(above, level.sum.data());
                continue;
            }
            const std::int64_t node = level.first_child + level.child;
            Level& below = levels_[depth + 1];
            if (!step(level, below.product)) {
                ++level.child;
            } else if (tree_.is_leaf(node)) {
                const double* v = leaves_[tree_.first_leaf + forest_.nodes[tree_.root + node].first_child];
                for (std::size_t c = 0; c < n_outputs_; ++c)
                    for (std::size_t k = 0; k < n_; ++k) below.sum[c * n_ + k] = v[c] * below.product[k];
                take_back(level, below.sum.data());
            } else {
                enter(levels_[++depth], node, unknown);
            }
        }
    }

private:
    static constexpr double nothing = 1e-290;  // of a product of shares: what is below adds nothing to an answer

    struct Level {
        std::int64_t node, first_child, of_row, of_unknown;  // the branches that are taken
        std::int32_t child, n_children;
        std::size_t slot;
        double o, z;                                       // before the node
        bool moves;                                        // whether this branch changes the slope of its column
        std::vector<double> product, sum;                  // G and S
        std::vector<double> factor, slope_before, change;  // f and d log f / dt before the node; change of the latter
    };
    // On the path so far.
    struct Column {
        double o = 1, z = 1;
        int n_splits = 0;
        std::vector<double> slope;  // d log f / dt
    };

    template <class Unknown>
    void enter(Level& level, std::int64_t node, const Unknown& unknown) {
        const std::int64_t at = tree_.root + node;
        level.node = node;
        level.first_child = tree_.first_child(forest_, node);
        level.of_row = forest::child_number(forest_, at, row_);
        level.of_unknown = unknown.branch(forest_, at);
        level.child = 0;
        level.n_children = tree_.n_children[static_cast<std::size_t>(node)];
        level.slot = static_cast<std::size_t>(tree_.slot[static_cast<std::size_t>(node)]);
        Column& column = columns_[level.slot];
        level.o = column.o;
        level.z = column.z;
        if (column.n_splits++ == 0) column.slope.assign(n_, 0.0);
        level.slope_before = column.slope;
        for (std::size_t k = 0; k < n_; ++k) level.factor[k] = points_.t[k] * level.o + points_.rest[k] * level.z;
        level.sum.assign(n_ * n_outputs_, 0.0);
    }

    // Takes the next branch: product below it, and the slope of its column. False where nothing gets there.
    bool step(Level& level, std::vector<double>& product) {
        const double s = share_taken(forest_, tree_, level.node, level.child, level.of_row);
        const double r = share_taken(forest_, tree_, level.node, level.child, level.of_unknown);
        Column& column = columns_[level.slot];
        column.o = level.o * s;
        column.z = level.z * r;
        if (column.o < nothing) column.o = 0;
        if (column.z < nothing) column.z = 0;
        if (column.o == 0 && column.z == 0) return false;
        level.moves = level.o > 0 && level.z > 0;  // else the column is decided, and the slope stays
        for (std::size_t k = 0; k < n_; ++k) {
            const double after = points_.t[k] * column.o + points_.rest[k] * column.z;
            product[k] = level.product[k] * (after / level.factor[k]);
            if (!level.moves) continue;
            column.slope[k] = (column.o - column.z) / after;
            level.change[k] = points_.weight[k] * (column.slope[k] - level.slope_before[k]);
        }
        if (!level.moves) column.slope = level.slope_before;
        return true;
    }

    void take_back(Level& level, const double* found) {
        for (std::size_t i = 0; i < n_ * n_outputs_; ++i) level.sum[i] += found[i];
        if (level.moves) {
            const auto column = static_cast<std::size_t>(tree_.columns[level.slot]);
            for (std::size_t c = 0; c < n_outputs_; ++c) {
                values_[column * n_outputs_ + c] += points_.dot(found + c * n_, level.change.data());
                if (pairs_ != nullptr) add_pairs(level, column, found + c * n_, c);
            }
        }
        ++level.child;
    }

    // Half of ∫ S · (change of the slope of this column) · (slope of another), for all others on the path.
    void add_pairs(const Level& level, std::size_t column, const double* found, std::size_t c) {
        for (std::size_t slot = 0; slot < columns_.size(); ++slot) {
            if (slot == level.slot || columns_[slot].n_splits == 0) continue;
            double sum = 0;
            for (std::size_t k = 0; k < n_; ++k) sum += found[k] * level.change[k] * columns_[slot].slope[k];
            const auto other = static_cast<std::size_t>(tree_.columns[slot]);
            pairs_[(column * n_features_ + other) * n_outputs_ + c] += sum / 2;
            pairs_[(other * n_features_ + column) * n_outputs_ + c] += sum / 2;
        }
    }

    void leave(const Level& level) {
        Column& column = columns_[level.slot];
        column.o = level.o;
        column.z = level.z;
        column.slope = level.slope_before;
        --column.n_splits;
    }

    const Forest& forest_;
    const TreeShares& tree_;
    const Points<0>& points_;
    const LeafValues& leaves_;
    std::size_t n_, n_outputs_, n_features_ = 0;
    std::vector<Level> levels_;
    std::vector<Column> columns_;
    const double* row_ = nullptr;
    double* values_ = nullptr;
    double* pairs_ = nullptr;
};

}  // namespace hedgerow::contributions
