// Splits rows into training and hold-out by a hash of their content.
#pragma once

#include <cstdint>
#include <vector>

#include "data/training_data.hpp"

namespace hedgerow::data {

// Position of each row in [0, 1): the rows of a class (all rows, in regression) in an order drawn by hash, each taking
// as much of the interval as its weight. Equal rows share a position.
std::vector<double> positions_by_hash(const TrainingData& data, std::uint64_t seed);

}  // namespace hedgerow::data
