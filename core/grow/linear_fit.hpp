// Linear models whose directions make oblique splits.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace hedgerow::grow {

// Rows of a node: columns with mean 0 and standard deviation 1, in which a missing value is 0, the mean.
struct LinearRows {
    std::vector<double> values;  // row-major
    std::vector<double> weights;
    std::vector<double> targets;  // -1 and 1 for two groups of classes
    std::int64_t n_columns;
    std::uint64_t seed;  // of the node

    std::int64_t n_rows() const { return static_cast<std::int64_t>(weights.size()); }
};

// A coefficient for each column. The intercept does not matter: the threshold is searched.
using LinearFit = std::function<std::vector<double>(const LinearRows&)>;

// Ridge regression: (Z'WZ / Σw + penalty·I) b = Z'Wt / Σw. For two groups its direction is that of Fisher's linear
// discriminant, whatever their sizes (Fisher, The use of multiple measurements in taxonomic problems, 1936).
std::vector<double> ridge_regression(const LinearRows& rows, double penalty);

}  // namespace hedgerow::grow
