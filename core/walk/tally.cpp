#include <algorithm>
#include <cmath>
#include <vector>

#include "walk/block.hpp"
#include "walk/walk.hpp"

namespace hedgerow::walk {

void tally(const Forest& forest, Packing& packing, const Rows& rows, const LeafCounts& leaves, std::int64_t n_threads,
           const Poll& poll) {
    const bool serial = rows.n_rows * forest.n_trees < serial_walks;
    const auto packed = packing.packed_for(forest, rows, 0, forest.n_trees);
    const std::int64_t size = rows_per_block(forest, packed.get(), rows, 1);
    // A thread takes some trees through all rows, so no two add to the same leaf; a few trees at a time, so that the
    // keys of a block are computed once for all of them.
    const std::int64_t n_groups = std::min(forest.n_trees, 4 * std::clamp<std::int64_t>(n_threads, 1, max_threads()));
    parallel_for(
        n_groups, serial ? 0 : n_threads,
        [&](std::int64_t group, const Cancelled& cancelled) {
            const std::int64_t first_tree = forest.n_trees * group / n_groups;
            const std::int64_t last_tree = forest.n_trees * (group + 1) / n_groups;
            for (std::int64_t first = 0; first < rows.n_rows; first += size) {
                const std::int64_t n_rows = std::min(size, rows.n_rows - first);
                Block block(forest, rows, packed.get(), first, n_rows);
                for (std::int64_t tree = first_tree; tree < last_tree && !cancelled; ++tree) {
                    double* counts = leaves.counts + forest.leaf_start[tree] * leaves.n_classes;
                    block.walk_with_parts(tree, KeepAll{});
                    if (!block.spread_rows().empty()) block.parts().group(static_cast<std::size_t>(n_rows));
                    for (std::int64_t i = 0; i < n_rows; ++i) {
                        const std::int64_t row = first + i;
                        double* of_label = counts + leaves.labels[row];
                        const std::int32_t leaf = block.leaf(static_cast<std::uint32_t>(i));
                        if (leaf != spreads) {
                            of_label[leaf * leaves.n_classes] += leaves.weight[row];
                            continue;
                        }
                        for (const auto& [reached, share] : block.parts().of_row(static_cast<std::size_t>(i))) {
                            const double part = leaves.weight[row] * share;
                            of_label[reached * leaves.n_classes] +=
                                leaves.unit > 0 ? std::nearbyint(part / leaves.unit) * leaves.unit : part;
                        }
                    }
                }
            }
        },
        poll);
}

}  // namespace hedgerow::walk
