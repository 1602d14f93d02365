// Random decision trees (Fan, Wang, Yu, Ma: Is random model better?, ICDM 2003; Busch, Kulessa, Loza Mencía, Blockeel:
// Combining predictions under uncertainty, 2022, section 2.1): splits are drawn, not optimised, and labels are only
// counted in the leaves.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/parallel.hpp"
#include "data/training_data.hpp"
#include "forest/grown.hpp"

namespace hedgerow::grow::random {

using base::Poll;
using data::TrainingData;
using forest::GrownForest;

struct RandomGrowOptions {
    std::int64_t min_samples_leaf = 1;
    std::int64_t max_depth = -1;  // -1: none
    std::uint64_t seed = 0;
    std::int64_t n_trees = 1;
    std::int64_t n_threads = 1;
    std::int64_t max_nodes = 0x7FFFFFFF;  // of a tree
};

// At a node features are tried in random order until one gives a valid split:
// - threshold: the value of a row, drawn among the rows whose value leaves `min_samples_leaf` rows on both sides;
// - categories: a child for each that occurs; two of them must hold `min_samples_leaf` rows. Below such a split the
// column has one category left, so it is used once on a path. A row whose value is missing goes down one child, drawn
// with the weights of the rows that have one. Leaves count the rows without a missing value; the others are left to
// `tally`, which spreads them. Weights are positive.
GrownForest grow_random(const TrainingData& data, const RandomGrowOptions& options, std::atomic<std::int64_t>& n_done,
                        const Poll& poll);

}  // namespace hedgerow::grow::random
