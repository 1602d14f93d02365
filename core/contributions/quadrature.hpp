// Gauss-Legendre quadrature on [0, 1]: exact for polynomials of degree 2n - 1.
#pragma once

#include <vector>

namespace hedgerow::contributions {

struct Quadrature {
    std::vector<double> t, weight;
};

Quadrature gauss_legendre(int n_points);

}  // namespace hedgerow::contributions
