#include "grow/grow.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "forest/concatenate.hpp"
#include "forest/edit.hpp"
#include "grow/bags.hpp"
#include "grow/binned/grow_binned.hpp"
#include "grow/bootstrap.hpp"
#include "grow/exact/grow_exact.hpp"

namespace hedgerow::grow {

using base::parallel_for;
using forest::Forest;
using forest::GrownTree;
using forest::Kind;
using forest::Missing;
using forest::Rearrangement;

namespace {

void collapse_in_place(GrownForest& forest, const TrainingData& data) {
    const GrownTree& trees = forest.trees;
    const Forest grown{trees.nodes.data(),
                       trees.weight.data(),
                       trees.payload.data(),
                       reinterpret_cast<const Kind*>(trees.kind.data()),
                       reinterpret_cast<const Missing*>(trees.missing.data()),
                       forest.tree_start.data(),
                       forest.leaf_start.data(),
                       trees.payload_start.data(),
                       trees.payload_codes.data(),
                       trees.payload_weights.data(),
                       trees.payload_means.empty() ? nullptr : trees.payload_means.data(),
                       static_cast<std::int64_t>(forest.tree_start.size()) - 1,
                       data.n_features,
                       false};
    std::optional<Rearrangement> kept = collapse(grown, trees.leaf_values.data(), data.n_classes);
    if (!kept) return;
    GrownForest smaller = rearranged(grown, *std::move(kept));
    smaller.in_bag = std::move(forest.in_bag);
    forest = std::move(smaller);
}

}  // namespace

GrownForest grow(const TrainingData& data, const GrowOptions& options, std::atomic<std::int64_t>& n_done,
                 const Poll& poll) {
    // A thread has its own memory arena, which the kernel must zero: a few ms of work are faster without one. Ctrl-C
    // then waits for the end, some 150 ms at most.
    const std::int64_t n_tried = options.max_features < 0 ? data.n_features : options.max_features;
    const bool many_threads = options.n_threads > 1;
    const double n_looked_at = static_cast<double>(data.n_rows) * static_cast<double>(n_tried);
    const double n_steps =
        std::max(n_looked_at, static_cast<double>(options.n_draws)) * static_cast<double>(options.n_trees);
    const bool short_work = n_steps < (many_threads ? 1 << 14 : 1 << 19);
    const std::int64_t n_threads = short_work ? 0 : std::max<std::int64_t>(options.n_threads, 1);
    const bool is_binned = options.max_bins > 0;
    const binned::BinnedData bins =
        is_binned ? binned::bin(data, options.max_bins, n_threads, poll) : binned::BinnedData{};
    const exact::SortedData sorted = is_binned ? exact::SortedData{} : exact::sort_columns(data, n_threads, poll);
    const Bootstrap bootstrap(data, options.n_draws, options.draw_scheme);

    const std::int64_t mask_bytes = (data.n_rows + 7) / 8;
    std::vector<std::uint8_t> in_bag(static_cast<std::size_t>(options.keep_in_bag ? options.n_trees * mask_bytes : 0),
                                     0);
    std::vector<GrownForest> trees(static_cast<std::size_t>(options.n_trees));
    parallel_for(
        options.n_trees, n_threads,
        [&](std::int64_t tree, const Cancelled& cancelled) {
            const Path path = Path(options.seed).child(static_cast<std::uint64_t>(tree));
            const GrowOptions of_tree = options.of_tree(tree);
            try {
                const DrawCounts counts = options.n_draws > 0 ? bootstrap(path, cancelled) : DrawCounts{};
                if (options.keep_in_bag) mark_bag(counts, in_bag.data() + tree * mask_bytes);
                trees[static_cast<std::size_t>(tree)] =
                    forest::one_tree(is_binned ? binned::grow_tree(data, bins, of_tree, counts, {path}, cancelled)
                                               : exact::grow_tree(data, sorted, of_tree, counts, path, cancelled));
            } catch (const Stopped&) {
                return;
            }
            ++n_done;
        },
        poll);
    GrownForest forest = concatenated(std::move(trees));
    forest.in_bag = std::move(in_bag);
    if (options.collapse) collapse_in_place(forest, data);
    return forest;
}

}  // namespace hedgerow::grow
