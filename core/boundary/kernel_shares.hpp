// Kernel-weighted share of a class among the training rows around a point.
#pragma once

#include <cstdint>

#include "base/parallel.hpp"

namespace hedgerow::boundary {

using base::Poll;

enum class Kernel : std::uint8_t { gaussian, box, epanechnikov };

// Training rows in groups: a point is compared with the rows of one group.
struct KernelSample {
    const std::int64_t* start;  // of each group, and one past
    const double* points;       // n_dims numbers a row; those of a group ascend in the first
    const double* weights;      // two a row: its weight if it is of the class, its weight if it is of another
    const double* bandwidth;    // n_dims numbers a group: the standard deviation (gaussian), half of the width (others)
    std::int64_t n_groups;
    std::int64_t n_dims;  // 1 or 2; with 2 the kernel is the product of both
};

struct KernelQueries {
    const double* points;
    const std::int64_t* groups;
    const std::int64_t* left_out;  // a row of the sample that does not count, -1: none; null: all count
    std::int64_t n_queries;
};

// Share of the class: Σ K w over the rows of the class, over Σ K w over all rows of the group. Far from all rows it is
// the limit: the share among the nearest. NaN where no row is left. Large groups in one dimension are summed in cells
// by their moments: both sums then have a relative error of at most `tolerance` (0: all rows one by one). Identical
// results for any number of threads and queries.
void kernel_shares(Kernel kernel, const KernelSample& sample, const KernelQueries& queries, double tolerance,
                   double* out, std::int64_t n_threads, const Poll& poll);

}  // namespace hedgerow::boundary
