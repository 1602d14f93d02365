// Views of arrays that belong to Python for the length of one call. Nothing here owns memory.
#pragma once

#include <cmath>
#include <cstdint>

namespace hedgerow::data {

// Rows to walk: n_rows × n_columns doubles, row-major, NaN where a value is missing.
struct Rows {
    const double* values;
    std::int64_t n_rows;
    std::int64_t n_columns;

    const double* operator[](std::int64_t row) const { return values + row * n_columns; }
};

// One column of a table.
struct TableColumn {
    const double* first;
    std::int64_t stride;

    const double& operator[](std::int64_t row) const { return first[row * stride]; }
};

// One row of a column-major table.
struct ColumnRow {
    const double* first;
    std::int64_t n_rows;

    double operator[](std::int64_t column) const { return first[column * n_rows]; }
};

// Flat position of the first infinite value, or -1.
inline std::int64_t first_infinity(const double* values, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i)
        if (std::isinf(values[i])) return i;
    return -1;
}

}  // namespace hedgerow::data
