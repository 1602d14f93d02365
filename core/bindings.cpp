// The only file that knows Python: arrays in, arrays out, one release of the interpreter lock a call.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "checksum.hpp"
#include "codes.hpp"
#include "distance.hpp"
#include "faults.hpp"
#include "grow.hpp"
#include "kernel_shares.hpp"
#include "normal_cdf.hpp"
#include "plain_numbers.hpp"
#include "prune.hpp"
#include "random.hpp"
#include "random_grow.hpp"
#include "rearrange.hpp"
#include "row_end.hpp"
#include "squared_lengths.hpp"
#include "structure.hpp"
#include "walk.hpp"
#include "weakest_links.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <class T, int n_dim = 1>
using Array = nb::ndarray<T, nb::numpy, nb::ndim<n_dim>, nb::c_contig, nb::device::cpu>;
template <class T, int n_dim = 1>
using In = nb::ndarray<const T, nb::numpy, nb::ndim<n_dim>, nb::c_contig, nb::device::cpu>;

// hedgerow.forest.Forest.arrays: in the order of hedgerow::Forest.
using ForestArrays =
    std::tuple<In<std::uint8_t, 2>, In<double>, In<std::int32_t>, In<std::uint8_t>, In<std::uint8_t>, In<std::int64_t>,
               In<std::int64_t>, In<std::int64_t>, In<std::int32_t>, In<double>, std::int64_t, bool>;

hedgerow::Forest view(const ForestArrays& arrays) {
    const auto& [nodes, weight, payload, kind, missing, tree_start, leaf_start, payload_start, payload_codes,
                 payload_weights, n_features, only_thresholds] = arrays;
    return {reinterpret_cast<const hedgerow::Node*>(nodes.data()),
            weight.data(),
            payload.data(),
            reinterpret_cast<const hedgerow::Kind*>(kind.data()),
            reinterpret_cast<const hedgerow::Missing*>(missing.data()),
            tree_start.data(),
            leaf_start.data(),
            payload_start.data(),
            payload_codes.data(),
            payload_weights.data(),
            static_cast<std::int64_t>(tree_start.size()) - 1,
            n_features,
            only_thresholds};
}

hedgerow::Rows view(const In<double, 2>& X) {
    return {X.data(), static_cast<std::int64_t>(X.shape(0)), static_cast<std::int64_t>(X.shape(1))};
}

void require_width(const ForestArrays& forest, const In<double, 2>& X) {
    if (static_cast<std::int64_t>(X.shape(1)) != std::get<10>(forest))
        throw std::invalid_argument("X and the forest differ in their number of features");
}

// Lets Ctrl-C through while the lock is released.
void poll_signals() {
    const nb::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// Keeps a vector alive for the array that shows it.
template <class Vector>
nb::capsule owner_of(std::unique_ptr<Vector> values) {
    return nb::capsule(values.release(), [](void* p) noexcept { delete static_cast<Vector*>(p); });
}

// Hands a vector over to Python: the array owns it.
template <class T, class Allocator>
Array<T> to_array(std::vector<T, Allocator> values) {
    auto owned = std::make_unique<std::vector<T, Allocator>>(std::move(values));
    T* data = owned->data();
    const std::size_t size = owned->size();
    return Array<T>(data, {size}, owner_of(std::move(owned)));
}

// The same for nodes, a row of bytes each.
Array<std::uint8_t, 2> to_bytes(hedgerow::Bulk<hedgerow::Node> nodes) {
    auto owned = std::make_unique<hedgerow::Bulk<hedgerow::Node>>(std::move(nodes));
    auto* data = reinterpret_cast<std::uint8_t*>(owned->data());
    const std::size_t size = owned->size();
    return Array<std::uint8_t, 2>(data, {size, sizeof(hedgerow::Node)}, owner_of(std::move(owned)));
}

// values, linked, logs, ops, and out: (n_rows, 1, n_columns) to fold trees, (n_rows, n_trees, n_columns) to keep them apart
using TableArrays = std::tuple<In<double, 2>, In<double, 2>, In<std::uint8_t>, In<std::uint8_t>, Array<double, 3>>;

hedgerow::LeafTable view(const TableArrays& arrays) {
    const auto& [values, linked, logs, ops, out] = arrays;
    return {values.data(),
            linked.data(),
            logs.data(),
            reinterpret_cast<const hedgerow::Op*>(ops.data()),
            static_cast<std::int64_t>(values.shape(1)),
            out.data(),
            static_cast<std::int64_t>(out.shape(1) * out.shape(2)),
            out.shape(1) > 1 ? static_cast<std::int64_t>(out.shape(2)) : 0};
}

void require_shapes(const hedgerow::Forest& forest, const TableArrays& arrays, std::int64_t n_rows,
                    std::int64_t first_tree, std::int64_t last_tree) {
    const auto& [values, linked, logs, ops, out] = arrays;
    const auto n_leaves = static_cast<std::size_t>(forest.leaf_start[last_tree] - forest.leaf_start[first_tree]);
    const std::size_t n_columns = values.shape(1);
    const bool fits = values.shape(0) == n_leaves && linked.shape(0) == n_leaves && linked.shape(1) == n_columns &&
                      logs.size() == n_columns && ops.size() == n_columns &&
                      out.shape(0) == static_cast<std::size_t>(n_rows) && out.shape(2) == n_columns &&
                      (out.shape(1) == 1 || out.shape(1) == static_cast<std::size_t>(last_tree - first_tree));
    if (!fits) throw std::invalid_argument("a leaf table or its output has the wrong shape");
}

void fold(const ForestArrays& forest_arrays, const In<double, 2>& X, const std::vector<TableArrays>& table_arrays,
          std::int64_t first_tree, std::int64_t last_tree, const std::optional<In<double>>& tree_weights,
          const std::optional<In<std::uint8_t, 2>>& skip, const std::optional<Array<std::int64_t>>& n_used,
          std::int64_t n_threads) {
    require_width(forest_arrays, X);
    const hedgerow::Forest forest = view(forest_arrays);
    const hedgerow::Rows rows = view(X);
    if (first_tree < 0 || first_tree > last_tree || last_tree > forest.n_trees)
        throw std::invalid_argument("the range of trees is not one of this forest");
    const auto n_trees = static_cast<std::size_t>(forest.n_trees);
    const auto n_rows = static_cast<std::size_t>(rows.n_rows);
    if ((tree_weights && tree_weights->size() != n_trees) || (n_used && n_used->size() != n_rows) ||
        (skip && (skip->shape(0) != n_trees || skip->shape(1) != (n_rows + 7) / 8)))
        throw std::invalid_argument("tree_weights, skip or n_used has the wrong shape");
    std::vector<hedgerow::LeafTable> tables;
    for (const TableArrays& arrays : table_arrays) {
        require_shapes(forest, arrays, rows.n_rows, first_tree, last_tree);
        tables.push_back(view(arrays));
    }
    const hedgerow::FoldOptions options{first_tree,
                                        last_tree,
                                        tree_weights ? tree_weights->data() : nullptr,
                                        skip ? skip->data() : nullptr,
                                        n_used ? n_used->data() : nullptr,
                                        n_threads};
    const nb::gil_scoped_release release;
    hedgerow::fold(forest, rows, tables, options, poll_signals);
}

void route(const ForestArrays& forest_arrays, const In<double, 2>& X, const Array<std::int32_t, 2>& out,
           bool heaviest, std::int64_t n_threads) {
    require_width(forest_arrays, X);
    const hedgerow::Forest forest = view(forest_arrays);
    if (out.shape(0) != X.shape(0) || static_cast<std::int64_t>(out.shape(1)) != forest.n_trees)
        throw std::invalid_argument("out has the wrong shape");
    const hedgerow::Rows rows = view(X);
    const nb::gil_scoped_release release;
    hedgerow::route(forest, rows, out.data(), heaviest, n_threads, poll_signals);
}

std::tuple<Array<std::int64_t>, Array<std::int64_t>, Array<double>> spread(const ForestArrays& forest_arrays,
                                                                          const In<double, 2>& X,
                                                                          std::int64_t n_threads) {
    require_width(forest_arrays, X);
    const hedgerow::Forest forest = view(forest_arrays);
    const hedgerow::Rows rows = view(X);
    hedgerow::Spread result;
    {
        const nb::gil_scoped_release release;
        result = hedgerow::spread(forest, rows, n_threads, poll_signals);
    }
    return {to_array(std::move(result.row_start)), to_array(std::move(result.leaves)),
            to_array(std::move(result.weights))};
}

void quantiles(const ForestArrays& forest_arrays, const In<double, 2>& X, const In<std::int64_t>& start,
               const In<std::int32_t>& ranks, const In<double>& shares, const In<double>& values,
               const In<double>& probabilities, const Array<double, 2>& out, std::int64_t n_threads) {
    require_width(forest_arrays, X);
    const hedgerow::Forest forest = view(forest_arrays);
    const hedgerow::Rows rows = view(X);
    if (static_cast<std::int64_t>(start.size()) != forest.leaf_start[forest.n_trees] + 1 ||
        (shares.size() != ranks.size() && shares.size() != 0) || out.shape(0) != X.shape(0) || out.shape(1) != probabilities.size())
        throw std::invalid_argument("leaf samples or output of the wrong shape");
    const hedgerow::LeafSamples samples{start.data(), ranks.data(), shares.size() == 0 ? nullptr : shares.data(), values.data(),
                                        static_cast<std::int64_t>(values.size())};
    const nb::gil_scoped_release release;
    hedgerow::quantiles(forest, rows, samples, probabilities.data(), static_cast<std::int64_t>(probabilities.size()),
                        out.data(), n_threads, poll_signals);
}

// Column-major, as growth reads it.
using Columns = nb::ndarray<const double, nb::numpy, nb::ndim<2>, nb::f_contig, nb::device::cpu>;

// The bytes of the nodes (as in ForestArrays), weight, payload, kind, missing, payload_start, payload_codes, leaf values;
// tree_start, leaf_start; then, empty unless asked for: the bit mask of rows in each tree's bag; starts, rows and weights of
// the training rows of each leaf
using GrownArrays =
    std::tuple<Array<std::uint8_t, 2>, Array<double>, Array<std::int32_t>, Array<std::uint8_t>, Array<std::uint8_t>,
               Array<std::int64_t>, Array<std::int32_t>, Array<double>, Array<std::int64_t>, Array<std::int64_t>,
               Array<std::uint8_t>, Array<std::int64_t>, Array<std::int32_t>, Array<double>>;

using Labels = std::optional<In<std::int32_t>>;
using Targets = std::optional<In<double>>;

hedgerow::TrainingData view(const Columns& X, const In<std::int32_t>& n_categories, const In<double>& sample_weight,
                            const Labels& labels, const Targets& targets, std::int64_t n_classes) {
    const std::size_t n_rows = X.shape(0);
    if (labels.has_value() == targets.has_value() || n_rows == 0 || n_categories.size() != X.shape(1) ||
        sample_weight.size() != n_rows || (labels ? labels->size() : targets->size()) != n_rows)
        throw std::invalid_argument("training data of the wrong shape");
    if (n_rows > 0x7FFFFFFF) throw std::length_error("more than 2147483647 rows");
    return {X.data(),
            n_categories.data(),
            sample_weight.data(),
            labels ? labels->data() : nullptr,
            targets ? targets->data() : nullptr,
            static_cast<std::int64_t>(n_rows),
            static_cast<std::int64_t>(X.shape(1)),
            n_classes};
}

// Calls grow(n_done, poll) without the interpreter lock; `progress` is told now and then how many trees are finished.
template <class Grow>
GrownArrays grow_with(const std::optional<nb::callable>& progress, const Grow& grow) {
    std::atomic<std::int64_t> n_done{0};
    const auto poll = [&] {
        poll_signals();
        if (!progress) return;
        const nb::gil_scoped_acquire lock;
        (*progress)(n_done.load());
    };
    hedgerow::GrownForest forest;
    {
        const nb::gil_scoped_release release;
        forest = grow(n_done, poll);
    }
    hedgerow::GrownTree& trees = forest.trees;
    return {to_bytes(std::move(trees.nodes)),           to_array(std::move(trees.weight)),
            to_array(std::move(trees.payload)),         to_array(std::move(trees.kind)),
            to_array(std::move(trees.missing)),         to_array(std::move(trees.payload_start)),
            to_array(std::move(trees.payload_codes)),   to_array(std::move(trees.leaf_values)),
            to_array(std::move(forest.tree_start)),     to_array(std::move(forest.leaf_start)),
            to_array(std::move(forest.in_bag)),         to_array(std::move(trees.leaf_rows_start)),
            to_array(std::move(trees.leaf_rows)),       to_array(std::move(trees.leaf_row_weights))};
}

GrownArrays grow(const Columns& X, const In<std::int32_t>& n_categories, const In<double>& sample_weight,
                 const Labels& labels, const Targets& targets, std::int64_t n_classes,
                 const hedgerow::GrowOptions& options, const std::optional<nb::callable>& progress) {
    const hedgerow::TrainingData data = view(X, n_categories, sample_weight, labels, targets, n_classes);
    const auto class_cells = static_cast<std::size_t>(n_classes * n_classes);
    if (options.class_costs.size() != (options.criterion == hedgerow::Criterion::cost_gini ? class_cells : 0) ||
        (!options.feature_costs.empty() && options.feature_costs.size() != X.shape(1)))
        throw std::invalid_argument("costs of the wrong shape");
    if (options.collapse && (targets || options.keep_leaf_rows))
        throw std::invalid_argument("only trees of classes whose leaves keep no rows can be collapsed");
    return grow_with(progress,
                     [&](auto& n_done, const auto& poll) { return hedgerow::grow(data, options, n_done, poll); });
}

GrownArrays grow_random(const Columns& X, const In<std::int32_t>& n_categories, const In<double>& sample_weight,
                        const In<std::int32_t>& labels, std::int64_t n_classes,
                        const hedgerow::RandomGrowOptions& options, const std::optional<nb::callable>& progress) {
    const hedgerow::TrainingData data = view(X, n_categories, sample_weight, labels, std::nullopt, n_classes);
    return grow_with(progress,
                     [&](auto& n_done, const auto& poll) { return hedgerow::grow_random(data, options, n_done, poll); });
}

void tally(const ForestArrays& forest_arrays, const In<double, 2>& X, const In<std::int32_t>& labels,
           const In<double>& weights, const Array<double, 2>& out, std::int64_t n_threads) {
    require_width(forest_arrays, X);
    const hedgerow::Forest forest = view(forest_arrays);
    const hedgerow::Rows rows = view(X);
    if (labels.size() != X.shape(0) || weights.size() != X.shape(0) ||
        static_cast<std::int64_t>(out.shape(0)) != forest.leaf_start[forest.n_trees])
        throw std::invalid_argument("labels, weights or output of the wrong shape");
    const hedgerow::LeafCounts leaves{labels.data(), weights.data(), static_cast<std::int64_t>(out.shape(1)), out.data()};
    const nb::gil_scoped_release release;
    hedgerow::tally(forest, rows, leaves, n_threads, poll_signals);
}

void require_one_tree(const hedgerow::Forest& forest, const In<std::int64_t>& parent, const In<std::int32_t>& labels) {
    if (forest.n_trees != 1 || static_cast<std::int64_t>(parent.size()) != forest.tree_start[1] ||
        static_cast<std::int64_t>(labels.size()) != forest.leaf_start[1])
        throw std::invalid_argument("distances are those of one tree, with a parent for each node and a label for each leaf");
}

std::tuple<Array<std::uint64_t>, Array<std::uint8_t>> wall_plan(const ForestArrays& forest_arrays,
                                                                const In<std::int64_t>& parent,
                                                                const In<std::int32_t>& labels,
                                                                const In<std::int32_t>& n_categories,
                                                                std::int64_t n_classes) {
    const hedgerow::Forest forest = view(forest_arrays);
    require_one_tree(forest, parent, labels);
    if (static_cast<std::int64_t>(n_categories.size()) != forest.n_features)
        throw std::invalid_argument("n_categories needs a number for each feature");
    std::vector<std::uint64_t> classes;
    std::vector<std::uint8_t> open;
    {
        const nb::gil_scoped_release release;
        classes = hedgerow::classes_below(forest, parent.data(), labels.data(), n_classes);
        open = hedgerow::open_nodes(forest, parent.data(), n_categories.data());
    }
    return {to_array(std::move(classes)), to_array(std::move(open))};
}

// parent, leaf_nodes, labels, classes, open: in the order of hedgerow::Walls
using WallArrays =
    std::tuple<In<std::int64_t>, In<std::int64_t>, In<std::int32_t>, In<std::uint64_t>, In<std::uint8_t>>;

void wall_distance(const ForestArrays& forest_arrays, const WallArrays& wall_arrays, std::int64_t n_classes,
                   const In<double, 2>& X, const In<std::int64_t>& rows, const In<std::int32_t>& leaves,
                   const In<double>& scale, std::int64_t target, const Array<double, 2>& distance,
                   const Array<std::int32_t, 2>& leaf, const Array<std::int32_t, 2>& separator,
                   const Array<std::int64_t>& n_leaves, std::int64_t n_threads) {
    require_width(forest_arrays, X);
    const hedgerow::Forest forest = view(forest_arrays);
    const auto& [parent, leaf_nodes, labels, classes, open] = wall_arrays;
    require_one_tree(forest, parent, labels);
    const std::size_t n_parts = rows.size();
    const auto n_columns = static_cast<std::size_t>(target == hedgerow::every_class ? n_classes : 1);
    const bool fits = leaves.size() == n_parts && n_leaves.size() == n_parts && scale.size() == X.shape(1) &&
                      distance.shape(0) == n_parts && leaf.shape(0) == n_parts && separator.shape(0) == n_parts &&
                      distance.shape(1) == n_columns && leaf.shape(1) == n_columns && separator.shape(1) == n_columns &&
                      target < n_classes && open.size() == parent.size() && leaf_nodes.size() == labels.size() &&
                      classes.size() == parent.size() * static_cast<std::size_t>(hedgerow::n_words(n_classes));
    if (!fits) throw std::invalid_argument("parts of rows, walls or output of the wrong shape");
    const hedgerow::Walls walls{forest,        parent.data(), leaf_nodes.data(), labels.data(),
                                classes.data(), open.data(),   n_classes};
    const hedgerow::Parts parts{rows.data(), leaves.data(), static_cast<std::int64_t>(n_parts)};
    const hedgerow::WallDistances out{distance.data(), leaf.data(), separator.data(), n_leaves.data()};
    const hedgerow::Rows values = view(X);
    const nb::gil_scoped_release release;
    hedgerow::wall_distance(walls, values, parts, scale.data(), target, out, n_threads, poll_signals);
}

void kernel_shares(hedgerow::Kernel kernel, const In<std::int64_t>& start, const In<double, 2>& points,
                   const In<double, 2>& weights, const In<double, 2>& bandwidth, const In<double, 2>& places,
                   const In<std::int64_t>& groups, const std::optional<In<std::int64_t>>& left_out, double tolerance,
                   const Array<double>& out, std::int64_t n_threads) {
    const std::size_t n_queries = places.shape(0), n_dims = points.shape(1);
    const bool fits = start.size() == bandwidth.shape(0) + 1 && weights.shape(0) == points.shape(0) &&
                      weights.shape(1) == 2 && bandwidth.shape(1) == n_dims && places.shape(1) == n_dims &&
                      groups.size() == n_queries && out.size() == n_queries && (n_dims == 1 || n_dims == 2) &&
                      (!left_out || left_out->size() == n_queries);
    if (!fits) throw std::invalid_argument("kernel sample, places or output of the wrong shape");
    const hedgerow::KernelSample sample{start.data(),
                                        points.data(),
                                        weights.data(),
                                        bandwidth.data(),
                                        static_cast<std::int64_t>(bandwidth.shape(0)),
                                        static_cast<std::int64_t>(n_dims)};
    const hedgerow::KernelQueries queries{places.data(), groups.data(), left_out ? left_out->data() : nullptr,
                                          static_cast<std::int64_t>(n_queries)};
    const nb::gil_scoped_release release;
    hedgerow::kernel_shares(kernel, sample, queries, tolerance, out.data(), n_threads, poll_signals);
}

// Codes of one of the types that frames keep them in.
using Codes = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class Use>
void with_codes(const Codes& codes, const Use& use) {
    const auto dtype = codes.dtype();
    if (dtype == nb::dtype<std::int8_t>())
        use(static_cast<const std::int8_t*>(codes.data()));
    else if (dtype == nb::dtype<std::int16_t>())
        use(static_cast<const std::int16_t*>(codes.data()));
    else if (dtype == nb::dtype<std::int32_t>())
        use(static_cast<const std::int32_t*>(codes.data()));
    else if (dtype == nb::dtype<std::int64_t>())
        use(static_cast<const std::int64_t*>(codes.data()));
    else
        throw std::invalid_argument("codes must be signed integers");
}

Array<bool> codes_in_use(const Codes& codes, std::size_t n_levels) {
    std::vector<std::uint8_t> used(n_levels, 0);
    with_codes(codes, [&](const auto* all) { hedgerow::mark_codes(all, codes.size(), used.data(), n_levels); });
    auto owned = std::make_unique<std::vector<std::uint8_t>>(std::move(used));
    auto* data = reinterpret_cast<bool*>(owned->data());
    return Array<bool>(data, {n_levels}, owner_of(std::move(owned)));
}

void place_codes(const Codes& codes, const In<double>& table, const Array<double>& out) {
    if (out.size() != codes.size()) throw std::invalid_argument("out has the wrong shape");
    with_codes(codes, [&](const auto* all) {
        hedgerow::place_codes(all, codes.size(), table.data(), table.size(), out.data());
    });
}

// The distinct texts of a list, sorted, and the number of each item among them; None if something else is among the items.
// A text keeps its hash: most are found by it at the first place that is looked at, without the dictionary.
std::optional<std::tuple<nb::list, Array<std::int32_t>>> text_codes(const nb::list& items) {
    struct Known {
        PyObject* text = nullptr;
        std::int32_t code = 0;
    };
    std::array<Known, 256> known{};
    nb::dict code_of;
    nb::list distinct;
    std::vector<std::int32_t> codes(nb::len(items));
    for (std::size_t i = 0; i < codes.size(); ++i) {
        PyObject* text = PyList_GET_ITEM(items.ptr(), static_cast<Py_ssize_t>(i));
        if (!PyUnicode_CheckExact(text)) return std::nullopt;
        Known& place = known[static_cast<std::size_t>(PyObject_Hash(text)) % known.size()];
        if (place.text != text && (place.text == nullptr || PyUnicode_Compare(place.text, text) != 0)) {
            PyObject* code = PyDict_GetItemWithError(code_of.ptr(), text);
            if (code == nullptr) {
                if (PyErr_Occurred()) throw nb::python_error();
                code_of[nb::handle(text)] = nb::len(distinct);
                distinct.append(nb::handle(text));
                code = PyDict_GetItemWithError(code_of.ptr(), text);
            }
            place = {text, nb::cast<std::int32_t>(nb::handle(code))};
        }
        codes[i] = place.code;
    }
    distinct.sort();
    std::vector<std::int32_t> place(nb::len(distinct));
    for (std::size_t i = 0; i < place.size(); ++i)
        place[nb::cast<std::size_t>(code_of[distinct[i]])] = static_cast<std::int32_t>(i);
    for (std::int32_t& code : codes) code = place[static_cast<std::size_t>(code)];
    return std::tuple{distinct, to_array(std::move(codes))};
}

void require_rows(const In<std::int64_t>& parent, const Array<double, 2>& values) {
    if (parent.size() != values.shape(0)) throw std::invalid_argument("values needs a row for each node");
}

// As ForestArrays without the last two, and the values of leaves.
using RearrangedArrays =
    std::tuple<Array<std::uint8_t, 2>, Array<double>, Array<std::int32_t>, Array<std::uint8_t>, Array<std::uint8_t>,
               Array<std::int64_t>, Array<std::int64_t>, Array<std::int64_t>, Array<std::int32_t>, Array<double>, Array<double>>;

RearrangedArrays to_arrays(hedgerow::RearrangedForest made) {
    hedgerow::GrownTree& trees = made.forest.trees;
    return {to_bytes(std::move(trees.nodes)),          to_array(std::move(trees.weight)),
            to_array(std::move(trees.payload)),        to_array(std::move(trees.kind)),
            to_array(std::move(trees.missing)),        to_array(std::move(made.forest.tree_start)),
            to_array(std::move(made.forest.leaf_start)), to_array(std::move(trees.payload_start)),
            to_array(std::move(trees.payload_codes)),  to_array(std::move(made.payload_weights)),
            to_array(std::move(trees.leaf_values))};
}

void require_nodes(const hedgerow::Forest& forest, std::size_t n_nodes) {
    if (static_cast<std::int64_t>(n_nodes) != forest.tree_start[forest.n_trees])
        throw std::invalid_argument("marks and values need an entry for each node");
}

RearrangedArrays cut(const ForestArrays& forest_arrays, const In<std::uint8_t>& marked, const In<double, 2>& node_values) {
    const hedgerow::Forest forest = view(forest_arrays);
    require_nodes(forest, marked.size());
    require_nodes(forest, node_values.shape(0));
    const auto n_values = static_cast<std::int64_t>(node_values.shape(1));
    return to_arrays(rearranged(forest, hedgerow::cut(forest, marked.data(), node_values.data(), n_values)));
}

void require_leaves(const hedgerow::Forest& forest, const In<double, 2>& leaf_values) {
    if (static_cast<std::int64_t>(leaf_values.shape(0)) != forest.leaf_start[forest.n_trees])
        throw std::invalid_argument("values need a row for each leaf");
}

// None where nothing is collapsed.
std::optional<RearrangedArrays> collapse(const ForestArrays& forest_arrays, const In<double, 2>& leaf_counts) {
    const hedgerow::Forest forest = view(forest_arrays);
    require_leaves(forest, leaf_counts);
    const auto n_classes = static_cast<std::int64_t>(leaf_counts.shape(1));
    auto kept = hedgerow::collapse(forest, leaf_counts.data(), n_classes);
    return kept ? std::optional(to_arrays(rearranged(forest, *std::move(kept)))) : std::nullopt;
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
std::optional<RearrangedArrays> prune(const ForestArrays& forest_arrays, const In<double, 2>& leaf_counts, const Columns& X,
                   const In<double>& sample_weight, const In<std::int32_t>& labels, double confidence, double z,
                   bool raising, double min_fraction) {
    const hedgerow::Forest forest = view(forest_arrays);
    if (forest.n_trees != 1 || static_cast<std::int64_t>(leaf_counts.shape(0)) != forest.leaf_start[1] ||
        static_cast<std::int64_t>(X.shape(1)) != forest.n_features || labels.size() != X.shape(0) ||
        sample_weight.size() != X.shape(0))
        throw std::invalid_argument("a forest of several trees, or data of the wrong shape");
    const hedgerow::TrainingData data{X.data(),
                                      nullptr,
                                      sample_weight.data(),
                                      labels.data(),
                                      nullptr,
                                      static_cast<std::int64_t>(X.shape(0)),
                                      forest.n_features,
                                      static_cast<std::int64_t>(leaf_counts.shape(1))};
    std::optional<hedgerow::RearrangedForest> pruned;
    {
        const nb::gil_scoped_release release;
        const hedgerow::PruneOptions options{confidence, z, raising, min_fraction};
        hedgerow::Rearrangement tree = hedgerow::prune(forest, leaf_counts.data(), data, options, poll_signals);
        if (static_cast<std::int64_t>(tree.source.size()) < forest.tree_start[1])
            pruned = rearranged(forest, std::move(tree));
    }
    return pruned ? std::optional(to_arrays(*std::move(pruned))) : std::nullopt;
}

using LinkArrays = std::tuple<Array<std::int64_t>, Array<double>, Array<double>>;

LinkArrays weakest_links(const In<std::int64_t>& parent, const In<double, 2>& values) {
    if (parent.size() != values.shape(0) || values.shape(1) == 0)
        throw std::invalid_argument("values needs a row for each node");
    hedgerow::WeakestLinks links;
    {
        const nb::gil_scoped_release release;
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

// rule, place, found
using FaultNumbers = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

FaultNumbers node_fault(const ForestArrays& arrays) {
    const hedgerow::Forest forest = view(arrays);
    const auto n_payloads = static_cast<std::int64_t>(std::get<7>(arrays).size()) - 1;
    const nb::gil_scoped_release release;
    const auto [rule, place, found] = hedgerow::node_fault(forest, n_payloads);
    return {rule, place, found};
}

FaultNumbers link_fault(const ForestArrays& arrays, const In<std::int32_t>& largest_child) {
    const hedgerow::Forest forest = view(arrays);
    if (largest_child.size() + 1 != std::get<7>(arrays).size())
        throw std::invalid_argument("largest_child needs a number for each payload");
    const nb::gil_scoped_release release;
    const auto [rule, place, found] = hedgerow::link_fault(forest, largest_child.data());
    return {rule, place, found};
}

std::uint64_t checksum(const In<std::uint8_t>& bytes) {
    const nb::gil_scoped_release release;
    return hedgerow::checksum(bytes.data(), bytes.size());
}

std::tuple<std::int64_t, std::int64_t> row_end(const In<std::uint8_t>& text) {
    const nb::gil_scoped_release release;
    const auto [n_bytes, n_lines] = hedgerow::row_end({reinterpret_cast<const char*>(text.data()), text.size()});
    return {n_bytes, n_lines};
}

void normal_cdf(const In<double>& z, const Array<double>& out) {
    if (z.size() != out.size()) throw std::invalid_argument("z and out differ in length");
    const nb::gil_scoped_release release;
    hedgerow::normal_cdf(z.data(), static_cast<std::int64_t>(z.size()), out.data());
}

void squared_lengths(const In<double, 2>& columns, const std::optional<In<double>>& from, const In<double>& weight,
                     const Array<double>& out) {
    if (columns.shape(0) != out.size() || columns.shape(1) != weight.size() || (from && from->size() != weight.size()))
        throw std::invalid_argument("columns, start, weight and out differ in length");
    const nb::gil_scoped_release release;
    hedgerow::squared_lengths(columns.data(), static_cast<std::int64_t>(columns.shape(0)),
                              static_cast<std::int64_t>(columns.shape(1)), from ? from->data() : nullptr, weight.data(),
                              out.data());
}

// nanobind has converted `missing` to owned texts, which live as long as this call.
std::int64_t plain_numbers(const In<std::uint8_t>& text, const std::string& delimiter, const In<std::int32_t>& column_of,
                           const std::vector<std::string>& missing, const Array<double, 2>& out) {
    if (delimiter.size() != 1) throw std::invalid_argument("the delimiter must be one byte");
    const std::vector<std::int32_t> columns(column_of.data(), column_of.data() + column_of.size());
    for (const std::int32_t column : columns)
        if (column >= static_cast<std::int64_t>(out.shape(0))) throw std::invalid_argument("a column is not in out");
    const std::vector<std::string_view> markers(missing.begin(), missing.end());
    const nb::gil_scoped_release release;
    return hedgerow::plain_numbers({reinterpret_cast<const char*>(text.data()), text.size()}, delimiter[0], columns, markers,
                                   out.data(), static_cast<std::int64_t>(out.shape(1)));
}

hedgerow::Draws draws_at(std::uint64_t seed, const std::vector<std::uint64_t>& path) {
    hedgerow::Path place(seed);
    for (const std::uint64_t number : path) place = place.child(number);
    return hedgerow::Draws(place);
}

template <class T, class Draw>
Array<T> draw_many(std::int64_t n, Draw draw) {
    std::vector<T> values(static_cast<std::size_t>(n));
    for (T& value : values) value = draw();
    return to_array(std::move(values));
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "The compiled core: free functions over arrays that hedgerow has checked.";

    m.def("fold", &fold, "forest"_a.noconvert(), "X"_a.noconvert(), "tables"_a.noconvert(), "first_tree"_a,
          "last_tree"_a, "tree_weights"_a.noconvert().none(), "skip"_a.noconvert().none(),
          "n_used"_a.noconvert().none(), "n_threads"_a,
          "Fold leaf tables over trees into their outputs; see hedgerow.walk.fold.");
    m.def("route", &route, "forest"_a.noconvert(), "X"_a.noconvert(), "out"_a.noconvert(), "heaviest"_a,
          "n_threads"_a, "Leaf number of each row in each tree; see hedgerow.walk.route.");
    m.def("spread", &spread, "forest"_a.noconvert(), "X"_a.noconvert(), "n_threads"_a,
          "Row starts, leaves and weights of all leaves that rows reach; see hedgerow.walk.spread.");
    m.def("quantiles", &quantiles, "forest"_a.noconvert(), "X"_a.noconvert(), "start"_a.noconvert(),
          "ranks"_a.noconvert(), "shares"_a.noconvert(), "values"_a.noconvert(), "probabilities"_a.noconvert(),
          "out"_a.noconvert(), "n_threads"_a, "Quantiles from the training targets of leaves; see hedgerow.quantiles.");
    m.def("tally", &tally, "forest"_a.noconvert(), "X"_a.noconvert(), "labels"_a.noconvert(), "weights"_a.noconvert(),
          "out"_a.noconvert(), "n_threads"_a, "Add rows to the class counts of leaves; see hedgerow.walk.tally.");
    m.def("wall_plan", &wall_plan, "forest"_a.noconvert(), "parent"_a.noconvert(), "labels"_a.noconvert(),
          "n_categories"_a.noconvert(), "n_classes"_a,
          "Classes below each node, and whether any value leads to it; see hedgerow.boundary.");
    m.def("wall_distance", &wall_distance, "forest"_a.noconvert(), "walls"_a.noconvert(), "n_classes"_a,
          "X"_a.noconvert(), "rows"_a.noconvert(), "leaves"_a.noconvert(), "scale"_a.noconvert(), "target"_a,
          "distance"_a.noconvert(), "leaf"_a.noconvert(), "separator"_a.noconvert(), "n_leaves"_a.noconvert(),
          "n_threads"_a, "Distances of parts of rows to the leaves of each class; see hedgerow.boundary.");
    nb::enum_<hedgerow::Kernel>(m, "Kernel")
        .value("gaussian", hedgerow::Kernel::gaussian)
        .value("box", hedgerow::Kernel::box)
        .value("epanechnikov", hedgerow::Kernel::epanechnikov);
    m.def("kernel_shares", &kernel_shares, "kernel"_a, "start"_a.noconvert(), "points"_a.noconvert(),
          "weights"_a.noconvert(), "bandwidth"_a.noconvert(), "places"_a.noconvert(), "groups"_a.noconvert(),
          "left_out"_a.noconvert().none(), "tolerance"_a, "out"_a.noconvert(), "n_threads"_a,
          "Share of a class among the training rows around places; see hedgerow.boundary.");
    using hedgerow::GrowOptions;
    nb::enum_<hedgerow::Criterion>(m, "Criterion")
        .value("gini", hedgerow::Criterion::gini)
        .value("entropy", hedgerow::Criterion::entropy)
        .value("gain_ratio", hedgerow::Criterion::gain_ratio)
        .value("squared_error", hedgerow::Criterion::squared_error)
        .value("cost_gini", hedgerow::Criterion::cost_gini);
    nb::enum_<hedgerow::Nominal>(m, "Nominal")
        .value("multiway", hedgerow::Nominal::multiway)
        .value("binary", hedgerow::Nominal::binary)
        .value("subset", hedgerow::Nominal::subset);
    nb::enum_<hedgerow::TrainMissing>(m, "TrainMissing")
        .value("fractional", hedgerow::TrainMissing::fractional)
        .value("category", hedgerow::TrainMissing::category)
        .value("learned", hedgerow::TrainMissing::learned)
        .value("random", hedgerow::TrainMissing::random);
    nb::class_<GrowOptions>(m, "GrowOptions", "Settings of growth; see hedgerow.growth.")
        .def(nb::init<>())
        .def_rw("criterion", &GrowOptions::criterion)
        .def_rw("nominal", &GrowOptions::nominal)
        .def_rw("missing", &GrowOptions::missing)
        .def_rw("min_fraction", &GrowOptions::min_fraction)
        .def_rw("max_depth", &GrowOptions::max_depth)
        .def_rw("min_samples_split", &GrowOptions::min_samples_split)
        .def_rw("min_samples_leaf", &GrowOptions::min_samples_leaf)
        .def_rw("min_weight_leaf", &GrowOptions::min_weight_leaf)
        .def_rw("min_impurity_decrease", &GrowOptions::min_impurity_decrease)
        .def_rw("max_leaf_nodes", &GrowOptions::max_leaf_nodes)
        .def_rw("max_features", &GrowOptions::max_features)
        .def_rw("c45", &GrowOptions::c45)
        .def_rw("collapse", &GrowOptions::collapse)
        .def_rw("significance", &GrowOptions::significance)
        .def_rw("class_costs", &GrowOptions::class_costs)
        .def_rw("feature_costs", &GrowOptions::feature_costs)
        .def_rw("seed", &GrowOptions::seed)
        .def_rw("max_nodes", &GrowOptions::max_nodes)
        .def_rw("n_trees", &GrowOptions::n_trees)
        .def_rw("max_bins", &GrowOptions::max_bins)
        .def_rw("n_draws", &GrowOptions::n_draws)
        .def_rw("keep_in_bag", &GrowOptions::keep_in_bag)
        .def_rw("keep_leaf_rows", &GrowOptions::keep_leaf_rows)
        .def_rw("n_threads", &GrowOptions::n_threads);
    m.def("grow", &grow, "X"_a.noconvert(), "n_categories"_a.noconvert(), "sample_weight"_a.noconvert(),
          "labels"_a.noconvert().none(), "targets"_a.noconvert().none(), "n_classes"_a, "options"_a, "progress"_a.none(),
          "Grow trees; see hedgerow.growth.grow_forest.");
    using hedgerow::RandomGrowOptions;
    nb::class_<RandomGrowOptions>(m, "RandomGrowOptions", "Settings of random growth; see hedgerow.growth.")
        .def(nb::init<>())
        .def_rw("min_samples_leaf", &RandomGrowOptions::min_samples_leaf)
        .def_rw("max_depth", &RandomGrowOptions::max_depth)
        .def_rw("seed", &RandomGrowOptions::seed)
        .def_rw("n_trees", &RandomGrowOptions::n_trees)
        .def_rw("n_threads", &RandomGrowOptions::n_threads)
        .def_rw("max_nodes", &RandomGrowOptions::max_nodes);
    m.def("grow_random", &grow_random, "X"_a.noconvert(), "n_categories"_a.noconvert(), "sample_weight"_a.noconvert(),
          "labels"_a.noconvert(), "n_classes"_a, "options"_a, "progress"_a.none(),
          "Grow random decision trees; see hedgerow.growth.grow_random_forest.");
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
    m.def("cheapest_leaves", &cheapest_leaves, "parent"_a.noconvert(), "inner"_a.noconvert(), "as_leaf"_a.noconvert(),
          "questions"_a.noconvert(), "tolerance"_a,
          "1 for each inner node that costs no more as a leaf than its question and what is left below it.");
    m.def("node_fault", &node_fault, "forest"_a.noconvert(),
          "The first rule that a node breaks by itself, or -1, and the node; see hedgerow.invariants.");
    m.def("link_fault", &link_fault, "forest"_a.noconvert(), "largest_child"_a.noconvert(),
          "The first rule that is broken between nodes, or -1, where, and what was counted; see hedgerow.invariants.");
    m.def("codes_in_use", &codes_in_use, "codes"_a.noconvert(), "n_levels"_a, "Which levels occur; -1 is none.");
    m.def("place_codes", &place_codes, "codes"_a.noconvert(), "table"_a.noconvert(), "out"_a.noconvert(),
          "Put the entry of a table for each code into out, NaN where the code is -1.");
    m.def("text_codes", &text_codes, "items"_a.noconvert(),
          "The distinct texts of a list, sorted, and each item's number among them; None if not all are text.");
    m.def("checksum", &checksum, "data"_a.noconvert(), "XXH64 of bytes, with seed 0; see hedgerow.packing.");
    m.def("row_end", &row_end, "text"_a.noconvert(),
          "Bytes and lines up to the last line end that is not in quotes.");
    m.def("normal_cdf", &normal_cdf, "z"_a.noconvert(), "out"_a.noconvert(),
          "P(Z <= z) of the standard normal law, into out; see hedgerow.measured.normal.");
    m.def("squared_lengths", &squared_lengths, "columns"_a.noconvert(), "start"_a.noconvert().none(),
          "weight"_a.noconvert(), "out"_a.noconvert(),
          "Sums of weight * (column - start)^2 over each row of columns, into out; see hedgerow.measured.thresholds.");
    m.def("plain_numbers", &plain_numbers, "text"_a.noconvert(), "delimiter"_a, "column_of"_a.noconvert(), "missing"_a,
          "out"_a.noconvert(),
          "Rows of plain numbers into out, (columns, room for rows): their number, or -1 where the text is not plain.");
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
    m.def(
        "first_infinity",
        [](const In<double, 2>& X) {
            const nb::gil_scoped_release release;
            return hedgerow::first_infinity(X.data(), static_cast<std::int64_t>(X.size()));
        },
        "X"_a.noconvert(), "Flat position of the first infinite value, or -1.");
    m.def(
        "random_bits",
        [](std::uint64_t seed, const std::vector<std::uint64_t>& path, std::int64_t n) {
            auto draws = draws_at(seed, path);
            return draw_many<std::uint64_t>(n, [&] { return draws.bits(); });
        },
        "seed"_a, "path"_a, "n"_a, "The first n 64-bit draws at a place in a tree.");
    m.def(
        "random_reals",
        [](std::uint64_t seed, const std::vector<std::uint64_t>& path, std::int64_t n) {
            auto draws = draws_at(seed, path);
            return draw_many<double>(n, [&] { return draws.real(); });
        },
        "seed"_a, "path"_a, "n"_a, "The first n reals in [0, 1) at a place in a tree.");
    m.def(
        "random_below",
        [](std::uint64_t seed, const std::vector<std::uint64_t>& path, std::int64_t n, std::uint64_t bound) {
            if (bound == 0) throw std::invalid_argument("bound must be at least 1");
            auto draws = draws_at(seed, path);
            return draw_many<std::uint64_t>(n, [&] { return draws.below(bound); });
        },
        "seed"_a, "path"_a, "n"_a, "bound"_a, "The first n integers in 0 .. bound-1 at a place in a tree.");
}
