// Trees that the core has made, as a dict of arrays by the names of hedgerow.forest.Forest.
#pragma once

#include <utility>

#include "bindings/arrays.hpp"
#include "forest/grown.hpp"

namespace hedgerow::bindings {

using ArrayDict = nb::typed<nb::dict, nb::str, nb::any>;

// None for arrays that the trees leave out because they follow from the others.
template <class Vector>
nb::object to_optional_array(Vector values) {
    return values.empty() ? nb::none() : nb::cast(to_array(std::move(values)));
}

inline ArrayDict forest_dict(forest::GrownForest&& grown) {
    forest::GrownTree& trees = grown.trees;
    ArrayDict arrays;
    arrays["nodes"] = to_bytes(std::move(trees.nodes));
    arrays["kind"] = to_array(std::move(trees.kind));
    arrays["weight"] = to_optional_array(std::move(trees.weight));
    arrays["payload"] = to_optional_array(std::move(trees.payload));
    arrays["missing"] = to_optional_array(std::move(trees.missing));
    arrays["tree_start"] = to_array(std::move(grown.tree_start));
    arrays["leaf_start"] = to_array(std::move(grown.leaf_start));
    arrays["payload_start"] = to_array(std::move(trees.payload_start));
    arrays["payload_codes"] = to_array(std::move(trees.payload_codes));
    arrays["payload_weights"] = to_array(std::move(trees.payload_weights));
    arrays["payload_means"] = to_optional_array(std::move(trees.payload_means));
    arrays["leaf_values"] = to_array(std::move(trees.leaf_values));
    return arrays;
}

}  // namespace hedgerow::bindings
