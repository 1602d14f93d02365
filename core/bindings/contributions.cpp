// Bindings of core/contributions.
#include "contributions/contributions.hpp"

#include <nanobind/stl/optional.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/bind.hpp"

namespace hedgerow::bindings {

using namespace nb::literals;

namespace {

contributions::LeafValues leaf_values(const forest::Forest& forest, const In<double, 2>& values) {
    if (static_cast<std::int64_t>(values.shape(0)) != forest.leaf_start[forest.n_trees])
        throw std::invalid_argument("contributions need a row of values for each leaf");
    return {values.data(), static_cast<std::int64_t>(values.shape(1))};
}

void contribute(const ForestArrays& forest_arrays, const In<double, 2>& X,
                const std::optional<In<double, 2>>& background, const In<double, 2>& values,
                const Array<double, 3>& out, const std::optional<Array<double, 4>>& pairs, std::int64_t n_threads) {
    require_width(forest_arrays, X);
    if (background) require_width(forest_arrays, *background);
    const forest::Forest forest = view(forest_arrays);
    const contributions::LeafValues leaves = leaf_values(forest, values);
    const std::size_t n_features = X.shape(1), n_outputs = values.shape(1);
    if (out.shape(0) != X.shape(0) || out.shape(1) != n_features || out.shape(2) != n_outputs ||
        (pairs && (pairs->shape(0) != X.shape(0) || pairs->shape(1) != n_features || pairs->shape(2) != n_features ||
                   pairs->shape(3) != n_outputs)))
        throw std::invalid_argument("the output of contributions has the wrong shape");
    const data::Rows rows = view(X);
    const contributions::Contributions found{out.data(), pairs ? pairs->data() : nullptr};
    const std::optional<data::Rows> other = background ? std::optional(view(*background)) : std::nullopt;
    const ReleasedGil release;
    if (other)
        contributions::interventional(forest, rows, *other, leaves, found, n_threads, poll_signals);
    else
        contributions::path_dependent(forest, rows, leaves, found, n_threads, poll_signals);
}

Array<double> expected(const ForestArrays& forest_arrays, const In<double, 2>& values) {
    const forest::Forest forest = view(forest_arrays);
    return to_array(contributions::expected(forest, leaf_values(forest, values)));
}

}  // namespace

void bind_contributions(nb::module_& m) {
    m.def("contribute", &contribute, "forest"_a.noconvert(), "X"_a.noconvert(), "background"_a.noconvert().none(),
          "values"_a.noconvert(), "out"_a.noconvert(), "pairs"_a.noconvert().none(), "n_threads"_a,
          "Shapley values of the columns for a sum of leaf values; see hedgerow.contributions.");
    m.def("expected_values", &expected, "forest"_a.noconvert(), "values"_a.noconvert(),
          "Leaf values by their shares of the training weight, summed over the trees.");
}

}  // namespace hedgerow::bindings
