#include "contributions/quadrature.hpp"

#include <cmath>
#include <cstddef>
#include <numbers>

namespace hedgerow::contributions {

// Roots of the Legendre polynomial by Newton's method from Chebyshev's points; weights 2 / ((1 - x²) P'(x)²), halved.
Quadrature gauss_legendre(int n_points) {
    Quadrature found{std::vector<double>(static_cast<std::size_t>(n_points)),
                     std::vector<double>(static_cast<std::size_t>(n_points))};
    for (int i = 0; i < n_points; ++i) {
        double x = std::cos(std::numbers::pi * (i + 0.75) / (n_points + 0.5)), slope = 1;
        for (int step = 0; step < 100; ++step) {
            double before = 1, value = x;
            for (int k = 2; k <= n_points; ++k) {
                const double next = ((2 * k - 1) * x * value - (k - 1) * before) / k;
                before = value;
                value = next;
            }
            slope = n_points * (x * value - before) / (x * x - 1);
            const double change = value / slope;
            x -= change;
            if (std::abs(change) < 1e-15) break;
        }
        found.t[static_cast<std::size_t>(i)] = (1 - x) / 2;
        found.weight[static_cast<std::size_t>(i)] = 1 / ((1 - x * x) * slope * slope);
    }
    return found;
}

}  // namespace hedgerow::contributions
