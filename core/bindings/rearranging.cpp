// Trees cut and pruned, and what follows from their structure.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bind.hpp"
#include "forest_dict.hpp"
#include "losses.hpp"
#include "prune.hpp"
#include "rearrange.hpp"
#include "row_copies.hpp"
#include "structure.hpp"
#include "weakest_links.hpp"

using namespace nb::literals;

namespace {

void require_rows(const In<std::int64_t>& parent, const Array<double, 2>& values) {
    if (parent.size() != values.shape(0)) throw std::invalid_argument("values needs a row for each node");
}

ArrayDict to_dict(hedgerow::RearrangedForest made) { return forest_dict(made.forest, std::move(made.payload_weights)); }

void require_weight(const ForestArrays& arrays) {
    if (!arrays.weight) throw std::invalid_argument("the weight of each node is needed");
}

void require_nodes(const hedgerow::Forest& forest, std::size_t n_nodes) {
    if (static_cast<std::int64_t>(n_nodes) != forest.tree_start[forest.n_trees])
        throw std::invalid_argument("marks and values need an entry for each node");
}

ArrayDict cut(const ForestArrays& forest_arrays, const In<std::uint8_t>& marked, const In<double, 2>& node_values) {
    require_weight(forest_arrays);
    const hedgerow::Forest forest = view(forest_arrays);
    require_nodes(forest, marked.size());
    require_nodes(forest, node_values.shape(0));
    const auto n_values = static_cast<std::int64_t>(node_values.shape(1));
    return to_dict(rearranged(forest, hedgerow::cut(forest, marked.data(), node_values.data(), n_values)));
}

void require_leaves(const hedgerow::Forest& forest, const In<double, 2>& leaf_values) {
    if (static_cast<std::int64_t>(leaf_values.shape(0)) != forest.leaf_start[forest.n_trees])
        throw std::invalid_argument("values need a row for each leaf");
}

// None where nothing is collapsed.
std::optional<ArrayDict> collapse(const ForestArrays& forest_arrays, const In<double, 2>& leaf_counts) {
    require_weight(forest_arrays);
    const hedgerow::Forest forest = view(forest_arrays);
    require_leaves(forest, leaf_counts);
    const auto n_classes = static_cast<std::int64_t>(leaf_counts.shape(1));
    auto kept = hedgerow::collapse(forest, leaf_counts.data(), n_classes);
    return kept ? std::optional(to_dict(rearranged(forest, *std::move(kept)))) : std::nullopt;
}

Array<double, 2> node_sums(const ForestArrays& forest_arrays, const In<double, 2>& leaf_values) {
    const hedgerow::Forest forest = view(forest_arrays);
    require_leaves(forest, leaf_values);
    const std::size_t n_values = leaf_values.shape(1);
    auto sums = std::make_unique<std::vector<double>>(
        hedgerow::node_sums(forest, leaf_values.data(), static_cast<std::int64_t>(n_values)));
    double* data = sums->data();
    const auto n_nodes = static_cast<std::size_t>(forest.tree_start[forest.n_trees]);
    return Array<double, 2>(data, {n_nodes, n_values}, owner_of(std::move(sums)));
}

Array<std::int64_t> parents(const ForestArrays& forest_arrays) { return to_array(hedgerow::parents(view(forest_arrays))); }

// None where nothing is pruned.
std::optional<ArrayDict> prune(const ForestArrays& forest_arrays, const In<double, 2>& leaf_counts, const Columns& X,
                   const In<double>& sample_weight, const In<std::int32_t>& labels, double confidence, double z,
                   bool raising, double min_fraction) {
    require_weight(forest_arrays);
    const hedgerow::Forest forest = view(forest_arrays);
    if (forest.n_trees != 1 || static_cast<std::int64_t>(leaf_counts.shape(0)) != forest.leaf_start[1] ||
        static_cast<std::int64_t>(X.shape(1)) != forest.n_features || labels.size() != X.shape(0) ||
        sample_weight.size() != X.shape(0))
        throw std::invalid_argument("a forest of several trees, or data of the wrong shape");
    const hedgerow::TrainingData lent{X.data(),
                                      nullptr,
                                      sample_weight.data(),
                                      labels.data(),
                                      nullptr,
                                      static_cast<std::int64_t>(X.shape(0)),
                                      forest.n_features,
                                      static_cast<std::int64_t>(leaf_counts.shape(1))};
    const RowCopies copies(lent);
    const hedgerow::TrainingData data = copies.applied_to(lent);
    std::optional<hedgerow::RearrangedForest> pruned;
    {
        const ReleasedGil release;
        const hedgerow::PruneOptions options{confidence, z, raising, min_fraction};
        hedgerow::Rearrangement tree = hedgerow::prune(forest, leaf_counts.data(), data, options, poll_signals);
        if (static_cast<std::int64_t>(tree.source.size()) < forest.tree_start[1])
            pruned = rearranged(forest, std::move(tree));
    }
    return pruned ? std::optional(to_dict(*std::move(pruned))) : std::nullopt;
}

Array<double, 2> losses_as_leaves(const ForestArrays& forest_arrays, const In<double, 2>& X, const In<double>& answers,
                                  const In<double>& truth, const In<double>& sample_weight, bool squared) {
    require_width(forest_arrays, X);
    const hedgerow::Forest forest = view(forest_arrays);
    require_nodes(forest, answers.size());
    if (truth.size() != X.shape(0) || sample_weight.size() != X.shape(0))
        throw std::invalid_argument("truth and weights need an entry for each row");
    auto losses = std::make_unique<std::vector<double>>();
    {
        const ReleasedGil release;
        *losses = hedgerow::losses_as_leaves(forest, view(X), {answers.data(), truth.data(), sample_weight.data(), squared});
    }
    double* data = losses->data();
    return Array<double, 2>(data, {answers.size(), 2}, owner_of(std::move(losses)));
}

using LinkArrays = std::tuple<Array<std::int64_t>, Array<double>, Array<double>>;

LinkArrays weakest_links(const In<std::int64_t>& parent, const In<double, 2>& values) {
    if (parent.size() != values.shape(0) || values.shape(1) == 0)
        throw std::invalid_argument("values needs a row for each node");
    hedgerow::WeakestLinks links;
    {
        const ReleasedGil release;
        links = hedgerow::weakest_links(parent.data(), static_cast<std::int64_t>(parent.size()), values.data(),
                                        static_cast<std::int64_t>(values.shape(1)));
    }
    return {to_array(std::move(links.nodes)), to_array(std::move(links.alphas)), to_array(std::move(links.totals))};
}

Array<std::uint8_t> cheapest_leaves(const In<std::int64_t>& parent, const In<std::uint8_t>& inner,
                                    const In<double>& as_leaf, const In<double>& questions, double tolerance) {
    const std::size_t n = parent.size();
    if (inner.size() != n || as_leaf.size() != n || questions.size() != n)
        throw std::invalid_argument("costs need an entry for each node");
    std::vector<double> costs(questions.data(), questions.data() + n);
    std::vector<std::uint8_t> cut(n);
    hedgerow::cheapest_leaves(parent.data(), static_cast<std::int64_t>(n), inner.data(), as_leaf.data(), tolerance,
                              costs.data(), cut.data());
    return to_array(std::move(cut));
}

}  // namespace

void bind_rearranging(nb::module_& m) {
    m.def("prune", &prune, "forest"_a.noconvert(), "leaf_counts"_a.noconvert(), "X"_a.noconvert(),
          "sample_weight"_a.noconvert(), "labels"_a.noconvert(), "confidence"_a, "z"_a, "raising"_a, "min_fraction"_a,
          "Prune a tree by estimated errors; see hedgerow.pruning.pessimistic.");
    m.def("weakest_links", &weakest_links, "parent"_a.noconvert(), "values"_a.noconvert(),
          "Nodes in the order of cost-complexity pruning, their alphas, and sums over leaves; see hedgerow.pruning.");
    m.def("cut", &cut, "forest"_a.noconvert(), "marked"_a.noconvert(), "node_values"_a.noconvert(),
          "Make leaves of the marked nodes; see hedgerow.pruning.cut.");
    m.def("collapse", &collapse, "forest"_a.noconvert(), "leaf_counts"_a.noconvert(),
          "Make leaves of nodes that save no training error; see hedgerow.pruning.collapse.");
    m.def("node_sums", &node_sums, "forest"_a.noconvert(), "leaf_values"_a.noconvert(),
          "Of each node, the sum of the rows of its leaves.");
    m.def("parents", &parents, "forest"_a.noconvert(), "The parent of each node, -1 for roots.");
    m.def("losses_as_leaves", &losses_as_leaves, "forest"_a.noconvert(), "X"_a.noconvert(), "answers"_a.noconvert(),
          "truth"_a.noconvert(), "sample_weight"_a.noconvert(), "squared"_a,
          "What each node would lose, were it a leaf; see hedgerow.pruning.judging.");
    m.def("cheapest_leaves", &cheapest_leaves, "parent"_a.noconvert(), "inner"_a.noconvert(), "as_leaf"_a.noconvert(),
          "questions"_a.noconvert(), "tolerance"_a,
          "1 for each inner node that costs no more as a leaf than its question and what is left below it.");
    m.def(
        "node_depths",
        [](const In<std::int64_t>& parent) {
            std::vector<std::int64_t> depth(parent.size());
            hedgerow::node_depths(parent.data(), static_cast<std::int64_t>(parent.size()), depth.data());
            return to_array(std::move(depth));
        },
        "parent"_a.noconvert(), "Distance of each node from its root.");
    m.def(
        "node_stats",
        [](const In<std::int64_t>& parent, const Array<double, 2>& stats) {
            require_rows(parent, stats);
            if (stats.shape(1) != 3) throw std::invalid_argument("stats needs three columns");
            hedgerow::node_stats(parent.data(), static_cast<std::int64_t>(parent.size()), stats.data());
        },
        "parent"_a.noconvert(), "stats"_a.noconvert(),
        "Merge weight, mean and squared deviations of leaves up to the roots, in place.");
}
