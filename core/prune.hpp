// C4.5's pruning by estimated errors: a subtree is replaced by a leaf, or by its largest branch (Quinlan, C4.5, 1993,
// chapter 4, as Weka's J48 carries it out).
#pragma once

#include <cstdint>
#include <vector>

#include "forest.hpp"
#include "grow.hpp"
#include "parallel.hpp"

namespace hedgerow {

struct PruneOptions {
    double confidence;    // CF
    double z;             // the quantile of the normal distribution at 1 − CF
    bool raising;         // whether a branch may take the place of its parent
    double min_fraction;  // a smaller part of a row is not divided further
};

// Nodes breadth first. Leaves have counts, in that order.
struct PrunedTree {
    std::vector<std::int64_t> source;       // the node of the given tree whose question is asked
    std::vector<std::int32_t> first_child;  // 0 in a leaf
    std::vector<double> weight;
    std::vector<double> leaf_counts;
};

// The tree of a forest of one, whose nodes have `node_counts` (n_nodes × n_classes). `data` are the rows that it was
// grown from; without raising they are not looked at.
PrunedTree prune(const Forest& forest, const double* node_counts, const TrainingData& data, const PruneOptions& options,
                 const Poll& poll);

}  // namespace hedgerow
