// Squared lengths of columns that are differences from one of them.
#pragma once

#include <cstdint>

namespace hedgerow::measured {

// out[t] = sum over i of weight[i] * (columns[t * n + i] - from[i])^2; `from` null: 0. Eight partial sums in a fixed
// order, so that the bits do not depend on the machine.
void squared_lengths(const double* columns, std::int64_t n_columns, std::int64_t n, const double* from,
                     const double* weight, double* out);

}  // namespace hedgerow::measured
