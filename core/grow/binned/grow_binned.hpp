// Growth from binned columns: thresholds between bins; a missing value draws its branch.
#pragma once

#include "base/parallel.hpp"
#include "data/training_data.hpp"
#include "forest/grown.hpp"
#include "grow/binned/bins.hpp"
#include "grow/binned/root.hpp"
#include "grow/bootstrap.hpp"
#include "grow/options.hpp"

namespace hedgerow::grow::binned {

using forest::GrownTree;

// `counts`: how often each row was drawn for the tree; empty: every row has its weight.
GrownTree grow_tree(const TrainingData& data, const BinnedData& binned, const GrowOptions& options,
                    const DrawCounts& counts, const Root& root, const Cancelled& cancelled);

}  // namespace hedgerow::grow::binned
