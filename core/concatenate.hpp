// Trees one after the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "grow.hpp"

namespace hedgerow {

template <class T>
void append(std::vector<T>& all, const std::vector<T>& part) {
    all.insert(all.end(), part.begin(), part.end());
}

inline void concatenate(GrownForest& forest, std::vector<GrownTree>& trees) {
    for (GrownTree& tree : trees) {
        const auto first_payload = static_cast<std::int32_t>(forest.trees.payload_start.size()) - 1;
        const std::int64_t first_code = forest.trees.payload_start.back();
        for (std::int32_t& payload : tree.payload)
            if (payload >= 0) payload += first_payload;
        for (std::size_t i = 1; i < tree.payload_start.size(); ++i)
            forest.trees.payload_start.push_back(first_code + tree.payload_start[i]);
        const std::int64_t n_leaves = std::count(tree.feature.begin(), tree.feature.end(), leaf_feature);
        forest.leaf_start.push_back(forest.leaf_start.back() + n_leaves);
        forest.tree_start.push_back(forest.tree_start.back() + static_cast<std::int64_t>(tree.kind.size()));
        append(forest.trees.threshold, tree.threshold);
        append(forest.trees.weight, tree.weight);
        append(forest.trees.feature, tree.feature);
        append(forest.trees.first_child, tree.first_child);
        append(forest.trees.payload, tree.payload);
        append(forest.trees.kind, tree.kind);
        append(forest.trees.missing, tree.missing);
        append(forest.trees.payload_codes, tree.payload_codes);
        append(forest.trees.leaf_values, tree.leaf_values);
        const std::int64_t first_row = forest.trees.leaf_rows_start.back();
        for (std::size_t i = 1; i < tree.leaf_rows_start.size(); ++i)
            forest.trees.leaf_rows_start.push_back(first_row + tree.leaf_rows_start[i]);
        append(forest.trees.leaf_rows, tree.leaf_rows);
        append(forest.trees.leaf_row_weights, tree.leaf_row_weights);
        tree = {};
    }
}

}  // namespace hedgerow
