// A forest prepared for soft walks: every node knows where the probabilities that it needs stand.
//
// What a row is asked is a row of numbers: P(U_j <= t | x) for each threshold t of a numeric column, and P(U_j = c | x)
// for each category c of a nominal one. They are computed once a row, however many trees share the thresholds.
#pragma once

#include <cstdint>
#include <vector>

#include "forest/forest.hpp"

namespace hedgerow::measured {

// Positions in the row of numbers. A numeric node is in the region low < u <= high of its column; a nominal one has the
// categories of its region that go to the first child and to the second.
struct SoftNode {
    std::int32_t at;    // of the threshold; soft_leaf; or soft_nominal
    std::int32_t low;   // of the region's lower bound, -1: none; nominal: first entry in `categories`
    std::int32_t high;  // of the region's upper bound, -1: none; nominal: one past the categories of the first child
    std::int32_t end;   // nominal: one past the categories of the second child
};

// A row that has one category in every column.
struct OneCategory {
    double code;
    double operator[](std::int64_t) const { return code; }
};

inline constexpr std::int32_t soft_leaf = -1;
inline constexpr std::int32_t soft_nominal = -2;

struct SoftNodes {
    std::vector<SoftNode> nodes;           // per node of the forest
    std::vector<std::int32_t> categories;  // positions in the row of numbers
};

// `start`: where each column begins in the row of numbers, n_features + 1; `thresholds`: ascending in each numeric
// column, at the same places. `nominal`: per column. Only trees of threshold, subset and one-against-rest splits.
SoftNodes soft_nodes(const forest::Forest& forest, const std::int64_t* start, const double* thresholds,
                     const std::uint8_t* nominal);

// The same, borrowed: what a walk needs.
struct SoftForest {
    forest::Forest forest;
    const SoftNode* nodes;
    const std::int32_t* categories;
};

}  // namespace hedgerow::measured
