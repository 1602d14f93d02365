// Values of the regions of a soft tree: least squares over all rows and regions at once (Tami et al., Decision tree for
// uncertainty measures, 2018, equation 6), from the values that the splits left.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "measured/grow/training.hpp"

namespace hedgerow::measured {

// The nearest point whose entries are not negative and add up to 1 (Held, Wolfe and Crowder, Validation of subgradient
// optimization, 1974).
inline void project_on_simplex(double* point, std::int64_t n, std::vector<double>& sorted) {
    sorted.assign(point, point + n);
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    double sum = 0, shift = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        sum += sorted[static_cast<std::size_t>(i)];
        const double candidate = (sum - 1) / static_cast<double>(i + 1);
        if (sorted[static_cast<std::size_t>(i)] > candidate) shift = candidate;
    }
    for (std::int64_t i = 0; i < n; ++i) point[i] = std::max(point[i] - shift, 0.0);
}

class RegionValues {
public:
    // `weight`: of the squared residual of each row.
    RegionValues(const std::vector<const SoftRegion*>& regions, const double* weight, std::int64_t n_rows,
                 std::int64_t n_outputs)
        : regions_(regions), weight_(weight), n_rows_(n_rows), n_outputs_(n_outputs) {}

    // Steps of the regions' values that lower Σ w (r − P·step)² + ridge·‖step‖²: at most n_steps of conjugate
    // gradients, scaled by the diagonal, and all outputs together. Row-major, n_regions × n_outputs.
    std::vector<double> solve(const std::vector<double>& residuals, double ridge, std::int64_t n_steps) const {
        const std::size_t size = regions_.size() * outputs();
        std::vector<double> diagonal(regions_.size(), ridge);
        for (std::size_t k = 0; k < regions_.size(); ++k)
            for (std::size_t i = 0; i < regions_[k]->rows.size(); ++i)
                diagonal[k] += weight_[regions_[k]->rows[i]] * regions_[k]->share[i] * regions_[k]->share[i];
        std::vector<double> step(size, 0.0), gradient(size), scaled(size), direction(size, 0.0), product(size),
            of_rows(static_cast<std::size_t>(n_rows_) * outputs());
        back(residuals, gradient);
        std::vector<double> old(outputs(), 0.0), first(outputs(), 0.0), now(outputs()), curvature(outputs());
        for (std::int64_t n = 0; n < n_steps; ++n) {
            for (std::size_t i = 0; i < size; ++i)
                scaled[i] = diagonal[i / outputs()] > 0 ? gradient[i] / diagonal[i / outputs()] : 0.0;
            products(gradient, scaled, now);
            if (n == 0) first = now;
            bool open = false;
            for (std::size_t o = 0; o < outputs(); ++o) open = open || now[o] > 1e-12 * first[o];
            if (!open) break;
            for (std::size_t i = 0; i < size; ++i) {
                const std::size_t o = i % outputs();
                direction[i] = scaled[i] + (n > 0 && old[o] > 0 ? now[o] / old[o] : 0.0) * direction[i];
            }
            old = now;
            forward(direction, of_rows);
            back(of_rows, product);
            for (std::size_t i = 0; i < size; ++i) product[i] += ridge * direction[i];
            products(direction, product, curvature);
            for (std::size_t i = 0; i < size; ++i) {
                const std::size_t o = i % outputs();
                const double length = curvature[o] > 0 ? now[o] / curvature[o] : 0.0;
                step[i] += length * direction[i];
                gradient[i] -= length * product[i];
            }
        }
        return step;
    }

    // Values inside the simplex, started from `values`: accelerated projected gradients (Beck and Teboulle, A fast
    // iterative shrinkage-thresholding algorithm, 2009). The probabilities of a row add up to 1, so that PᵀWP is at
    // most the diagonal of the regions' weights, which gives the length of a step in each region.
    void solve_on_simplex(const double* targets, std::vector<double>& values, std::int64_t n_steps) const {
        const std::size_t size = regions_.size() * outputs();
        std::vector<double> mass(regions_.size(), 0.0), sorted;
        for (std::size_t k = 0; k < regions_.size(); ++k)
            for (std::size_t i = 0; i < regions_[k]->rows.size(); ++i)
                mass[k] += weight_[regions_[k]->rows[i]] * regions_[k]->share[i];
        const auto project = [&](std::vector<double>& all) {
            for (std::size_t k = 0; k < regions_.size(); ++k)
                project_on_simplex(all.data() + k * outputs(), n_outputs_, sorted);
        };
        project(values);
        std::vector<double> ahead = values, next(size), gradient(size),
                            of_rows(static_cast<std::size_t>(n_rows_) * outputs());
        double pace = 1;
        for (std::int64_t n = 0; n < n_steps; ++n) {
            forward(ahead, of_rows);
            for (std::size_t i = 0; i < of_rows.size(); ++i) of_rows[i] = targets[i] - of_rows[i];
            back(of_rows, gradient);
            for (std::size_t i = 0; i < size; ++i)
                next[i] = ahead[i] + (mass[i / outputs()] > 0 ? gradient[i] / mass[i / outputs()] : 0.0);
            project(next);
            const double faster = 0.5 * (1 + std::sqrt(1 + 4 * pace * pace));
            for (std::size_t i = 0; i < size; ++i) ahead[i] = next[i] + (pace - 1) / faster * (next[i] - values[i]);
            values = next;
            pace = faster;
        }
    }

    // P·values, n_rows × n_outputs.
    void forward(const std::vector<double>& values, std::vector<double>& of_rows) const {
        std::fill(of_rows.begin(), of_rows.end(), 0.0);
        for (std::size_t k = 0; k < regions_.size(); ++k) {
            const double* value = values.data() + k * outputs();
            for (std::size_t i = 0; i < regions_[k]->rows.size(); ++i) {
                double* row = of_rows.data() + regions_[k]->rows[i] * outputs();
                for (std::size_t o = 0; o < outputs(); ++o) row[o] += regions_[k]->share[i] * value[o];
            }
        }
    }

private:
    // PᵀW·of_rows, n_regions × n_outputs.
    void back(const std::vector<double>& of_rows, std::vector<double>& sums) const {
        std::fill(sums.begin(), sums.end(), 0.0);
        for (std::size_t k = 0; k < regions_.size(); ++k) {
            double* sum = sums.data() + k * outputs();
            for (std::size_t i = 0; i < regions_[k]->rows.size(); ++i) {
                const std::uint32_t row = regions_[k]->rows[i];
                const double share = weight_[row] * regions_[k]->share[i];
                const double* value = of_rows.data() + row * outputs();
                for (std::size_t o = 0; o < outputs(); ++o) sum[o] += share * value[o];
            }
        }
    }

    void products(const std::vector<double>& one, const std::vector<double>& other, std::vector<double>& sums) const {
        std::fill(sums.begin(), sums.end(), 0.0);
        for (std::size_t i = 0; i < one.size(); ++i) sums[i % outputs()] += one[i] * other[i];
    }

    std::size_t outputs() const { return static_cast<std::size_t>(n_outputs_); }

    const std::vector<const SoftRegion*>& regions_;
    const double* weight_;
    std::int64_t n_rows_;
    std::int64_t n_outputs_;
};

}  // namespace hedgerow::measured
