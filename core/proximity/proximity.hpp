// Forest proximity: how often two rows share a leaf.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"

namespace hedgerow::proximity {

using base::Poll;

// Compressed sparse rows: the leaves that each row reaches with their weights, or the rows that reach each leaf.
struct Sparse {
    const std::int64_t* start;
    const std::int64_t* index;
    const double* weight;
    std::int64_t n_rows;
};

// Of each query, the others with a proximity above 0.
struct Near {
    std::vector<std::int64_t> row_start;
    std::vector<std::int64_t> others;  // ascending; with `n_most` by falling proximity, of equals the first
    std::vector<double> shares;
};

// The proximity of a query and another row is Σ over leaves of the product of their weights, which `queries` carry
// already scaled by the weight of the tree. Leaves are added in ascending order, so threads never change a bit.
// `n_most` > 0 keeps only so many others of each query; `same` leaves out the other with the query's own number.
Near proximity(const Sparse& queries, const Sparse& leaves, std::int64_t n_others, std::int64_t n_most, bool same,
               std::int64_t n_threads, const Poll& poll);

}  // namespace hedgerow::proximity
