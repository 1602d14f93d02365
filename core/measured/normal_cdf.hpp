// The distribution function of the standard normal law.
#pragma once

#include <cstdint>

namespace hedgerow::measured {

// out[i] = P(Z <= z[i]), to a few units in the last place; NaN of NaN.
void normal_cdf(const double* z, std::int64_t n, double* out);

}  // namespace hedgerow::measured
