// Powers as the C library has them. NumPy's depend on the instructions of the machine in the last place, so that
// generated code, and the same model on another machine, would differ from them.
#pragma once

#include <cmath>
#include <cstddef>

namespace hedgerow::base {

// values[i] = values[i]^exponent.
inline void raise_to_power(double* values, std::size_t n, double exponent) {
    for (std::size_t i = 0; i < n; ++i) values[i] = std::pow(values[i], exponent);
}

}  // namespace hedgerow::base
