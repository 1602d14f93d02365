#include "measured/soft_walk.hpp"

#include <utility>

#include "walk/block.hpp"
#include "walk/link.hpp"

namespace hedgerow::measured {
namespace {

using base::Cancelled;
using data::Rows;
using walk::AddAny;
using walk::FoldOptions;
using walk::LeafTable;
using walk::Op;

// The numbers of a block stay in the third-level cache while all trees pass over them; more rows share what it costs to
// visit a node.
std::int64_t rows_per_block(const Rows& below, std::int64_t n_threads) {
    const std::int64_t row_bytes = 8 * std::max<std::int64_t>(below.n_columns, 1);
    const std::int64_t per_thread = below.n_rows / (4 * std::clamp<std::int64_t>(n_threads, 1, base::max_threads()));
    return std::clamp<std::int64_t>(std::min((std::int64_t{1} << 22) / row_bytes, per_thread), 16, 1024);
}

// Where the row of a leaf begins.
std::int64_t row_of(const LeafTable& table, std::int64_t leaf) {
    return (table.row_of ? table.row_of[leaf] : leaf) * table.n_columns;
}

// Means over the leaves that the rows of a block reach in one tree, for one table.
class Means {
public:
    explicit Means(const LeafTable& table) : table_(table), width_(static_cast<std::size_t>(table.n_columns)) {
        for (std::int64_t c = 0; c < table.n_columns; ++c)
            plain_ = plain_ && table.links[c] == walk::Link::identity && table.ops[c] == Op::sum;
    }

    void start(std::size_t n_rows) { means_.assign(n_rows * width_, 0.0); }

    void add(std::int64_t leaf, const std::uint16_t* rows, const double* shares, std::size_t n) {
        const double* values = table_.values + row_of(table_, leaf);
        if (width_ == 1) {
            for (std::size_t i = 0; i < n; ++i) means_[rows[i]] += shares[i] * values[0];
            return;
        }
        for (std::size_t i = 0; i < n; ++i) {
            double* mean = means_.data() + rows[i] * width_;
            for (std::size_t c = 0; c < width_; ++c) mean[c] += shares[i] * values[c];
        }
    }

    // Adds the mean of a row of the block to the outputs of `row`.
    void finish(std::size_t in_block, std::int64_t row, std::int64_t tree, double tree_weight) {
        double* mean = means_.data() + in_block * width_;
        double* out = table_.out + row * table_.row_stride + tree * table_.tree_stride;
        if (plain_) {
            for (std::size_t c = 0; c < width_; ++c) out[c] += tree_weight * mean[c];
            return;
        }
        for (std::size_t c = 0; c < width_; ++c) mean[c] = walk::link(table_.links[c], mean[c]);
        AddAny::add(table_, mean, tree_weight, out);
    }

private:
    const LeafTable& table_;
    std::size_t width_;
    bool plain_ = true;
    std::vector<double> means_;
};

}  // namespace

void soft_fold(const SoftForest& forest, const Rows& below, double tolerance, const std::vector<LeafTable>& tables,
               const FoldOptions& options, const Poll& poll) {
    const std::int64_t mask_bytes = (below.n_rows + 7) / 8;
    walk::for_each_block(
        below, rows_per_block(below, options.n_threads), 16 * (options.last_tree - options.first_tree),
        options.n_threads,
        [&](std::int64_t first_row, std::int64_t n_rows, const Cancelled& cancelled) {
            std::vector<Means> means(tables.begin(), tables.end());
            SoftBlockWalk walk(forest, tolerance);
            walk.load(below, first_row, n_rows);
            for (std::int64_t tree = options.first_tree; tree < options.last_tree && !cancelled; ++tree) {
                const double tree_weight = options.tree_weights ? options.tree_weights[tree] : 1.0;
                if (tree_weight == 0) continue;
                const std::int64_t first_leaf =
                    forest.forest.leaf_start[tree] - forest.forest.leaf_start[options.first_tree];
                const auto takes = [&](std::size_t in_block) {
                    const std::int64_t row = first_row + static_cast<std::int64_t>(in_block);
                    return !options.skip || !(options.skip[tree * mask_bytes + row / 8] >> (row % 8) & 1);
                };
                for (Means& one : means) one.start(static_cast<std::size_t>(n_rows));
                walk(tree, takes,
                     [&](std::int64_t leaf, const std::uint16_t* rows, const double* shares, std::size_t n) {
                         for (Means& one : means) one.add(first_leaf + leaf, rows, shares, n);
                     });
                for (std::size_t row = 0; row < static_cast<std::size_t>(n_rows); ++row) {
                    if (!takes(row)) continue;
                    const std::int64_t of_all = first_row + static_cast<std::int64_t>(row);
                    for (Means& one : means) one.finish(row, of_all, tree - options.first_tree, tree_weight);
                    if (options.n_used) ++options.n_used[of_all];
                }
            }
        },
        poll);
}

walk::Spread soft_spread(const SoftForest& forest, const Rows& below, double tolerance, std::int64_t n_threads,
                         const Poll& poll) {
    using Reached = std::pair<std::int64_t, double>;  // leaf, share
    const std::int64_t size = rows_per_block(below, n_threads);
    std::vector<walk::Spread> blocks(static_cast<std::size_t>((below.n_rows + size - 1) / size));
    walk::for_each_block(
        below, size, 16 * forest.forest.n_trees, n_threads,
        [&](std::int64_t first_row, std::int64_t n_rows, const Cancelled& cancelled) {
            walk::Spread& block = blocks[static_cast<std::size_t>(first_row / size)];
            SoftBlockWalk walk(forest, tolerance);
            walk.load(below, first_row, n_rows);
            std::vector<std::vector<Reached>> of_rows(static_cast<std::size_t>(n_rows));
            for (std::int64_t tree = 0; tree < forest.forest.n_trees && !cancelled; ++tree) {
                const std::int64_t first_leaf = forest.forest.leaf_start[tree];
                walk(
                    tree, [](std::size_t) { return true; },
                    [&](std::int64_t leaf, const std::uint16_t* rows, const double* shares, std::size_t n) {
                        for (std::size_t i = 0; i < n; ++i) of_rows[rows[i]].emplace_back(first_leaf + leaf, shares[i]);
                    });
            }
            for (std::vector<Reached>& reached : of_rows) {
                std::sort(reached.begin(), reached.end(),
                          [](const Reached& one, const Reached& other) { return one.first < other.first; });
                for (const auto& [leaf, share] : reached) {
                    block.leaves.push_back(leaf);
                    block.weights.push_back(share);
                }
                block.row_start.push_back(static_cast<std::int64_t>(block.leaves.size()));
            }
        },
        poll);
    walk::Spread whole;
    whole.row_start.push_back(0);
    for (const walk::Spread& block : blocks) {
        const auto before = static_cast<std::int64_t>(whole.leaves.size());
        for (const std::int64_t end : block.row_start) whole.row_start.push_back(before + end);
        whole.leaves.insert(whole.leaves.end(), block.leaves.begin(), block.leaves.end());
        whole.weights.insert(whole.weights.end(), block.weights.begin(), block.weights.end());
    }
    return whole;
}

}  // namespace hedgerow::measured
