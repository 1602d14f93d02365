// Growth of forests of soft trees from rows in cells.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "forest/grown.hpp"
#include "measured/grow/training.hpp"

namespace hedgerow::measured {

using base::Poll;

// Values of a leaf: expected rows; then for each output the value γ, and over all rows Σ n s y and Σ n s r², r being
// what the tree's answer to the row is off by.
struct SoftGrown {
    forest::GrownForest forest;
    std::vector<double> fitted;  // n_trees × n_rows × n_outputs, if kept: Σ γ s of each row
};

inline std::int64_t leaf_width(std::int64_t n_outputs) { return 1 + 3 * n_outputs; }

// `n_done` counts finished trees, for the poll.
SoftGrown grow_soft(const CellData& data, const SoftGrowOptions& options, std::atomic<std::int64_t>& n_done,
                    const Poll& poll);

}  // namespace hedgerow::measured
