// Bindings of soft trees: core/measured.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/bind.hpp"
#include "bindings/forest_dict.hpp"
#include "bindings/leaf_tables.hpp"
#include "measured/grow/grow_soft.hpp"
#include "measured/point_walk.hpp"
#include "measured/soft_walk.hpp"

namespace hedgerow::bindings {

using namespace nb::literals;

namespace {

// Four numbers a node, and the categories of nominal ones.
using SoftArrays = std::tuple<Array<std::int32_t>, Array<std::int32_t>>;

SoftArrays soft_nodes(const ForestArrays& forest_arrays, const In<std::int64_t>& start, const In<double>& thresholds,
                      const In<std::uint8_t>& nominal) {
    const forest::Forest forest = view(forest_arrays);
    const auto n_features = static_cast<std::size_t>(forest.n_features);
    if (start.size() != n_features + 1 || nominal.size() != n_features ||
        start.data()[n_features] != static_cast<std::int64_t>(thresholds.size()))
        throw std::invalid_argument("thresholds of the wrong shape");
    measured::SoftNodes made;
    {
        const ReleasedGil release;
        made = measured::soft_nodes(forest, start.data(), thresholds.data(), nominal.data());
    }
    const auto* first = reinterpret_cast<const std::int32_t*>(made.nodes.data());
    return {to_array(std::vector<std::int32_t>(first, first + 4 * made.nodes.size())),
            to_array(std::move(made.categories))};
}

measured::SoftForest soft_forest(const ForestArrays& forest_arrays, const In<std::int32_t>& nodes,
                                 const In<std::int32_t>& categories) {
    if (nodes.size() != 4 * forest_arrays.kind.size()) throw std::invalid_argument("soft nodes of another forest");
    return {view(forest_arrays), reinterpret_cast<const measured::SoftNode*>(nodes.data()), categories.data()};
}

void soft_fold(const ForestArrays& forest_arrays, const In<std::int32_t>& nodes, const In<std::int32_t>& categories,
               const In<double, 2>& below, double tolerance, const std::vector<const TableArrays*>& table_arrays,
               const std::vector<FoldOut>& out, const std::optional<In<double>>& tree_weights,
               const std::optional<In<std::uint8_t, 2>>& skip, std::int64_t n_threads) {
    const measured::SoftForest forest = soft_forest(forest_arrays, nodes, categories);
    const data::Rows rows = view(below);
    const auto n_trees = static_cast<std::size_t>(forest.forest.n_trees);
    if ((tree_weights && tree_weights->size() != n_trees) ||
        (skip && (skip->shape(0) != n_trees || skip->shape(1) != (below.shape(0) + 7) / 8)))
        throw std::invalid_argument("tree_weights or skip has the wrong shape");
    const auto tables = leaf_tables(forest.forest, table_arrays, out, rows.n_rows, 0, forest.forest.n_trees);
    const walk::FoldOptions options{0,
                                    forest.forest.n_trees,
                                    tree_weights ? tree_weights->data() : nullptr,
                                    skip ? skip->data() : nullptr,
                                    nullptr,
                                    n_threads};
    const ReleasedGil release;
    measured::soft_fold(forest, rows, tolerance, tables, options, poll_signals);
}

std::tuple<Array<std::int64_t>, Array<std::int64_t>, Array<double>> soft_spread(
    const ForestArrays& forest_arrays, const In<std::int32_t>& nodes, const In<std::int32_t>& categories,
    const In<double, 2>& below, double tolerance, std::int64_t n_threads) {
    const measured::SoftForest forest = soft_forest(forest_arrays, nodes, categories);
    const data::Rows rows = view(below);
    walk::Spread result;
    {
        const ReleasedGil release;
        result = measured::soft_spread(forest, rows, tolerance, n_threads, poll_signals);
    }
    return {to_array(std::move(result.row_start)), to_array(std::move(result.leaves)),
            to_array(std::move(result.weights))};
}

using PointArrays = std::tuple<Array<std::int32_t>, Array<std::uint8_t>>;  // three numbers a node; sides

PointArrays point_nodes(const ForestArrays& forest_arrays, const In<std::int32_t>& nodes,
                        const In<std::int32_t>& categories, const In<std::int64_t>& start,
                        const In<std::uint8_t>& nominal) {
    const measured::SoftForest forest = soft_forest(forest_arrays, nodes, categories);
    const auto n_features = static_cast<std::size_t>(forest.forest.n_features);
    if (start.size() != n_features + 1 || nominal.size() != n_features)
        throw std::invalid_argument("columns of another forest");
    measured::PointNodes made;
    {
        const ReleasedGil release;
        made = measured::point_nodes(forest, start.data(), nominal.data());
    }
    const auto* first = reinterpret_cast<const std::int32_t*>(made.nodes.data());
    return {to_array(std::vector<std::int32_t>(first, first + 3 * made.nodes.size())), to_array(std::move(made.sides))};
}

measured::PointForest point_forest(const ForestArrays& forest_arrays, const In<std::int32_t>& nodes,
                                   const In<std::uint8_t>& sides, const In<std::int64_t>& start,
                                   const In<std::uint8_t>& nominal) {
    if (nodes.size() != 3 * forest_arrays.kind.size() || start.size() != nominal.size() + 1)
        throw std::invalid_argument("nodes of another forest");
    measured::PointForest forest{
        view(forest_arrays), reinterpret_cast<const measured::PointNode*>(nodes.data()), sides.data(), {}, {}};
    for (std::size_t j = 0; j < nominal.size(); ++j) {
        if (start.data()[j + 1] == start.data()[j]) continue;
        forest.start.push_back(start.data()[j]);
        forest.nominal.push_back(nominal.data()[j] != 0);
    }
    forest.start.push_back(start.data()[nominal.size()]);
    return forest;
}

void point_fold(const ForestArrays& forest_arrays, const In<std::int32_t>& nodes, const In<std::uint8_t>& sides,
                const In<std::int64_t>& start, const In<std::uint8_t>& nominal, const In<double, 2>& below,
                const In<std::uint8_t, 3>& strata, const std::vector<const TableArrays*>& table_arrays,
                const std::vector<FoldOut>& out, const std::optional<In<double>>& tree_weights,
                std::int64_t n_threads) {
    const measured::PointForest forest = point_forest(forest_arrays, nodes, sides, start, nominal);
    const data::Rows rows = view(below);
    const auto n_trees = static_cast<std::size_t>(forest.forest.n_trees);
    if (strata.shape(0) != n_trees || strata.shape(1) == 0 || strata.shape(2) != forest.nominal.size() ||
        (tree_weights && tree_weights->size() != n_trees) || rows.n_columns != forest.start.back())
        throw std::invalid_argument("strata, tree_weights or numbers have the wrong shape");
    const auto tables = leaf_tables(forest.forest, table_arrays, out, rows.n_rows, 0, forest.forest.n_trees);
    const walk::FoldOptions options{
        0, forest.forest.n_trees, tree_weights ? tree_weights->data() : nullptr, nullptr, nullptr, n_threads};
    const measured::Points points{strata.data(), static_cast<std::int64_t>(strata.shape(1))};
    const ReleasedGil release;
    measured::point_fold(forest, rows, points, tables, options, poll_signals);
}

// cell of each row, P(U <= at | cell) as n_cells × n_at, and the thresholds; None: a nominal column
using ColumnArrays = std::tuple<In<std::uint16_t>, In<double, 2>, std::optional<In<double>>>;

measured::CellData cell_data(const std::vector<ColumnArrays>& columns, const In<std::int32_t>& features,
                             const In<double>& weight, const In<double>& precision, const In<double, 2>& targets) {
    const std::size_t n_rows = targets.shape(0);
    if (weight.size() != n_rows || precision.size() != n_rows)
        throw std::invalid_argument("weights and targets differ in length");
    measured::CellData data{{},
                            {features.data(), features.data() + features.size()},
                            weight.data(),
                            precision.data(),
                            targets.data(),
                            static_cast<std::int64_t>(n_rows),
                            static_cast<std::int64_t>(targets.shape(1))};
    for (const auto& [cell, below, at] : columns) {
        if (cell.size() != n_rows || (at && at->size() != below.shape(1)))
            throw std::invalid_argument("a column of the wrong shape");
        for (std::size_t row = 0; row < n_rows; ++row)
            if (cell.data()[row] >= below.shape(0)) throw std::invalid_argument("a row without a cell");
        data.columns.push_back({cell.data(), below.data(), at ? at->data() : nullptr,
                                static_cast<std::int64_t>(below.shape(0)), static_cast<std::int64_t>(below.shape(1))});
    }
    for (const std::int32_t feature : data.features)
        if (feature < 0 || static_cast<std::size_t>(feature) >= columns.size())
            throw std::invalid_argument("a feature that is no column");
    return data;
}

ArrayDict grow_soft(const std::vector<ColumnArrays>& columns, const In<std::int32_t>& features,
                    const In<double>& weight, const In<double>& precision, const In<double, 2>& targets,
                    const measured::SoftGrowOptions& options, const std::optional<nb::callable>& progress) {
    const measured::CellData data = cell_data(columns, features, weight, precision, targets);
    std::atomic<std::int64_t> n_done{0};
    const auto poll = [&] {
        poll_signals();
        if (!progress) return;
        const HeldGil lock;
        (*progress)(n_done.load());
    };
    measured::SoftGrown made;
    {
        const ReleasedGil release;
        made = measured::grow_soft(data, options, n_done, poll);
    }
    ArrayDict grown;
    grown["in_bag"] = to_array(std::move(made.forest.in_bag));
    grown["fitted"] = to_array(std::move(made.fitted));
    grown["forest"] = forest_dict(std::move(made.forest));
    return grown;
}

}  // namespace

void bind_soft_trees(nb::module_& m) {
    using measured::SoftGrowOptions;
    nb::class_<SoftGrowOptions>(m, "SoftGrowOptions", "Settings of soft growth; see hedgerow.measured.many_trees.")
        .def(nb::init<>())
        .def_rw("n_trees", &SoftGrowOptions::n_trees)
        .def_rw("max_leaf_nodes", &SoftGrowOptions::max_leaf_nodes)
        .def_rw("min_weight_leaf", &SoftGrowOptions::min_weight_leaf)
        .def_rw("max_features", &SoftGrowOptions::max_features)
        .def_rw("ridge", &SoftGrowOptions::ridge)
        .def_rw("tolerance", &SoftGrowOptions::tolerance)
        .def_rw("n_refits", &SoftGrowOptions::n_refits)
        .def_rw("n_final", &SoftGrowOptions::n_final)
        .def_rw("simplex", &SoftGrowOptions::simplex)
        .def_rw("n_draws", &SoftGrowOptions::n_draws)
        .def_rw("keep_in_bag", &SoftGrowOptions::keep_in_bag)
        .def_rw("keep_fitted", &SoftGrowOptions::keep_fitted)
        .def_rw("seed", &SoftGrowOptions::seed)
        .def_rw("n_threads", &SoftGrowOptions::n_threads);
    m.def("grow_soft", &grow_soft, "columns"_a, "features"_a.noconvert(), "weight"_a.noconvert(),
          "precision"_a.noconvert(), "targets"_a.noconvert(), "options"_a, "progress"_a.none(),
          "Grow soft trees from rows in cells; see hedgerow.measured.many_trees.");
    m.def("soft_nodes", &soft_nodes, "forest"_a.noconvert(), "start"_a.noconvert(), "thresholds"_a.noconvert(),
          "nominal"_a.noconvert(), "Where each node finds its probabilities; see hedgerow.walk.soft.");
    m.def("soft_fold", &soft_fold, "forest"_a.noconvert(), "nodes"_a.noconvert(), "categories"_a.noconvert(),
          "below"_a.noconvert(), "tolerance"_a, "tables"_a.noconvert(), "out"_a.noconvert(),
          "tree_weights"_a.noconvert().none(), "skip"_a.noconvert().none(), "n_threads"_a,
          "Fold leaf tables over soft walks; see hedgerow.walk.soft.");
    m.def("soft_spread", &soft_spread, "forest"_a.noconvert(), "nodes"_a.noconvert(), "categories"_a.noconvert(),
          "below"_a.noconvert(), "tolerance"_a, "n_threads"_a,
          "Row starts, leaves and probabilities of soft walks; see hedgerow.walk.soft.");
    m.def("point_nodes", &point_nodes, "forest"_a.noconvert(), "nodes"_a.noconvert(), "categories"_a.noconvert(),
          "start"_a.noconvert(), "nominal"_a.noconvert(), "Nodes as points read them; see hedgerow.walk.points.");
    m.def("point_fold", &point_fold, "forest"_a.noconvert(), "nodes"_a.noconvert(), "sides"_a.noconvert(),
          "start"_a.noconvert(), "nominal"_a.noconvert(), "below"_a.noconvert(), "strata"_a.noconvert(),
          "tables"_a.noconvert(), "out"_a.noconvert(), "tree_weights"_a.noconvert().none(), "n_threads"_a,
          "Means of leaf tables over the points of rows; see hedgerow.walk.points.");
}

}  // namespace hedgerow::bindings
