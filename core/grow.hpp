// Growing one tree: settings in, arrays of a forest of one tree out.
#pragma once

#include <cstdint>
#include <vector>

#include "forest.hpp"
#include "parallel.hpp"

namespace hedgerow {

// The numbers are those of hedgerow.growth.
enum class Criterion : std::uint8_t { gini, entropy, gain_ratio, squared_error };
enum class Nominal : std::uint8_t { multiway, binary };
enum class TrainMissing : std::uint8_t { fractional, category, learned };

struct GrowOptions {
    Criterion criterion = Criterion::gini;
    Nominal nominal = Nominal::multiway;
    TrainMissing missing = TrainMissing::fractional;
    double min_fraction = 1.0 / 64;  // a smaller part of a row is not divided further
    std::int64_t max_depth = -1;       // -1: none
    double min_samples_split = 2;
    double min_samples_leaf = 1;
    double min_weight_leaf = 0;
    double min_impurity_decrease = 0;
    std::int64_t max_leaf_nodes = -1;  // -1: none, depth first; else best first
    std::int64_t max_features = -1;    // -1: all
    std::uint64_t seed = 0;
    std::int64_t max_nodes = 0x7FFFFFFF;
};

// What there is to learn from. Column-major X, NaN where missing; codes in columns that have categories.
struct TrainingData {
    const double* X;
    const std::int32_t* n_categories;  // per column; 0: split by threshold
    const double* weight;              // per row, positive
    const std::int32_t* labels;        // classification, else null
    const double* targets;             // regression, else null
    std::int64_t n_rows;
    std::int64_t n_features;
    std::int64_t n_classes;
};

// Columns of a Forest with one tree. leaf_values: class counts, or weight, mean and squared deviations.
struct GrownTree {
    std::vector<double> threshold, weight;
    std::vector<std::int32_t> feature, first_child, payload;
    std::vector<std::uint8_t> kind, missing;
    std::vector<std::int64_t> payload_start{0};
    std::vector<std::int32_t> payload_codes;
    std::vector<double> leaf_values;
};

GrownTree grow(const TrainingData& data, const GrowOptions& options, const Poll& poll);

}  // namespace hedgerow
