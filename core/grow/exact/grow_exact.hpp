// Exact growth: every threshold between two values is tried, rows may be split into fractions, weights are any.
#pragma once

#include <cstdint>

#include "base/parallel.hpp"
#include "base/random.hpp"
#include "data/training_data.hpp"
#include "forest/grown.hpp"
#include "grow/bootstrap.hpp"
#include "grow/exact/samples.hpp"
#include "grow/options.hpp"

namespace hedgerow::grow::exact {

using base::Poll;
using forest::GrownTree;

// Sorts the columns, once for all trees.
SortedData sort_columns(const TrainingData& data, std::int64_t n_threads, const Poll& poll);

// `counts`: how often each row was drawn for the tree; empty: every row has its weight. `path` addresses the tree's
// draws.
GrownTree grow_tree(const TrainingData& data, const SortedData& sorted, const GrowOptions& options,
                    const DrawCounts& counts, Path path, const Cancelled& cancelled);

}  // namespace hedgerow::grow::exact
