// Columns as the ranks of their values: what is compared is small, and a threshold is still a value of the data.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "grow.hpp"
#include "parallel.hpp"
#include "sorting.hpp"

namespace hedgerow {

template <class Rank>
struct RankedData {
    static constexpr Rank missing = std::numeric_limits<Rank>::max();

    // The same ranks twice: column-major for questions about many rows, row-major for rows that stay together. Of a
    // column with categories: their codes.
    std::vector<Rank> columns, rows;
    std::vector<std::vector<double>> values;  // of each column, by rank; empty where there are categories
    std::vector<std::uint8_t> has_missing;    // per column
    std::vector<std::uint8_t> complete;       // per row: no value is missing
    bool all_complete = true;
};

// Whether ranks of 16 bits are enough, with one for missing.
inline bool few_ranks(const TrainingData& data) {
    const std::int64_t most = std::numeric_limits<std::uint16_t>::max();
    return data.n_rows <= most &&
           std::all_of(data.n_categories, data.n_categories + data.n_features, [](std::int32_t n) { return n <= most; });
}

template <class Rank>
void rank_column(const TrainingData& data, std::int64_t feature, RankedData<Rank>& ranked) {
    const double* column = data.X + feature * data.n_rows;
    Rank* ranks = ranked.columns.data() + feature * data.n_rows;
    const auto at = static_cast<std::size_t>(feature);
    if (data.n_categories[feature] > 0) {
        for (std::int64_t row = 0; row < data.n_rows; ++row)
            ranks[row] = std::isnan(column[row]) ? ranked.missing : static_cast<Rank>(column[row]);
        ranked.has_missing[at] = std::find(ranks, ranks + data.n_rows, ranked.missing) != ranks + data.n_rows;
        return;
    }
    SortedColumn sorted = ColumnSorter()(column, data.n_rows);
    ranked.has_missing[at] = static_cast<std::int64_t>(sorted.rows.size()) < data.n_rows;
    if (ranked.has_missing[at]) std::fill(ranks, ranks + data.n_rows, ranked.missing);
    for (std::size_t i = 0; i < sorted.rows.size(); ++i) ranks[sorted.rows[i]] = static_cast<Rank>(sorted.ranks[i]);
    ranked.values[at] = std::move(sorted.values);
}

template <class Rank>
RankedData<Rank> rank(const TrainingData& data, std::int64_t n_threads, const Poll& poll) {
    const std::int64_t n_rows = data.n_rows, n_features = data.n_features;
    RankedData<Rank> ranked;
    ranked.columns.resize(static_cast<std::size_t>(n_rows * n_features));
    ranked.rows.resize(ranked.columns.size());
    ranked.values.resize(static_cast<std::size_t>(n_features));
    ranked.has_missing.resize(static_cast<std::size_t>(n_features));
    ranked.complete.resize(static_cast<std::size_t>(n_rows), 1);
    parallel_for(
        n_features, n_threads, [&](std::int64_t feature, const Cancelled&) { rank_column(data, feature, ranked); }, poll);
    ranked.all_complete = std::none_of(ranked.has_missing.begin(), ranked.has_missing.end(), [](auto m) { return m; });
    const std::int64_t size = 64;  // rows that are written to side by side
    parallel_for(
        (n_rows + size - 1) / size, n_threads,
        [&](std::int64_t block, const Cancelled&) {
            for (std::int64_t feature = 0; feature < n_features; ++feature) {
                const Rank* column = ranked.columns.data() + feature * n_rows;
                for (std::int64_t row = block * size; row < std::min(n_rows, (block + 1) * size); ++row) {
                    ranked.rows[static_cast<std::size_t>(row * n_features + feature)] = column[row];
                    if (column[row] == ranked.missing) ranked.complete[static_cast<std::size_t>(row)] = 0;
                }
            }
        },
        poll);
    return ranked;
}

}  // namespace hedgerow
