// Hold-out loss of every node if it were a leaf.
#pragma once

#include <vector>

#include "data/rows.hpp"
#include "forest/forest.hpp"

namespace hedgerow::prune {

using data::Rows;
using forest::Forest;

// Predictions of nodes, and the truth of rows: class numbers (0/1 loss), or numbers (squared loss).
struct Judged {
    const double* answers;  // per node
    const double* truth;    // per row
    const double* weight;   // per row
    bool squared;
};

// Sums of weight * loss and of weight * loss^2 over the rows that reach each node, two a node.
std::vector<double> losses_as_leaves(const Forest& forest, const Rows& rows, const Judged& judged);

}  // namespace hedgerow::prune
