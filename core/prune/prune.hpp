// C4.5's pruning by estimated errors: a subtree is replaced by a leaf, or by its largest branch (Quinlan, C4.5, 1993,
// chapter 4, as Weka's J48 carries it out).
#pragma once

#include <cstdint>

#include "base/parallel.hpp"
#include "forest/edit.hpp"
#include "forest/forest.hpp"
#include "data/training_data.hpp"

namespace hedgerow::prune {

using base::Poll;
using data::TrainingData;
using forest::Forest;
using forest::Rearrangement;

struct PruneOptions {
    double confidence;    // CF
    double z;             // the quantile of the normal distribution at 1 − CF
    bool raising;         // whether a branch may take the place of its parent
    double min_fraction;  // a smaller part of a row is not divided further
};

// The tree of a forest of one, whose leaves have `leaf_counts` (n_leaves × n_classes), pruned: nodes breadth first, class
// counts in the leaves. `data` are the rows that it was grown from; without raising they are not looked at.
Rearrangement prune(const Forest& forest, const double* leaf_counts, const TrainingData& data,
                    const PruneOptions& options, const Poll& poll);

}  // namespace hedgerow::prune
