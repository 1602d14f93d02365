// The sequence of ever smaller trees of cost-complexity pruning (Breiman et al., 1984, section 3.3).
#pragma once

#include <cstdint>
#include <vector>

namespace hedgerow::prune {

// One step per node that became a leaf, in order.
struct WeakestLinks {
    std::vector<std::int64_t> nodes;
    std::vector<double> alphas;  // the cost of a leaf at which the step pays
    std::vector<double> totals;  // n_columns each: sums over the leaves, before the first step and after each
};

// `values` has n_columns numbers for each node, as if it were a leaf; the first is its risk. Nodes are those of one
// tree, `parent` as in structure.hpp. The next node is that with the least (own risk − risk of its leaves)/(leaves −
// 1), the first of equals.
WeakestLinks weakest_links(const std::int64_t* parent, std::int64_t n_nodes, const double* values,
                           std::int64_t n_columns);

}  // namespace hedgerow::prune
