// Bindings of core/prune.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/bind.hpp"
#include "bindings/forest_dict.hpp"
#include "bindings/training_data.hpp"
#include "forest/structure.hpp"
#include "prune/losses.hpp"
#include "prune/pessimistic.hpp"
#include "prune/weakest_links.hpp"

namespace hedgerow::bindings {

using namespace nb::literals;

namespace {

// None where nothing is pruned.
std::optional<ArrayDict> prune(const ForestArrays& forest_arrays, const In<double, 2>& leaf_counts, const Columns& X,
                               const In<double>& sample_weight, const In<std::int32_t>& labels, double confidence,
                               double z, bool raising, double min_fraction) {
    require_weight(forest_arrays);
    const forest::Forest forest = view(forest_arrays);
    if (forest.n_trees != 1 || static_cast<std::int64_t>(leaf_counts.shape(0)) != forest.leaf_start[1] ||
        static_cast<std::int64_t>(X.shape(1)) != forest.n_features || labels.size() != X.shape(0) ||
        sample_weight.size() != X.shape(0))
        throw std::invalid_argument("a forest of several trees, or data of the wrong shape");
    const data::TrainingData lent{X.data(),
                                  nullptr,
                                  sample_weight.data(),
                                  labels.data(),
                                  nullptr,
                                  static_cast<std::int64_t>(X.shape(0)),
                                  forest.n_features,
                                  static_cast<std::int64_t>(leaf_counts.shape(1))};
    const RowCopies copies(lent);
    const data::TrainingData data = copies.applied_to(lent);
    const prune::PruneOptions options{confidence, z, raising, min_fraction};
    forest::Rearrangement tree =
        without_gil([&] { return prune::prune(forest, leaf_counts.data(), data, options, poll_signals); });
    if (static_cast<std::int64_t>(tree.source.size()) == forest.tree_start[1]) return std::nullopt;
    return forest_dict(rearranged(forest, std::move(tree)));
}

Array<double, 2> losses_as_leaves(const ForestArrays& forest_arrays, const In<double, 2>& X, const In<double>& answers,
                                  const In<double>& truth, const In<double>& sample_weight, bool squared) {
    require_width(forest_arrays, X);
    const forest::Forest forest = view(forest_arrays);
    require_nodes(forest, answers.size());
    if (truth.size() != X.shape(0) || sample_weight.size() != X.shape(0))
        throw std::invalid_argument("truth and weights need an entry for each row");
    const prune::Judged judged{answers.data(), truth.data(), sample_weight.data(), squared};
    return to_matrix(without_gil([&] { return prune::losses_as_leaves(forest, view(X), judged); }), answers.size(), 2);
}

using LinkArrays = std::tuple<Array<std::int64_t>, Array<double>, Array<double>>;

LinkArrays weakest_links(const In<std::int64_t>& parent, const In<double, 2>& values) {
    if (parent.size() != values.shape(0) || values.shape(1) == 0)
        throw std::invalid_argument("values needs a row for each node");
    prune::WeakestLinks links = without_gil([&] {
        return prune::weakest_links(parent.data(), static_cast<std::int64_t>(parent.size()), values.data(),
                                    static_cast<std::int64_t>(values.shape(1)));
    });
    return {to_array(std::move(links.nodes)), to_array(std::move(links.alphas)), to_array(std::move(links.totals))};
}

Array<std::uint8_t> cheapest_leaves(const In<std::int64_t>& parent, const In<std::uint8_t>& inner,
                                    const In<double>& as_leaf, const In<double>& splits, double tolerance) {
    const std::size_t n = parent.size();
    if (inner.size() != n || as_leaf.size() != n || splits.size() != n)
        throw std::invalid_argument("costs need an entry for each node");
    std::vector<double> costs(splits.data(), splits.data() + n);
    std::vector<std::uint8_t> cut(n);
    forest::cheapest_leaves(parent.data(), static_cast<std::int64_t>(n), inner.data(), as_leaf.data(), tolerance,
                            costs.data(), cut.data());
    return to_array(std::move(cut));
}

}  // namespace

void bind_prune(nb::module_& m) {
    m.def("prune", &prune, "forest"_a.noconvert(), "leaf_counts"_a.noconvert(), "X"_a.noconvert(),
          "sample_weight"_a.noconvert(), "labels"_a.noconvert(), "confidence"_a, "z"_a, "raising"_a, "min_fraction"_a,
          "Prune a tree by estimated errors; see hedgerow.pruning.pessimistic.");
    m.def("weakest_links", &weakest_links, "parent"_a.noconvert(), "values"_a.noconvert(),
          "Nodes in the order of cost-complexity pruning, their alphas, and sums over leaves; see hedgerow.pruning.");
    m.def("losses_as_leaves", &losses_as_leaves, "forest"_a.noconvert(), "X"_a.noconvert(), "answers"_a.noconvert(),
          "truth"_a.noconvert(), "sample_weight"_a.noconvert(), "squared"_a,
          "What each node would lose, were it a leaf; see hedgerow.pruning.");
    m.def("cheapest_leaves", &cheapest_leaves, "parent"_a.noconvert(), "inner"_a.noconvert(), "as_leaf"_a.noconvert(),
          "splits"_a.noconvert(), "tolerance"_a,
          "1 for each inner node that costs no more as a leaf than its split and what is left below it.");
}

}  // namespace hedgerow::bindings
