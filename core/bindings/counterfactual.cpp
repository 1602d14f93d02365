// Bindings of core/counterfactual.
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "bindings/arrays.hpp"
#include "bindings/bind.hpp"
#include "counterfactual/problem.hpp"

namespace hedgerow::bindings {

using namespace nb::literals;

namespace {

using counterfactual::Choices;

// start, values, costs and home of counterfactual::Candidates
using CandidateArrays = std::tuple<In<std::int64_t>, In<double>, In<double>, In<std::int32_t>>;
// table, offset and barred of counterfactual::Conditions, and whether they mix
using ConditionArrays = std::tuple<In<double, 2>, In<double>, std::optional<In<std::uint8_t>>, bool>;
// n_changes, n_nodes and seconds of counterfactual::Limits
using LimitNumbers = std::tuple<std::int64_t, std::int64_t, double>;

counterfactual::Candidates candidates_of(const CandidateArrays& arrays, const forest::Forest& forest) {
    const auto& [start, values, costs, home] = arrays;
    const auto n = static_cast<std::size_t>(forest.n_features);
    bool fits = start.size() == n + 1 && home.size() == n && values.size() == costs.size() && start.data()[0] == 0 &&
                start.data()[n] == static_cast<std::int64_t>(values.size());
    for (std::size_t j = 0; fits && j < n; ++j)
        fits = home.data()[j] >= 0 && home.data()[j] < start.data()[j + 1] - start.data()[j];
    if (!fits) throw std::invalid_argument("candidates of the wrong shape");
    return {start.data(), values.data(), costs.data(), home.data(), forest.n_features};
}

std::tuple<Array<std::int32_t>, double, double, std::int64_t> nearest(const ForestArrays& forest_arrays,
                                                                      const CandidateArrays& candidate_arrays,
                                                                      const ConditionArrays& condition_arrays,
                                                                      const LimitNumbers& limit_numbers,
                                                                      const std::function<bool(Choices)>& accept) {
    require_weight(forest_arrays);
    const forest::Forest forest = view(forest_arrays);
    const counterfactual::Candidates candidates = candidates_of(candidate_arrays, forest);
    const auto& [table, offset, barred, mixes] = condition_arrays;
    const auto n_leaves = static_cast<std::size_t>(forest.leaf_start[forest.n_trees]);
    if (table.shape(0) != n_leaves || table.shape(1) != offset.size() || offset.size() == 0 ||
        (barred && barred->size() != n_leaves))
        throw std::invalid_argument("conditions of the wrong shape");
    const counterfactual::Conditions conditions{table.data(), offset.data(), static_cast<std::int64_t>(offset.size()),
                                                barred ? barred->data() : nullptr, mixes};
    const auto& [n_changes, n_nodes, seconds] = limit_numbers;
    const auto ask = [&](const Choices& choices) {
        const HeldGil lock;
        return accept(choices);
    };
    counterfactual::Found found;
    {
        const ReleasedGil release;
        found =
            counterfactual::nearest(forest, candidates, conditions, {n_changes, n_nodes, seconds}, ask, poll_signals);
    }
    return {to_array(std::move(found.choices)), found.distance, found.bound, found.n_nodes};
}

}  // namespace

void bind_counterfactual(nb::module_& m) {
    m.def("nearest_change", &nearest, "forest"_a.noconvert(), "candidates"_a.noconvert(), "conditions"_a.noconvert(),
          "limits"_a.noconvert(), "accept"_a,
          "Choices, distance, bound and number of boxes of the nearest accepted row; see hedgerow.counterfactual.");
}

}  // namespace hedgerow::bindings
