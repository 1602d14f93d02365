#include "measured/soft_walk.hpp"

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

// The rows of a block stay in the second-level cache while all trees pass over them.
std::int64_t rows_per_block(const Rows& below, std::int64_t n_threads) {
    const std::int64_t row_bytes = 8 * std::max<std::int64_t>(below.n_columns, 1);
    const std::int64_t per_thread = below.n_rows / (4 * std::clamp<std::int64_t>(n_threads, 1, base::max_threads()));
    return std::clamp<std::int64_t>(std::min((std::int64_t{1} << 18) / row_bytes, per_thread), 8, 1024);
}

// Where the row of a leaf begins.
std::int64_t row_of(const LeafTable& table, std::int64_t leaf) {
    return (table.row_of ? table.row_of[leaf] : leaf) * table.n_columns;
}

class Adder {
public:
    Adder(const std::vector<LeafTable>& tables) : tables_(tables) {
        for (const LeafTable& table : tables) {
            bool plain = true;
            for (std::int64_t c = 0; c < table.n_columns; ++c)
                plain = plain && table.links[c] == walk::Link::identity && table.ops[c] == Op::sum;
            plain_.push_back(plain);
        }
    }

    // Adds the mean over the leaves that a row reaches in one tree to the outputs of the row.
    void add(std::span<const SoftTreeWalk::Reached> reached, std::int64_t tree, std::int64_t first_leaf,
             double tree_weight, std::int64_t row) {
        for (std::size_t i = 0; i < tables_.size(); ++i) {
            const LeafTable& table = tables_[i];
            mean_.assign(static_cast<std::size_t>(table.n_columns), 0.0);
            double* const mean = mean_.data();
            if (table.n_columns == 1) {
                double sum = 0;
                for (const auto& [leaf, share] : reached) sum += share * table.values[row_of(table, first_leaf + leaf)];
                mean[0] = sum;
            } else
                for (const auto& [leaf, share] : reached) {
                    const double* values = table.values + row_of(table, first_leaf + leaf);
                    for (std::int64_t c = 0; c < table.n_columns; ++c) mean[c] += share * values[c];
                }
            double* out = table.out + row * table.row_stride + tree * table.tree_stride;
            if (plain_[i]) {
                for (std::int64_t c = 0; c < table.n_columns; ++c) out[c] += tree_weight * mean[c];
                continue;
            }
            for (std::int64_t c = 0; c < table.n_columns; ++c) mean[c] = walk::link(table.links[c], mean[c]);
            AddAny::add(table, mean, tree_weight, out);
        }
    }

private:
    const std::vector<LeafTable>& tables_;
    std::vector<std::uint8_t> plain_;
    std::vector<double> mean_;
};

}  // namespace

void soft_fold(const SoftForest& forest, const Rows& below, double tolerance, const std::vector<LeafTable>& tables,
               const FoldOptions& options, const Poll& poll) {
    const std::int64_t mask_bytes = (below.n_rows + 7) / 8;
    walk::for_each_block(
        below, rows_per_block(below, options.n_threads), 16 * (options.last_tree - options.first_tree),
        options.n_threads,
        [&](std::int64_t first_row, std::int64_t n_rows, const Cancelled& cancelled) {
            Adder adder(tables);
            SoftTreeWalk walk(forest, tolerance);
            for (std::int64_t tree = options.first_tree; tree < options.last_tree && !cancelled; ++tree) {
                const double tree_weight = options.tree_weights ? options.tree_weights[tree] : 1.0;
                if (tree_weight == 0) continue;
                const std::int64_t first_leaf =
                    forest.forest.leaf_start[tree] - forest.forest.leaf_start[options.first_tree];
                for (std::int64_t row = first_row; row < first_row + n_rows; ++row) {
                    if (options.skip && options.skip[tree * mask_bytes + row / 8] >> (row % 8) & 1) continue;
                    adder.add(walk(tree, below[row]), tree - options.first_tree, first_leaf, tree_weight, row);
                    if (options.n_used) ++options.n_used[row];
                }
            }
        },
        poll);
}

walk::Spread soft_spread(const SoftForest& forest, const Rows& below, double tolerance, std::int64_t n_threads,
                         const Poll& poll) {
    const std::int64_t size = rows_per_block(below, n_threads);
    std::vector<walk::Spread> blocks(static_cast<std::size_t>((below.n_rows + size - 1) / size));
    walk::for_each_block(
        below, size, 16 * forest.forest.n_trees, n_threads,
        [&](std::int64_t first_row, std::int64_t n_rows, const Cancelled& cancelled) {
            walk::Spread& block = blocks[static_cast<std::size_t>(first_row / size)];
            SoftTreeWalk walk(forest, tolerance);
            std::vector<SoftTreeWalk::Reached> sorted;
            for (std::int64_t row = first_row; row < first_row + n_rows && !cancelled; ++row) {
                for (std::int64_t tree = 0; tree < forest.forest.n_trees; ++tree) {
                    const auto reached = walk(tree, below[row]);
                    sorted.assign(reached.begin(), reached.end());
                    std::sort(sorted.begin(), sorted.end(),
                              [](const auto& one, const auto& other) { return one.leaf < other.leaf; });
                    for (const auto& [leaf, share] : sorted) {
                        block.leaves.push_back(forest.forest.leaf_start[tree] + leaf);
                        block.weights.push_back(share);
                    }
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
