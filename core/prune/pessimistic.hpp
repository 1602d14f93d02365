// C4.5's pessimistic pruning: a subtree is replaced by a leaf, or by its largest branch (Quinlan, C4.5, 1993, chapter
// 4, as implemented in Weka's J48).
#pragma once

#include "base/parallel.hpp"
#include "data/training_data.hpp"
#include "forest/edit.hpp"
#include "forest/forest.hpp"

namespace hedgerow::prune {

using base::Poll;
using data::TrainingData;
using forest::Forest;
using forest::Rearrangement;

struct PruneOptions {
    double confidence;    // CF
    double z;             // the quantile of the normal distribution at 1 − CF
    bool raising;         // subtree raising: a branch may replace its parent
    double min_fraction;  // a smaller fraction of a row is not split further
};

// Prunes the tree of a forest of one, whose leaves have `leaf_counts` (n_leaves × n_classes): nodes breadth first,
// class counts in the leaves. `data`: the rows that it was grown from, used for raising only.
Rearrangement prune(const Forest& forest, const double* leaf_counts, const TrainingData& data,
                    const PruneOptions& options, const Poll& poll);

}  // namespace hedgerow::prune
