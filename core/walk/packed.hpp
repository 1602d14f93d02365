// Eight bytes a node, for walking many rows down trees of thresholds.
//
// A double is replaced by a 32-bit key so that most comparisons need neither the row's double nor the node's. With m
// the double's bits as an integer in numerical order, a row's key is 2·(m >> 33), plus 1 if a bit was lost; a
// threshold's key is 2·(m >> 33) + 1 always. Then
//     key(x) < key(t)  implies  x <= t,        key(x) > key(t)  implies  x > t,
// and only where the keys are equal (x and t agree in sign, exponent and 19 bits of mantissa) the doubles decide.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/float_order.hpp"
#include "forest/forest.hpp"

namespace hedgerow::walk {

using base::in_numerical_order;
using forest::Forest;
using forest::Node;

inline std::uint32_t row_key(double value) {
    const std::uint64_t m = in_numerical_order(value);
    const bool lost = (m & ((std::uint64_t{1} << 33) - 1)) != 0;
    return static_cast<std::uint32_t>(m >> 33 << 1 | lost);
}

inline std::uint32_t threshold_key(double value) {
    return static_cast<std::uint32_t>(in_numerical_order(value) >> 33 << 1 | 1);
}

// Above every key of a number: no row goes right, so a leaf leads to itself and a walk may overshoot.
inline constexpr std::uint32_t leaf_key = ~std::uint32_t{0};

struct PackedNode {
    std::uint32_t key;
    std::uint16_t feature;
    std::uint16_t to_child;  // from this node to its first child; 0 in a leaf
};
static_assert(sizeof(PackedNode) == 8);

class PackedForest {
public:
    // None where a node is more than a threshold, or a feature or the offset of a child does not fit 16 bits.
    static std::optional<PackedForest> of(const Forest& forest, std::int64_t first_tree, std::int64_t last_tree) {
        if (!forest.only_thresholds) return std::nullopt;
        PackedForest packed;
        packed.first_node_ = forest.tree_start[first_tree];
        const auto n_nodes = static_cast<std::size_t>(forest.tree_start[last_tree] - packed.first_node_);
        packed.nodes_.reserve(n_nodes);
        packed.leaf_numbers_.reserve(n_nodes);
        for (std::int64_t tree = first_tree; tree < last_tree; ++tree)
            if (!packed.append(forest, tree)) return std::nullopt;
        return packed;
    }

    const PackedNode* tree(const Forest& forest, std::int64_t tree) const {
        return nodes_.data() + (forest.tree_start[tree] - first_node_);
    }
    const std::int32_t* leaf_numbers(const Forest& forest, std::int64_t tree) const {
        return leaf_numbers_.data() + (forest.tree_start[tree] - first_node_);
    }

private:
    bool append(const Forest& forest, std::int64_t tree) {
        const std::int64_t root = forest.tree_start[tree];
        for (std::int64_t node = root; node < forest.tree_start[tree + 1]; ++node) {
            const Node& test = forest.nodes[node];
            leaf_numbers_.push_back(test.first_child);
            if (forest.is_leaf(node)) {
                nodes_.push_back({leaf_key, 0, 0});
                continue;
            }
            const std::int64_t to_child = root + test.first_child - node;
            if (test.feature > 0xFFFF || to_child > 0xFFFF) return false;
            nodes_.push_back({threshold_key(test.threshold), static_cast<std::uint16_t>(test.feature),
                              static_cast<std::uint16_t>(to_child)});
        }
        return true;
    }

    std::int64_t first_node_ = 0;
    std::vector<PackedNode> nodes_;
    std::vector<std::int32_t> leaf_numbers_;
};

}  // namespace hedgerow::walk
