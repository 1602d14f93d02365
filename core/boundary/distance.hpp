// Distance of a row to the leaves of each class: to the decision boundary of a tree.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "data/rows.hpp"
#include "forest/forest.hpp"

namespace hedgerow::boundary {

using base::Poll;
using data::Rows;
using forest::Forest;

// One tree without oblique splits, and the tables of a search in it.
struct Walls {
    const Forest& forest;
    const std::int64_t* parent;      // of each node, -1 for the root
    const std::int64_t* leaf_nodes;  // the node of each leaf
    const std::int32_t* labels;      // the class of each leaf
    const std::uint64_t* classes;    // of each node n_words(n_classes) words: bits of the classes of the leaves below
    const std::uint8_t* open;        // of each node: 0 where no value of the column that its parent splits leads to it
    std::int64_t n_classes;
};

inline std::int64_t n_words(std::int64_t n_classes) { return (n_classes + 63) / 64; }

std::vector<std::uint64_t> classes_below(const Forest& forest, const std::int64_t* parent, const std::int32_t* labels,
                                         std::int64_t n_classes);

// For each node, whether any value leads to it through its parent's split and those above on the same column. A nominal
// column has the codes 0 .. n_categories - 1, or any code where that is 0.
std::vector<std::uint8_t> open_nodes(const Forest& forest, const std::int64_t* parent, const std::int32_t* n_categories,
                                     const Poll& poll);

// Rows by leaf: a row that reaches several leaves has a part for each.
struct RowParts {
    const std::int64_t* rows;
    const std::int32_t* leaves;
    std::int64_t n_parts;
};

// Results for each part and class (or the one target): the algebraic distance, negative inside the class's area and
// infinite where there is none to reach; the nearest leaf, the first of equals, or -1; and the node whose split moved
// the row farthest, on the first column of equals, or -1.
struct WallDistances {
    double* distance;
    std::int32_t* leaf;
    std::int32_t* separator;
    std::int64_t* n_leaves;  // per part: leaves whose distance was computed
};

inline constexpr std::int64_t every_class = -1;

// Numbers move at |move| / scale, categories change at 1 / scale; the distance is the root of the sum of squares.
// Missing values do not move: the part stays in its branch, and elsewhere it follows the node's policy.
void wall_distance(const Walls& walls, const Rows& rows, const RowParts& parts, const double* scale,
                   std::int64_t target, const WallDistances& out, std::int64_t n_threads, const Poll& poll);

}  // namespace hedgerow::boundary
