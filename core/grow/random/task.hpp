// What the trees of a random forest share while they grow, and what each has for itself.
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
    std::int32_t feature;  // leaf_feature until it has a question
    std::uint32_t at;      // its first child; of a leaf its first row in the tree's order of rows
    std::uint32_t answer;  // the row whose value is the threshold, or number of the payload; 0 in a leaf
};

// The values of a column by row; where it has categories, or there is none, NaN by any number.
struct Thresholds {
    TableColumn values;
    std::uint32_t mask;
    double least;  // NaN where all are

    const double& at(std::uint32_t row) const { return values[row & mask]; }
    // Never NaN where there are numbers, not even if one has been written to X since the column was ranked.
    double operator[](std::uint32_t row) const {
        const double value = at(row);
        return value > least ? value : least;
    }
};

// What all trees of a forest read.
template <class Rank>
struct RandomTask {
    const TrainingData& data;
    const RankedData<Rank>& ranked;
    const RandomGrowOptions& options;
    std::vector<std::uint32_t> marks;    // per row: what its leaf keeps of it
    std::vector<Thresholds> thresholds;  // of feature + 1, the first being that of leaves
    bool each_counts_once;  // every row is complete and of weight 1: its mark is its label, else its own number
    bool only_numbers;  // no column has categories
    bool plain;         // only numbers, none missing, leaves of any size
    std::uint32_t least, max_depth;

    bool by_category(std::int64_t feature) const { return data.n_categories[feature] > 0; }
    bool may_split(std::uint32_t n_rows, std::uint32_t depth) const { return n_rows / 2 >= least && depth != max_depth; }
};

struct RawTree {
    std::unique_ptr<RawNode[]> nodes;  // as many as there can be: every leaf has a row, every question two children
    std::uint32_t n_nodes = 0;
    std::uint32_t n_questions = 0;
    std::vector<std::uint32_t> marks;  // of rows in the order of leaves
    std::vector<std::int64_t> payload_start{0};
    std::vector<std::int32_t> payload_codes;
};

// A node that may be split. Its place is hashed when its turn comes: a leaf needs none.
struct OpenNode {
    Path parent;
    std::uint32_t number;  // among the children
    std::uint32_t node;
    std::uint32_t begin, n_rows;
    std::uint32_t depth;
};

}  // namespace hedgerow::grow::random
