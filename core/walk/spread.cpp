#include <cstdint>
#include <vector>

#include "walk/block.hpp"
#include "walk/tree_spread.hpp"
#include "walk/walk.hpp"

namespace hedgerow::walk {

Spread spread(const Forest& forest, const Rows& rows, std::int64_t n_threads, const Poll& poll) {
    const std::int64_t block_rows = rows_per_block(forest, nullptr, rows, n_threads);
    std::vector<Spread> blocks(static_cast<std::size_t>((rows.n_rows + block_rows - 1) / block_rows));
    for_each_block(
        rows, block_rows, forest.n_trees, n_threads,
        [&](std::int64_t first_row, std::int64_t n_rows, const Cancelled& cancelled) {
            Spread& block = blocks[static_cast<std::size_t>(first_row / block_rows)];
            TreeSpread tree_spread;
            std::vector<std::int32_t> leaf(static_cast<std::size_t>(forest.n_trees));
            for (std::int64_t row = first_row; row < first_row + n_rows && !cancelled; ++row) {
                run_lanes<n_tree_lanes>(forest.n_trees, AnyTreesWalk{forest, rows[row], 0, leaf.data()});
                for (std::int64_t tree = 0; tree < forest.n_trees; ++tree) {
                    const std::int64_t first_leaf = forest.leaf_start[tree];
                    const std::int32_t number = leaf[static_cast<std::size_t>(tree)];
                    if (number != spreads) {
                        block.leaves.push_back(first_leaf + number);
                        block.weights.push_back(1.0);
                        continue;
                    }
                    for (const auto& [reached, weight] : tree_spread(forest, tree, rows[row])) {
                        block.leaves.push_back(first_leaf + reached);
                        block.weights.push_back(weight);
                    }
                }
                block.row_start.push_back(static_cast<std::int64_t>(block.leaves.size()));
            }
        },
        poll);

    Spread whole;
    whole.row_start.push_back(0);
    for (const Spread& block : blocks) {
        const auto before = static_cast<std::int64_t>(whole.leaves.size());
        for (const std::int64_t end : block.row_start) whole.row_start.push_back(before + end);
        whole.leaves.insert(whole.leaves.end(), block.leaves.begin(), block.leaves.end());
        whole.weights.insert(whole.weights.end(), block.weights.begin(), block.weights.end());
    }
    return whole;
}

}  // namespace hedgerow::walk
