// Rows that reach several leaves of a tree.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "forest/forest.hpp"
#include "forest/splits.hpp"

namespace hedgerow::walk {

using forest::Forest;
using forest::no_child;

// Splits a weight over the children of a node in proportion to their training weights, equally where those are 0; calls
// use(child, part). Parts of 0 are left out.
template <class Use>
void for_each_part(const Forest& forest, std::int64_t root, std::int64_t node, double weight, const Use& use) {
    const std::int64_t first = root + forest.nodes[node].first_child;
    const std::int64_t n = n_children(forest, node);
    double scale = 1.0, total = 0.0;
    if (forest.weight != nullptr) total = std::accumulate(forest.weight + first, forest.weight + first + n, 0.0);
    if (std::isinf(total)) {
        scale = 0x1p-40;
        total = 0;
        for (std::int64_t child = first; child < first + n; ++child) total += scale * forest.weight[child];
    }
    for (std::int64_t child = first; child < first + n; ++child) {
        const double share = total > 0 ? scale * forest.weight[child] / total : 1.0 / static_cast<double>(n);
        if (share * weight > 0) use(child, share * weight);
    }
}

// The leaves of one tree that a row reaches, with their weights.
class TreeSpread {
public:
    using Reached = std::pair<std::int32_t, double>;

    // Leaves ascending. Branches of weight 0 are not followed, so no zero is ever multiplied.
    const std::vector<Reached>& operator()(const Forest& forest, std::int64_t tree, const double* row) {
        const std::int64_t root = forest.tree_start[tree];
        reached_.clear();
        stack_.assign(1, {root, 1.0});
        while (!stack_.empty()) {
            auto [node, weight] = stack_.back();
            stack_.pop_back();
            std::int64_t child = 0;
            while (!forest.is_leaf(node) && (child = child_number(forest, node, row)) != no_child)
                node = root + forest.nodes[node].first_child + child;
            if (forest.is_leaf(node))
                reached_.emplace_back(forest.nodes[node].first_child, weight);
            else
                push_children(forest, root, node, weight);
        }
        std::sort(reached_.begin(), reached_.end());
        return reached_;
    }

private:
    void push_children(const Forest& forest, std::int64_t root, std::int64_t node, double weight) {
        for_each_part(forest, root, node, weight,
                      [&](std::int64_t child, double part) { stack_.emplace_back(child, part); });
    }

    std::vector<std::pair<std::int64_t, double>> stack_;
    std::vector<Reached> reached_;
};

// The leaf of a row that must reach one: at a node that would spread it, down the heaviest child.
inline std::int32_t heaviest_leaf(const Forest& forest, std::int64_t tree, const double* row) {
    const std::int64_t root = forest.tree_start[tree];
    std::int64_t node = root;
    while (!forest.is_leaf(node)) {
        std::int64_t child = child_number(forest, node, row);
        if (child == no_child) child = heaviest_child(forest, root, node);
        node = root + forest.nodes[node].first_child + child;
    }
    return forest.nodes[node].first_child;
}

}  // namespace hedgerow::walk
