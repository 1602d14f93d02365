// Training rows.
#pragma once

#include <cstdint>

#include "data/rows.hpp"

namespace hedgerow::data {

// Numbers of training rows among all rows, if these are some of them.
struct RowNumbers {
    const std::int64_t* given = nullptr;

    std::uint64_t operator()(std::uint32_t row) const { return given ? static_cast<std::uint64_t>(given[row]) : row; }
};

// Training rows: NaN where a value is missing; codes in columns that have categories.
struct TrainingData {
    const double* X;
    const std::int32_t* n_categories;  // per column; 0: split by threshold
    const double* weight;              // per row, not negative
    const std::int32_t* labels;        // classification, else null
    const double* targets;             // regression, else null
    std::int64_t n_rows;
    std::int64_t n_features;
    std::int64_t n_classes;
    bool row_major = false;  // of X, else column-major: only random growth takes both
    RowNumbers number;       // which draws of rows are addressed by

    TableColumn column(std::int64_t feature) const {
        return row_major ? TableColumn{X + feature, n_features} : TableColumn{X + feature * n_rows, 1};
    }
};

}  // namespace hedgerow::data
