// The bags of a forest, drawn again: they are a function of the seed.
#pragma once

#include <cstdint>
#include <vector>

#include "grow/bootstrap.hpp"

namespace hedgerow::grow {

// Sets the bit of each row in a tree's bag.
inline void mark_bag(const DrawCounts& counts, std::uint8_t* mask) {
    for (std::size_t row = 0; row < counts.size(); ++row)
        if (counts[row] > 0) mask[row / 8] |= static_cast<std::uint8_t>(1u << row % 8);
}

// Bit masks of the rows in the bag of each tree, (n_rows + 7) / 8 bytes each.
std::vector<std::uint8_t> draw_bags(const TrainingData& data, std::int64_t n_draws, DrawScheme scheme,
                                    std::uint64_t seed, std::int64_t n_trees, std::int64_t n_threads,
                                    const base::Poll& poll);

}  // namespace hedgerow::grow
