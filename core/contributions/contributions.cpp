#include "contributions/contributions.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <utility>

#include "contributions/any_row.hpp"
#include "contributions/known_rows.hpp"
#include "contributions/points.hpp"
#include "contributions/row_pairs.hpp"
#include "contributions/tree_shares.hpp"

namespace hedgerow::contributions {

using base::Cancelled;
using base::parallel_for;

namespace {

constexpr std::int64_t rows_per_task = 64;

std::vector<TreeShares> shares_of(const Forest& forest) {
    std::vector<TreeShares> trees;
    for (std::int64_t tree = 0; tree < forest.n_trees; ++tree) trees.emplace_back(forest, tree);
    return trees;
}

// Whether a node of the tree spreads the row: also one that the row does not reach.
bool spreads(const Forest& forest, const TreeShares& tree, const double* row) {
    for (std::int64_t node = 0; node < tree.n_nodes(); ++node)
        if (!tree.is_leaf(node) && forest::child_number(forest, tree.root + node, row) == forest::no_child) return true;
    return false;
}

bool may_spread(const Forest& forest, const double* row) {
    return !forest.only_thresholds ||
           std::any_of(row, row + forest.n_features, [](double value) { return std::isnan(value); });
}

// The values of the rows that a task computes.
struct Slice {
    const Forest& forest;
    const LeafValues& leaves;
    const Contributions& out;

    std::int64_t n_values() const { return forest.n_features * leaves.n_outputs; }
    double* values(std::int64_t row) const { return out.values + row * n_values(); }
    double* pairs(std::int64_t row) const {
        return out.pairs == nullptr ? nullptr : out.pairs + row * forest.n_features * n_values();
    }
};

template <int n_fixed>
void add_known(const Forest& forest, const TreeShares& tree, const LeafValues& leaves,
               const std::vector<const double*>& rows, const std::vector<double*>& out, int n_points) {
    const Points<n_fixed> points(n_points);
    KnownRows<n_fixed> kernel(forest, tree, points, leaves);
    for (std::size_t first = 0; first < rows.size(); first += KnownRows<n_fixed>::most_rows) {
        const auto begin = static_cast<std::ptrdiff_t>(first);
        const auto end =
            static_cast<std::ptrdiff_t>(std::min<std::size_t>(rows.size(), first + KnownRows<n_fixed>::most_rows));
        kernel.add({rows.begin() + begin, rows.begin() + end}, {out.begin() + begin, out.begin() + end});
    }
}

// The usual numbers of points are known to the compiler.
void add_known(const Forest& forest, const TreeShares& tree, const LeafValues& leaves,
               const std::vector<const double*>& rows, const std::vector<double*>& out) {
    const int n_points = n_points_for(tree.most_on_path);
    if (n_points == 4) return add_known<4>(forest, tree, leaves, rows, out, n_points);
    if (n_points == 8) return add_known<8>(forest, tree, leaves, rows, out, n_points);
    if (n_points == 12) return add_known<12>(forest, tree, leaves, rows, out, n_points);
    add_known<0>(forest, tree, leaves, rows, out, n_points);
}

// What is left of a column's value after its shares in pairs.
void close_pairs(const Slice& slice, std::int64_t row) {
    const std::int64_t n = slice.forest.n_features, m = slice.leaves.n_outputs;
    double* pairs = slice.pairs(row);
    if (pairs == nullptr) return;
    const double* values = slice.values(row);
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t c = 0; c < m; ++c) {
            double shared = 0;
            for (std::int64_t j = 0; j < n; ++j)
                if (j != i) shared += pairs[(i * n + j) * m + c];
            pairs[(i * n + i) * m + c] = values[i * m + c] - shared;
        }
}

}  // namespace

void path_dependent(const Forest& forest, const Rows& rows, const LeafValues& leaves, const Contributions& out,
                    std::int64_t n_threads, const Poll& poll) {
    const std::vector<TreeShares> trees = shares_of(forest);
    const Slice slice{forest, leaves, out};
    parallel_for(
        (rows.n_rows + rows_per_task - 1) / rows_per_task, n_threads,
        [&](std::int64_t task, const Cancelled& cancelled) {
            const std::int64_t first = task * rows_per_task, last = std::min(rows.n_rows, first + rows_per_task);
            std::vector<const double*> known;
            std::vector<double*> values;
            for (const TreeShares& tree : trees) {
                if (cancelled) return;
                known.clear();
                values.clear();
                for (std::int64_t row = first; row < last; ++row) {
                    if (out.pairs != nullptr || (may_spread(forest, rows[row]) && spreads(forest, tree, rows[row])))
                        continue;
                    known.push_back(rows[row]);
                    values.push_back(slice.values(row));
                }
                if (!known.empty()) add_known(forest, tree, leaves, known, values);
                if (static_cast<std::int64_t>(known.size()) == last - first) continue;
                const Points<0> points(n_points_for(tree.most_on_path));
                AnyRow kernel(forest, tree, points, leaves);
                std::size_t next_known = 0;
                for (std::int64_t row = first; row < last && !cancelled; ++row) {
                    if (next_known < known.size() && known[next_known] == rows[row]) {
                        ++next_known;
                        continue;
                    }
                    kernel.add(rows[row], TrainingShares{}, forest.n_features, slice.values(row), slice.pairs(row));
                }
            }
            for (std::int64_t row = first; row < last; ++row) close_pairs(slice, row);
        },
        poll);
}

void interventional(const Forest& forest, const Rows& rows, const Rows& background, const LeafValues& leaves,
                    const Contributions& out, std::int64_t n_threads, const Poll& poll) {
    const std::vector<TreeShares> trees = shares_of(forest);
    const Slice slice{forest, leaves, out};
    const auto n_background = static_cast<double>(background.n_rows);
    std::vector<std::uint8_t> odd(trees.size() * static_cast<std::size_t>(background.n_rows));
    for (std::size_t tree = 0; tree < trees.size(); ++tree)
        for (std::int64_t row = 0; row < background.n_rows; ++row)
            odd[tree * static_cast<std::size_t>(background.n_rows) + static_cast<std::size_t>(row)] =
                may_spread(forest, background[row]) && spreads(forest, trees[tree], background[row]);
    constexpr std::int64_t at_once = 8;
    parallel_for((rows.n_rows + at_once - 1) / at_once, n_threads,
                 [&](std::int64_t task, const Cancelled& cancelled) {
                     const std::int64_t first = task * at_once, last = std::min(rows.n_rows, first + at_once);
                     for (std::size_t t = 0; t < trees.size(); ++t) {
                         const TreeShares& tree = trees[t];
                         const Points<0> points(n_points_for(tree.most_on_path));
                         AnyRow any(forest, tree, points, leaves);
                         RowPairs pairs(forest, tree, leaves);
                         const std::uint8_t* odd_rows = odd.data() + t * static_cast<std::size_t>(background.n_rows);
                         for (std::int64_t row = first; row < last; ++row) {
                             if (cancelled) return;
                             const bool is_odd = out.pairs != nullptr ||
                                                 (may_spread(forest, rows[row]) && spreads(forest, tree, rows[row]));
                             for (std::int64_t other = 0; other < background.n_rows; ++other) {
                                 if (!is_odd && !odd_rows[other])
                                     pairs.add(rows[row], background[other], slice.values(row));
                                 else
                                     any.add(rows[row], BackgroundShares{background[other]}, forest.n_features,
                                             slice.values(row), slice.pairs(row));
                             }
                         }
                     }
                     for (std::int64_t row = first; row < last; ++row) {
                         const auto mean = [&](double& sum) { sum /= n_background; };
                         std::for_each_n(slice.values(row), slice.n_values(), mean);
                         if (out.pairs != nullptr)
                             std::for_each_n(slice.pairs(row), slice.n_values() * forest.n_features, mean);
                         close_pairs(slice, row);
                     }
                 },
                 poll);
}

std::vector<double> expected(const Forest& forest, const LeafValues& leaves) {
    std::vector<double> sums(static_cast<std::size_t>(leaves.n_outputs), 0.0);
    for (std::int64_t number = 0; number < forest.n_trees; ++number) {
        TreeShares tree(forest, number);
        const std::int64_t n_nodes = tree.n_nodes();
        for (std::int64_t node = 0; node < n_nodes; ++node) {  // children come after their parents
            const double share = tree.share[static_cast<std::size_t>(node)];
            if (!tree.is_leaf(node)) {
                const std::int64_t first_child = tree.first_child(forest, node);
                for (std::int32_t child = 0; child < tree.n_children[static_cast<std::size_t>(node)]; ++child)
                    tree.share[static_cast<std::size_t>(first_child + child)] *= share;
                continue;
            }
            const double* v = leaves[tree.first_leaf + forest.nodes[tree.root + node].first_child];
            for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += share * v[c];
        }
    }
    return sums;
}

}  // namespace hedgerow::contributions
