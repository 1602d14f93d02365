// Growing trees: settings in, arrays of a forest out.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/parallel.hpp"
#include "data/training_data.hpp"
#include "forest/grown.hpp"
#include "grow/options.hpp"

namespace hedgerow::grow {

using base::Poll;
using data::TrainingData;
using forest::GrownForest;

// `n_done` counts finished trees, for the poll.
GrownForest grow(const TrainingData& data, const GrowOptions& options, std::atomic<std::int64_t>& n_done,
                 const Poll& poll);

}  // namespace hedgerow::grow
