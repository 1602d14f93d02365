#include "measured/grow/grow_soft.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/random.hpp"
#include "forest/concatenate.hpp"
#include "grow/bootstrap.hpp"
#include "measured/grow/tree_grower.hpp"

namespace hedgerow::measured {
namespace {

using base::Cancelled;
using forest::GrownForest;
using forest::GrownTree;

GrownForest forest_of(GrownTree tree) {
    const auto n_leaves = std::count(tree.kind.begin(), tree.kind.end(), static_cast<std::uint8_t>(0));
    const auto n_nodes = static_cast<std::int64_t>(tree.nodes.size());
    return {std::move(tree), {0, n_nodes}, {0, n_leaves}, {}, {}};
}

}  // namespace

SoftGrown grow_soft(const CellData& data, const SoftGrowOptions& options, std::atomic<std::int64_t>& n_done,
                    const Poll& poll) {
    data::TrainingData rows{};
    rows.weight = data.weight;
    rows.n_rows = data.n_rows;
    const grow::Bootstrap bootstrap(rows, options.n_draws);
    const std::int64_t mask_bytes = (data.n_rows + 7) / 8;
    std::vector<std::uint8_t> in_bag(static_cast<std::size_t>(options.keep_in_bag ? options.n_trees * mask_bytes : 0),
                                     0);
    const auto size = static_cast<std::size_t>(data.n_rows * data.n_outputs);
    std::vector<double> fitted(options.keep_fitted ? static_cast<std::size_t>(options.n_trees) * size : 0);
    std::vector<GrownForest> trees(static_cast<std::size_t>(options.n_trees));
    base::parallel_for(
        options.n_trees, options.n_threads,
        [&](std::int64_t tree, const Cancelled& cancelled) {
            const base::Path path = base::Path(options.seed).child(static_cast<std::uint64_t>(tree));
            try {
                std::vector<double> weight(data.weight, data.weight + data.n_rows);
                if (options.n_draws > 0) {
                    const grow::DrawCounts counts = bootstrap(path, cancelled);
                    std::copy(counts.begin(), counts.end(), weight.begin());
                }
                for (std::size_t row = 0; options.keep_in_bag && row < weight.size(); ++row)
                    if (weight[row] > 0)
                        in_bag[static_cast<std::size_t>(tree * mask_bytes) + row / 8] |=
                            static_cast<std::uint8_t>(1u << row % 8);
                TreeGrower grower(data, options, std::move(weight), path, cancelled);
                trees[static_cast<std::size_t>(tree)] = forest_of(grower.grow());
                if (options.keep_fitted) {
                    const std::vector<double> of_rows = grower.fitted();
                    std::copy(of_rows.begin(), of_rows.end(),
                              fitted.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(tree) * size));
                }
            } catch (const base::Stopped&) {
                return;
            }
            ++n_done;
        },
        poll);
    SoftGrown grown{forest::concatenated(std::move(trees)), std::move(fitted)};
    grown.forest.in_bag = std::move(in_bag);
    return grown;
}

}  // namespace hedgerow::measured
