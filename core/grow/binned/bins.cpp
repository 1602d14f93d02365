#include "grow/binned/bins.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

#include "data/codes.hpp"

namespace hedgerow::grow::binned {

BinnedColumn bin_numbers(const double* column, const double* weight, std::int64_t n_rows, std::int64_t max_bins,
                         ColumnSorter& sorter, std::uint8_t* codes) {
    const std::span<const SortKey> keys = sorter.sort(column, n_rows);  // the rows with a value
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
            // Where the total overflows there is no position, and one bin.
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

void bin_categories(TableColumn column, std::int64_t n_rows, std::int64_t n_categories, std::uint8_t* codes) {
    for (std::int64_t row = 0; row < n_rows; ++row) {
        const std::int64_t code = data::code_of(column[row], n_categories);
        codes[row] = code == data::no_code ? missing_code : static_cast<std::uint8_t>(code);
    }
}

void encode_numbers(TableColumn column, std::int64_t n_rows, const std::vector<double>& least, std::uint8_t* codes) {
    for (std::int64_t row = 0; row < n_rows; ++row) {
        const double value = column[row];
        std::size_t first = 0;                        // of the bins that the value may be in
        for (std::size_t n = least.size(); n > 1;) {  // no branch: the values of a column are in no order
            const std::size_t half = n / 2;
            first += value >= least[first + half] ? half : 0;
            n -= half;
        }
        codes[row] = std::isfinite(value) && !least.empty() ? static_cast<std::uint8_t>(first) : missing_code;
    }
}

BinnedData bin(const TrainingData& data, std::int64_t max_bins, std::int64_t n_threads, const Poll& poll) {
    BinnedData binned;
    binned.n_rows = data.n_rows;
    binned.columns.resize(static_cast<std::size_t>(data.n_features));
    binned.own_codes.resize(static_cast<std::size_t>(data.n_rows * data.n_features));
    binned.codes = binned.own_codes.data();
    // Several columns a task, which share the sorter's buffers.
    const std::int64_t n_tasks =
        std::min<std::int64_t>(data.n_features, 8 * std::clamp<std::int64_t>(n_threads, 1, base::max_threads()));
    base::parallel_for(
        n_tasks, n_threads,
        [&](std::int64_t task, const Cancelled& cancelled) {
            ColumnSorter sorter;
            for (std::int64_t feature = task; feature < data.n_features && !cancelled; feature += n_tasks) {
                const double* column = data.X + feature * data.n_rows;
                std::uint8_t* codes = binned.own_codes.data() + feature * data.n_rows;
                if (data.n_categories[feature] > 0)
                    bin_categories({column, 1}, data.n_rows, data.n_categories[feature], codes);
                else
                    binned.columns[static_cast<std::size_t>(feature)] =
                        bin_numbers(column, data.weight, data.n_rows, max_bins, sorter, codes);
            }
        },
        poll);
    return binned;
}

}  // namespace hedgerow::grow::binned
