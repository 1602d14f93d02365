// Arrays of NumPy as the core sees them, and its vectors as arrays. Only the files of this folder know Python: arrays
// in, arrays out, one release of the interpreter lock a call.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "base/bulk.hpp"
#include "bindings/gil.hpp"
#include "data/rows.hpp"
#include "forest/forest.hpp"

namespace hedgerow::bindings {

namespace nb = nanobind;

template <class T, int n_dim = 1>
using Array = nb::ndarray<T, nb::numpy, nb::ndim<n_dim>, nb::c_contig, nb::device::cpu>;
template <class T, int n_dim = 1>
using In = nb::ndarray<const T, nb::numpy, nb::ndim<n_dim>, nb::c_contig, nb::device::cpu>;

// hedgerow.forest.Forest.arrays: in the order of forest::Forest, empty where that has a null.
using ForestArrays =
    std::tuple<In<std::uint8_t, 2>, In<double>, In<std::int32_t>, In<std::uint8_t>, In<std::uint8_t>, In<std::int64_t>,
               In<std::int64_t>, In<std::int64_t>, In<std::int32_t>, In<double>, std::int64_t, bool>;

// Column-major, as growth reads it.
using Columns = nb::ndarray<const double, nb::numpy, nb::ndim<2>, nb::f_contig, nb::device::cpu>;

inline forest::Forest view(const ForestArrays& arrays) {
    const auto& [nodes, weight, payload, kind, missing, tree_start, leaf_start, payload_start, payload_codes,
                 payload_weights, n_features, only_thresholds] = arrays;
    const auto if_any = [](const auto& column) { return column.size() == 0 ? nullptr : column.data(); };
    return {reinterpret_cast<const forest::Node*>(nodes.data()),
            if_any(weight),
            if_any(payload),
            reinterpret_cast<const forest::Kind*>(kind.data()),
            reinterpret_cast<const forest::Missing*>(if_any(missing)),
            tree_start.data(),
            leaf_start.data(),
            payload_start.data(),
            payload_codes.data(),
            payload_weights.data(),
            static_cast<std::int64_t>(tree_start.size()) - 1,
            n_features,
            only_thresholds};
}

inline data::Rows view(const In<double, 2>& X) {
    return {X.data(), static_cast<std::int64_t>(X.shape(0)), static_cast<std::int64_t>(X.shape(1))};
}

inline void require_width(const ForestArrays& forest, const In<double, 2>& X) {
    if (static_cast<std::int64_t>(X.shape(1)) != std::get<10>(forest))
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

// The same for nodes, a row of bytes each.
inline Array<std::uint8_t, 2> to_bytes(base::Bulk<forest::Node> nodes) {
    auto owned = std::make_unique<base::Bulk<forest::Node>>(std::move(nodes));
    auto* data = reinterpret_cast<std::uint8_t*>(owned->data());
    const std::size_t size = owned->size();
    return Array<std::uint8_t, 2>(data, {size, sizeof(forest::Node)}, owner_of(std::move(owned)));
}

}  // namespace hedgerow::bindings
