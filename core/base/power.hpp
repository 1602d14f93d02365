// Powers as the C library has them. NumPy's depend on the instructions of the machine in the last place, so that
// generated code, and the same model on another machine, would differ from them.
#pragma once

#include <cmath>
#include <cstddef>

namespace hedgerow::base {

struct Power {
    double scale, offset, exponent;
};

// out[row][c] = (scale · values[row][c] + offset)^exponent · factors[c].
inline void raise_to_power(const double* values, std::size_t n_rows, std::size_t n_columns, const Power& power,
                           const double* factors, double* out) {
    for (std::size_t i = 0; i < n_rows * n_columns; ++i)
        out[i] = std::pow(values[i] * power.scale + power.offset, power.exponent) * factors[i % n_columns];
}

}  // namespace hedgerow::base
