// Leaf tables and their outputs from arrays of NumPy.
#pragma once

#include <nanobind/stl/optional.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "bindings/arrays.hpp"
#include "walk/walk.hpp"

namespace hedgerow::bindings {

// Arrays of a hedgerow.walk.LeafTable. Made once per table: converting each array anew would take longer than walking a
// row.
struct TableArrays {
    In<double, 2> values, linked;
    In<std::uint8_t> links, ops;
    std::optional<In<std::uint32_t>> row_of;  // the row of each leaf, None where each has its own

    std::size_t n_leaves() const { return row_of ? row_of->size() : values.shape(0); }
    std::size_t n_columns() const { return values.shape(1); }
};

// (n_rows, n_columns) to fold trees, (n_rows, n_trees, n_columns) to keep them apart
using FoldOut = nb::ndarray<double, nb::numpy, nb::c_contig, nb::device::cpu>;

inline void require_shapes(const TableArrays& table) {
    if (table.linked.shape(0) != table.values.shape(0) || table.linked.shape(1) != table.n_columns() ||
        table.links.size() != table.n_columns() || table.ops.size() != table.n_columns())
        throw std::invalid_argument("the arrays of a leaf table have different shapes");
}

inline void require_shapes(const forest::Forest& forest, const TableArrays& table, const FoldOut& out,
                           std::int64_t n_rows, std::int64_t first_tree, std::int64_t last_tree) {
    const auto n_leaves = static_cast<std::size_t>(forest.leaf_start[last_tree] - forest.leaf_start[first_tree]);
    const std::size_t n_dim = out.ndim();
    const bool fits = table.n_leaves() == n_leaves && (n_dim == 2 || n_dim == 3) &&
                      out.shape(0) == static_cast<std::size_t>(n_rows) && out.shape(n_dim - 1) == table.n_columns() &&
                      (n_dim == 2 || out.shape(1) == static_cast<std::size_t>(last_tree - first_tree));
    if (!fits) throw std::invalid_argument("a leaf table or its output has the wrong shape");
}

inline walk::LeafTable leaf_table(const TableArrays& table, const FoldOut& out) {
    const auto n_columns = static_cast<std::int64_t>(table.n_columns());
    const bool apart = out.ndim() == 3;
    return {table.values.data(),
            table.linked.data(),
            reinterpret_cast<const walk::Link*>(table.links.data()),
            reinterpret_cast<const walk::Op*>(table.ops.data()),
            table.row_of ? table.row_of->data() : nullptr,
            n_columns,
            out.data(),
            apart ? static_cast<std::int64_t>(out.shape(1)) * n_columns : n_columns,
            apart ? n_columns : 0};
}

// Tables of the leaves of some trees, each with its output for the rows.
inline std::vector<walk::LeafTable> leaf_tables(const forest::Forest& forest,
                                                const std::vector<const TableArrays*>& tables,
                                                const std::vector<FoldOut>& out, std::int64_t n_rows,
                                                std::int64_t first_tree, std::int64_t last_tree) {
    if (out.size() != tables.size()) throw std::invalid_argument("each leaf table needs an output");
    std::vector<walk::LeafTable> made;
    for (std::size_t i = 0; i < out.size(); ++i) {
        require_shapes(forest, *tables[i], out[i], n_rows, first_tree, last_tree);
        made.push_back(leaf_table(*tables[i], out[i]));
    }
    return made;
}

}  // namespace hedgerow::bindings
