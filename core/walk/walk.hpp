// Walks of rows down a forest: which leaf (route), which leaves with what weights (spread), sums over leaf values
// (fold), and the training targets of leaves (quantiles, tally).
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "data/rows.hpp"
#include "forest/forest.hpp"
#include "walk/packing.hpp"

namespace hedgerow::walk {

using base::Poll;
using data::Rows;
using forest::Forest;

// The numbers are those of hedgerow.walk.leaf_table.
enum class Link : std::uint8_t { identity, log, entropy };
enum class Op : std::uint8_t { sum, min, max };

// A table of numbers per leaf of the trees in the walk, and where its fold goes.
struct LeafTable {
    const double* values;  // linear quantities, a row for each leaf, from the first leaf of the first tree on
    const double* linked;  // the link applied to every entry, once; `values` where all links are the identity
    const Link* links;     // per column
    const Op* ops;         // per column
    // Table row of each leaf; null: each has its own. Leaves with equal values share a row, so that the table stays in
    // the cache.
    const std::uint32_t* row_of;
    std::int64_t n_columns;
    double* out;  // accumulated into
    // From a row of `out` to the next, and from a tree to the next: 0 where trees are folded, n_columns where each tree
    // has its own place.
    std::int64_t row_stride;
    std::int64_t tree_stride;
};

struct FoldOptions {
    std::int64_t first_tree;
    std::int64_t last_tree;      // one past the end
    const double* tree_weights;  // one a tree of the forest, or null: all 1. A weight of 0 leaves the tree out
    const std::uint8_t* skip;    // bit mask, a row of (n_rows + 7) / 8 bytes a tree of the forest, or null
    std::int64_t* n_used;        // trees that took part, accumulated for each row, or null
    std::int64_t n_threads;
};

// For each row, trees ascending: the weighted mean of the reached leaves' values, linked, then folded by each
// column's op. A sum column adds tree weight times linked value. Block size and threads never change a bit.
void fold(const Forest& forest, Packing& packing, const Rows& rows, const std::vector<LeafTable>& tables,
          const FoldOptions& options, const Poll& poll);

// The leaf number within each tree: out is n_rows × n_trees. A row that would be spread follows the heaviest child, or
// gets -1 instead of a number if not `heaviest`.
void route(const Forest& forest, Packing& packing, const Rows& rows, std::int32_t* out, bool heaviest,
           std::int64_t n_threads, const Poll& poll);

// How walks of rows down all trees were done: on packed nodes (walk/packed.hpp) or on the forest's own arrays; and
// the splits of packed walks that keys could not decide.
struct PathCounts {
    std::int64_t n_packed, n_unpacked, n_exact_splits;
};
PathCounts count_paths(const Forest& forest, Packing& packing, const Rows& rows);

// The leaves that each row reaches, and their weights: compressed sparse rows over all leaves of the forest.
struct Spread {
    std::vector<std::int64_t> row_start;
    std::vector<std::int64_t> leaves;  // ascending in each row
    std::vector<double> weights;       // add up to 1 in each tree
};
Spread spread(const Forest& forest, const Rows& rows, std::int64_t n_threads, const Poll& poll);

// Labels and weights of rows, and where they are counted: n_leaves × n_classes, accumulated into.
struct LeafCounts {
    const std::int32_t* labels;
    const double* weight;
    std::int64_t n_classes;
    double* counts;
    double unit =
        0.0;  // parts of a weight are rounded to multiples of it, so that their sums are exact; 0: they are not
};

// Adds weight · share of each row to the count of its label in each leaf that it reaches: rows ascending in each tree,
// so that threads never change a bit.
void tally(const Forest& forest, Packing& packing, const Rows& rows, const LeafCounts& leaves, std::int64_t n_threads,
           const Poll& poll);

// Training targets of each leaf: flat, with starts.
struct LeafSamples {
    const std::int64_t* start;  // per leaf of the forest, and one past
    const std::int32_t* ranks;  // of the target among the distinct ones
    const double* shares;  // of the leaf's weight: add up to 1 in each leaf; null: all samples of a leaf count alike
    const double* values;  // the distinct targets, ascending
    std::int64_t n_values;
};

// Quantile regression forest (Meinshausen, 2006): the least training target y with F(y|x) >= probability, where F gives
// each tree's leaf the same weight. `probabilities` ascend; out is n_rows × n_probabilities. `skip` as in FoldOptions;
// a row that all trees skip gets the least target.
void quantiles(const Forest& forest, Packing& packing, const Rows& rows, const LeafSamples& samples,
               const double* probabilities, std::int64_t n_probabilities, const std::uint8_t* skip, double* out,
               std::int64_t n_threads, const Poll& poll);

}  // namespace hedgerow::walk
