// The finished forest as the core sees it: the arrays of hedgerow.Forest, whose invariants have been checked.
#pragma once

#include <cstdint>

namespace hedgerow::forest {

// The numbers are those of hedgerow.nodes.
enum class Kind : std::uint8_t { leaf, threshold, one_against_rest, subset, multiway, oblique };
enum class Missing : std::uint8_t { spread, first_child, last_child, own_branch };

inline constexpr std::int32_t leaf_feature = -1;
inline constexpr std::int32_t oblique_feature = -2;
inline constexpr std::int32_t no_payload = -1;

// The fields that every step of a walk reads; four nodes to a cache line.
struct Node {
    double threshold;
    std::int32_t feature;
    std::int32_t first_child;  // relative to the tree's root; in a leaf its number within the tree
};
static_assert(sizeof(Node) == 16);

struct Forest {
    // per node, all trees concatenated
    const Node* nodes;
    const double* weight;         // null: no training row had a missing value; rows that have one are spread equally
    const std::int32_t* payload;  // null: no node has one
    const Kind* kind;
    const Missing* missing;  // null: all nodes spread
    // per tree, n_trees + 1 each
    const std::int64_t* tree_start;
    const std::int64_t* leaf_start;
    // ragged
    const std::int64_t* payload_start;
    const std::int32_t* payload_codes;  // multiway: child of each category; subset: bits; oblique: features
    const double* payload_weights;      // oblique: one weight for each feature in payload_codes
    const double* payload_means;        // oblique: what stands in for a missing value; null: nothing does

    std::int64_t n_trees;
    std::int64_t n_features;
    bool only_thresholds;  // every node is a threshold or a leaf

    bool is_leaf(std::int64_t node) const { return nodes[node].feature == leaf_feature; }
    bool is_threshold(std::int64_t node) const { return only_thresholds || kind[node] == Kind::threshold; }
    std::int32_t payload_of(std::int64_t node) const { return payload == nullptr ? no_payload : payload[node]; }
    Missing missing_of(std::int64_t node) const { return missing == nullptr ? Missing::spread : missing[node]; }
};

}  // namespace hedgerow::forest
