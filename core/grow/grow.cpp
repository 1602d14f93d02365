#include "grow/grow.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "forest/concatenate.hpp"
#include "forest/edit.hpp"
#include "grow/binned/bins.hpp"
#include "grow/binned/grower.hpp"
#include "grow/bootstrap.hpp"
#include "grow/criteria.hpp"
#include "grow/exact/grower.hpp"
#include "grow/sorting.hpp"

namespace hedgerow {
namespace {

SortedData sort_columns(const TrainingData& data, std::int64_t n_threads, const Poll& poll) {
    SortedData sorted;
    std::vector<std::int64_t> by_threshold;
    for (std::int64_t f = 0; f < data.n_features; ++f) {
        sorted.list_of.push_back(data.n_categories[f] > 0 ? -1 : static_cast<std::int32_t>(by_threshold.size()));
        if (data.n_categories[f] == 0) by_threshold.push_back(f);
    }
    sorted.columns.resize(by_threshold.size());
    parallel_for(
        static_cast<std::int64_t>(by_threshold.size()), n_threads,
        [&](std::int64_t list, const Cancelled&) {
            const auto at = static_cast<std::size_t>(list);
            sorted.columns[at] = ColumnSorter()(data.X + by_threshold[at] * data.n_rows, data.n_rows);
        },
        poll);
    sorted.categories = CategoryRows(data);
    return sorted;
}

// Grows the tree at a place. `counts`: how often each row was drawn; empty: every row has its weight.
using Counts = std::vector<std::uint32_t>;

template <class Criterion>
GrownTree grow_general(const TrainingData& data, const SortedData& sorted, const GrowOptions& options,
                       const Counts& counts, Path path, const Cancelled& cancelled) {
    if (counts.empty()) return GeneralGrower<Criterion>(data, sorted, options, cancelled)(path);
    const std::vector<double> weight(counts.begin(), counts.end());
    TrainingData drawn = data;
    drawn.weight = weight.data();
    return GeneralGrower<Criterion>(drawn, sorted, options, cancelled)(path);
}

template <class Criterion, class Cells>
GrownTree grow_fast(const TrainingData& data, const BinnedData& binned, const GrowOptions& options,
                    const Counts& counts, Path path, const Cancelled& cancelled) {
    using Row = typename Cells::Row;
    const auto weight_of = [&](std::int64_t row) {
        return counts.empty() ? data.weight[row] : static_cast<double>(counts[static_cast<std::size_t>(row)]);
    };
    double weight = 0, centre = 0;
    for (std::int64_t row = 0; row < data.n_rows; ++row) weight += weight_of(row);
    if (data.targets)
        for (std::int64_t row = 0; row < data.n_rows; ++row) centre += data.targets[row] * (weight_of(row) / weight);

    std::vector<Row> rows;
    for (std::int64_t row = 0; row < data.n_rows; ++row) {
        if (weight_of(row) <= 0) continue;
        const std::uint32_t count = counts.empty() ? 1 : counts[static_cast<std::size_t>(row)];
        if constexpr (std::is_same_v<Row, CountedRow>)
            rows.push_back({static_cast<std::uint32_t>(row), static_cast<std::uint16_t>(count),
                            static_cast<std::uint16_t>(data.labels[row])});
        else if constexpr (std::is_same_v<Row, SumCells::Row>)
            rows.push_back({static_cast<std::uint32_t>(row), count, data.targets[row] - centre});
        else if constexpr (std::is_same_v<typename Criterion::Target, double>)
            rows.push_back({static_cast<std::uint32_t>(row), {weight_of(row), data.targets[row] - centre}});
        else
            rows.push_back({static_cast<std::uint32_t>(row), {weight_of(row), data.labels[row]}});
    }
    return FastGrower<Criterion, Cells>(data, binned, options, cancelled, weight)(std::move(rows), path);
}

// Whether every row counts a whole number of times, small enough for CountedRow.
bool whole_counts(const TrainingData& data, const Counts& counts) {
    const std::uint32_t most = std::numeric_limits<std::uint16_t>::max();
    if (data.n_classes > most) return false;
    if (!counts.empty()) return *std::max_element(counts.begin(), counts.end()) <= most;
    return std::all_of(data.weight, data.weight + data.n_rows, [](double w) { return w == 0 || w == 1; });
}

template <template <int> class Criterion, bool counting>
GrownTree grow_fast_classes(const TrainingData& data, const BinnedData& binned, const GrowOptions& options,
                            const Counts& counts, Path path, const Cancelled& cancelled) {
    const bool whole = whole_counts(data, counts);
    const auto grow = [&]<class Chosen, class Cells>() {
        return grow_fast<Chosen, Cells>(data, binned, options, counts, path, cancelled);
    };
    if (data.n_classes == 2)
        return whole ? grow.template operator()<Criterion<2>, PairCells<counting>>()
                     : grow.template operator()<Criterion<2>, WeightCells<Criterion<2>>>();
    return whole ? grow.template operator()<Criterion<0>, CountCells<counting>>()
                 : grow.template operator()<Criterion<0>, WeightCells<Criterion<0>>>();
}

template <template <int> class Criterion>
GrownTree grow_fast_classes(const TrainingData& data, const BinnedData& binned, const GrowOptions& options,
                            const Counts& counts, Path path, const Cancelled& cancelled) {
    return options.min_samples_leaf > 1
               ? grow_fast_classes<Criterion, true>(data, binned, options, counts, path, cancelled)
               : grow_fast_classes<Criterion, false>(data, binned, options, counts, path, cancelled);
}

GrownTree grow_one_fast(const TrainingData& data, const BinnedData& binned, const GrowOptions& options,
                        const Counts& counts, Path path, const Cancelled& cancelled) {
    switch (options.criterion) {
        case Criterion::squared_error:
            return whole_counts(data, counts)
                       ? grow_fast<SquaredError, SumCells>(data, binned, options, counts, path, cancelled)
                       : grow_fast<SquaredError, WeightCells<SquaredError>>(data, binned, options, counts, path, cancelled);
        case Criterion::gini: return grow_fast_classes<Gini>(data, binned, options, counts, path, cancelled);
        default: return grow_fast_classes<Entropy>(data, binned, options, counts, path, cancelled);
    }
}

GrownTree grow_one_general(const TrainingData& data, const SortedData& sorted, const GrowOptions& options,
                           const Counts& counts, Path path, const Cancelled& cancelled) {
    const bool two = data.n_classes == 2;
    switch (options.criterion) {
        case Criterion::squared_error:
            return grow_general<SquaredError>(data, sorted, options, counts, path, cancelled);
        case Criterion::gini:
            return two ? grow_general<Gini<2>>(data, sorted, options, counts, path, cancelled)
                       : grow_general<Gini<0>>(data, sorted, options, counts, path, cancelled);
        case Criterion::cost_gini: return grow_general<CostGini>(data, sorted, options, counts, path, cancelled);
        default:
            return two ? grow_general<Entropy<2>>(data, sorted, options, counts, path, cancelled)
                       : grow_general<Entropy<0>>(data, sorted, options, counts, path, cancelled);
    }
}

GrownForest forest_of(GrownTree tree) {
    const auto n_leaves =
        std::count_if(tree.nodes.begin(), tree.nodes.end(), [](const Node& node) { return node.feature == leaf_feature; });
    const auto n_nodes = static_cast<std::int64_t>(tree.nodes.size());
    return {std::move(tree), {0, n_nodes}, {0, n_leaves}, {}};
}

void collapse_in_place(GrownForest& forest, const TrainingData& data) {
    const GrownTree& trees = forest.trees;
    const Forest grown{trees.nodes.data(),
                       trees.weight.data(),
                       trees.payload.data(),
                       reinterpret_cast<const Kind*>(trees.kind.data()),
                       reinterpret_cast<const Missing*>(trees.missing.data()),
                       forest.tree_start.data(),
                       forest.leaf_start.data(),
                       trees.payload_start.data(),
                       trees.payload_codes.data(),
                       nullptr,
                       static_cast<std::int64_t>(forest.tree_start.size()) - 1,
                       data.n_features,
                       false};
    std::optional<Rearrangement> kept = collapse(grown, trees.leaf_values.data(), data.n_classes);
    if (!kept) return;
    GrownForest smaller = rearranged(grown, *std::move(kept)).forest;
    smaller.in_bag = std::move(forest.in_bag);
    forest = std::move(smaller);
}

}  // namespace

GrownForest grow(const TrainingData& data, const GrowOptions& options, std::atomic<std::int64_t>& n_done,
                 const Poll& poll) {
    // A thread has memory of its own, which the system must clear: a few ms of work are done sooner without one. Ctrl-C is
    // then heard afterwards, at most some 150 ms later.
    const std::int64_t n_tried = options.max_features < 0 ? data.n_features : options.max_features;
    const bool many_threads = options.n_threads > 1;
    const double n_looked_at = static_cast<double>(data.n_rows) * static_cast<double>(n_tried);
    const double n_steps =
        std::max(n_looked_at, static_cast<double>(options.n_draws)) * static_cast<double>(options.n_trees);
    const bool short_work = n_steps < (many_threads ? 1 << 14 : 1 << 19);
    const std::int64_t n_threads = short_work ? 0 : std::max<std::int64_t>(options.n_threads, 1);
    const bool fast = options.max_bins > 0;
    const BinnedData binned = fast ? bin(data, options.max_bins, n_threads, poll) : BinnedData{};
    const SortedData sorted = fast ? SortedData{} : sort_columns(data, n_threads, poll);
    const Bootstrap bootstrap(data, options.n_draws);

    const std::int64_t mask_bytes = (data.n_rows + 7) / 8;
    std::vector<std::uint8_t> in_bag(static_cast<std::size_t>(options.keep_in_bag ? options.n_trees * mask_bytes : 0), 0);
    std::vector<GrownForest> trees(static_cast<std::size_t>(options.n_trees));
    parallel_for(
        options.n_trees, n_threads,
        [&](std::int64_t tree, const Cancelled& cancelled) {
            const Path path = Path(options.seed).child(static_cast<std::uint64_t>(tree));
            try {
                const Counts counts = options.n_draws > 0 ? bootstrap(path, cancelled) : Counts{};
                if (options.keep_in_bag)
                    for (std::size_t row = 0; row < counts.size(); ++row)
                        if (counts[row] > 0)
                            in_bag[static_cast<std::size_t>(tree * mask_bytes) + row / 8] |=
                                static_cast<std::uint8_t>(1u << row % 8);
                trees[static_cast<std::size_t>(tree)] =
                    forest_of(fast ? grow_one_fast(data, binned, options, counts, path, cancelled)
                                   : grow_one_general(data, sorted, options, counts, path, cancelled));
            } catch (const Stopped&) {
                return;
            }
            ++n_done;
        },
        poll);
    GrownForest forest = concatenated(std::move(trees));
    forest.in_bag = std::move(in_bag);
    if (options.collapse) collapse_in_place(forest, data);
    return forest;
}

}  // namespace hedgerow
