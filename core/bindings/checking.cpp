// What is wrong with a forest, and checksums.
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <tuple>

#include "arrays.hpp"
#include "bind.hpp"
#include "checksum.hpp"
#include "faults.hpp"

using namespace nb::literals;

namespace {

// rule, place, found
using FaultNumbers = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

void require_every_array(const ForestArrays& arrays) {
    if (!arrays.weight || !arrays.payload || !arrays.missing)
        throw std::invalid_argument("a forest is checked with its weight, payload and missing");
}

FaultNumbers node_fault(const ForestArrays& arrays) {
    require_every_array(arrays);
    const hedgerow::Forest forest = view(arrays);
    const auto n_payloads = static_cast<std::int64_t>(arrays.n_payloads());
    const ReleasedGil release;
    const auto [rule, place, found] = hedgerow::node_fault(forest, n_payloads);
    return {rule, place, found};
}

FaultNumbers link_fault(const ForestArrays& arrays, const In<std::int32_t>& largest_child) {
    require_every_array(arrays);
    const hedgerow::Forest forest = view(arrays);
    if (largest_child.size() != arrays.n_payloads())
        throw std::invalid_argument("largest_child needs a number for each payload");
    const ReleasedGil release;
    const auto [rule, place, found] = hedgerow::link_fault(forest, largest_child.data());
    return {rule, place, found};
}

std::uint64_t checksum(const In<std::uint8_t>& bytes) {
    const ReleasedGil release;
    return hedgerow::checksum(bytes.data(), bytes.size());
}

}  // namespace

void bind_checking(nb::module_& m) {
    m.def("node_fault", &node_fault, "forest"_a.noconvert(),
          "The first rule that a node breaks by itself, or -1, and the node; see hedgerow.invariants.");
    m.def("link_fault", &link_fault, "forest"_a.noconvert(), "largest_child"_a.noconvert(),
          "The first rule that is broken between nodes, or -1, where, and what was counted; see hedgerow.invariants.");
    m.def("checksum", &checksum, "data"_a.noconvert(), "XXH64 of bytes, with seed 0; see hedgerow.packing.");
}
