#include "measured/squared_lengths.hpp"

namespace hedgerow::measured {
namespace {

constexpr int n_lanes = 8;

template <bool differences>
double squared_length(const double* column, std::int64_t n, const double* from, const double* weight) {
    double sums[n_lanes] = {};
    const auto add = [&](std::int64_t i, int lane) {
        const double value = differences ? column[i] - from[i] : column[i];
        sums[lane] += weight[i] * (value * value);
    };
    std::int64_t i = 0;
    for (; i + n_lanes <= n; i += n_lanes)
        for (int lane = 0; lane < n_lanes; ++lane) add(i + lane, lane);
    for (int lane = 0; i < n; ++i, ++lane) add(i, lane);
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

}  // namespace

void squared_lengths(const double* columns, std::int64_t n_columns, std::int64_t n, const double* from,
                     const double* weight, double* out) {
    for (std::int64_t t = 0; t < n_columns; ++t)
        out[t] = from == nullptr ? squared_length<false>(columns + t * n, n, from, weight)
                                 : squared_length<true>(columns + t * n, n, from, weight);
}

}  // namespace hedgerow::measured
