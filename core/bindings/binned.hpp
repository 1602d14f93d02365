// Columns of one byte a row, and bins, as arrays of NumPy.
#pragma once

#include <nanobind/stl/tuple.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "bindings/arrays.hpp"
#include "grow/binned/bins.hpp"

namespace hedgerow::bindings {

// (n_rows, n_columns), column-major.
using CodeColumns = nb::ndarray<const std::uint8_t, nb::numpy, nb::ndim<2>, nb::f_contig, nb::device::cpu>;

// Where the bins of each column start in the flat arrays, and the least and the greatest value of each bin.
using Bins = std::tuple<In<std::int64_t>, In<double>, In<double>>;

inline std::vector<grow::binned::BinnedColumn> columns_of(const Bins& bins, std::size_t n_columns) {
    const auto& [start, least, greatest] = bins;
    if (start.size() != n_columns + 1 || start.data()[0] != 0 || least.size() != greatest.size() ||
        start.data()[n_columns] != static_cast<std::int64_t>(least.size()))
        throw std::invalid_argument("bins of the wrong shape");
    std::vector<grow::binned::BinnedColumn> columns;
    for (std::size_t column = 0; column < n_columns; ++column) {
        const std::int64_t first = start.data()[column], last = start.data()[column + 1];
        if (first > last || last - first > grow::binned::missing_code)
            throw std::invalid_argument("a column has more than 255 bins");
        columns.push_back(
            {{least.data() + first, least.data() + last}, {greatest.data() + first, greatest.data() + last}});
    }
    return columns;
}

// The grower looks bins up by codes.
inline void require_known_codes(const grow::binned::BinnedData& data, const std::int32_t* n_categories) {
    for (std::size_t feature = 0; feature < data.columns.size(); ++feature) {
        const std::size_t n_bins = data.columns[feature].least.size();
        const std::size_t n_known =
            n_categories[feature] > 0 ? static_cast<std::size_t>(n_categories[feature]) : n_bins;
        const std::uint8_t* codes = data.column(static_cast<std::int64_t>(feature));
        std::uint8_t unknown = 0;
        for (std::int64_t row = 0; row < data.n_rows; ++row)
            unknown |= static_cast<std::uint8_t>(codes[row] >= n_known && codes[row] != grow::binned::missing_code);
        if (unknown) throw std::invalid_argument("a code has no bin");
    }
}

}  // namespace hedgerow::bindings
