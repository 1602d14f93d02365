// Sums over the structure of a forest. Children come after their parents, so each is one loop.
#pragma once

#include <algorithm>
#include <cstdint>

namespace hedgerow::forest {

// `parent` holds the absolute position of each node's parent, -1 for roots.

inline void node_depths(const std::int64_t* parent, std::int64_t n_nodes, std::int64_t* depth) {
    for (std::int64_t node = 0; node < n_nodes; ++node) depth[node] = parent[node] < 0 ? 0 : depth[parent[node]] + 1;
}

// Top-down: the node that each node's rows end in when the marked nodes become leaves: its topmost marked ancestor or
// itself.
inline void ends_after_cut(const std::int64_t* parent, std::int64_t n_nodes, const std::uint8_t* marked,
                           std::int64_t* end) {
    for (std::int64_t node = 0; node < n_nodes; ++node)
        end[node] = parent[node] >= 0 && marked[end[parent[node]]] ? end[parent[node]] : node;
}

// Bottom-up: which inner nodes should be leaves, because that costs no more than their split and what is left of their
// children. `costs` in: of the splits, 0 in leaves; out: of what is left of each subtree.
inline void cheapest_leaves(const std::int64_t* parent, std::int64_t n_nodes, const std::uint8_t* inner,
                            const double* as_leaf, double tolerance, double* costs, std::uint8_t* cut) {
    for (std::int64_t node = n_nodes - 1; node >= 0; --node) {
        cut[node] = inner[node] && as_leaf[node] <= costs[node] + tolerance;
        if (cut[node] || !inner[node]) costs[node] = as_leaf[node];
        if (parent[node] >= 0) costs[parent[node]] += costs[node];
    }
}

// In: values of leaves, 0 elsewhere. Out: every node has the sum over its leaves.
inline void node_sums(const std::int64_t* parent, std::int64_t n_nodes, std::int64_t n_columns, double* values) {
    for (std::int64_t node = n_nodes - 1; node >= 0; --node) {
        if (parent[node] < 0) continue;
        for (std::int64_t c = 0; c < n_columns; ++c)
            values[parent[node] * n_columns + c] += values[node * n_columns + c];
    }
}

// Weight, mean, sum of squared deviations: (weight, mean, squares) of leaves in, of all nodes out. Pairs are merged
// by the update of Chan, Golub, LeVeque (1979), which loses no digits where the mean is large.
inline void node_stats(const std::int64_t* parent, std::int64_t n_nodes, double* stats) {
    for (std::int64_t node = n_nodes - 1; node >= 0; --node) {
        if (parent[node] < 0) continue;
        double* up = stats + 3 * parent[node];
        const double* own = stats + 3 * node;
        const double weight = up[0] + own[0];
        if (weight <= 0) continue;
        if (up[0] == 0) {  // the first child: nothing to merge with
            std::copy(own, own + 3, up);
            continue;
        }
        const double delta = own[1] - up[1];
        up[1] += delta * (own[0] / weight);
        up[2] += own[2] + delta * delta * (up[0] * (own[0] / weight));
        up[0] = weight;
    }
}

}  // namespace hedgerow::forest
