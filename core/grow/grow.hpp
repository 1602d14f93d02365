// Growing trees: settings in, arrays of a forest out.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "base/bulk.hpp"
#include "base/parallel.hpp"
#include "data/rows.hpp"
#include "forest/forest.hpp"

namespace hedgerow {

// The bindings export these by name; hedgerow.growth has no numbers for them.
enum class Criterion : std::uint8_t { gini, entropy, gain_ratio, squared_error, cost_gini };
enum class Nominal : std::uint8_t { multiway, binary, subset };
enum class TrainMissing : std::uint8_t { fractional, category, learned, random };

struct GrowOptions {
    Criterion criterion = Criterion::gini;
    Nominal nominal = Nominal::multiway;
    TrainMissing missing = TrainMissing::fractional;
    double min_fraction = 1.0 / 64;  // a smaller part of a row is not divided further
    std::int64_t max_depth = -1;     // -1: none
    double min_samples_split = 2;
    double min_samples_leaf = 1;
    double min_weight_leaf = 0;
    double min_impurity_decrease = 0;
    std::int64_t max_leaf_nodes = -1;  // -1: none, depth first; else best first
    std::int64_t max_features = -1;    // -1: all
    bool c45 = false;                  // with gain_ratio: all of C4.5's conditions on a question
    bool collapse = false;             // drop what saves no training error; not with regression, nor with leaf rows
    double significance = 1;           // a question whose chi-square test has a larger p-value is not asked
    std::vector<double> class_costs;   // of cost_gini: true × predicted class
    std::vector<double> feature_costs;  // per column, positive; empty: all alike
    std::uint64_t seed = 0;
    std::int64_t max_nodes = 0x7FFFFFFF;  // of a tree

    // The forest. max_bins > 0 takes the fast way: missing is `random`, nominal not `multiway`, no gain ratio.
    std::int64_t n_trees = 1;
    std::int64_t max_bins = 0;
    std::int64_t n_draws = 0;  // rows drawn with replacement for each tree, by their weights; 0: all rows, as weighted
    bool keep_in_bag = false;
    bool keep_leaf_rows = false;
    std::int64_t n_threads = 1;

    // Whether a node may be split at all: two of its branches must be large enough.
    bool may_split(double rows, std::int64_t depth) const {
        return rows >= std::max(min_samples_split, 2 * min_samples_leaf) - 1e-9 && (max_depth < 0 || depth < max_depth);
    }

    // Whether a question is judged by the rows that can answer it alone.
    bool known_only() const { return missing == TrainMissing::fractional || missing == TrainMissing::random; }
};

// What there is to learn from. NaN where missing; codes in columns that have categories.
struct TrainingData {
    const double* X;
    const std::int32_t* n_categories;  // per column; 0: split by threshold
    const double* weight;              // per row, not negative
    const std::int32_t* labels;        // classification, else null
    const double* targets;             // regression, else null
    std::int64_t n_rows;
    std::int64_t n_features;
    std::int64_t n_classes;
    bool row_major = false;            // of X, else column-major: only random growth takes both

    TableColumn column(std::int64_t feature) const {
        return row_major ? TableColumn{X + feature, n_features} : TableColumn{X + feature * n_rows, 1};
    }
};

// Columns of a Forest with one tree. leaf_values: class counts, or weight, mean and squared deviations. Random trees, which
// take longest to write down, leave out what follows from the rest: weights that are sums of counts, payloads where no node
// has one, what all nodes do with missing values, and counts that many leaves share.
struct GrownTree {
    Bulk<Node> nodes;
    Bulk<double> weight;
    Bulk<std::int32_t> payload;
    Bulk<std::uint8_t> kind, missing;
    std::vector<std::int64_t> payload_start{0};
    std::vector<std::int32_t> payload_codes;
    Bulk<double> leaf_values;
    Bulk<std::uint32_t> count_of;  // of each leaf, its row among the forest's distinct counts; then there are no leaf_values
    // Training rows of each leaf with their weights there, if they are kept.
    std::vector<std::int64_t> leaf_rows_start{0};
    std::vector<std::int32_t> leaf_rows;
    std::vector<double> leaf_row_weights;
};

// All trees concatenated.
struct GrownForest {
    GrownTree trees;
    std::vector<std::int64_t> tree_start{0}, leaf_start{0};
    std::vector<double> distinct_counts;  // of classes
    std::vector<std::uint8_t> in_bag;  // n_trees rows of (n_rows + 7) / 8 bytes, if they are kept
};

// Thrown by a worker whose caller has asked it to stop; parallel_for rethrows the caller's own reason.
struct Stopped {};

// `n_done` counts the trees that are finished, for whoever polls.
GrownForest grow(const TrainingData& data, const GrowOptions& options, std::atomic<std::int64_t>& n_done,
                 const Poll& poll);

}  // namespace hedgerow
