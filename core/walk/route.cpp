#include "walk/block.hpp"
#include "walk/tree_spread.hpp"
#include "walk/walk.hpp"

namespace hedgerow::walk {

void route(const Forest& forest, Packing& packing, const Rows& rows, std::int32_t* out, bool heaviest,
           std::int64_t n_threads, const Poll& poll) {
    const auto packed = packing.packed_for(forest, rows, 0, forest.n_trees);
    for_each_block(
        rows, rows_per_block(forest, packed.get(), rows, n_threads), forest.n_trees, n_threads,
        [&](std::int64_t first_row, std::int64_t n_rows, const Cancelled& cancelled) {
            Block block(forest, rows, packed.get(), first_row, n_rows);
            for (std::int64_t tree = 0; tree < forest.n_trees && !cancelled; ++tree)
                for (const std::uint32_t row : block.walk(tree, KeepAll{})) {
                    const bool one_way = block.leaf(row) != spreads || !heaviest;
                    out[(first_row + row) * forest.n_trees + tree] =
                        one_way ? block.leaf(row) : heaviest_leaf(forest, tree, block.row(row));
                }
        },
        poll);
}

PathCounts count_paths(const Forest& forest, Packing& packing, const Rows& rows) {
    const auto packed = packing.packed_for(forest, rows, 0, forest.n_trees);
    if (!packed) return {0, rows.n_rows * forest.n_trees, 0};
    Block block(forest, rows, packed.get(), 0, rows.n_rows);
    for (std::int64_t tree = 0; tree < forest.n_trees; ++tree) block.walk(tree, KeepAll{});
    return {rows.n_rows * forest.n_trees, 0, block.n_exact()};
}

}  // namespace hedgerow::walk
