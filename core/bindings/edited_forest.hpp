// Forests that were edited, as arrays.
#pragma once

#include <nanobind/stl/tuple.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "bindings/arrays.hpp"
#include "forest/edit.hpp"

namespace hedgerow::bindings {

// As ForestArrays without the last two, and the values of leaves.
using RearrangedArrays = std::tuple<Array<std::uint8_t, 2>, Array<double>, Array<std::int32_t>, Array<std::uint8_t>,
                                    Array<std::uint8_t>, Array<std::int64_t>, Array<std::int64_t>, Array<std::int64_t>,
                                    Array<std::int32_t>, Array<double>, Array<double>>;

inline RearrangedArrays to_arrays(forest::RearrangedForest made) {
    forest::GrownTree& trees = made.forest.trees;
    return {to_bytes(std::move(trees.nodes)),
            to_array(std::move(trees.weight)),
            to_array(std::move(trees.payload)),
            to_array(std::move(trees.kind)),
            to_array(std::move(trees.missing)),
            to_array(std::move(made.forest.tree_start)),
            to_array(std::move(made.forest.leaf_start)),
            to_array(std::move(trees.payload_start)),
            to_array(std::move(trees.payload_codes)),
            to_array(std::move(made.payload_weights)),
            to_array(std::move(trees.leaf_values))};
}

inline void require_nodes(const forest::Forest& forest, std::size_t n_nodes) {
    if (static_cast<std::int64_t>(n_nodes) != forest.tree_start[forest.n_trees])
        throw std::invalid_argument("marks and values need an entry for each node");
}

}  // namespace hedgerow::bindings
