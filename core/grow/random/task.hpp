// Data that the trees of a random forest share, and the state of one tree.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/random.hpp"
#include "data/rows.hpp"
#include "grow/random/grow_random.hpp"
#include "grow/random/ranks.hpp"

namespace hedgerow::grow::random {

using base::Path;
using data::TableColumn;

// A node while its tree grows.
struct RawNode {
    std::uint32_t n_rows;
    std::int32_t feature;  // leaf_feature until it is split
    std::uint32_t at;      // its first child; of a leaf its first row in the tree's order of rows
    std::uint32_t answer;  // the row whose value is the threshold, or number of the payload; 0 in a leaf
};

// Thresholds by row: the values of a column; NaN for columns of categories and for leaves.
struct Thresholds {
    TableColumn values;
    std::uint32_t mask;
    double least;  // NaN where all are

    const double& at(std::uint32_t row) const { return values[row & mask]; }
    // Never NaN in numeric columns, even if one was written to X after the column was ranked.
    double operator[](std::uint32_t row) const {
        const double value = at(row);
        return value > least ? value : least;
    }
};

// Read by all trees of a forest.
template <class Rank>
struct RandomTask {
    const TrainingData& data;
    const RankedData<Rank>& ranked;
    const RandomGrowOptions& options;
    std::vector<std::uint32_t> marks;    // per row: what its leaf stores of it
    std::vector<Thresholds> thresholds;  // of feature + 1, the first being that of leaves
    bool each_counts_once;  // every row is complete and of weight 1: its mark is its label, else its own number
    bool only_numbers;      // no column has categories
    bool plain;             // only numbers, none missing, leaves of any size
    std::uint32_t least, max_depth;

    bool by_category(std::int64_t feature) const { return data.n_categories[feature] > 0; }
    bool may_split(std::uint32_t n_rows, std::uint32_t depth) const {
        return n_rows / 2 >= least && depth != max_depth;
    }
};

struct RawTree {
    std::unique_ptr<RawNode[]> nodes;  // the most there can be: every leaf has a row, every split two children
    std::uint32_t n_nodes = 0;
    std::uint32_t n_splits = 0;
    std::vector<std::uint32_t> marks;  // of rows in the order of leaves
    std::vector<std::int64_t> payload_start{0};
    std::vector<std::int32_t> payload_codes;
};

// A node that may be split. Its draws are hashed when it is: a leaf needs none.
struct OpenNode {
    Path parent;
    std::uint32_t number;  // among the children
    std::uint32_t node;
    std::uint32_t begin, n_rows;
    std::uint32_t depth;
};

}  // namespace hedgerow::grow::random
