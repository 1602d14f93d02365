// A tree as contributions read it: the share of each branch, and the columns that it splits, numbered from 0.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "forest/forest.hpp"
#include "forest/splits.hpp"
#include "walk/tree_spread.hpp"

namespace hedgerow::contributions {

using forest::Forest;
using forest::Kind;

struct TreeShares {
    std::int64_t root;
    std::int64_t first_leaf;
    // per node, relative to the root
    std::vector<double> share;             // of the training weight of its parent
    std::vector<std::int32_t> n_children;  // 0: leaf
    std::vector<std::int32_t> slot;        // of the column that it splits; -1: leaf
    std::vector<std::int32_t> columns;     // of each slot
    std::int64_t depth = 0;
    int most_on_path = 0;  // distinct columns

    TreeShares(const Forest& forest, std::int64_t tree)
        : root(forest.tree_start[tree]), first_leaf(forest.leaf_start[tree]) {
        const auto n_nodes = static_cast<std::size_t>(forest.tree_start[tree + 1] - root);
        share.assign(n_nodes, 0.0);
        share[0] = 1.0;
        n_children.assign(n_nodes, 0);
        slot.assign(n_nodes, -1);
        for (std::size_t node = 0; node < n_nodes; ++node) {
            const std::int64_t at = root + static_cast<std::int64_t>(node);
            if (forest.is_leaf(at)) continue;
            if (forest.kind[at] == Kind::oblique)
                throw std::invalid_argument("an oblique split belongs to no single column");
            n_children[node] = static_cast<std::int32_t>(forest::n_children(forest, at));
            columns.push_back(forest.nodes[at].feature);
            walk::for_each_part(forest, root, at, 1.0, [&](std::int64_t child, double part) {
                share[static_cast<std::size_t>(child - root)] = part;
            });
        }
        std::sort(columns.begin(), columns.end());
        columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
        for (std::size_t node = 0; node < n_nodes; ++node) {
            if (n_children[node] == 0) continue;
            const std::int32_t column = forest.nodes[root + static_cast<std::int64_t>(node)].feature;
            slot[node] =
                static_cast<std::int32_t>(std::lower_bound(columns.begin(), columns.end(), column) - columns.begin());
        }
        measure_paths(forest);
    }

    std::int64_t first_child(const Forest& forest, std::int64_t node) const {
        return forest.nodes[root + node].first_child;
    }
    bool is_leaf(std::int64_t node) const { return n_children[static_cast<std::size_t>(node)] == 0; }
    std::int64_t n_nodes() const { return static_cast<std::int64_t>(share.size()); }

private:
    void measure_paths(const Forest& forest) {
        struct Visit {
            std::int64_t node;
            std::int32_t next;
        };
        std::vector<std::int32_t> times(columns.size(), 0);
        std::vector<Visit> path;
        int on_path = 0;
        const auto enter = [&](std::int64_t node) {
            if (!is_leaf(node)) on_path += times[static_cast<std::size_t>(slot[static_cast<std::size_t>(node)])]++ == 0;
            path.push_back({node, 0});
            depth = std::max(depth, static_cast<std::int64_t>(path.size()) - 1);
            most_on_path = std::max(most_on_path, on_path);
        };
        enter(0);
        while (!path.empty()) {
            Visit& last = path.back();
            const auto node = static_cast<std::size_t>(last.node);
            if (last.next < n_children[node]) {
                enter(first_child(forest, last.node) + last.next++);
                continue;
            }
            if (slot[node] >= 0) on_path -= --times[static_cast<std::size_t>(slot[node])] == 0;
            path.pop_back();
        }
    }
};

}  // namespace hedgerow::contributions
