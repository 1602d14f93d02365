// Vectors over the points of a quadrature, a multiple of four of them.
#pragma once

#include <vector>

#include "contributions/quadrature.hpp"

namespace hedgerow::contributions {

// Points that integrate polynomials of degree below `n_columns`, the distinct columns of a path.
inline int n_points_for(int n_columns) { return 4 * ((n_columns + 7) / 8 > 0 ? (n_columns + 7) / 8 : 1); }

// t, 1 - t and the weights of the points. `n_fixed` is their number where it is known when compiling, else 0.
template <int n_fixed>
class Points {
public:
    explicit Points(int n_points) : size_(n_points) {
        const Quadrature quadrature = gauss_legendre(n_points);
        t = quadrature.t;
        weight = quadrature.weight;
        for (const double at : t) rest.push_back(1 - at);
    }

    int size() const { return n_fixed > 0 ? n_fixed : size_; }

    // Σ a·b, in four interleaved sums: the order is fixed, and the compiler may use vector registers.
    double dot(const double* a, const double* b) const {
        double sum[4] = {0, 0, 0, 0};
        for (int k = 0; k < size(); k += 4)
            for (int lane = 0; lane < 4; ++lane) sum[lane] += a[k + lane] * b[k + lane];
        return (sum[0] + sum[2]) + (sum[1] + sum[3]);
    }

    std::vector<double> t, rest, weight;

private:
    int size_;
};

}  // namespace hedgerow::contributions
