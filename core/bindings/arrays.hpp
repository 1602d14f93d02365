// Arrays of NumPy as the core sees them, and its vectors as arrays. Only the files of this folder know Python: arrays
// in, arrays out, one release of the interpreter lock a call.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/bulk.hpp"
#include "bindings/gil.hpp"
#include "data/rows.hpp"
#include "forest/forest.hpp"
#include "walk/packing.hpp"

namespace hedgerow::bindings {

namespace nb = nanobind;

template <class T, int n_dim = 1>
using Array = nb::ndarray<T, nb::numpy, nb::ndim<n_dim>, nb::c_contig, nb::device::cpu>;
template <class T, int n_dim = 1>
using In = nb::ndarray<const T, nb::numpy, nb::ndim<n_dim>, nb::c_contig, nb::device::cpu>;

// Arrays of a hedgerow.forest.Forest by name; without a value where forest::Forest has a null. Made once per forest:
// converting each array anew would take longer than walking a row.
struct ForestArrays {
    In<std::uint8_t, 2> nodes;  // the bytes of each node in a row
    In<std::uint8_t> kind;
    std::optional<In<double>> weight;
    std::optional<In<std::int32_t>> payload;
    std::optional<In<std::uint8_t>> missing;
    In<std::int64_t> tree_start, leaf_start, payload_start;
    In<std::int32_t> payload_codes;
    In<double> payload_weights;
    std::optional<In<double>> payload_means;
    std::int64_t n_features;
    bool only_thresholds;
    std::shared_ptr<walk::Packing> packing;

    std::size_t n_payloads() const { return payload_start.size() - 1; }
};

// Column-major, as growth reads it.
using Columns = nb::ndarray<const double, nb::numpy, nb::ndim<2>, nb::f_contig, nb::device::cpu>;

inline forest::Forest view(const ForestArrays& arrays) {
    const auto data_of = [](const auto& optional) { return optional ? optional->data() : nullptr; };
    return {.nodes = reinterpret_cast<const forest::Node*>(arrays.nodes.data()),
            .weight = data_of(arrays.weight),
            .payload = data_of(arrays.payload),
            .kind = reinterpret_cast<const forest::Kind*>(arrays.kind.data()),
            .missing = reinterpret_cast<const forest::Missing*>(data_of(arrays.missing)),
            .tree_start = arrays.tree_start.data(),
            .leaf_start = arrays.leaf_start.data(),
            .payload_start = arrays.payload_start.data(),
            .payload_codes = arrays.payload_codes.data(),
            .payload_weights = arrays.payload_weights.data(),
            .payload_means = data_of(arrays.payload_means),
            .n_trees = static_cast<std::int64_t>(arrays.tree_start.size()) - 1,
            .n_features = arrays.n_features,
            .only_thresholds = arrays.only_thresholds};
}

inline data::Rows view(const In<double, 2>& X) {
    return {X.data(), static_cast<std::int64_t>(X.shape(0)), static_cast<std::int64_t>(X.shape(1))};
}

inline void require_weight(const ForestArrays& arrays) {
    if (!arrays.weight) throw std::invalid_argument("the weight of each node is needed");
}

inline void require_nodes(const forest::Forest& forest, std::size_t n_nodes) {
    if (static_cast<std::int64_t>(n_nodes) != forest.tree_start[forest.n_trees])
        throw std::invalid_argument("marks and values need an entry for each node");
}

inline void require_width(const ForestArrays& forest, const In<double, 2>& X) {
    if (static_cast<std::int64_t>(X.shape(1)) != forest.n_features)
        throw std::invalid_argument("X and the forest differ in their number of features");
}

// Handles Ctrl-C while the lock is released.
inline void poll_signals() {
    const HeldGil lock;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// Keeps a vector alive for the array that shows it.
template <class Vector>
nb::capsule owner_of(std::unique_ptr<Vector> values) {
    return nb::capsule(values.release(), [](void* p) noexcept { delete static_cast<Vector*>(p); });
}

// Hands a vector over to Python: the array owns it.
template <class T, class Allocator>
Array<T> to_array(std::vector<T, Allocator> values) {
    auto owned = std::make_unique<std::vector<T, Allocator>>(std::move(values));
    T* data = owned->data();
    const std::size_t size = owned->size();
    return Array<T>(data, {size}, owner_of(std::move(owned)));
}

// The same for the numbers of a matrix, row by row.
template <class T>
Array<T, 2> to_matrix(std::vector<T> values, std::size_t n_rows, std::size_t n_columns) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    T* data = owned->data();
    return Array<T, 2>(data, {n_rows, n_columns}, owner_of(std::move(owned)));
}

// Hands nodes over to Python, a row of bytes each.
inline Array<std::uint8_t, 2> to_bytes(base::Bulk<forest::Node> nodes) {
    auto owned = std::make_unique<base::Bulk<forest::Node>>(std::move(nodes));
    auto* data = reinterpret_cast<std::uint8_t*>(owned->data());
    const std::size_t size = owned->size();
    return Array<std::uint8_t, 2>(data, {size, sizeof(forest::Node)}, owner_of(std::move(owned)));
}

}  // namespace hedgerow::bindings
