// Pearson's chi-square test of a table of branches and classes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace hedgerow::grow {

struct ChiSquare {
    double statistic = 0;
    std::int64_t freedom = 0;

    // Branches and classes without weight are left out.
    static ChiSquare of(std::span<const double* const> branches, std::size_t n_classes) {
        std::vector<double> of_class(n_classes, 0.0);
        for (const double* branch : branches)
            for (std::size_t k = 0; k < n_classes; ++k) of_class[k] += branch[k];
        const double total = std::accumulate(of_class.begin(), of_class.end(), 0.0);
        std::int64_t n_used_classes = 0, n_used_branches = 0;
        for (const double weight : of_class) n_used_classes += weight > 0;
        ChiSquare found;
        for (const double* branch : branches) {
            const double weight = std::accumulate(branch, branch + n_classes, 0.0);
            if (weight <= 0) continue;
            ++n_used_branches;
            for (std::size_t k = 0; k < n_classes; ++k) {
                if (of_class[k] <= 0) continue;
                const double expected = weight / total * of_class[k];
                const double difference = branch[k] - expected;
                found.statistic += difference * difference / expected;
            }
        }
        if (n_used_branches > 1 && n_used_classes > 1) found.freedom = (n_used_branches - 1) * (n_used_classes - 1);
        return found;
    }

    // P(χ² ≥ statistic). With h = statistic/2 and 2m or 2m+1 degrees of freedom: Σ_{j<m} e^−h·h^j/j!, or erfc(√h) +
    // Σ_{j<m} e^−h·h^(j+½)/Γ(j+3/2) (Abramowitz and Stegun, 26.4.4 and 26.4.5), each term by way of its logarithm.
    double p_value() const {
        if (freedom == 0 || statistic <= 0) return 1.0;
        const double half = statistic / 2;
        const bool odd = freedom % 2 != 0;
        double sum = odd ? std::erfc(std::sqrt(half)) : 0.0;
        // e^−h·h^a/Γ(a+1) for a = 0, or ½ with Γ(3/2) = √π/2.
        double log_term = odd ? -half + std::log(half) / 2 - std::log(std::sqrt(std::acos(-1.0)) / 2) : -half;
        for (std::int64_t j = 0; j < freedom / 2; ++j) {
            sum += std::exp(log_term);
            log_term += std::log(half) - std::log(static_cast<double>(j + 1) + (odd ? 0.5 : 0.0));
        }
        return std::min(sum, 1.0);
    }
};

}  // namespace hedgerow::grow
