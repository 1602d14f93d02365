// Bindings of core/importance, and of the bags that it needs.
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/bind.hpp"
#include "grow/bags.hpp"
#include "importance/permutation.hpp"

namespace hedgerow::bindings {

using namespace nb::literals;

namespace {

importance::ColumnLists column_lists(const In<std::int64_t>& start, const In<std::int32_t>& columns,
                                     std::int64_t n_features) {
    const bool fits = start.size() > 0 && start.data()[0] == 0 &&
                      start.data()[start.size() - 1] == static_cast<std::int64_t>(columns.size()) &&
                      std::is_sorted(start.data(), start.data() + start.size()) &&
                      std::all_of(columns.data(), columns.data() + columns.size(),
                                  [&](std::int32_t column) { return column >= 0 && column < n_features; });
    if (!fits) throw std::invalid_argument("lists of columns need ascending starts and columns of X");
    return {start.data(), columns.data(), static_cast<std::int64_t>(start.size()) - 1};
}

void permutation_losses(const ForestArrays& forest_arrays, const In<double, 2>& X, const In<double, 2>& values,
                        const std::optional<In<double>>& leaf_weight, const In<double>& empty, const In<double>& truth,
                        const In<double>& sample_weight, const std::optional<In<std::uint8_t, 2>>& seen,
                        const In<std::int64_t>& unit_start, const In<std::int32_t>& unit_columns,
                        const In<std::int64_t>& given_start, const In<std::int32_t>& given_columns, int loss,
                        std::int64_t n_repeats, std::uint64_t seed, double least_share, const Array<double>& weight,
                        const Array<double>& plain, const Array<double, 2>& permuted, std::int64_t n_threads) {
    require_width(forest_arrays, X);
    require_weight(forest_arrays);
    const forest::Forest forest = view(forest_arrays);
    const data::Rows rows = view(X);
    const auto n_leaves = static_cast<std::size_t>(forest.leaf_start[forest.n_trees]);
    const auto n_trees = static_cast<std::size_t>(forest.n_trees);
    const importance::ColumnLists units = column_lists(unit_start, unit_columns, forest.n_features);
    const importance::ColumnLists given = column_lists(given_start, given_columns, forest.n_features);
    const bool is_class = loss < static_cast<int>(importance::Loss::squared);
    const bool fits = values.shape(0) == n_leaves && values.shape(1) > 0 && empty.size() == values.shape(1) &&
                      (!leaf_weight || leaf_weight->size() == n_leaves) && truth.size() == X.shape(0) &&
                      sample_weight.size() == X.shape(0) &&
                      (!seen || (seen->shape(0) == n_trees && seen->shape(1) == (X.shape(0) + 7) / 8)) &&
                      units.n_lists == given.n_lists && weight.size() == n_trees && plain.size() == n_trees &&
                      permuted.shape(0) == n_trees && static_cast<std::int64_t>(permuted.shape(1)) == units.n_lists;
    if (!fits) throw std::invalid_argument("arrays of a permutation importance have the wrong shape");
    const std::vector<double> truths(truth.data(), truth.data() + truth.size());  // they index memory
    const auto n_classes = static_cast<double>(values.shape(1));
    if (is_class && !std::all_of(truths.begin(), truths.end(), [&](double y) { return y >= 0 && y < n_classes; }))
        throw std::invalid_argument("labels must be class numbers");
    const importance::Answers answers{values.data(), static_cast<std::int64_t>(values.shape(1)),
                                      leaf_weight ? leaf_weight->data() : nullptr, empty.data()};
    const importance::PermutationOptions options{static_cast<importance::Loss>(loss), n_repeats, seed, least_share,
                                                 n_threads};
    const importance::Losses out{weight.data(), plain.data(), permuted.data()};
    const std::uint8_t* mask = seen ? seen->data() : nullptr;
    const ReleasedGil release;
    importance::permutation_losses(forest, *forest_arrays.packing, rows, answers, {truths.data(), sample_weight.data()},
                                   mask, units, given, options, out, poll_signals);
}

Array<std::uint8_t> draw_bags(const In<double>& sample_weight, std::int64_t n_draws, grow::DrawScheme scheme,
                              std::uint64_t seed, std::int64_t n_trees, std::int64_t n_threads) {
    if (sample_weight.size() == 0) throw std::invalid_argument("there are no rows to draw from");
    data::TrainingData data{};
    data.weight = sample_weight.data();
    data.n_rows = static_cast<std::int64_t>(sample_weight.size());
    std::vector<std::uint8_t> bags;
    {
        const ReleasedGil release;
        bags = grow::draw_bags(data, n_draws, scheme, seed, n_trees, n_threads, poll_signals);
    }
    return to_array(std::move(bags));
}

}  // namespace

void bind_importance(nb::module_& m) {
    m.def("permutation_losses", &permutation_losses, "forest"_a.noconvert(), "X"_a.noconvert(), "values"_a.noconvert(),
          "leaf_weight"_a.noconvert().none(), "empty"_a.noconvert(), "truth"_a.noconvert(),
          "sample_weight"_a.noconvert(), "seen"_a.noconvert().none(), "unit_start"_a.noconvert(),
          "unit_columns"_a.noconvert(), "given_start"_a.noconvert(), "given_columns"_a.noconvert(), "loss"_a,
          "n_repeats"_a, "seed"_a, "least_share"_a, "weight"_a.noconvert(), "plain"_a.noconvert(),
          "permuted"_a.noconvert(), "n_threads"_a,
          "Mean losses of each tree, and with permuted columns; see hedgerow.inspection.permutation_importance.");
    m.def("draw_bags", &draw_bags, "sample_weight"_a.noconvert(), "n_draws"_a, "scheme"_a, "seed"_a, "n_trees"_a,
          "n_threads"_a, "Bit masks of the rows in the bag of each tree, as `grow` draws them, flat.");
}

}  // namespace hedgerow::bindings
