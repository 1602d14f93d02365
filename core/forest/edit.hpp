// Forests made from another one: their nodes have splits of its nodes, or are leaves.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "forest/forest.hpp"
#include "forest/grown.hpp"

namespace hedgerow::forest {

// Per node of the new forest, but for the last two.
struct Rearrangement {
    std::vector<std::int64_t> source;       // the node of the given forest whose split it has
    std::vector<std::int32_t> first_child;  // relative to the tree's root; 0 in a leaf
    std::vector<double> weight;
    std::vector<std::int64_t> tree_start;
    std::vector<double> leaf_values;  // of the leaves, in order
};

GrownForest rearranged(const Forest& forest, Rearrangement nodes);

// Makes leaves of the marked nodes and drops what is below them. `node_values`: `n_values` numbers for each node, were
// it a leaf.
Rearrangement cut(const Forest& forest, const std::uint8_t* marked, const double* node_values, std::int64_t n_values);

// The parent of each node, -1 for roots.
std::vector<std::int64_t> parents(const Forest& forest);

// Sum over the leaves below each node, `n_values` each.
std::vector<double> node_sums(const Forest& forest, const double* leaf_values, std::int64_t n_values);

// Makes leaves of nodes that save no training error: whose leaves make at least as many errors as they would, less a
// thousandth of one (C4.5, as Weka's J48 does it). Nothing if there are none.
std::optional<Rearrangement> collapse(const Forest& forest, const double* leaf_counts, std::int64_t n_classes);

}  // namespace hedgerow::forest
