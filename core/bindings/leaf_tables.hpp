// Leaf tables and their outputs from arrays of NumPy.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "bindings/arrays.hpp"
#include "walk/walk.hpp"

namespace hedgerow::bindings {

// values, linked, links, ops; the row of each leaf, None where each has its own; and out: (n_rows, 1, n_columns) to
// fold trees, (n_rows, n_trees, n_columns) to keep them apart
using TableArrays = std::tuple<In<double, 2>, In<double, 2>, In<std::uint8_t>, In<std::uint8_t>,
                               std::optional<In<std::uint32_t>>, Array<double, 3>>;

inline walk::LeafTable leaf_table(const TableArrays& arrays) {
    const auto& [values, linked, links, ops, row_of, out] = arrays;
    return {values.data(),
            linked.data(),
            reinterpret_cast<const walk::Link*>(links.data()),
            reinterpret_cast<const walk::Op*>(ops.data()),
            row_of ? row_of->data() : nullptr,
            static_cast<std::int64_t>(values.shape(1)),
            out.data(),
            static_cast<std::int64_t>(out.shape(1) * out.shape(2)),
            out.shape(1) > 1 ? static_cast<std::int64_t>(out.shape(2)) : 0};
}

inline void require_shapes(const forest::Forest& forest, const TableArrays& arrays, std::int64_t n_rows,
                           std::int64_t first_tree, std::int64_t last_tree) {
    const auto& [values, linked, links, ops, row_of, out] = arrays;
    const auto n_leaves = static_cast<std::size_t>(forest.leaf_start[last_tree] - forest.leaf_start[first_tree]);
    const std::size_t n_columns = values.shape(1);
    const bool fits = (row_of ? row_of->size() : values.shape(0)) == n_leaves && linked.shape(0) == values.shape(0) &&
                      linked.shape(1) == n_columns && links.size() == n_columns && ops.size() == n_columns &&
                      out.shape(0) == static_cast<std::size_t>(n_rows) && out.shape(2) == n_columns &&
                      (out.shape(1) == 1 || out.shape(1) == static_cast<std::size_t>(last_tree - first_tree));
    if (!fits) throw std::invalid_argument("a leaf table or its output has the wrong shape");
}

}  // namespace hedgerow::bindings
