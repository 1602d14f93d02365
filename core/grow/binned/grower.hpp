// The fast way to grow a tree of a forest: columns of one byte, rows partitioned in place, questions with two branches.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "grow/binned/bins.hpp"
#include "grow/binned/histogram.hpp"
#include "grow/category_order.hpp"
#include "grow/frontier.hpp"
#include "grow/grow.hpp"
#include "grow/tree_builder.hpp"

namespace hedgerow {

// Codes that go to the first child.
using CodeSet = std::array<bool, n_codes>;

template <class Group>
struct FastSplit {
    double gain = -std::numeric_limits<double>::infinity();
    std::int32_t feature = -1;
    Kind kind = Kind::threshold;
    std::uint8_t last_left = 0;    // threshold: codes up to this one go to the first child
    std::uint8_t first_right = 0;  // and the next code that occurs at the node
    CodeSet first;                 // otherwise
    Group left{};                  // of the rows with a value, those that go there
    bool any_missing = false;
    double share_left = 0;  // of the weight with a value, what goes there
    bool valid() const { return feature >= 0; }
};

template <class Group>
struct FastTask {
    std::int64_t node;
    std::int64_t depth;
    Path path;
    std::uint32_t begin, end;
    Group group;
    FastSplit<Group> split{};
    double gain = 0;

    double rows() const { return end - begin; }
};

template <class Criterion, class Cells>
class FastGrower {
public:
    using Row = typename Cells::Row;
    using Target = typename Criterion::Target;
    using Group = typename Criterion::Group;
    using Task = FastTask<Group>;
    using Split = FastSplit<Group>;

    FastGrower(const TrainingData& data, const BinnedData& binned, const GrowOptions& options,
               const Cancelled& cancelled, double root_weight)
        : data_(data),
          binned_(binned),
          options_(options),
          cancelled_(cancelled),
          criterion_(data.n_classes, root_weight),
          root_weight_(root_weight),
          size_(static_cast<std::size_t>(criterion_.size())),
          cells_(data.n_classes),
          features_(static_cast<std::size_t>(data.n_features)),
          left_(criterion_.empty()),
          known_(criterion_.empty()),
          frontier_(options.max_leaf_nodes >= 0),
          builder_(options.max_nodes) {
        std::iota(features_.begin(), features_.end(), 0);
    }

    // `rows` ascending.
    GrownTree operator()(std::vector<Row> rows, Path path) {
        rows_ = std::move(rows);
        spare_.resize(rows_.size());
        Task root{0, 0, path, 0, static_cast<std::uint32_t>(rows_.size()), criterion_.empty()};
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

    // The group of a task, by a look at each of its rows.
    void measure(Task& task) const {
        task.group = criterion_.empty();
        for (std::uint32_t i = task.begin; i < task.end; ++i) criterion_.add(task.group.data(), instance(rows_[i]));
    }

    static Instance<Target> instance(const CountedRow& row) { return {static_cast<double>(row.count), row.label}; }
    static Instance<double> instance(const SumCells::Row& row) { return {static_cast<double>(row.count), row.target}; }
    static const Instance<Target>& instance(const typename WeightCells<Criterion>::Row& row) { return row.instance; }

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
        if (options_.may_split(task.rows(), task.depth) && mixed(task)) {
            find_split(task);
            if (task.split.valid() &&
                task.split.gain + tolerance_ >= options_.min_impurity_decrease * root_weight_) {
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
            return leaf_moments(task.end - task.begin, [&](std::uint32_t i) {
                const Row& row = rows_[task.begin + i];
                return Instance<double>{instance(row).weight, data_.targets[row.row]};
            });
        } else {
            return {task.group.begin(), task.group.end()};
        }
    }

    // -- the question

    void find_split(Task& task) {
        tolerance_ = 1e-12 * magnitude(task);
        const bool all = options_.max_features < 0 || options_.max_features >= data_.n_features;
        Draws draws(task.path);
        swaps_.clear();
        for (std::size_t i = 0; i < features_.size(); ++i) {
            // As in scikit-learn: features are drawn until the wanted number has been tried and one can be split.
            if (!all && static_cast<std::int64_t>(i) >= options_.max_features && task.split.valid()) break;
            if (!all) {
                const std::size_t other = i + draws.below(features_.size() - i);
                std::swap(features_[i], features_[other]);
                swaps_.emplace_back(i, other);
            }
            search(task, features_[i]);
        }
        // Back in order, so that the next node's draws do not depend on this one's.
        for (auto swap = swaps_.rbegin(); swap != swaps_.rend(); ++swap) std::swap(features_[swap->first], features_[swap->second]);
    }

    double magnitude(const Task& task) const {
        double sum = 0;
        if constexpr (std::is_same_v<Target, double>)
            for (std::uint32_t i = task.begin; i < task.end; ++i) sum += criterion_.magnitude(instance(rows_[i]));
        else
            sum = criterion_.weight(task.group.data());
        return sum;
    }

    void search(Task& task, std::int32_t feature) {
        const std::uint8_t* codes = binned_.column(feature);
        for (std::uint32_t i = task.begin; i < task.end; ++i) cells_.add(codes[rows_[i].row], rows_[i]);
        known_ = task.group;
        known_rows_ = task.rows();
        any_missing_ = cells_.touched().touched(missing_code);
        if (any_missing_) {
            std::fill(left_.begin(), left_.end(), 0.0);
            known_rows_ -= cells_.take(missing_code, left_.data());
            for (std::size_t k = 0; k < size_; ++k) known_[k] -= left_[k];
        }
        known_score_ = criterion_.score(known_.data());
        if (data_.n_categories[feature] > 0)
            search_categories(task, feature);
        else
            search_thresholds(task, feature);
    }

    // Both sides, of which `part` is one.
    bool large_enough(double rows_left, const Group& part) const {
        const bool counted = options_.min_samples_leaf > 1;  // else a branch that is not empty is enough
        if (counted && std::min(rows_left, known_rows_ - rows_left) < options_.min_samples_leaf - 1e-9) return false;
        const double left = criterion_.weight(part.data());
        return std::min(left, criterion_.weight(known_.data()) - left) >= options_.min_weight_leaf;
    }

    // Offers the question that sends `part` of `known` to the first child; complete(split) says which it is.
    template <class Complete>
    void offer(Task& task, std::int32_t feature, const Group& part, const Group& known, double rows_left,
               const Complete& complete) {
        const Fraction gain = criterion_.split_gain(part.data(), known.data(), known_score_);
        Split& best = task.split;
        const double bar = feature < best.feature ? best.gain - tolerance_ : best.gain + tolerance_;
        if (!(gain.numerator > bar * gain.denominator) || !large_enough(rows_left, part)) return;
        best.gain = gain.numerator / gain.denominator;
        best.feature = feature;
        best.left = part;
        best.any_missing = any_missing_;
        best.share_left = criterion_.weight(part.data()) / criterion_.weight(known.data());
        complete(best);
    }

    void search_thresholds(Task& task, std::int32_t feature) {
        // Groups of a known size are copied, so that the compiler can keep them in registers.
        using Local = std::conditional_t<std::is_same_v<Group, std::vector<double>>, Group&, Group>;
        Local left = left_, known = known_;
        std::fill(left.begin(), left.end(), 0.0);
        double rows_left = 0;
        int last = -1;
        cells_.touched().drain([&](std::uint8_t code) {
            if (code == missing_code) return;
            if (last >= 0)
                offer(task, feature, left, known, rows_left, [&](Split& split) {
                    split.kind = Kind::threshold;
                    split.last_left = static_cast<std::uint8_t>(last);
                    split.first_right = code;
                });
            rows_left += cells_.take(code, left.data());
            last = code;
        });
    }

    void search_categories(Task& task, std::int32_t feature) {
        present_.clear();
        cells_.touched().drain([&](std::uint8_t code) {
            if (code == missing_code) return;
            CategoryGroup<Group> category{code, 0, criterion_.empty()};
            category.rows = cells_.take(code, category.group.data());
            present_.push_back(std::move(category));
        });
        if (present_.size() < 2) return;
        if (options_.nominal == Nominal::binary) {
            for (const CategoryGroup<Group>& category : present_) {
                offer(task, feature, category.group, known_, category.rows, [&](Split& split) {
                    split.kind = Kind::one_against_rest;
                    split.first.fill(false);
                    split.first[static_cast<std::size_t>(category.code)] = true;
                });
            }
            return;
        }
        order_categories(present_, std::is_same_v<Target, double>);
        std::fill(left_.begin(), left_.end(), 0.0);
        double rows_left = 0;
        for (std::size_t n = 1; n < present_.size(); ++n) {
            for (std::size_t k = 0; k < size_; ++k) left_[k] += present_[n - 1].group[k];
            rows_left += present_[n - 1].rows;
            offer(task, feature, left_, known_, rows_left, [&](Split& split) {
                split.kind = Kind::subset;
                split.first.fill(false);
                for (std::size_t i = 0; i < n; ++i) split.first[static_cast<std::size_t>(present_[i].code)] = true;
            });
        }
    }

    // -- the split

    void split(Task task) {
        const std::int64_t n_leaves = builder_.n_leaves() + frontier_.size() + 2;  // after this split
        if (options_.max_leaf_nodes >= 0 && n_leaves > options_.max_leaf_nodes) {
            make_leaf(task);
            return;
        }
        const std::uint32_t middle = partition(task);
        const std::int64_t first = builder_.n_nodes();
        Task left{first, task.depth + 1, task.path.child(0), task.begin, middle, criterion_.empty()};
        Task right{first + 1, task.depth + 1, task.path.child(1), middle, task.end, criterion_.empty()};
        if (task.split.any_missing || !std::is_same_v<Row, CountedRow>) {
            // Real sums are formed anew: differences would lose digits as nodes get smaller, down to negative counts.
            measure(left);
            measure(right);
        } else {
            left.group = std::move(task.split.left);
            right.group = std::move(task.group);
            for (std::size_t k = 0; k < size_; ++k) right.group[k] -= left.group[k];
        }
        builder_.set_question(task.node, 2, task.split.kind, task.split.feature, threshold(task.split), Missing::spread,
                              payload(task.split));
        builder_.add_node(criterion_.weight(left.group.data()));
        builder_.add_node(criterion_.weight(right.group.data()));
        consider(std::move(right));
        consider(std::move(left));
    }

    // Midway between the values of two bins; one against the rest: the category's code.
    double threshold(const Split& split) const {
        if (split.kind == Kind::subset) return std::numeric_limits<double>::quiet_NaN();
        if (split.kind == Kind::one_against_rest)
            return static_cast<double>(std::find(split.first.begin(), split.first.end(), true) - split.first.begin());
        const BinnedColumn& column = binned_.columns[static_cast<std::size_t>(split.feature)];
        const double low = column.greatest[split.last_left], high = column.least[split.first_right];
        const double middle = low / 2 + high / 2;
        return low <= middle && middle < high ? middle : low;
    }

    std::vector<std::int32_t> payload(const Split& split) const {
        if (split.kind != Kind::subset) return {};
        std::vector<std::int32_t> child_of_code(static_cast<std::size_t>(data_.n_categories[split.feature]));
        for (std::size_t code = 0; code < child_of_code.size(); ++code) child_of_code[code] = !split.first[code];
        return subset_words(child_of_code);
    }

    std::uint32_t partition(const Task& task) {
        const Split& split = task.split;
        const auto by_threshold = [&](std::uint8_t code) { return code <= split.last_left; };
        const auto by_set = [&](std::uint8_t code) { return split.first[code]; };
        if (split.kind == Kind::threshold) return partition(task, by_threshold);
        return partition(task, by_set);
    }

    // Stable; returns where the second child begins. Both sides are written each time and one cursor moves.
    template <class GoesLeft>
    std::uint32_t partition(const Task& task, const GoesLeft& goes_left) {
        const std::uint8_t* codes = binned_.column(task.split.feature);
        Row* left = rows_.data() + task.begin;
        Row* right = spare_.data();
        for (std::uint32_t i = task.begin; i < task.end; ++i) {
            const Row row = rows_[i];
            bool first = goes_left(codes[row.row]);
            // A child drawn with the shares as probabilities: the same in expectation as dividing the row.
            if (task.split.any_missing && codes[row.row] == missing_code) [[unlikely]]
                first = Draws(task.path.of_row(row.row)).real() < task.split.share_left;
            *left = row;
            *right = row;
            left += first;
            right += !first;
        }
        std::copy(spare_.data(), right, left);
        return static_cast<std::uint32_t>(left - rows_.data());
    }

    const TrainingData& data_;
    const BinnedData& binned_;
    const GrowOptions& options_;
    const Cancelled& cancelled_;
    Criterion criterion_;
    double root_weight_;
    std::size_t size_;
    Cells cells_;
    std::vector<std::int32_t> features_;
    std::vector<std::pair<std::size_t, std::size_t>> swaps_;
    Group left_, known_;
    double known_rows_ = 0;
    double known_score_ = 0;
    double tolerance_ = 0;
    bool any_missing_ = false;
    std::vector<CategoryGroup<Group>> present_;
    std::vector<Row> rows_, spare_;
    Frontier<Task> frontier_;
    TreeBuilder builder_;
};

}  // namespace hedgerow
