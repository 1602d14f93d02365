// Forests that own their arrays: what growing and editing return.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/bulk.hpp"
#include "forest/forest.hpp"

namespace hedgerow::forest {

using base::Bulk;

// Columns of a Forest with one tree. leaf_values: class counts; or weight, mean and squared deviations. Random trees
// leave out what follows from the rest: weights that are sums of counts, payloads where no node has one, the
// missing-value policy, and counts that leaves share.
struct GrownTree {
    Bulk<Node> nodes;
    Bulk<double> weight;
    Bulk<std::int32_t> payload;
    Bulk<std::uint8_t> kind, missing;
    std::vector<std::int64_t> payload_start{0};
    std::vector<std::int32_t> payload_codes;
    std::vector<double> payload_weights;  // one per code if any split is oblique, else empty
    std::vector<double> payload_means;    // likewise
    Bulk<double> leaf_values;
    Bulk<std::uint32_t> count_of;  // per leaf: its row in distinct_counts, instead of leaf_values
    // Training rows of each leaf with their weights there, if they are kept.
    std::vector<std::int64_t> leaf_rows_start{0};
    std::vector<std::int32_t> leaf_rows;
    std::vector<double> leaf_row_weights;
};

// NaN for the codes of the last payloads, which are not those of oblique splits.
inline void fill_up(std::vector<double>& of_codes, const GrownTree& tree) {
    of_codes.resize(tree.payload_codes.size(), std::numeric_limits<double>::quiet_NaN());
}

// Numbers of the codes of the last payload, that of an oblique split.
inline void set_last(std::vector<double>& of_codes, const GrownTree& tree, const double* values, std::ptrdiff_t n) {
    fill_up(of_codes, tree);
    std::copy(values, values + n, of_codes.end() - n);
}

// All trees concatenated.
struct GrownForest {
    GrownTree trees;
    std::vector<std::int64_t> tree_start{0}, leaf_start{0};
    std::vector<double> distinct_counts;  // of classes
    std::vector<std::uint8_t> in_bag;     // n_trees rows of (n_rows + 7) / 8 bytes, if they are kept
};

}  // namespace hedgerow::forest
