// The distribution function of the standard normal law.
#pragma once

#include <cstdint>

namespace hedgerow::measured {

// out[i] = P(Z <= z[i]), to a few units in the last place; NaN of NaN.
void normal_cdf(const double* z, std::int64_t n, double* out);

// Laws N(centre, spread^2), one for each row; spreads are positive.
struct NormalRows {
    const double* centre;
    const double* spread;
    std::int64_t n;
};

// out[row * row_stride + i] = P(U <= at[i]) under the law of each row, from a table with 256 steps in a standard
// deviation: off by at most 0.4 / 512 < 0.0008.
void coarse_normal_below(const NormalRows& rows, const double* at, std::int64_t n_at, double* out,
                         std::int64_t row_stride);

}  // namespace hedgerow::measured
