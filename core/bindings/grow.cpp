// Bindings of core/grow.
#include "grow/grow.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/bind.hpp"
#include "bindings/binned.hpp"
#include "bindings/forest_dict.hpp"
#include "bindings/training_data.hpp"
#include "forest/concatenate.hpp"
#include "grow/binned/given_split.hpp"
#include "grow/binned/grow_binned.hpp"
#include "grow/random/grow_random.hpp"

namespace hedgerow::bindings {

using namespace nb::literals;

namespace {

// Calls grow(n_done, poll) without the interpreter lock, and `progress` now and then with the number of finished trees.
//
// The dict has the forest, and what was kept of rows: the bit mask of each tree's bag; starts, rows and weights of the
// training rows of each leaf; both empty unless asked for. Random trees may have, instead of the values of leaves,
// distinct counts and which of them each leaf has (`count_of`); None elsewhere.
template <class Grow>
ArrayDict grow_with(const std::optional<nb::callable>& progress, const Grow& grow) {
    std::atomic<std::int64_t> n_done{0};
    const auto poll = [&] {
        poll_signals();
        if (!progress) return;
        const HeldGil lock;
        (*progress)(n_done.load());
    };
    forest::GrownForest forest = without_gil([&] { return grow(n_done, poll); });
    ArrayDict grown;
    grown["count_of"] = to_optional_array(std::move(forest.trees.count_of));
    grown["distinct_counts"] = to_optional_array(std::move(forest.distinct_counts));
    grown["in_bag"] = to_array(std::move(forest.in_bag));
    grown["leaf_rows_start"] = to_array(std::move(forest.trees.leaf_rows_start));
    grown["leaf_rows"] = to_array(std::move(forest.trees.leaf_rows));
    grown["leaf_row_weights"] = to_array(std::move(forest.trees.leaf_row_weights));
    grown["forest"] = forest_dict(std::move(forest));
    return grown;
}

// What makes oblique splits: the penalty of ridge regression, or a function of the rows of a node, row by row, their
// weights and targets, and a seed, that returns a coefficient for each column. None: there are none.
using LinearModel = std::optional<std::variant<double, nb::callable>>;

struct GrowSettings : grow::GrowOptions {
    LinearModel linear_model;
};

grow::LinearFit linear_fit(const LinearModel& model) {
    if (!model) return {};
    if (const double* penalty = std::get_if<double>(&*model))
        return [penalty = *penalty](const grow::LinearRows& rows) { return grow::ridge_regression(rows, penalty); };
    return [&model](const grow::LinearRows& rows) {
        const HeldGil lock;
        const auto n_columns = static_cast<std::size_t>(rows.n_columns);
        auto values = std::make_unique<std::vector<double>>(rows.values);
        double* data = values->data();
        const Array<double, 2> table(data, {rows.weights.size(), n_columns}, owner_of(std::move(values)));
        const nb::object found = std::get<nb::callable>(*model)(table, to_array(std::vector<double>(rows.weights)),
                                                                to_array(std::vector<double>(rows.targets)), rows.seed);
        const auto coefficients = nb::cast<In<double>>(found);
        if (coefficients.size() != 0 && coefficients.size() != n_columns)
            throw std::invalid_argument("linear_model must return a coefficient for each column");
        return std::vector<double>(coefficients.data(), coefficients.data() + coefficients.size());
    };
}

ArrayDict grow(const Columns& X, const In<std::int32_t>& n_categories, const In<double>& sample_weight,
               const Labels& labels, const Targets& targets, std::int64_t n_classes, const GrowSettings& settings,
               const std::optional<nb::callable>& progress) {
    grow::GrowOptions options = settings;
    options.fit_linear = linear_fit(settings.linear_model);
    const data::TrainingData lent = training_data(X, n_categories, sample_weight, labels, targets, n_classes);
    const RowCopies copies(lent);
    const data::TrainingData data = copies.applied_to(lent);
    const auto class_cells = static_cast<std::size_t>(n_classes * n_classes);
    if (options.class_costs.size() != (grow::takes_costs(options.criterion) ? class_cells : 0) ||
        (!options.feature_costs.empty() && options.feature_costs.size() != X.shape(1)))
        throw std::invalid_argument("costs of the wrong shape");
    if (options.collapse && (targets || options.keep_leaf_rows))
        throw std::invalid_argument("only trees of classes whose leaves keep no rows can be collapsed");
    return grow_with(progress, [&](auto& n_done, const auto& poll) { return grow::grow(data, options, n_done, poll); });
}

// One tree, or the part of it below a node, from columns of one byte a row and bins that were found elsewhere.
ArrayDict grow_codes(const CodeColumns& codes, const Bins& bins, const In<std::int32_t>& n_categories,
                     const In<std::uint32_t>& counts, const Labels& labels, const Targets& targets,
                     std::int64_t n_classes, const std::optional<In<std::int64_t>>& numbers,
                     const GrowSettings& settings, std::uint64_t key, std::int64_t depth, double tree_weight) {
    const std::size_t n_rows = codes.shape(0);
    if (n_rows == 0 || n_rows > 0x7FFFFFFF || counts.size() != n_rows || n_categories.size() != codes.shape(1) ||
        labels.has_value() == targets.has_value() || (labels ? labels->size() : targets->size()) != n_rows ||
        (numbers && numbers->size() != n_rows))
        throw std::invalid_argument("training data of the wrong shape");
    data::TrainingData data{.X = nullptr,
                            .n_categories = n_categories.data(),
                            .weight = nullptr,
                            .labels = labels ? labels->data() : nullptr,
                            .targets = targets ? targets->data() : nullptr,
                            .n_rows = static_cast<std::int64_t>(n_rows),
                            .n_features = static_cast<std::int64_t>(codes.shape(1)),
                            .n_classes = n_classes};
    const RowCopies copies(data);
    data = copies.applied_to(data);
    if (numbers) data.number = {numbers->data()};
    const grow::DrawCounts drawn(counts.data(), counts.data() + n_rows);
    if (std::all_of(drawn.begin(), drawn.end(), [](std::uint32_t n) { return n == 0; }))
        throw std::invalid_argument("no row was drawn");
    grow::binned::BinnedData binned;
    binned.columns = columns_of(bins, codes.shape(1));
    binned.codes = codes.data();
    binned.n_rows = data.n_rows;
    return grow_with(std::nullopt, [&](auto&, const auto&) {
        require_known_codes(binned, n_categories.data());
        const base::Cancelled never{false};  // a task of one tree; its caller counts them
        return forest::one_tree(
            grow::binned::grow_tree(data, binned, settings, drawn, {base::Path(key), depth, tree_weight}, never));
    });
}

// The split of a node, given histograms of its rows that were added up elsewhere; None for a leaf.
std::optional<ArrayDict> split_node(const In<std::uint32_t, 3>& draws, const std::optional<In<std::uint32_t, 2>>& rows,
                                    double n_rows, const Bins& bins, const In<std::int32_t>& n_categories,
                                    const GrowSettings& settings, std::uint64_t key, std::int64_t depth,
                                    double tree_weight) {
    const std::size_t n_features = draws.shape(0);
    if (n_features == 0 || draws.shape(1) != grow::binned::n_codes || n_categories.size() != n_features ||
        (rows && (rows->shape(0) != n_features || rows->shape(1) != grow::binned::n_codes)) ||
        (settings.min_samples_leaf > 1 && !rows))
        throw std::invalid_argument("histograms of the wrong shape");
    const grow::binned::GivenNode node{draws.data(), rows ? rows->data() : nullptr, n_rows,
                                       static_cast<std::int64_t>(n_features),
                                       static_cast<std::int64_t>(draws.shape(2))};
    const std::vector<grow::binned::BinnedColumn> columns = columns_of(bins, n_features);
    for (std::size_t feature = 0; feature < n_features; ++feature) {
        const auto n_known = n_categories.data()[feature] > 0 ? static_cast<std::size_t>(n_categories.data()[feature])
                                                              : columns[feature].least.size();
        grow::binned::GivenHistogram histogram(node, static_cast<std::int32_t>(feature));
        for (std::size_t code = n_known; code < grow::binned::missing_code; ++code)
            if (histogram.touched().touched(static_cast<std::uint8_t>(code)))
                throw std::invalid_argument("a code has no bin");
    }
    const auto split = grow::binned::split_given_node(node, columns, n_categories.data(), settings,
                                                      {base::Path(key), depth, tree_weight});
    if (!split) return std::nullopt;
    ArrayDict found;
    found["feature"] = nb::int_(split->feature);
    found["kind"] = nb::int_(static_cast<int>(split->kind));
    found["threshold"] = nb::float_(split->threshold);
    found["payload"] = to_array(std::vector<std::int32_t>(split->payload));
    found["child_of"] = to_array(std::vector<std::uint8_t>(split->child_of.begin(), split->child_of.end()));
    found["n_children"] = nb::int_(split->n_children);
    found["any_missing"] = nb::bool_(split->any_missing);
    found["share_left"] = nb::float_(split->share_left);
    return found;
}

// Row-major or column-major.
using Table = nb::ndarray<const double, nb::numpy, nb::ndim<2>, nb::device::cpu>;

ArrayDict grow_random(const Table& X, const In<std::int32_t>& n_categories, const In<double>& sample_weight,
                      const In<std::int32_t>& labels, std::int64_t n_classes,
                      const grow::random::RandomGrowOptions& options, const std::optional<nb::callable>& progress) {
    const data::TrainingData lent = training_data(X, n_categories, sample_weight, labels, std::nullopt, n_classes);
    const RowCopies copies(lent);
    data::TrainingData data = copies.applied_to(lent);
    // The stride of a length-1 axis is irrelevant.
    const auto has_stride = [&](std::size_t axis, std::int64_t step) {
        return X.shape(axis) == 1 || X.stride(axis) == step;
    };
    data.row_major = has_stride(1, 1) && has_stride(0, data.n_features);
    if (!data.row_major && !(has_stride(0, 1) && has_stride(1, data.n_rows)))
        throw std::invalid_argument("X is neither row-major nor column-major");
    return grow_with(progress, [&](auto& n_done, const auto& poll) {
        return grow::random::grow_random(data, options, n_done, poll);
    });
}

}  // namespace

void bind_grow(nb::module_& m) {
    using grow::GrowOptions;
    nb::enum_<grow::CriterionId> criterion(m, "Criterion");
    grow::for_each_criterion([&](const auto& entry, auto id) { criterion.value(entry.name, id); });
    nb::enum_<grow::Nominal>(m, "Nominal")
        .value("multiway", grow::Nominal::multiway)
        .value("binary", grow::Nominal::binary)
        .value("subset", grow::Nominal::subset);
    nb::enum_<grow::Splitter>(m, "Splitter")
        .value("best", grow::Splitter::best)
        .value("random", grow::Splitter::random)
        .value("mixed", grow::Splitter::mixed);
    nb::enum_<grow::DrawScheme>(m, "DrawScheme")
        .value("multinomial", grow::DrawScheme::multinomial)
        .value("poisson", grow::DrawScheme::poisson);
    nb::enum_<grow::TrainMissing>(m, "TrainMissing")
        .value("fractional", grow::TrainMissing::fractional)
        .value("category", grow::TrainMissing::category)
        .value("learned", grow::TrainMissing::learned)
        .value("random", grow::TrainMissing::random);
    nb::class_<GrowSettings>(m, "GrowOptions", "Settings of growth; see hedgerow.growth.")
        .def(nb::init<>())
        .def_rw("criterion", &GrowOptions::criterion)
        .def_rw("nominal", &GrowOptions::nominal)
        .def_rw("missing", &GrowOptions::missing)
        .def_rw("splitter", &GrowOptions::splitter)
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
        .def_rw("linear_model", &GrowSettings::linear_model, nb::arg().none())
        .def_rw("seed", &GrowOptions::seed)
        .def_rw("max_nodes", &GrowOptions::max_nodes)
        .def_rw("n_trees", &GrowOptions::n_trees)
        .def_rw("max_bins", &GrowOptions::max_bins)
        .def_rw("n_draws", &GrowOptions::n_draws)
        .def_rw("draw_scheme", &GrowOptions::draw_scheme)
        .def(
            "of_tree",
            [](const GrowSettings& settings, std::int64_t tree) {
                GrowSettings own = settings;
                static_cast<GrowOptions&>(own) = settings.of_tree(tree);
                return own;
            },
            "tree"_a)
        .def(
            "round_targets",
            [](GrowSettings& settings, double centre, double range, double quantum) {
                settings.targets = {centre, range, quantum};
            },
            "centre"_a, "range"_a, "quantum"_a)
        .def_rw("keep_in_bag", &GrowOptions::keep_in_bag)
        .def_rw("keep_leaf_rows", &GrowOptions::keep_leaf_rows)
        .def_rw("n_threads", &GrowOptions::n_threads);
    m.def("grow", &grow, "X"_a.noconvert(), "n_categories"_a.noconvert(), "sample_weight"_a.noconvert(),
          "labels"_a.noconvert().none(), "targets"_a.noconvert().none(), "n_classes"_a, "options"_a,
          "progress"_a.none(), "Grow trees; see hedgerow.growth.grow_forest.");
    m.def("grow_codes", &grow_codes, "codes"_a.noconvert(), "bins"_a.noconvert(), "n_categories"_a.noconvert(),
          "counts"_a.noconvert(), "labels"_a.noconvert().none(), "targets"_a.noconvert().none(), "n_classes"_a,
          "numbers"_a.noconvert().none(), "options"_a, "key"_a, "depth"_a, "tree_weight"_a,
          "Grow one tree from columns of one byte a row, or the part below a node; see hedgerow.growth.codes.");
    m.def("split_node", &split_node, "draws"_a.noconvert(), "rows"_a.noconvert().none(), "n_rows"_a,
          "bins"_a.noconvert(), "n_categories"_a.noconvert(), "options"_a, "key"_a, "depth"_a, "tree_weight"_a,
          "Split of a node from histograms of its rows; see hedgerow.growth.codes.");
    using grow::random::RandomGrowOptions;
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
}

}  // namespace hedgerow::bindings
