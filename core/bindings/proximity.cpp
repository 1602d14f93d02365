// Bindings of core/proximity.
#include "proximity/proximity.hpp"

#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "bindings/arrays.hpp"
#include "bindings/bind.hpp"

namespace hedgerow::bindings {

using namespace nb::literals;

namespace {

// start, index and weight of compressed sparse rows
using SparseArrays = std::tuple<In<std::int64_t>, In<std::int64_t>, In<double>>;

proximity::Sparse sparse(const SparseArrays& arrays, std::int64_t n_columns) {
    const auto& [start, index, weight] = arrays;
    const auto n = static_cast<std::int64_t>(index.size());
    const bool fits = start.size() > 0 && weight.size() == index.size() && start.data()[0] == 0 &&
                      start.data()[start.size() - 1] == n &&
                      std::is_sorted(start.data(), start.data() + start.size()) &&
                      std::all_of(index.data(), index.data() + n, [&](auto i) { return 0 <= i && i < n_columns; });
    if (!fits) throw std::invalid_argument("a sparse matrix is not in compressed rows");
    return {start.data(), index.data(), weight.data(), static_cast<std::int64_t>(start.size()) - 1};
}

std::tuple<Array<std::int64_t>, Array<std::int64_t>, Array<double>> proximity_of(const SparseArrays& query_arrays,
                                                                                 const SparseArrays& leaf_arrays,
                                                                                 std::int64_t n_others,
                                                                                 std::int64_t n_most, bool same,
                                                                                 std::int64_t n_threads) {
    const proximity::Sparse leaves = sparse(leaf_arrays, n_others);
    const proximity::Sparse queries = sparse(query_arrays, leaves.n_rows);
    proximity::Near near;
    {
        const ReleasedGil release;
        near = proximity::proximity(queries, leaves, n_others, n_most, same, n_threads, poll_signals);
    }
    return {to_array(std::move(near.row_start)), to_array(std::move(near.others)), to_array(std::move(near.shares))};
}

}  // namespace

void bind_proximity(nb::module_& m) {
    m.def("proximity", &proximity_of, "queries"_a.noconvert(), "leaves"_a.noconvert(), "n_others"_a, "n_most"_a,
          "same"_a, "n_threads"_a, "Rows that share leaves with each query; see hedgerow.inspection.proximity.");
}

}  // namespace hedgerow::bindings
