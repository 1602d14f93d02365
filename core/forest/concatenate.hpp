// Concatenates forests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "forest/grown.hpp"

namespace hedgerow::forest {

template <class T, class Allocator>
void append(std::vector<T, Allocator>& all, const std::vector<T, Allocator>& part) {
    all.insert(all.end(), part.begin(), part.end());
}

// Starts count from 0 in each part.
inline void append_starts(std::vector<std::int64_t>& all, const std::vector<std::int64_t>& part) {
    const std::int64_t before = all.back();
    for (std::size_t i = 1; i < part.size(); ++i) all.push_back(before + part[i]);
}

inline void append(GrownTree& all, GrownTree& part) {
    const auto first_payload = static_cast<std::int32_t>(all.payload_start.size()) - 1;
    for (std::int32_t& payload : part.payload)
        if (payload >= 0) payload += first_payload;
    append(all.nodes, part.nodes);
    append(all.weight, part.weight);
    append(all.payload, part.payload);
    append(all.kind, part.kind);
    append(all.missing, part.missing);
    append_starts(all.payload_start, part.payload_start);
    for (const auto of_codes : {&GrownTree::payload_weights, &GrownTree::payload_means}) {
        if ((all.*of_codes).empty() && (part.*of_codes).empty()) continue;
        fill_up(all.*of_codes, all);
        fill_up(part.*of_codes, part);
        append(all.*of_codes, part.*of_codes);
    }
    append(all.payload_codes, part.payload_codes);
    append(all.leaf_values, part.leaf_values);
    append_starts(all.leaf_rows_start, part.leaf_rows_start);
    append(all.leaf_rows, part.leaf_rows);
    append(all.leaf_row_weights, part.leaf_row_weights);
}

inline GrownForest one_tree(GrownTree tree) {
    const auto n_leaves = std::count_if(tree.nodes.begin(), tree.nodes.end(),
                                        [](const Node& node) { return node.feature == leaf_feature; });
    const auto n_nodes = static_cast<std::int64_t>(tree.nodes.size());
    return {std::move(tree), {0, n_nodes}, {0, n_leaves}, {}, {}};
}

// Memory is reserved once, and each part is freed once it is copied. By one thread: threads that allocate at the same
// time wait for each other.
inline GrownForest concatenated(std::vector<GrownForest> parts) {
    if (parts.size() == 1) return std::move(parts[0]);
    GrownForest forest;
    const auto reserve = [&](auto column) {
        std::size_t size = 0;
        for (const GrownForest& part : parts) size += (part.trees.*column).size();
        (forest.trees.*column).reserve(size);
    };
    reserve(&GrownTree::nodes);
    reserve(&GrownTree::weight);
    reserve(&GrownTree::payload);
    reserve(&GrownTree::kind);
    reserve(&GrownTree::missing);
    reserve(&GrownTree::leaf_values);
    reserve(&GrownTree::leaf_rows);
    reserve(&GrownTree::leaf_row_weights);
    for (GrownForest& part : parts) {
        append(forest.trees, part.trees);
        append_starts(forest.tree_start, part.tree_start);
        append_starts(forest.leaf_start, part.leaf_start);
        part = {};
    }
    return forest;
}

}  // namespace hedgerow::forest
