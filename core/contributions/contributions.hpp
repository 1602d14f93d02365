// Shapley values of the columns for sums of leaf values over trees.
//
// The game of a row x and a tree: a set S of known columns is worth
//     f(S) = Σ_leaves v_leaf · Π_columns j on the path (j in S ? o_j : z_j),
// where o_j is the product of the shares that x takes of the branches on the path that split on j (0 or 1, or less
// where x is spread), and z_j the same of what replaces an unknown column: the training weights of the branches
// (path-dependent), or the branches that a background row takes (interventional). A term is a product, so that
//     φ_i = ∫₀¹ Σ_leaves v · (o_i - z_i) · Π_{j ≠ i} (t·o_j + (1 - t)·z_j) dt,
// because ∫ tˢ(1-t)ᵖ⁻¹⁻ˢ dt = s!(p-1-s)!/p! is Shapley's weight of a set of s of p-1 others; the interaction index of
// i and j is the same integral with (o_i - z_i)(o_j - z_j) taken out. The integrand is a polynomial of degree below p,
// the distinct columns of a path: quadrature is exact, and adds no terms of different sign to each other.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "data/rows.hpp"
#include "forest/forest.hpp"

namespace hedgerow::contributions {

using base::Poll;
using data::Rows;
using forest::Forest;

// A row of numbers for each leaf of the forest; an answer is their sum over the trees.
struct LeafValues {
    const double* values;
    std::int64_t n_outputs;

    const double* operator[](std::int64_t leaf) const { return values + leaf * n_outputs; }
};

// Accumulated into. The sum of a row of `pairs` over its second column is the value of the first.
struct Contributions {
    double* values;  // n_rows × n_features × n_outputs
    double* pairs;   // n_rows × n_features × n_features × n_outputs, or null
};

// Unknown columns follow all branches, with their shares of the training weight (Lundberg et al.: From local
// explanations to global understanding with explainable AI for trees, 2020, algorithm 1).
void path_dependent(const Forest& forest, const Rows& rows, const LeafValues& leaves, const Contributions& out,
                    std::int64_t n_threads, const Poll& poll);

// Unknown columns have the values of a background row; mean over the background rows (the same, algorithm 3).
void interventional(const Forest& forest, const Rows& rows, const Rows& background, const LeafValues& leaves,
                    const Contributions& out, std::int64_t n_threads, const Poll& poll);

// What is answered where no column is known, path-dependent: leaf values by their shares of the training weight,
// summed over the trees.
std::vector<double> expected(const Forest& forest, const LeafValues& leaves);

}  // namespace hedgerow::contributions
