// Training rows of soft trees: a cell number in each column, and what each cell says about the latent value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hedgerow::measured {

// One column. Rows of a cell share what is known about the latent value U.
struct CellColumn {
    const std::uint16_t* cell;  // of each row
    const double* below;        // n_cells × n_at: P(U <= at[t] | cell); nominal: P(U is category t | cell)
    const double* at;           // ascending; nominal: null
    std::int64_t n_cells;
    std::int64_t n_at;  // thresholds, or categories

    bool nominal() const { return at == nullptr; }
};

struct CellData {
    std::vector<CellColumn> columns;
    std::vector<std::int32_t> features;  // columns that may be split
    const double* weight;                // rows that each row stands for; 0: takes no part, but gets fitted values
    const double* precision;             // of its targets; the weight of a squared residual is weight × precision
    const double* targets;               // n_rows × n_outputs
    std::int64_t n_rows;
    std::int64_t n_outputs;
};

struct SoftGrowOptions {
    std::int64_t n_trees = 1;
    std::int64_t max_leaf_nodes = -1;  // -1: none, level by level; else the region with the largest gain first
    double min_weight_leaf = 1;        // expected rows in each region
    std::int64_t max_features = -1;    // columns tried in each region; -1: all
    double ridge = 1;                  // rows: penalty on the step of a region's value
    double tolerance = 1e-3;           // as in SoftTreeWalk
    std::int64_t n_refits = 0;         // steps of the least-squares solver, whenever the leaves have doubled
    std::int64_t n_final = 0;          // and at the end
    bool simplex = false;              // values of a region stay at least 0 and add up to 1
    std::int64_t n_draws = 0;          // rows drawn with replacement for each tree; 0: all rows
    bool keep_in_bag = false;
    bool keep_fitted = false;
    std::uint64_t seed = 0;
    std::int64_t n_threads = 1;
};

// A region while it grows: its rows and the probability of each to be inside, and the splits that made it.
struct SoftRegion {
    struct Bounds {  // of one column that was split on
        std::int32_t feature;
        std::int32_t low, high;            // positions among the thresholds: -1 and n_at are infinite
        std::vector<std::uint8_t> inside;  // categories
    };

    std::vector<std::uint32_t> rows;
    std::vector<double> share;
    std::vector<Bounds> bounds;
    std::vector<double> value;  // of each output

    const Bounds* bounds_of(std::int32_t feature) const {
        for (const Bounds& one : bounds)
            if (one.feature == feature) return &one;
        return nullptr;
    }
    Bounds& bound(std::int32_t feature, const CellColumn& column) {
        for (Bounds& one : bounds)
            if (one.feature == feature) return one;
        bounds.push_back({feature, -1, static_cast<std::int32_t>(column.n_at), {}});
        if (column.nominal()) bounds.back().inside.assign(static_cast<std::size_t>(column.n_at), 1);
        return bounds.back();
    }
};

}  // namespace hedgerow::measured
