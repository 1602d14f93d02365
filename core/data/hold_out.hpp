// Rows apart, for growing and for judging, by what they hold and not by where they stand.
#pragma once

#include <cstdint>
#include <vector>

#include "data/training_data.hpp"

namespace hedgerow::data {

// The rows of each class (of all, if there are none) in a line of length 1, in a drawn order: where each stands. Equal rows
// stand at one place, and a row takes as much of the line as its weight.
std::vector<double> places_in_line(const TrainingData& data, std::uint64_t seed);

}  // namespace hedgerow::data
