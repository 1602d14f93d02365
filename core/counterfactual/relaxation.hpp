// A lower bound on the distance, by letting every tree choose a row of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "counterfactual/trees.hpp"

namespace hedgerow::counterfactual {

// For one condition and any λ >= 0 an accepted row y has distance(y) >= distance(y) - λ·(offset + Σ entries(y)). The
// distance is divided over the trees, the cost of a column in equal shares over the trees that split on it; then each
// tree may take the leaf that suits it best (Lagrangian relaxation and decomposition; Guignard and Kim, 1987):
//
//     distance >= base + max over λ of -λ·offset + Σ over trees of min over leaves of (shares(leaf) - λ·entry(leaf)),
//
// where base is the distance of the box and shares(leaf) what the leaf's own box adds to it. The bound is concave in λ
// and linear in pieces, so that the lines at both sides of its peak lead to it in a few steps.
class Relaxation {
public:
    Relaxation(const Trees& trees, const Candidates& candidates);

    // Infinite where no row of the box can be accepted. `lambda` is where the search for the best begins, and ends.
    double bound(const Box& box, double base, std::int64_t condition, double offset, double& lambda);

private:
    struct Interval {
        std::int32_t column;
        std::int32_t lower, upper;  // candidates of the leaf's box; lower < 0: categories, of which one costs `cost`
        double cost;
    };
    struct Leaf {
        const double* entries;
        std::int64_t first, last;  // intervals
    };
    struct Line {  // value and slope of the bound at some λ
        double value, slope;
    };
    void add_tree(std::int32_t root);
    double added_cost(const Leaf& leaf, const Box& box) const;  // infinite where box and leaf have nothing in common
    Line at(double lambda) const;

    const Trees& trees_;
    const Candidates candidates_;
    std::vector<Interval> intervals_;
    std::vector<Leaf> leaves_;
    std::vector<std::int64_t> start_;  // of the leaves of each tree
    std::vector<double> share_;        // of each column, for one tree

    // of the box in hand: what each leaf that it reaches costs, and its entry
    std::vector<double> costs_, entries_;
    std::vector<std::int64_t> reached_;  // per tree, and one past
    double constant_ = 0;                // entries of trees with mixtures
};

}  // namespace hedgerow::counterfactual
