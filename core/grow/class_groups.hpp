// Two groups of the classes of a node, for linear models that tell two classes apart.
#pragma once

#include <cstdint>
#include <vector>

#include "grow/linear_fit.hpp"

namespace hedgerow::grow {

// Whether each class is in the first of two groups, for one or two groupings: two-means of the class means, and the
// most frequent class against the rest. `labels`: class of each row.
std::vector<std::vector<bool>> class_groups(const LinearRows& rows, const std::vector<std::int32_t>& labels,
                                            std::int64_t n_classes);

}  // namespace hedgerow::grow
