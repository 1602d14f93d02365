// Columns as ranks of their values, which take less memory to compare.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/bulk.hpp"
#include "base/parallel.hpp"
#include "data/codes.hpp"
#include "data/training_data.hpp"
#include "grow/sorting.hpp"

namespace hedgerow::grow::random {

using base::Bulk;
using base::Cancelled;
using base::parallel_for;
using base::Poll;
using data::code_of;
using data::no_code;
using data::TrainingData;

// A column with more distinct values than ranks shares a rank between neighbours: it separates most pairs of rows, and
// values decide the rest.
template <class Rank>
struct RankedData {
    static constexpr Rank missing = std::numeric_limits<Rank>::max();

    // The ranks twice: column-major for nodes of many rows, row-major for rows copied together. In nominal columns: the
    // codes.
    Bulk<Rank> columns, rows;
    std::vector<std::uint8_t> exact;        // per column: equal ranks are equal values
    std::vector<std::uint8_t> has_missing;  // per column
    std::vector<std::uint8_t> complete;     // per row: no value is missing
    bool all_complete = true;
};

// Whether category codes, and one for missing, fit 16 bits.
inline bool few_categories(const TrainingData& data) {
    const std::int64_t most = std::numeric_limits<std::uint16_t>::max();
    return std::all_of(data.n_categories, data.n_categories + data.n_features,
                       [=](std::int32_t n) { return n <= most; });
}

// Transposes some columns at a time: as many as a cache line has values of a row.
class SomeColumns {
public:
    static constexpr std::int64_t some = 8;

    explicit SomeColumns(const TrainingData& data) : data_(data) {}

    void read(std::int64_t first) {
        if (!data_.row_major) return;
        first_ = first;
        const std::int64_t n = std::min(some, data_.n_features - first);
        copy_.resize(static_cast<std::size_t>(some * data_.n_rows));
        for (std::int64_t row = 0; row < data_.n_rows; ++row)
            for (std::int64_t i = 0; i < n; ++i)
                copy_[static_cast<std::size_t>(i * data_.n_rows + row)] = data_.X[row * data_.n_features + first + i];
    }
    const double* operator[](std::int64_t feature) const {
        return data_.row_major ? copy_.data() + (feature - first_) * data_.n_rows : data_.X + feature * data_.n_rows;
    }

private:
    const TrainingData& data_;
    std::int64_t first_ = 0;
    Bulk<double> copy_;
};

// `column` of the data, its values side by side.
template <class Rank>
void rank_column(const TrainingData& data, std::int64_t feature, const double* column, ColumnSorter& sorter,
                 RankedData<Rank>& ranked) {
    Rank* ranks = ranked.columns.data() + feature * data.n_rows;
    std::uint8_t& has_missing = ranked.has_missing[static_cast<std::size_t>(feature)];
    if (data.n_categories[feature] > 0) {
        for (std::int64_t row = 0; row < data.n_rows; ++row) {
            const std::int64_t code = code_of(column[row], data.n_categories[feature]);
            ranks[row] = code == no_code ? ranked.missing : static_cast<Rank>(code);
        }
        has_missing = std::find(ranks, ranks + data.n_rows, ranked.missing) != ranks + data.n_rows;
        return;
    }
    sorter.sort(column, data.n_rows);
    has_missing = static_cast<std::int64_t>(sorter.n_known()) < data.n_rows;
    if (has_missing) std::fill(ranks, ranks + data.n_rows, ranked.missing);
    const std::uint64_t n_distinct = sorter.n_distinct(), n_ranks = ranked.missing;
    ranked.exact[static_cast<std::size_t>(feature)] = n_distinct <= n_ranks;
    if (n_distinct <= n_ranks) {
        sorter.for_each([=](const SortKey& key, std::uint32_t rank) { ranks[key.row] = static_cast<Rank>(rank); });
    } else {
        const std::uint64_t share =
            (n_ranks << 32) / n_distinct;  // of a rank, in 2^-32: rounded down, so that none is too large
        sorter.for_each(
            [=](const SortKey& key, std::uint32_t rank) { ranks[key.row] = static_cast<Rank>(rank * share >> 32); });
    }
}

template <class Rank>
RankedData<Rank> rank(const TrainingData& data, std::int64_t n_threads, const Poll& poll) {
    const std::int64_t n_rows = data.n_rows, n_features = data.n_features;
    RankedData<Rank> ranked;
    ranked.columns.resize(static_cast<std::size_t>(n_rows * n_features));
    ranked.rows.resize(ranked.columns.size());
    ranked.exact.resize(static_cast<std::size_t>(n_features), 1);
    ranked.has_missing.resize(static_cast<std::size_t>(n_features));
    ranked.complete.resize(static_cast<std::size_t>(n_rows), 1);
    const std::int64_t n_groups = (n_features + SomeColumns::some - 1) / SomeColumns::some;
    const std::int64_t n_sorters = std::clamp<std::int64_t>(n_threads, 1, n_groups);
    parallel_for(
        n_sorters, n_threads,
        [&](std::int64_t number, const Cancelled& cancelled) {
            ColumnSorter sorter;
            SomeColumns columns(data);
            for (std::int64_t first = number * columns.some; first < n_features; first += n_sorters * columns.some) {
                columns.read(first);
                const std::int64_t end = std::min(first + columns.some, n_features);
                for (std::int64_t feature = first; feature < end && !cancelled; ++feature)
                    rank_column(data, feature, columns[feature], sorter, ranked);
            }
        },
        poll);
    ranked.all_complete = std::none_of(ranked.has_missing.begin(), ranked.has_missing.end(), [](auto m) { return m; });
    const std::int64_t size = 64;  // rows that are written to side by side
    parallel_for((n_rows + size - 1) / size, n_threads,
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

}  // namespace hedgerow::grow::random
