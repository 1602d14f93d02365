// Path-dependent contributions of rows that no node of a tree spreads, many rows at a time.
//
// With o_j = 0 or 1, the factor of column j at point t is f = t + (1 - t)·z while the row agrees with all splits on j,
// and (1 - t)·z from the first that it disagrees with: from there on j is decided, and splits on it only multiply by
// the shares of their branches. So all rows pass the nodes of a tree together, and what depends on the node alone is
// computed once. At a node with z before and the share r of a branch,
//     p = t / f,  g = (1 - t)·z / f,  q = z / f²:
// the product G over the path becomes G·(p + g·r) in the branch that the row takes, G·g·r in others, and G·r where j is
// decided. With S the sum over the leaves below a branch of value · product, φ_j gains
//     ∫ S·q·(1 - r) / (p + g·r) dt  in the branch that the row takes,   -∫ S / ((1 - t)·f) dt  in others,
// which is the change of d log f / dt: the changes on a path add up to that of its last split on j, so that nothing is
// counted twice (after Yu, Xu, Vaughan, Liu: Linear TreeSHAP, 2022, with points of a quadrature for their polynomials).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "contributions/contributions.hpp"
#include "contributions/points.hpp"
#include "contributions/tree_shares.hpp"
#include "forest/splits.hpp"

namespace hedgerow::contributions {

template <int n_fixed>
class KnownRows {
public:
    static constexpr std::int64_t most_rows = 16;

    KnownRows(const Forest& forest, const TreeShares& tree, const Points<n_fixed>& points, const LeafValues& leaves)
        : forest_(forest),
          tree_(tree),
          points_(points),
          leaves_(leaves),
          n_outputs_(leaves.n_outputs),
          levels_(static_cast<std::size_t>(tree.depth + 1)),
          z_(tree.columns.size(), 1.0),
          open_(tree.columns.size() * most_rows, 1) {
        const auto n = static_cast<std::size_t>(points.size());
        const auto outputs = static_cast<std::size_t>(n_outputs_);
        for (Level& level : levels_) {
            level.product.resize(most_rows * n);
            level.sum.resize(most_rows * outputs * n);
            for (auto* vector : {&level.p, &level.g, &level.q, &level.taken, &level.others}) vector->resize(n);
        }
        const auto widest = std::max_element(tree.n_children.begin(), tree.n_children.end());
        mixed_.resize(static_cast<std::size_t>(*widest + 1) * outputs * n);
        gain_.resize(static_cast<std::size_t>(*widest) * outputs);
    }

    // At most most_rows rows, none of which the tree spreads; `out` has their n_features × n_outputs numbers.
    void add(const std::vector<const double*>& rows, const std::vector<double*>& out) {
        if (tree_.is_leaf(0)) return;
        rows_ = &rows;
        out_ = &out;
        std::fill(levels_[0].product.begin(), levels_[0].product.end(), 1.0);
        std::size_t depth = 0;
        enter(levels_[0], 0);
        for (;;) {
            Level& level = levels_[depth];
            while (level.child < level.n_children && tree_.is_leaf(level.first_child + level.child)) ++level.child;
            if (level.child < level.n_children) {
                descend(level, levels_[depth + 1]);
                enter(levels_[++depth], level.first_child + level.child);
                continue;
            }
            leave(level);
            if (depth == 0) return;
            take_back(levels_[--depth], level);
        }
    }

private:
    static constexpr std::int32_t decided = -1;

    struct Level {
        std::int64_t node, first_child;
        std::int32_t child, n_children;  // the child that is or was visited
        std::size_t slot;
        double z;
        std::int32_t branch[most_rows];    // that each row takes, or `decided`
        std::vector<double> product, sum;  // G and S of each row
        std::vector<double> p, g, q;
        std::vector<double> taken, others;  // what S is multiplied by in φ, with the weights
    };

    std::size_t n_rows() const { return rows_->size(); }
    int n() const { return points_.size(); }
    double* product(Level& level, std::size_t row) {
        return level.product.data() + row * static_cast<std::size_t>(n());
    }
    double* sum(Level& level, std::size_t row) {
        return level.sum.data() + row * static_cast<std::size_t>(n_outputs_ * n());
    }
    double* value(const Level& level, std::size_t row) { return (*out_)[row] + tree_.columns[level.slot] * n_outputs_; }
    double share(std::int64_t node) const { return tree_.share[static_cast<std::size_t>(node)]; }

    void enter(Level& level, std::int64_t node) {
        level.node = node;
        level.first_child = tree_.first_child(forest_, node);
        level.child = 0;
        level.n_children = tree_.n_children[static_cast<std::size_t>(node)];
        level.slot = static_cast<std::size_t>(tree_.slot[static_cast<std::size_t>(node)]);
        level.z = z_[level.slot];
        for (int k = 0; k < n(); ++k) {
            const auto at = static_cast<std::size_t>(k);
            const double f = points_.t[at] + points_.rest[at] * level.z;
            level.p[at] = points_.t[at] / f;
            level.g[at] = points_.rest[at] * level.z / f;
            level.q[at] = points_.weight[at] * level.z / (f * f);
            level.others[at] = -points_.weight[at] / (points_.rest[at] * f);
        }
        for (std::size_t row = 0; row < n_rows(); ++row)
            level.branch[row] = open_[level.slot * most_rows + row] ? branch_of(node, (*rows_)[row]) : decided;
        add_leaves(level);
    }

    std::int32_t branch_of(std::int64_t node, const double* row) const {
        const std::int64_t at = tree_.root + node;
        const forest::Node& test = forest_.nodes[at];
        const double x = row[test.feature];
        if (forest_.is_threshold(at) && x == x) return x > test.threshold;
        return static_cast<std::int32_t>(forest::child_number(forest_, at, row));
    }

    // The leaves among the children, all at once: with D = Σ r·v, S is G·(p·v + g·D) for a row that takes the branch to
    // v (0 where that is no leaf) and G·D where the column is decided; φ gains (v - D)·∫ G·q dt.
    void add_leaves(Level& level) {
        const auto outputs = static_cast<std::size_t>(n_outputs_);
        const auto states = static_cast<std::size_t>(level.n_children);
        bool any = false;
        std::fill_n(gain_.begin(), states * outputs, 0.0);
        dead_.assign(outputs, 0.0);
        for (std::size_t child = 0; child < states; ++child) {
            const std::int64_t node = level.first_child + static_cast<std::int64_t>(child);
            if (!tree_.is_leaf(node)) continue;
            any = true;
            const double* v = leaves_[tree_.first_leaf + forest_.nodes[tree_.root + node].first_child];
            for (std::size_t c = 0; c < outputs; ++c) {
                gain_[child * outputs + c] = v[c];
                dead_[c] += share(node) * v[c];
            }
        }
        if (!any) {
            std::fill_n(level.sum.begin(), n_rows() * outputs * static_cast<std::size_t>(n()), 0.0);
            return;
        }
        double* mixed = mixed_.data();
        for (std::size_t c = 0; c < outputs; ++c, mixed += n()) std::fill_n(mixed, n(), dead_[c]);
        for (std::size_t child = 0; child < states; ++child)
            for (std::size_t c = 0; c < outputs; ++c, mixed += n()) {
                double& v = gain_[child * outputs + c];
                for (int k = 0; k < n(); ++k)
                    mixed[k] =
                        level.p[static_cast<std::size_t>(k)] * v + level.g[static_cast<std::size_t>(k)] * dead_[c];
                v -= dead_[c];
            }
        for (std::size_t row = 0; row < n_rows(); ++row) {
            const double* before = product(level, row);
            const auto state = static_cast<std::size_t>(level.branch[row] + 1);
            const double* factor = mixed_.data() + state * outputs * static_cast<std::size_t>(n());
            double* sums = sum(level, row);
            for (std::size_t c = 0; c < outputs; ++c, factor += n(), sums += n())
                for (int k = 0; k < n(); ++k) sums[k] = before[k] * factor[k];
            if (state == 0) continue;
            const double integral = points_.dot(before, level.q.data());
            double* values = value(level, row);
            for (std::size_t c = 0; c < outputs; ++c) values[c] += integral * gain_[(state - 1) * outputs + c];
        }
    }

    void descend(Level& level, Level& below) {
        const double r = share(level.first_child + level.child);
        factors_.resize(3 * static_cast<std::size_t>(n()));
        double *of_decided = factors_.data(), *of_others = of_decided + n(), *of_taken = of_others + n();
        for (int k = 0; k < n(); ++k) {
            const auto at = static_cast<std::size_t>(k);
            of_decided[k] = r;
            of_others[k] = level.g[at] * r;
            of_taken[k] = level.p[at] + level.g[at] * r;
            level.taken[at] = level.q[at] * (1 - r) / of_taken[k];
        }
        for (std::size_t row = 0; row < n_rows(); ++row) {
            const std::int32_t branch = level.branch[row];
            const double* factor = branch == decided ? of_decided : branch == level.child ? of_taken : of_others;
            const double* before = product(level, row);
            double* after = product(below, row);
            for (int k = 0; k < n(); ++k) after[k] = before[k] * factor[k];
            open_[level.slot * most_rows + row] = branch == level.child;
        }
        z_[level.slot] = level.z * r;
    }

    void take_back(Level& level, Level& below) {
        for (std::size_t row = 0; row < n_rows(); ++row) {
            const double* found = sum(below, row);
            double* sums = sum(level, row);
            for (std::int64_t i = 0; i < n_outputs_ * n(); ++i) sums[i] += found[i];
            const std::int32_t branch = level.branch[row];
            if (branch == decided) continue;
            const double* change = branch == level.child ? level.taken.data() : level.others.data();
            double* values = value(level, row);
            for (std::int64_t c = 0; c < n_outputs_; ++c) values[c] += points_.dot(found + c * n(), change);
        }
        ++level.child;
    }

    void leave(const Level& level) {
        z_[level.slot] = level.z;
        for (std::size_t row = 0; row < n_rows(); ++row)
            open_[level.slot * most_rows + row] = level.branch[row] != decided;
    }

    const Forest& forest_;
    const TreeShares& tree_;
    const Points<n_fixed>& points_;
    const LeafValues& leaves_;
    std::int64_t n_outputs_;
    std::vector<Level> levels_;
    std::vector<double> z_;           // of each slot, on the path so far
    std::vector<std::uint8_t> open_;  // slot × row: not decided
    std::vector<double> mixed_, gain_, dead_, factors_;
    const std::vector<const double*>* rows_ = nullptr;
    const std::vector<double*>* out_ = nullptr;
};

}  // namespace hedgerow::contributions
