// Permutation importance tree by tree: what a tree loses on rows that it has not seen when the values of some columns
// are exchanged between these rows (Breiman: Random forests, 2001, section 10).
#pragma once

#include <cstdint>

#include "base/parallel.hpp"
#include "data/rows.hpp"
#include "forest/forest.hpp"
#include "walk/packing.hpp"

namespace hedgerow::importance {

using base::Poll;
using data::Rows;
using forest::Forest;

// The numbers are those of hedgerow.inspection.permutation.
enum class Loss : std::uint8_t { zero_one, log, brier, squared, absolute };

// What a tree answers in its leaves: class probabilities, or one number.
struct Answers {
    const double* values;  // n_leaves × n_outputs
    std::int64_t n_outputs;
    // Training weight of each leaf where rows are left out one by one: a leaf answers a row of its own without it, and
    // as `empty` where nothing else is in it. Null: every leaf answers as it is.
    const double* leaf_weight;
    const double* empty;
};

struct Truth {
    const double* values;  // class numbers, or targets
    const double* weight;
};

// Lists of columns, one after the other.
struct ColumnLists {
    const std::int64_t* start;
    const std::int32_t* columns;
    std::int64_t n_lists;
};

struct PermutationOptions {
    Loss loss;
    std::int64_t n_repeats;
    std::uint64_t seed;
    double least_share;  // of the tree's weight in a node whose split divides rows into cells
    std::int64_t n_threads;
};

struct Losses {
    double* weight;    // of the rows that each tree is asked about
    double* plain;     // mean loss of each tree
    double* permuted;  // n_trees × n_units, mean over the repeats
};

// `seen` is a bit mask, a row of (n_rows + 7) / 8 bytes for each tree, of rows to leave out; null: none. The columns of
// a unit are exchanged together. Rows exchange values only within cells: rows that agree on all of the tree's splits on
// the columns of `given` for that unit (Strobl, Boulesteix, Kneib, Augustin, Zeileis: Conditional variable importance
// for random forests, 2008), of nodes that hold a share of the tree's weight.
void permutation_losses(const Forest& forest, walk::Packing& packing, const Rows& rows, const Answers& answers,
                        const Truth& truth, const std::uint8_t* seen, const ColumnLists& units,
                        const ColumnLists& given, const PermutationOptions& options, const Losses& out,
                        const Poll& poll);

}  // namespace hedgerow::importance
