// Columns of one byte a row: at most 255 bins, and code 255 for a missing value.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "data/training_data.hpp"
#include "grow/sorting.hpp"

namespace hedgerow::grow::binned {

using base::Cancelled;
using base::Poll;
using data::TableColumn;
using data::TrainingData;

inline constexpr std::uint8_t missing_code = 255;
inline constexpr int n_codes = 256;

struct BinnedColumn {
    std::vector<double> least, greatest;  // values of each bin; empty for a column of categories
};

struct BinnedData {
    std::vector<BinnedColumn> columns;
    std::vector<std::uint8_t> own_codes;  // those that `codes` shows, unless they belong to the caller
    const std::uint8_t* codes = nullptr;  // column-major
    std::int64_t n_rows = 0;

    const std::uint8_t* column(std::int64_t feature) const { return codes + feature * n_rows; }
};

// Writes the bin of each row to `codes`. A bin for each distinct value where there are at most `max_bins`; else bins of
// about equal weight, with all rows of a value in one bin.
BinnedColumn bin_numbers(const double* column, const double* weight, std::int64_t n_rows, std::int64_t max_bins,
                         ColumnSorter& sorter, std::uint8_t* codes);

// Writes the category of each row to `codes`.
void bin_categories(TableColumn column, std::int64_t n_rows, std::int64_t n_categories, std::uint8_t* codes);

// Writes the bin of each value to `codes`, given where bins begin: those of other rows, found elsewhere.
void encode_numbers(TableColumn column, std::int64_t n_rows, const std::vector<double>& least, std::uint8_t* codes);

BinnedData bin(const TrainingData& data, std::int64_t max_bins, std::int64_t n_threads, const Poll& poll);

}  // namespace hedgerow::grow::binned
