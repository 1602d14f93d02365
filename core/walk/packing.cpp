#include "walk/packing.hpp"

#include <algorithm>
#include <cmath>

namespace hedgerow::walk {

std::shared_ptr<const PackedForest> Packing::packed_for(const Forest& forest, const Rows& rows, std::int64_t first_tree,
                                                        std::int64_t last_tree) {
    constexpr std::int64_t most_nodes = std::int64_t{1} << 30;  // of all trees: PackedTree::places has a bit less
    const std::int64_t n_walks = rows.n_rows * (last_tree - first_tree);
    const std::int64_t n_nodes = forest.tree_start[last_tree] - forest.tree_start[first_tree];
    // Computing the keys of a row takes as long as a few walks.
    if (n_nodes > most_nodes || rows.n_columns > 8 * (last_tree - first_tree)) return nullptr;

    const bool any_missing =
        std::any_of(rows.values, rows[rows.n_rows], [](double value) { return std::isnan(value); });
    const bool both_ways = any_missing && *sends_both_ways_.get_or([&] { return sends_both_ways(forest); });
    const RowsHave rows_have = both_ways ? RowsHave::missing_values : RowsHave::all_values;
    auto& kept_trees = both_ways ? all_trees_both_ways_ : all_trees_;
    std::shared_ptr<const PackedForest> packed;
    if (const auto* const kept = kept_trees.get()) {
        packed = *kept;
    } else {
        const bool keeps = last_tree - first_tree == forest.n_trees && n_nodes <= most_kept_nodes;
        const std::int64_t n_before = keeps ? n_walks_.fetch_add(n_walks, std::memory_order_relaxed) : 0;
        if (4 * (n_before + n_walks) < n_nodes) return nullptr;
        const auto make = [&] {
            return std::make_shared<const PackedForest>(forest, first_tree, last_tree, rows_have);
        };
        packed = keeps ? *kept_trees.get_or(make) : make();
    }
    const bool may_spread = packed->spreads() && (any_missing || !forest.only_thresholds);
    // Without weights rows are spread equally, which the shares that are kept must not be.
    if (may_spread && forest.weight != nullptr) packed->find_shares(forest);
    return packed;
}

}  // namespace hedgerow::walk
