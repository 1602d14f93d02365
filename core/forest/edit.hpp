// Forests made of another: their nodes ask what nodes of that one ask, or are leaves.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "forest/forest.hpp"
#include "forest/grown.hpp"

namespace hedgerow::forest {

// Per node of the new forest, but for the last two.
struct Rearrangement {
    std::vector<std::int64_t> source;       // the node of the given forest whose question is asked
    std::vector<std::int32_t> first_child;  // relative to the tree's root; 0 in a leaf
    std::vector<double> weight;
    std::vector<std::int64_t> tree_start;
    std::vector<double> leaf_values;  // of the leaves, in order
};

struct RearrangedForest {
    GrownForest forest;
    std::vector<double> payload_weights;  // empty without oblique questions
};

RearrangedForest rearranged(const Forest& forest, Rearrangement nodes);

// The forest in which the marked nodes are leaves: `node_values` has the values of all nodes, were they leaves, `n_values`
// each. What is below a marked node is left out.
Rearrangement cut(const Forest& forest, const std::uint8_t* marked, const double* node_values, std::int64_t n_values);

// The parent of each node, -1 for roots.
std::vector<std::int64_t> parents(const Forest& forest);

// Of each node, the sum of what its leaves have, `n_values` each.
std::vector<double> node_sums(const Forest& forest, const double* leaf_values, std::int64_t n_values);

// The forest in which nodes are leaves that save no training error: whose leaves make at least as many errors as they would,
// less a thousandth of one (C4.5, as Weka's J48 does it). Nothing if there are none.
std::optional<Rearrangement> collapse(const Forest& forest, const double* leaf_counts, std::int64_t n_classes);

}  // namespace hedgerow::forest
