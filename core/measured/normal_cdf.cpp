#include "measured/normal_cdf.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace hedgerow::measured {
namespace {

// Between -reach and 0 Taylor's series about the nearest of many centres takes the place of an exponential:
//
//     P(Z <= a + d) = P(Z <= a) + p(a) (d - He_1(a) d^2/2! + He_2(a) d^3/3! - ...),
//
// p the density, He_k Hermite's polynomials (He_k+1 = a He_k - k He_k-1). With |d| <= 1/256 and |a| <= 8.5 the first
// term that is left out is about (8.5/256)^8/8! = 4e-17 of P(Z <= a): below rounding. On the right it is 1 less the
// mirrored tail, which rises with z also where the rounding of a sum would not let it.
constexpr int per_unit = 128;
constexpr double reach = 8.5;
constexpr int n_steps = 1088;  // reach * per_unit
constexpr int degree = 7;

struct alignas(64) Series : std::array<double, degree + 1> {};  // a line of the cache

double density(double z) { return std::exp(-0.5 * z * z) * 0.39894228040143267794; }

// Far out erfc changes by z^2 times the rounding of its argument, which is corrected by the slope.
double by_erfc(double z) {
    if (z >= reach) return 1.0;
    if (z < -39.0) return 0.0;  // below the least double
    constexpr double root_half = 0.70710678118654752440, rest = -4.833646656726457e-17;
    const double x = z * root_half;
    const double rounded = std::fma(z, root_half, -x) + z * rest;
    return 0.5 * std::erfc(-x) + rounded * 1.41421356237309504880 * density(z);
}

std::array<Series, n_steps + 1> all_series() {
    std::array<Series, n_steps + 1> all;
    for (int i = 0; i <= n_steps; ++i) {
        const double a = -static_cast<double>(i) / per_unit;
        double term = density(a);  // (-1)^(k-1) p(a) / k!
        double before = 0.0, hermite = 1.0;
        Series& series = all[static_cast<std::size_t>(i)];
        series[0] = by_erfc(a);
        for (int k = 1; k <= degree; ++k) {
            series[static_cast<std::size_t>(k)] = term * hermite;
            term /= -(k + 1);
            const double next = a * hermite - (k - 1) * before;
            before = hermite;
            hermite = next;
        }
    }
    return all;
}

double by_series(const Series* all, double z) {
    const double right = std::fabs(z);
    const int nearest = static_cast<int>(right * per_unit + 0.5);
    const Series& series = all[nearest];
    const double d = static_cast<double>(nearest) / per_unit - right;
    double tail = series[degree];
    for (int k = degree - 1; k >= 0; --k) tail = tail * d + series[static_cast<std::size_t>(k)];
    return static_cast<double>(!std::signbit(z)) - std::copysign(tail, z);  // a branch would guess the sign
}

// P(Z <= z) at multiples of 1 / per_unit_coarse up to coarse_reach on both sides.
constexpr int per_unit_coarse = 256;
constexpr int coarse_reach = 8;
constexpr int n_coarse = 2 * coarse_reach * per_unit_coarse;

std::array<double, n_coarse + 1> all_coarse() {
    std::array<double, n_coarse + 1> all;
    for (int i = 0; i <= n_coarse; ++i)
        all[static_cast<std::size_t>(i)] = by_erfc(static_cast<double>(i - n_coarse / 2) / per_unit_coarse);
    return all;
}

}  // namespace

void coarse_normal_below(const NormalRows& rows, const double* at, std::int64_t n_at, double* out,
                         std::int64_t row_stride) {
    static const auto all = all_coarse();
    for (std::int64_t row = 0; row < rows.n; ++row) {
        const double scale = per_unit_coarse / rows.spread[row], centre = rows.centre[row];
        for (std::int64_t i = 0; i < n_at; ++i) {
            const double step = (at[i] - centre) * scale + (n_coarse / 2 + 0.5);
            const double clamped = step > 0 ? std::min(step, n_coarse + 0.5) : 0.0;  // 0 of NaN
            out[row * row_stride + i] = all[static_cast<std::size_t>(static_cast<std::int64_t>(clamped))];
        }
    }
}

void normal_cdf(const double* z, std::int64_t n, double* out) {
    static const auto all = all_series();
    for (std::int64_t i = 0; i < n; ++i) out[i] = std::fabs(z[i]) < reach ? by_series(all.data(), z[i]) : by_erfc(z[i]);
}

}  // namespace hedgerow::measured
