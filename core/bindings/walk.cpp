// Bindings of core/walk.
#include "walk/walk.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/bind.hpp"
#include "bindings/leaf_tables.hpp"

namespace hedgerow::bindings {

using namespace nb::literals;

namespace {

void fold(const ForestArrays& forest_arrays, const In<double, 2>& X,
          const std::vector<const TableArrays*>& table_arrays, const std::vector<FoldOut>& out, std::int64_t first_tree,
          std::int64_t last_tree, const std::optional<In<double>>& tree_weights,
          const std::optional<In<std::uint8_t, 2>>& skip, const std::optional<Array<std::int64_t>>& n_used,
          std::int64_t n_threads) {
    require_width(forest_arrays, X);
    const forest::Forest forest = view(forest_arrays);
    const data::Rows rows = view(X);
    if (first_tree < 0 || first_tree > last_tree || last_tree > forest.n_trees)
        throw std::invalid_argument("the range of trees is not one of this forest");
    const auto n_trees = static_cast<std::size_t>(forest.n_trees);
    const auto n_rows = static_cast<std::size_t>(rows.n_rows);
    if ((tree_weights && tree_weights->size() != n_trees) || (n_used && n_used->size() != n_rows) ||
        (skip && (skip->shape(0) != n_trees || skip->shape(1) != (n_rows + 7) / 8)))
        throw std::invalid_argument("tree_weights, skip or n_used has the wrong shape");
    const auto tables = leaf_tables(forest, table_arrays, out, rows.n_rows, first_tree, last_tree);
    const walk::FoldOptions options{first_tree,
                                    last_tree,
                                    tree_weights ? tree_weights->data() : nullptr,
                                    skip ? skip->data() : nullptr,
                                    n_used ? n_used->data() : nullptr,
                                    n_threads};
    const ReleasedGil release;
    walk::fold(forest, *forest_arrays.packing, rows, tables, options, poll_signals);
}

void route(const ForestArrays& forest_arrays, const In<double, 2>& X, const Array<std::int32_t, 2>& out, bool heaviest,
           std::int64_t n_threads) {
    require_width(forest_arrays, X);
    const forest::Forest forest = view(forest_arrays);
    if (out.shape(0) != X.shape(0) || static_cast<std::int64_t>(out.shape(1)) != forest.n_trees)
        throw std::invalid_argument("out has the wrong shape");
    const data::Rows rows = view(X);
    const ReleasedGil release;
    walk::route(forest, *forest_arrays.packing, rows, out.data(), heaviest, n_threads, poll_signals);
}

std::tuple<std::int64_t, std::int64_t, std::int64_t> count_paths(const ForestArrays& forest_arrays,
                                                                 const In<double, 2>& X) {
    require_width(forest_arrays, X);
    const walk::PathCounts counts = walk::count_paths(view(forest_arrays), *forest_arrays.packing, view(X));
    return {counts.n_packed, counts.n_unpacked, counts.n_exact_splits};
}

using PackedArrays = std::tuple<Array<std::uint32_t, 2>, Array<std::int32_t>, Array<std::int32_t>, Array<double>,
                                Array<std::int64_t>, Array<std::int64_t, 2>>;

PackedArrays pack_trees(const ForestArrays& forest_arrays, std::int64_t first_tree, std::int64_t last_tree) {
    require_weight(forest_arrays);
    const forest::Forest forest = view(forest_arrays);
    if (first_tree < 0 || first_tree >= last_tree || last_tree > forest.n_trees)
        throw std::invalid_argument("the range of trees is not one of this forest");
    std::vector<std::uint32_t> slots;
    std::vector<std::int32_t> places, slot_of_node;
    std::vector<double> shares;
    std::vector<std::int64_t> slot_start, columns;
    {
        const ReleasedGil release;
        // Without columns of single categories: a device keeps the keys of a row in memory that is scarce.
        const walk::PackedForest packed(forest, first_tree, last_tree, walk::RowsHave::missing_values, 0);
        packed.find_shares(forest);
        slots.reserve(2 * packed.slots().size());
        for (const walk::PackedNode& node : packed.slots()) {
            slots.push_back(node.key);
            slots.push_back(std::uint32_t{node.column} | std::uint32_t{node.to_child} << 16);
        }
        places = packed.places();
        slot_of_node = packed.slots_of_nodes();
        slot_start = packed.slot_starts();
        shares.reserve(packed.shares()->size());
        for (const walk::ChildShare& child : *packed.shares()) shares.push_back(child.share);
        columns.assign(static_cast<std::size_t>(3 * packed.columns().n_columns()), 0);
        for (const walk::Reading reading :
             {walk::Reading::stay, walk::Reading::first, walk::Reading::last, walk::Reading::code})
            for (const auto& [feature, column, n_codes, known] : packed.columns().sources(reading)) {
                std::int64_t* const source = columns.data() + 3 * column;
                source[0] = feature;
                source[1] = static_cast<std::int64_t>(reading);
                source[2] = n_codes;
            }
    }
    const std::size_t n_slots = places.size(), n_columns = columns.size() / 3;
    return {to_matrix(std::move(slots), n_slots, 2), to_array(std::move(places)),
            to_array(std::move(slot_of_node)),       to_array(std::move(shares)),
            to_array(std::move(slot_start)),         to_matrix(std::move(columns), n_columns, 3)};
}

std::tuple<Array<std::int64_t>, Array<std::int64_t>, Array<double>> spread(const ForestArrays& forest_arrays,
                                                                           const In<double, 2>& X,
                                                                           std::int64_t n_threads) {
    require_width(forest_arrays, X);
    const forest::Forest forest = view(forest_arrays);
    const data::Rows rows = view(X);
    walk::Spread result;
    {
        const ReleasedGil release;
        result = walk::spread(forest, rows, n_threads, poll_signals);
    }
    return {to_array(std::move(result.row_start)), to_array(std::move(result.leaves)),
            to_array(std::move(result.weights))};
}

void quantiles(const ForestArrays& forest_arrays, const In<double, 2>& X, const In<std::int64_t>& start,
               const In<std::int32_t>& ranks, const In<double>& shares, const In<double>& values,
               const In<double>& probabilities, const std::optional<In<std::uint8_t, 2>>& skip,
               const Array<double, 2>& out, std::int64_t n_threads) {
    require_width(forest_arrays, X);
    const forest::Forest forest = view(forest_arrays);
    const data::Rows rows = view(X);
    if (static_cast<std::int64_t>(start.size()) != forest.leaf_start[forest.n_trees] + 1 ||
        (shares.size() != ranks.size() && shares.size() != 0) || out.shape(0) != X.shape(0) ||
        out.shape(1) != probabilities.size())
        throw std::invalid_argument("leaf samples or output of the wrong shape");
    if (skip && (static_cast<std::int64_t>(skip->shape(0)) != forest.n_trees ||
                 static_cast<std::int64_t>(skip->shape(1)) != (rows.n_rows + 7) / 8))
        throw std::invalid_argument("skip has the wrong shape");
    const walk::LeafSamples samples{start.data(), ranks.data(), shares.size() == 0 ? nullptr : shares.data(),
                                    values.data(), static_cast<std::int64_t>(values.size())};
    const ReleasedGil release;
    walk::quantiles(forest, *forest_arrays.packing, rows, samples, probabilities.data(),
                    static_cast<std::int64_t>(probabilities.size()), skip ? skip->data() : nullptr, out.data(),
                    n_threads, poll_signals);
}

void tally(const ForestArrays& forest_arrays, const In<double, 2>& X, const In<std::int32_t>& labels,
           const In<double>& weights, const Array<double, 2>& out, double unit, std::int64_t n_threads) {
    require_width(forest_arrays, X);
    const forest::Forest forest = view(forest_arrays);
    const data::Rows rows = view(X);
    if (labels.size() != X.shape(0) || weights.size() != X.shape(0) ||
        static_cast<std::int64_t>(out.shape(0)) != forest.leaf_start[forest.n_trees])
        throw std::invalid_argument("labels, weights or output of the wrong shape");
    const walk::LeafCounts leaves{labels.data(), weights.data(), static_cast<std::int64_t>(out.shape(1)), out.data(),
                                  unit};
    const ReleasedGil release;
    walk::tally(forest, *forest_arrays.packing, rows, leaves, n_threads, poll_signals);
}

}  // namespace

void bind_walk(nb::module_& m) {
    nb::class_<TableArrays>(m, "TableArrays", "Arrays of a leaf table that `fold` takes; see hedgerow.walk.LeafTable.")
        .def(
            "__init__",
            [](TableArrays* self, In<double, 2> values, In<double, 2> linked, In<std::uint8_t> links,
               In<std::uint8_t> ops, std::optional<In<std::uint32_t>> row_of) {
                TableArrays arrays{values, linked, links, ops, row_of};
                require_shapes(arrays);
                new (self) TableArrays(std::move(arrays));
            },
            "values"_a.noconvert(), "linked"_a.noconvert(), "links"_a.noconvert(), "ops"_a.noconvert(),
            "row_of"_a.noconvert().none());
    m.def("fold", &fold, "forest"_a.noconvert(), "X"_a.noconvert(), "tables"_a.noconvert(), "out"_a.noconvert(),
          "first_tree"_a, "last_tree"_a, "tree_weights"_a.noconvert().none(), "skip"_a.noconvert().none(),
          "n_used"_a.noconvert().none(), "n_threads"_a,
          "Fold leaf tables over trees into their outputs; see hedgerow.walk.fold.");
    m.def("route", &route, "forest"_a.noconvert(), "X"_a.noconvert(), "out"_a.noconvert(), "heaviest"_a, "n_threads"_a,
          "Leaf number of each row in each tree; see hedgerow.walk.route.");
    m.def("count_paths", &count_paths, "forest"_a.noconvert(), "X"_a.noconvert(),
          "Walks on packed nodes, walks on the forest's arrays, and splits of the former that keys could not decide.");
    m.def("pack_trees", &pack_trees, "forest"_a.noconvert(), "first_tree"_a, "last_tree"_a,
          "Packed nodes (key, column and way to the children), places, slots of nodes, shares of children, slot starts "
          "and sources of key columns (feature, reading, codes) of a range of trees, for walks on another device.");
    m.def("spread", &spread, "forest"_a.noconvert(), "X"_a.noconvert(), "n_threads"_a,
          "Row starts, leaves and weights of all leaves that rows reach; see hedgerow.walk.spread.");
    m.def("quantiles", &quantiles, "forest"_a.noconvert(), "X"_a.noconvert(), "start"_a.noconvert(),
          "ranks"_a.noconvert(), "shares"_a.noconvert(), "values"_a.noconvert(), "probabilities"_a.noconvert(),
          "skip"_a.noconvert().none(), "out"_a.noconvert(), "n_threads"_a,
          "Quantiles from the training targets of leaves; see hedgerow.walk.");
    m.def("tally", &tally, "forest"_a.noconvert(), "X"_a.noconvert(), "labels"_a.noconvert(), "weights"_a.noconvert(),
          "out"_a.noconvert(), "unit"_a, "n_threads"_a,
          "Add rows to the class counts of leaves; see hedgerow.walk.tally.");
}

}  // namespace hedgerow::bindings
