// Kernels of trees for measured inputs.
#include <nanobind/stl/optional.h>

#include <cstdint>
#include <optional>
#include <stdexcept>

#include "bindings/arrays.hpp"
#include "bindings/bind.hpp"
#include "measured/normal_cdf.hpp"
#include "measured/squared_lengths.hpp"

namespace hedgerow::bindings {

using namespace nb::literals;

namespace {

void normal_cdf(const In<double>& z, const Array<double>& out) {
    if (z.size() != out.size()) throw std::invalid_argument("z and out differ in length");
    const ReleasedGil release;
    measured::normal_cdf(z.data(), static_cast<std::int64_t>(z.size()), out.data());
}

// Some columns of a matrix.
using Columns = nb::ndarray<double, nb::numpy, nb::ndim<2>, nb::device::cpu>;

void coarse_normal_below(const In<double>& centre, const In<double>& spread, const In<double>& at, const Columns& out) {
    if (centre.size() != spread.size() || out.shape(0) != centre.size() || out.shape(1) != at.size() ||
        (out.size() > 0 && out.shape(1) > 1 && out.stride(1) != 1))
        throw std::invalid_argument("centre, spread, at and out differ in length");
    const measured::NormalRows rows{centre.data(), spread.data(), static_cast<std::int64_t>(centre.size())};
    const ReleasedGil release;
    measured::coarse_normal_below(rows, at.data(), static_cast<std::int64_t>(at.size()), out.data(), out.stride(0));
}

void squared_lengths(const In<double, 2>& columns, const std::optional<In<double>>& from, const In<double>& weight,
                     const Array<double>& out) {
    if (columns.shape(0) != out.size() || columns.shape(1) != weight.size() || (from && from->size() != weight.size()))
        throw std::invalid_argument("columns, start, weight and out differ in length");
    const ReleasedGil release;
    measured::squared_lengths(columns.data(), static_cast<std::int64_t>(columns.shape(0)),
                              static_cast<std::int64_t>(columns.shape(1)), from ? from->data() : nullptr, weight.data(),
                              out.data());
}

}  // namespace

void bind_measured(nb::module_& m) {
    m.def("normal_cdf", &normal_cdf, "z"_a.noconvert(), "out"_a.noconvert(),
          "P(Z <= z) of the standard normal law, into out; see hedgerow.measured.errors.");
    m.def("coarse_normal_below", &coarse_normal_below, "centre"_a.noconvert(), "spread"_a.noconvert(),
          "at"_a.noconvert(), "out"_a.noconvert(),
          "P(U <= at) of a normal law for each row, from a table, into out; see hedgerow.measured.laws.");
    m.def("squared_lengths", &squared_lengths, "columns"_a.noconvert(), "start"_a.noconvert().none(),
          "weight"_a.noconvert(), "out"_a.noconvert(),
          "Sums of weight * (column - start)^2 over each row of columns, into out; see "
          "hedgerow.measured.one_tree.threshold_columns.");
}

}  // namespace hedgerow::bindings
