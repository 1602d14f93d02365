// Grows a tree from columns of one byte a row: rows are partitioned in place.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "base/random.hpp"
#include "data/training_data.hpp"
#include "grow/binned/apply_split.hpp"
#include "grow/binned/best_split.hpp"
#include "grow/binned/bins.hpp"
#include "grow/binned/drawn_split.hpp"
#include "grow/binned/histogram.hpp"
#include "grow/binned/root.hpp"
#include "grow/binned/tried_features.hpp"
#include "grow/frontier.hpp"
#include "grow/options.hpp"
#include "grow/tree_builder.hpp"

namespace hedgerow::grow::binned {

using base::Stopped;

// A node that will be split, with its best split.
template <class Group>
struct BinnedTask {
    std::int64_t node;
    std::int64_t depth;
    Path path;
    std::uint32_t begin, end;
    Group group;
    BinnedSplit<Group> split{};
    double gain = 0;

    std::uint32_t n_rows() const { return end - begin; }
};

template <class Criterion, class Histogram>
class BinnedGrower {
public:
    using Row = typename Histogram::Row;
    using Target = typename Criterion::Target;
    using Group = typename Criterion::Group;
    using Task = BinnedTask<Group>;

    BinnedGrower(const TrainingData& data, const BinnedData& binned, const GrowOptions& options,
                 const Cancelled& cancelled, double root_weight)
        : data_(data),
          binned_(binned),
          options_(options),
          cancelled_(cancelled),
          criterion_({data.n_classes, root_weight, options.class_costs.data()}),
          root_weight_(root_weight),
          histogram_(criterion_.size()),  // of classes: their number
          features_(data.n_features),
          scratch_{criterion_.empty(), criterion_.empty(), {}},
          frontier_(options.max_leaf_nodes >= 0),
          builder_(options.max_nodes) {}

    // `rows` ascending.
    GrownTree operator()(std::vector<Row> rows, const Root& from) {
        rows_ = std::move(rows);
        spare_.resize(rows_.size());
        Task root{0, from.depth, from.path, 0, static_cast<std::uint32_t>(rows_.size()), criterion_.empty()};
        measure(root);
        builder_.add_node(criterion_.weight(root.group.data()));
        consider(std::move(root));
        while (!frontier_.empty()) {
            if (cancelled_) throw Stopped{};
            split(frontier_.pop());
        }
        return builder_.finish();
    }

private:
    // -- a node

    // Sets the group of a task from its rows.
    void measure(Task& task) const {
        task.group = criterion_.empty();
        for (std::uint32_t i = task.begin; i < task.end; ++i) criterion_.add(task.group.data(), instance(rows_[i]));
    }

    static Instance<Target> instance(const CountedRow& row) { return {static_cast<double>(row.count), row.label}; }
    static Instance<double> instance(const SumHistogram::Row& row) {
        return {static_cast<double>(row.count), row.target};
    }
    static const Instance<Target>& instance(const typename WeightHistogram<Criterion>::Row& row) {
        return row.instance;
    }

    bool mixed(const Task& task) const {
        if constexpr (std::is_same_v<Target, double>) {
            const double first = instance(rows_[task.begin]).target;
            for (std::uint32_t i = task.begin + 1; i < task.end; ++i)
                if (instance(rows_[i]).target != first) return true;
            return false;
        } else {
            return std::count_if(task.group.begin(), task.group.end(), [](double n) { return n > 0; }) > 1;
        }
    }

    void consider(Task task) {
        if (options_.may_split(task.n_rows(), task.depth) && mixed(task)) {
            find_split(task);
            if (task.split.valid() && task.split.gain + tolerance_ >= options_.min_impurity_decrease * root_weight_) {
                task.gain = task.split.gain;
                frontier_.push(std::move(task));
                return;
            }
        }
        make_leaf(task);
    }

    void make_leaf(const Task& task) {
        builder_.set_leaf(task.node, leaf_values(task));
        if (!options_.keep_leaf_rows) return;
        for (std::uint32_t i = task.begin; i < task.end; ++i)
            builder_.add_leaf_row(rows_[i].row, instance(rows_[i]).weight);
    }

    std::vector<double> leaf_values(const Task& task) const {
        if constexpr (std::is_same_v<Target, double>) {
            return leaf_moments(task.n_rows(), [&](std::uint32_t i) {
                const Row& row = rows_[task.begin + i];
                return Instance<double>{instance(row).weight, data_.targets[row.row]};
            });
        } else {
            return {task.group.begin(), task.group.end()};
        }
    }

    // -- the best split

    void find_split(Task& task) {
        tolerance_ = 1e-12 * magnitude(task);
        features_(
            options_, task.path, [&] { return task.split.valid(); },
            [&](std::int32_t feature, std::optional<double> draw) { search(task, feature, draw); });
    }

    double magnitude(const Task& task) const {
        double sum = 0;
        if constexpr (std::is_same_v<Target, double>)
            for (std::uint32_t i = task.begin; i < task.end; ++i)
                sum += options_.targets.exact() ? options_.targets.magnitude(instance(rows_[i]))
                                                : criterion_.magnitude(instance(rows_[i]));
        else
            sum = criterion_.magnitude({criterion_.weight(task.group.data()), 0});
        return sum;
    }

    void search(Task& task, std::int32_t feature, std::optional<double> draw) {
        const std::uint8_t* codes = binned_.column(feature);
        const SearchedColumn column = searched_column(options_, feature, data_.n_categories[feature],
                                                      binned_.columns[static_cast<std::size_t>(feature)], draw);
        const SplitMinimums minimums = split_minimums(options_, root_weight_);
        const Row* rows = rows_.data() + task.begin;
        if (draw && !column.has_categories) {
            try_drawn_split(
                criterion_, column, minimums, task.group, tolerance_, codes, rows, task.n_rows(),
                [](const Row& row) { return instance(row); }, scratch_, task.split);
            return;
        }
        add_rows(codes, rows, task.n_rows(), histogram_);
        find_best_split(criterion_, column, minimums, task.group, task.n_rows(), tolerance_, histogram_, scratch_,
                        task.split);
    }

    // -- the split

    void split(Task task) {
        const std::int64_t n_leaves = builder_.n_leaves() + frontier_.size() + task.split.n_children;  // after it
        if (options_.max_leaf_nodes >= 0 && n_leaves > options_.max_leaf_nodes)
            make_leaf(task);
        else if (task.split.kind == Kind::multiway)
            split_multiway(std::move(task));
        else
            split_in_two(std::move(task));
    }

    void split_in_two(Task task) {
        const std::uint32_t middle =
            task.begin + apply_split(rows_.data() + task.begin, task.n_rows(), spare_.data(),
                                     binned_.column(task.split.feature), task.split, task.path, data_.number);
        const std::int64_t first = builder_.n_nodes();
        Task left{first, task.depth + 1, task.path.child(0), task.begin, middle, criterion_.empty()};
        Task right{first + 1, task.depth + 1, task.path.child(1), middle, task.end, criterion_.empty()};
        if (task.split.any_missing || !std::is_same_v<Row, CountedRow>) {
            // Sums of reals are computed anew: differences lose digits as nodes get smaller, down to negative counts.
            measure(left);
            measure(right);
        } else {
            left.group = std::move(task.split.left);
            right.group = std::move(task.group);
            for (std::size_t k = 0; k < left.group.size(); ++k) right.group[k] -= left.group[k];
        }
        write_split(task);
        builder_.add_node(criterion_.weight(left.group.data()));
        builder_.add_node(criterion_.weight(right.group.data()));
        consider(std::move(right));
        consider(std::move(left));
    }

    void split_multiway(Task task) {
        apply_multiway(
            rows_.data() + task.begin, task.n_rows(), spare_.data(), binned_.column(task.split.feature), task.split,
            task.path, data_.number, [](const Row& row) { return instance(row).weight; }, begins_, child_of_row_);
        const std::int64_t first = builder_.n_nodes();
        std::vector<Task> children;
        for (std::uint32_t c = 0; c + 1 < begins_.size(); ++c) {
            children.push_back({first + c, task.depth + 1, task.path.child(c), task.begin + begins_[c],
                                task.begin + begins_[c + 1], criterion_.empty()});
            measure(children.back());
        }
        write_split(task);
        for (const Task& child : children) builder_.add_node(criterion_.weight(child.group.data()));
        for (auto child = children.rbegin(); child != children.rend(); ++child) consider(std::move(*child));
    }

    void write_split(const Task& task) {
        const auto feature = static_cast<std::size_t>(task.split.feature);
        builder_.set_split(task.node, task.split.n_children, task.split.kind, task.split.feature,
                           node_threshold(task.split, binned_.columns[feature]), Missing::spread,
                           node_payload(task.split, data_.n_categories[feature]));
    }

    const TrainingData& data_;
    const BinnedData& binned_;
    const GrowOptions& options_;
    const Cancelled& cancelled_;
    Criterion criterion_;
    double root_weight_;
    Histogram histogram_;
    TriedFeatures features_;
    SplitScratch<Group> scratch_;
    double tolerance_ = 0;
    std::vector<Row> rows_, spare_;
    std::vector<std::uint32_t> begins_;       // of the children of a multiway split
    std::vector<std::uint8_t> child_of_row_;  // in a multiway split
    Frontier<Task> frontier_;
    TreeBuilder builder_;
};

}  // namespace hedgerow::grow::binned
