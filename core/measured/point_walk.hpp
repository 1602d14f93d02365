// Walks of points instead of rows: each tree is asked about a few of the values that a row may have.
//
// A row's law of each column is read at `n_strata` equally likely quantiles. In each tree the row takes some points,
// each of which has one of these quantiles in every column and goes to one leaf, as a row without errors does. The mean
// over the points of a tree stands for the mean over its leaves, weighted by the row's probability of being there.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "data/rows.hpp"
#include "measured/soft_forest.hpp"
#include "walk/walk.hpp"

namespace hedgerow::measured {

using base::Poll;

inline constexpr std::int64_t n_strata = 256;  // numbers of strata are bytes

// A row's code in a numeric column is the number of thresholds below its value, in a nominal one its category.
struct PointNode {
    std::int32_t first;   // child, relative to the root; of a leaf the leaf itself
    std::int32_t column;  // among those that are split on
    // A code up to this goes to the first child. Of a nominal split: −1 less where `sides` says of each category which
    // child it goes to. Of a leaf: `stays`.
    std::int32_t position;
};
inline constexpr std::int32_t stays = INT32_MAX;

struct PointNodes {
    std::vector<PointNode> nodes;     // per node of the forest
    std::vector<std::uint8_t> sides;  // 0: first child, 1: second
};

// `start` and `nominal` as in soft_nodes.
PointNodes point_nodes(const SoftForest& forest, const std::int64_t* start, const std::uint8_t* nominal);

struct PointForest {
    forest::Forest forest;
    const PointNode* nodes;
    const std::uint8_t* sides;
    std::vector<std::int64_t> start;  // of each column that is split on, in the numbers of a row; and one past the last
    std::vector<bool> nominal;        // per column that is split on
};

// Stratum of each point in each column that is split on: n_trees × n_points × columns.
struct Points {
    const std::uint8_t* strata;
    std::int64_t n_points;  // of a tree
};

// Adds tree weight times the mean over a tree's points to the outputs of sums without a link; trees, then points,
// ascending, so that blocks and threads never change a bit.
void point_fold(const PointForest& forest, const data::Rows& below, const Points& points,
                const std::vector<walk::LeafTable>& tables, const walk::FoldOptions& options, const Poll& poll);

}  // namespace hedgerow::measured
