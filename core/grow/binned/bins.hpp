// Columns as one byte a row, for growing many trees fast: at most 255 bins, and 255 itself for a missing value.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "forest/splits.hpp"
#include "grow/grow.hpp"
#include "grow/sorting.hpp"

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
// being divided between two. `keys`: the rows with a value, in order.
inline BinnedColumn bin_column(std::span<const SortKey> keys, const double* weight, std::int64_t max_bins,
                               std::uint8_t* codes, std::int64_t n_rows) {
    std::fill(codes, codes + n_rows, missing_code);
    const auto starts_value = [&](std::size_t i) { return i == 0 || keys[i].bits != keys[i - 1].bits; };
    std::int64_t n_values = 0;
    double total = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        n_values += starts_value(i);
        total += weight[keys[i].row];
    }
    const bool exact = n_values <= max_bins;
    std::array<double, n_codes> least, greatest;
    std::size_t n_bins = 0;
    double before = 0, here = 0;  // weight of lesser values, and of this one
    double next = 0;              // where, in bins of equal weight, the next may begin
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const std::uint32_t row = keys[i].row;
        if (starts_value(i)) {
            before += std::exchange(here, 0.0);
            const double position = before / total * static_cast<double>(max_bins);
            // A total that overflows makes no position: then there is one bin.
            if (exact || n_bins == 0 || (position >= next && static_cast<std::int64_t>(n_bins) < max_bins)) {
                least[n_bins++] = keys[i].value();
                next = std::floor(position) + 1;
            }
            greatest[n_bins - 1] = keys[i].value();
        }
        here += weight[row];
        codes[row] = static_cast<std::uint8_t>(n_bins - 1);
    }
    return {{least.begin(), least.begin() + n_bins}, {greatest.begin(), greatest.begin() + n_bins}};
}

inline BinnedData bin(const TrainingData& data, std::int64_t max_bins, std::int64_t n_threads, const Poll& poll) {
    BinnedData binned;
    binned.n_rows = data.n_rows;
    binned.columns.resize(static_cast<std::size_t>(data.n_features));
    binned.codes.resize(static_cast<std::size_t>(data.n_rows * data.n_features));
    // Several columns a task, which share the sorter's memory.
    const std::int64_t n_tasks =
        std::min<std::int64_t>(data.n_features, 8 * std::clamp<std::int64_t>(n_threads, 1, max_threads()));
    parallel_for(
        n_tasks, n_threads,
        [&](std::int64_t task, const Cancelled& cancelled) {
            ColumnSorter sorter;
            for (std::int64_t feature = task; feature < data.n_features && !cancelled; feature += n_tasks) {
                const double* column = data.X + feature * data.n_rows;
                std::uint8_t* codes = binned.codes.data() + feature * data.n_rows;
                if (data.n_categories[feature] > 0) {
                    for (std::int64_t row = 0; row < data.n_rows; ++row) {
                        const std::int64_t code = code_of(column[row], data.n_categories[feature]);
                        codes[row] = code == no_answer ? missing_code : static_cast<std::uint8_t>(code);
                    }
                    continue;
                }
                binned.columns[static_cast<std::size_t>(feature)] =
                    bin_column(sorter.sort(column, data.n_rows), data.weight, max_bins, codes, data.n_rows);
            }
        },
        poll);
    return binned;
}

}  // namespace hedgerow
