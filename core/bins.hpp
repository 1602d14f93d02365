// Columns as one byte a row, for growing many trees fast: at most 255 bins, and 255 itself for a missing value.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "grow.hpp"
#include "parallel.hpp"
#include "sorting.hpp"

namespace hedgerow {

inline constexpr std::uint8_t missing_code = 255;
inline constexpr int n_codes = 256;

struct BinnedColumn {
    std::vector<double> least, greatest;  // value of each bin; empty for a column of categories
};

struct BinnedData {
    std::vector<BinnedColumn> columns;
    std::vector<std::uint8_t> codes;  // column-major
    std::int64_t n_rows = 0;

    const std::uint8_t* column(std::int64_t feature) const { return codes.data() + feature * n_rows; }
};

// A bin for each distinct value where there are no more than `max_bins`; else bins of about equal weight, a value never
// being divided between two.
inline BinnedColumn bin_column(const SortedColumn& sorted, const double* weight, std::int64_t max_bins,
                               std::uint8_t* codes, std::int64_t n_rows) {
    std::fill(codes, codes + n_rows, missing_code);
    std::vector<double> weight_of(sorted.values.size(), 0.0);
    double total = 0;
    for (std::size_t i = 0; i < sorted.rows.size(); ++i) {
        weight_of[sorted.ranks[i]] += weight[sorted.rows[i]];
        total += weight[sorted.rows[i]];
    }
    BinnedColumn column;
    std::vector<std::uint8_t> bin_of(sorted.values.size());
    const bool exact = static_cast<std::int64_t>(sorted.values.size()) <= max_bins;
    double before = 0, last = -1;
    for (std::size_t rank = 0; rank < sorted.values.size(); ++rank) {
        const double wanted = std::floor(before / total * static_cast<double>(max_bins));
        if (exact || wanted > last) {
            column.least.push_back(sorted.values[rank]);
            column.greatest.push_back(sorted.values[rank]);
            last = wanted;
        }
        column.greatest.back() = sorted.values[rank];
        bin_of[rank] = static_cast<std::uint8_t>(column.least.size() - 1);
        before += weight_of[rank];
    }
    for (std::size_t i = 0; i < sorted.rows.size(); ++i) codes[sorted.rows[i]] = bin_of[sorted.ranks[i]];
    return column;
}

inline BinnedData bin(const TrainingData& data, std::int64_t max_bins, std::int64_t n_threads, const Poll& poll) {
    BinnedData binned;
    binned.n_rows = data.n_rows;
    binned.columns.resize(static_cast<std::size_t>(data.n_features));
    binned.codes.resize(static_cast<std::size_t>(data.n_rows * data.n_features));
    parallel_for(
        data.n_features, n_threads,
        [&](std::int64_t feature, const Cancelled&) {
            const double* column = data.X + feature * data.n_rows;
            std::uint8_t* codes = binned.codes.data() + feature * data.n_rows;
            if (data.n_categories[feature] > 0) {
                for (std::int64_t row = 0; row < data.n_rows; ++row)
                    codes[row] = std::isnan(column[row]) ? missing_code : static_cast<std::uint8_t>(column[row]);
                return;
            }
            const SortedColumn sorted = ColumnSorter()(column, data.n_rows);
            binned.columns[static_cast<std::size_t>(feature)] =
                bin_column(sorted, data.weight, max_bins, codes, data.n_rows);
        },
        poll);
    return binned;
}

}  // namespace hedgerow
