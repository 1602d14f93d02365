#include "grow/binned/grow_binned.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "grow/binned/grower.hpp"
#include "grow/binned/histogram.hpp"
#include "grow/criteria.hpp"

namespace hedgerow::grow::binned {
namespace {

// Whether every row counts a whole number of times, small enough for CountedRow.
bool whole_counts(const TrainingData& data, const DrawCounts& counts) {
    const std::uint32_t most = std::numeric_limits<std::uint16_t>::max();
    if (data.n_classes > most) return false;
    if (!counts.empty()) return *std::max_element(counts.begin(), counts.end()) <= most;
    return std::all_of(data.weight, data.weight + data.n_rows, [](double w) { return w == 0 || w == 1; });
}

template <class Criterion, class Histogram>
GrownTree grow_with(const TrainingData& data, const BinnedData& binned, const GrowOptions& options,
                    const DrawCounts& counts, const Root& root, const Cancelled& cancelled) {
    using Row = typename Histogram::Row;
    const auto weight_of = [&](std::int64_t row) {
        return counts.empty() ? data.weight[row] : static_cast<double>(counts[static_cast<std::size_t>(row)]);
    };
    double weight = 0, centre = 0;
    for (std::int64_t row = 0; row < data.n_rows; ++row) weight += weight_of(row);
    if (options.targets.exact())
        centre = options.targets.centre;
    else if (data.targets)
        for (std::int64_t row = 0; row < data.n_rows; ++row) centre += data.targets[row] * (weight_of(row) / weight);

    const auto target_of = [&](std::int64_t row) { return options.targets.rounded(data.targets[row] - centre); };

    std::vector<Row> rows;
    for (std::int64_t row = 0; row < data.n_rows; ++row) {
        if (weight_of(row) <= 0) continue;
        const auto number = static_cast<std::uint32_t>(row);
        const std::uint32_t count = counts.empty() ? 1 : counts[number];
        if constexpr (std::is_same_v<Row, CountedRow>)
            rows.push_back({number, static_cast<std::uint16_t>(count), static_cast<std::uint16_t>(data.labels[row])});
        else if constexpr (std::is_same_v<Row, SumHistogram::Row>)
            rows.push_back({number, count, target_of(row)});
        else if constexpr (std::is_same_v<typename Criterion::Target, double>)
            rows.push_back({number, {weight_of(row), target_of(row)}});
        else
            rows.push_back({number, {weight_of(row), data.labels[row]}});
    }
    return BinnedGrower<Criterion, Histogram>(data, binned, options, cancelled,
                                              root.tree_weight < 0 ? weight : root.tree_weight)(std::move(rows), root);
}

// The histogram of rows with whole counts. `counting`: of distinct rows too, where leaves must hold more than one.
template <class Criterion, bool counting>
auto whole_histogram() {
    if constexpr (std::is_same_v<typename Criterion::Target, double>)
        return std::type_identity<SumHistogram>{};
    else if constexpr (Criterion::n_known_classes == 2)
        return std::type_identity<PairHistogram<counting>>{};
    else
        return std::type_identity<CountHistogram<counting>>{};
}

}  // namespace

GrownTree grow_tree(const TrainingData& data, const BinnedData& binned, const GrowOptions& options,
                    const DrawCounts& counts, const Root& root, const Cancelled& cancelled) {
    if (is_ratio(options.criterion)) throw std::invalid_argument("gain ratios can't be grown from bins");
    return with_criterion(options.criterion, data.n_classes, [&]<class Criterion>() -> GrownTree {
        if constexpr (requires { &Criterion::split_gain; }) {
            const auto grow = [&]<class Histogram>(std::type_identity<Histogram>) {
                return grow_with<Criterion, Histogram>(data, binned, options, counts, root, cancelled);
            };
            if (!whole_counts(data, counts)) return grow(std::type_identity<WeightHistogram<Criterion>>{});
            return options.min_samples_leaf > 1 ? grow(whole_histogram<Criterion, true>())
                                                : grow(whole_histogram<Criterion, false>());
        } else {
            throw std::invalid_argument("this criterion can't be grown from bins");
        }
    });
}

}  // namespace hedgerow::grow::binned
