// Expected errors of a leaf on new rows, from those on its training rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace hedgerow::prune {

// U(N, e) = e + added(N, e): the upper limit of the errors at confidence CF, by the normal approximation to the
// binomial with a correction for continuity (Quinlan, C4.5, 1993, section 4.2, with the details of Weka's J48).
class ErrorLimit {
public:
    ErrorLimit(double confidence, double z) : confidence_(confidence), z_(z) {}

    // Limit for a leaf with these class counts; an empty one makes no errors.
    double operator()(const double* counts, std::int64_t n_classes) const {
        const double n = std::accumulate(counts, counts + n_classes, 0.0);
        if (n < 1e-6) return 0.0;
        const double errors = n - *std::max_element(counts, counts + n_classes);
        return errors + added(n, errors);
    }

private:
    double added(double n, double errors) const {
        if (errors < 1) {  // exact for no error, interpolated up to one
            const double base = n * (1 - std::pow(confidence_, 1 / n));
            return errors <= 0 ? base : base + errors * (added(n, 1) - base);
        }
        if (errors + 0.5 >= n) return std::max(n - errors, 0.0);
        const double f = (errors + 0.5) / n;
        const double z2 = z_ * z_;
        const double root = std::sqrt(f / n - f * f / n + z2 / (4 * n * n));
        return (f + z2 / (2 * n) + z_ * root) / (1 + z2 / n) * n - errors;
    }

    double confidence_;
    double z_;
};

}  // namespace hedgerow::prune
