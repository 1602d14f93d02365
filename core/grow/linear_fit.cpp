#include "grow/linear_fit.hpp"

#include <cstddef>
#include <numeric>

namespace hedgerow::grow {
namespace {

constexpr double dependent = 1e-10;  // a pivot below this share of its column's variance is rounding

// Lower triangle of Z'WZ and, as the last row, Z'Wt. Row by row, so that the inner loop is a vector operation whose
// result does not depend on the width of the vectors.
std::vector<double> normal_equations(const LinearRows& rows) {
    const auto n = static_cast<std::size_t>(rows.n_columns);
    std::vector<double> sums((n + 1) * n, 0.0);
    for (std::size_t row = 0; row < rows.weights.size(); ++row) {
        const double* z = rows.values.data() + row * n;
        for (std::size_t a = 0; a <= n; ++a) {
            const double weighted = rows.weights[row] * (a < n ? z[a] : rows.targets[row]);
            double* sum = sums.data() + a * n;
            const std::size_t end = a < n ? a + 1 : n;
            for (std::size_t b = 0; b < end; ++b) sum[b] += weighted * z[b];
        }
    }
    return sums;
}

}  // namespace

std::vector<double> ridge_regression(const LinearRows& rows, double penalty) {
    const auto n = static_cast<std::size_t>(rows.n_columns);
    std::vector<double> A = normal_equations(rows);
    const double total = std::accumulate(rows.weights.begin(), rows.weights.end(), 0.0);
    for (double& sum : A) sum /= total;
    std::vector<double> b(A.begin() + static_cast<std::ptrdiff_t>(n * n), A.end());
    for (std::size_t a = 0; a < n; ++a) A[a * n + a] += penalty;
    // A = L·D·L'. A column that depends on those before it gets the coefficient 0.
    std::vector<double> D(n, 0.0);
    for (std::size_t a = 0; a < n; ++a) {
        double* row = A.data() + a * n;
        const double variance = row[a];
        for (std::size_t c = 0; c < a; ++c) {
            for (std::size_t e = 0; e < c; ++e) row[c] -= row[e] * A[c * n + e];  // row[e] is L·D so far
        }
        double pivot = variance;
        for (std::size_t c = 0; c < a; ++c) {
            const double factor = D[c] > 0 ? row[c] / D[c] : 0.0;
            pivot -= factor * row[c];
            row[c] = factor;
        }
        D[a] = pivot > dependent * variance ? pivot : 0.0;
        for (std::size_t c = 0; c < a; ++c) b[a] -= row[c] * b[c];
    }
    for (std::size_t a = n; a-- > 0;) {
        b[a] = D[a] > 0 ? b[a] / D[a] : 0.0;
        for (std::size_t c = a + 1; c < n; ++c) b[a] -= A[c * n + a] * b[c];
        if (D[a] == 0) b[a] = 0;
    }
    return b;
}

}  // namespace hedgerow::grow
