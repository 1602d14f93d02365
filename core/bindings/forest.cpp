// Bindings of core/forest: checks, edits, and sums over the structure.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/bind.hpp"
#include "bindings/forest_dict.hpp"
#include "forest/check.hpp"
#include "forest/edit.hpp"
#include "forest/structure.hpp"

namespace hedgerow::bindings {

using namespace nb::literals;

namespace {

// rule, position, found
using FaultNumbers = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

void require_every_array(const ForestArrays& arrays) {
    if (!arrays.weight || !arrays.payload || !arrays.missing)
        throw std::invalid_argument("a forest is checked with its weight, payload and missing");
}

FaultNumbers node_fault(const ForestArrays& arrays) {
    require_every_array(arrays);
    const forest::Forest forest = view(arrays);
    const auto n_payloads = static_cast<std::int64_t>(arrays.n_payloads());
    const ReleasedGil release;
    const auto [rule, position, found] = forest::node_fault(forest, n_payloads);
    return {rule, position, found};
}

FaultNumbers link_fault(const ForestArrays& arrays, const In<std::int32_t>& largest_child) {
    require_every_array(arrays);
    const forest::Forest forest = view(arrays);
    if (largest_child.size() != arrays.n_payloads())
        throw std::invalid_argument("largest_child needs a number for each payload");
    const ReleasedGil release;
    const auto [rule, position, found] = forest::link_fault(forest, largest_child.data());
    return {rule, position, found};
}

void require_rows(const In<std::int64_t>& parent, const Array<double, 2>& values) {
    if (parent.size() != values.shape(0)) throw std::invalid_argument("values needs a row for each node");
}

ArrayDict cut(const ForestArrays& forest_arrays, const In<std::uint8_t>& marked, const In<double, 2>& node_values) {
    require_weight(forest_arrays);
    const forest::Forest forest = view(forest_arrays);
    require_nodes(forest, marked.size());
    require_nodes(forest, node_values.shape(0));
    const auto n_values = static_cast<std::int64_t>(node_values.shape(1));
    return forest_dict(rearranged(forest, forest::cut(forest, marked.data(), node_values.data(), n_values)));
}

void require_leaves(const forest::Forest& forest, const In<double, 2>& leaf_values) {
    if (static_cast<std::int64_t>(leaf_values.shape(0)) != forest.leaf_start[forest.n_trees])
        throw std::invalid_argument("values need a row for each leaf");
}

// None where nothing is collapsed.
std::optional<ArrayDict> collapse(const ForestArrays& forest_arrays, const In<double, 2>& leaf_counts) {
    require_weight(forest_arrays);
    const forest::Forest forest = view(forest_arrays);
    require_leaves(forest, leaf_counts);
    const auto n_classes = static_cast<std::int64_t>(leaf_counts.shape(1));
    auto kept = forest::collapse(forest, leaf_counts.data(), n_classes);
    return kept ? std::optional(forest_dict(rearranged(forest, *std::move(kept)))) : std::nullopt;
}

Array<double, 2> node_sums(const ForestArrays& forest_arrays, const In<double, 2>& leaf_values) {
    const forest::Forest forest = view(forest_arrays);
    require_leaves(forest, leaf_values);
    const std::size_t n_values = leaf_values.shape(1);
    const auto n_nodes = static_cast<std::size_t>(forest.tree_start[forest.n_trees]);
    return to_matrix(forest::node_sums(forest, leaf_values.data(), static_cast<std::int64_t>(n_values)), n_nodes,
                     n_values);
}

Array<std::int64_t> ends_after_cut(const In<std::int64_t>& parent, const In<std::uint8_t>& marked) {
    if (parent.size() != marked.size()) throw std::invalid_argument("marked needs a number for each node");
    std::vector<std::int64_t> ends(parent.size());
    forest::ends_after_cut(parent.data(), static_cast<std::int64_t>(parent.size()), marked.data(), ends.data());
    return to_array(std::move(ends));
}

Array<std::int64_t> parents(const ForestArrays& forest_arrays) {
    return to_array(forest::parents(view(forest_arrays)));
}

}  // namespace

void bind_forest(nb::module_& m) {
    using Nodes = In<std::uint8_t, 2>;
    using Bytes = In<std::uint8_t>;
    using Offsets = In<std::int64_t>;
    using Codes = In<std::int32_t>;
    nb::class_<walk::Packing>(m, "Packing", "Packed trees of a forest, once walks have made them.").def(nb::init<>());
    nb::class_<ForestArrays>(m, "ForestArrays",
                             "Arrays of a forest that the functions of this module take; see hedgerow.forest.")
        .def(
            "__init__",
            [](ForestArrays* self, Nodes nodes, Bytes kind, std::optional<In<double>> weight,
               std::optional<Codes> payload, std::optional<Bytes> missing, Offsets tree_start, Offsets leaf_start,
               Offsets payload_start, Codes payload_codes, In<double> payload_weights,
               std::optional<In<double>> payload_means, std::int64_t n_features, bool only_thresholds,
               std::shared_ptr<walk::Packing> packing) {
                new (self) ForestArrays{nodes,         kind,       weight,          payload,           missing,
                                        tree_start,    leaf_start, payload_start,   payload_codes,     payload_weights,
                                        payload_means, n_features, only_thresholds, std::move(packing)};
            },
            nb::kw_only(), "nodes"_a.noconvert(), "kind"_a.noconvert(), "weight"_a.noconvert().none(),
            "payload"_a.noconvert().none(), "missing"_a.noconvert().none(), "tree_start"_a.noconvert(),
            "leaf_start"_a.noconvert(), "payload_start"_a.noconvert(), "payload_codes"_a.noconvert(),
            "payload_weights"_a.noconvert(), "payload_means"_a.noconvert().none(), "n_features"_a, "only_thresholds"_a,
            "packing"_a);
    m.def("node_fault", &node_fault, "forest"_a.noconvert(),
          "The first rule that a node breaks by itself, or -1, and the node; see hedgerow.forest.check.");
    m.def(
        "link_fault", &link_fault, "forest"_a.noconvert(), "largest_child"_a.noconvert(),
        "The first rule that is broken between nodes, or -1, where, and what was counted; see hedgerow.forest.check.");
    m.def("cut", &cut, "forest"_a.noconvert(), "marked"_a.noconvert(), "node_values"_a.noconvert(),
          "Make leaves of the marked nodes; see hedgerow.pruning.cut.");
    m.def("collapse", &collapse, "forest"_a.noconvert(), "leaf_counts"_a.noconvert(),
          "Make leaves of nodes that save no training error; see hedgerow.pruning.collapse.");
    m.def("node_sums", &node_sums, "forest"_a.noconvert(), "leaf_values"_a.noconvert(),
          "Of each node, the sum of the rows of its leaves.");
    m.def("ends_after_cut", &ends_after_cut, "parent"_a.noconvert(), "marked"_a.noconvert(),
          "The node that each node's rows end in when the marked nodes become leaves.");
    m.def("parents", &parents, "forest"_a.noconvert(), "The parent of each node, -1 for roots.");
    m.def(
        "node_depths",
        [](const In<std::int64_t>& parent) {
            std::vector<std::int64_t> depth(parent.size());
            forest::node_depths(parent.data(), static_cast<std::int64_t>(parent.size()), depth.data());
            return to_array(std::move(depth));
        },
        "parent"_a.noconvert(), "Distance of each node from its root.");
    m.def(
        "node_stats",
        [](const In<std::int64_t>& parent, const Array<double, 2>& stats) {
            require_rows(parent, stats);
            if (stats.shape(1) != 3) throw std::invalid_argument("stats needs three columns");
            forest::node_stats(parent.data(), static_cast<std::int64_t>(parent.size()), stats.data());
        },
        "parent"_a.noconvert(), "stats"_a.noconvert(),
        "Merge weight, mean and squared deviations of leaves up to the roots, in place.");
}

}  // namespace hedgerow::bindings
