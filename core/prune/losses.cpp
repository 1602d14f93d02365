#include "prune/losses.hpp"

#include <cstddef>

#include "forest/edit.hpp"
#include "walk/tree_spread.hpp"

namespace hedgerow::prune {

using walk::TreeSpread;

std::vector<double> losses_as_leaves(const Forest& forest, const Rows& rows, const Judged& judged) {
    const std::vector<std::int64_t> parent = parents(forest);
    std::vector<std::int64_t> leaf_nodes;
    for (std::int64_t node = 0; node < forest.tree_start[forest.n_trees]; ++node)
        if (forest.is_leaf(node)) leaf_nodes.push_back(node);
    std::vector<double> losses(2 * parent.size(), 0.0);
    TreeSpread spread;
    for (std::int64_t tree = 0; tree < forest.n_trees; ++tree)
        for (std::int64_t row = 0; row < rows.n_rows; ++row)
            for (const auto& [leaf, share] : spread(forest, tree, rows[row])) {
                const double weight = judged.weight[row] * share;
                std::int64_t node = leaf_nodes[static_cast<std::size_t>(forest.leaf_start[tree] + leaf)];
                for (; node >= 0; node = parent[static_cast<std::size_t>(node)]) {
                    const double off = judged.truth[row] - judged.answers[node];
                    const double loss = judged.squared ? off * off : off != 0;
                    losses[static_cast<std::size_t>(2 * node)] += weight * loss;
                    losses[static_cast<std::size_t>(2 * node + 1)] += weight * loss * loss;
                }
            }
    return losses;
}

}  // namespace hedgerow::prune
