#include "grow/exact/grow_exact.hpp"

#include <cstddef>

#include "grow/criteria.hpp"
#include "grow/exact/grower.hpp"

namespace hedgerow::grow::exact {

SortedData sort_columns(const TrainingData& data, std::int64_t n_threads, const Poll& poll) {
    SortedData sorted;
    std::vector<std::int64_t> by_threshold;
    for (std::int64_t f = 0; f < data.n_features; ++f) {
        sorted.list_of.push_back(data.n_categories[f] > 0 ? -1 : static_cast<std::int32_t>(by_threshold.size()));
        if (data.n_categories[f] == 0) by_threshold.push_back(f);
    }
    sorted.columns.resize(by_threshold.size());
    base::parallel_for(
        static_cast<std::int64_t>(by_threshold.size()), n_threads,
        [&](std::int64_t list, const Cancelled&) {
            const auto at = static_cast<std::size_t>(list);
            sorted.columns[at] = ColumnSorter()(data.X + by_threshold[at] * data.n_rows, data.n_rows);
        },
        poll);
    sorted.categories = CategoryRows(data);
    return sorted;
}

GrownTree grow_tree(const TrainingData& data, const SortedData& sorted, const GrowOptions& options,
                    const DrawCounts& counts, Path path, const Cancelled& cancelled) {
    const std::vector<double> weight(counts.begin(), counts.end());
    TrainingData drawn = data;
    if (!counts.empty()) drawn.weight = weight.data();
    return with_criterion(options.criterion, data.n_classes, [&]<class Criterion>() {
        return ExactGrower<Criterion>(drawn, sorted, options, cancelled)(path);
    });
}

}  // namespace hedgerow::grow::exact
