#include "random_grow.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "concatenate.hpp"
#include "random.hpp"
#include "tree_builder.hpp"

namespace hedgerow {
namespace {

// A node with fewer than this many times min_samples_leaf rows does not try a row before it counts those that are valid.
constexpr std::int64_t rows_to_try = 8;

struct Question {
    std::int32_t feature;
    double threshold;                   // NaN: by category
    std::vector<std::int32_t> child_of;  // category -> child, -1 where it does not occur
    std::int64_t n_children;
};

struct Task {
    std::int64_t node, depth;
    Path parent;
    std::uint64_t number;  // among the parent's children
    std::uint32_t begin, end;
};

class RandomGrower {
public:
    RandomGrower(const TrainingData& data, const std::vector<std::uint8_t>& complete, const RandomGrowOptions& options,
                 const Cancelled& cancelled)
        : data_(data),
          complete_(complete),
          options_(options),
          cancelled_(cancelled),
          features_(static_cast<std::size_t>(data.n_features)),
          rows_(static_cast<std::size_t>(data.n_rows)),
          builder_(options.max_nodes) {
        std::iota(features_.begin(), features_.end(), 0);
        std::iota(rows_.begin(), rows_.end(), 0u);
    }

    GrownTree operator()(std::int64_t tree) {
        builder_.add_node(weight(0, static_cast<std::uint32_t>(rows_.size())));
        std::vector<Task> open{{0, 0, Path(options_.seed), static_cast<std::uint64_t>(tree), 0,
                                static_cast<std::uint32_t>(rows_.size())}};
        while (!open.empty()) {
            if (cancelled_) throw Stopped{};
            const Task task = open.back();
            open.pop_back();
            grow(task, open);
        }
        return builder_.finish();
    }

private:
    double value(std::int32_t feature, std::uint32_t row) const { return data_.X[feature * data_.n_rows + row]; }

    double weight(std::uint32_t begin, std::uint32_t end) const {
        double sum = 0;
        for (std::uint32_t i = begin; i < end; ++i) sum += data_.weight[rows_[i]];
        return sum;
    }

    void grow(const Task& task, std::vector<Task>& open) {
        const std::int64_t n = task.end - task.begin;
        Question question;
        if (n < 2 * options_.min_samples_leaf || task.depth == options_.max_depth) return make_leaf(task);
        Place place(task.parent, task.number);
        if (!find_question(task, place, question)) return make_leaf(task);
        const std::vector<std::uint32_t> sizes = distribute(task, place.path(), question);
        builder_.set_question(task.node, question.n_children,
                              question.child_of.empty() ? Kind::threshold : Kind::multiway, question.feature,
                              question.threshold, Missing::spread, question.child_of);
        std::uint32_t begin = task.begin;
        for (std::size_t c = 0; c < sizes.size(); ++c) {
            open.push_back({builder_.n_nodes(), task.depth + 1, place.path(), c, begin, begin + sizes[c]});
            builder_.add_node(weight(begin, begin + sizes[c]));
            begin += sizes[c];
        }
    }

    void make_leaf(const Task& task) {
        std::vector<double> counts(static_cast<std::size_t>(data_.n_classes), 0.0);
        for (std::uint32_t i = task.begin; i < task.end; ++i)
            if (complete_[rows_[i]]) counts[static_cast<std::size_t>(data_.labels[rows_[i]])] += data_.weight[rows_[i]];
        builder_.set_leaf(task.node, counts);
    }

    // -- the question

    bool find_question(const Task& task, Place& place, Question& question) {
        std::vector<std::pair<std::size_t, std::size_t>> swaps;
        bool found = false;
        for (std::size_t i = 0; i < features_.size() && !found; ++i) {
            const std::size_t other = i + place.below(static_cast<std::uint32_t>(features_.size() - i));
            std::swap(features_[i], features_[other]);
            swaps.emplace_back(i, other);
            question.feature = features_[i];
            found = data_.n_categories[question.feature] > 0 ? find_categories(task, question)
                                                             : find_threshold(task, place, question);
        }
        // Back in order, so that the next node's draws do not depend on this one's.
        for (auto swap = swaps.rbegin(); swap != swaps.rend(); ++swap)
            std::swap(features_[swap->first], features_[swap->second]);
        return found;
    }

    bool find_threshold(const Task& task, Place& place, Question& question) {
        const std::uint32_t n = task.end - task.begin;
        question.n_children = 2;
        if (n >= rows_to_try * options_.min_samples_leaf) {
            question.threshold = value(question.feature, rows_[task.begin + place.below(n)]);
            if (valid(task, question)) return true;
        }
        std::vector<double> known;
        for (std::uint32_t i = task.begin; i < task.end; ++i)
            if (!std::isnan(value(question.feature, rows_[i]))) known.push_back(value(question.feature, rows_[i]));
        const auto least = static_cast<std::size_t>(options_.min_samples_leaf);
        if (known.size() < 2 * least) return false;
        std::vector<double> sorted = known;
        std::sort(sorted.begin(), sorted.end());
        const double low = sorted[least - 1], high = sorted[sorted.size() - least];
        std::erase_if(known, [&](double v) { return v < low || v >= high; });
        if (known.empty()) return false;
        question.threshold = known[place.below(static_cast<std::uint32_t>(known.size()))];
        return true;
    }

    bool valid(const Task& task, const Question& question) const {
        std::int64_t n_left = 0, n_right = 0;
        for (std::uint32_t i = task.begin; i < task.end; ++i) {
            n_left += value(question.feature, rows_[i]) <= question.threshold;
            n_right += value(question.feature, rows_[i]) > question.threshold;
        }
        return std::min(n_left, n_right) >= options_.min_samples_leaf;
    }

    bool find_categories(const Task& task, Question& question) const {
        std::vector<std::int64_t> n(static_cast<std::size_t>(data_.n_categories[question.feature]), 0);
        for (std::uint32_t i = task.begin; i < task.end; ++i) {
            const double code = value(question.feature, rows_[i]);
            if (!std::isnan(code)) ++n[static_cast<std::size_t>(code)];
        }
        if (std::count_if(n.begin(), n.end(), [&](std::int64_t k) { return k >= options_.min_samples_leaf; }) < 2)
            return false;
        question.threshold = std::numeric_limits<double>::quiet_NaN();
        question.n_children = 0;
        for (const std::int64_t k : n)
            question.child_of.push_back(k > 0 ? static_cast<std::int32_t>(question.n_children++) : -1);
        return true;
    }

    // -- the rows

    // Number of rows of each child; stable.
    std::vector<std::uint32_t> distribute(const Task& task, Path path, const Question& question) {
        std::vector<std::vector<std::uint32_t>> rows(static_cast<std::size_t>(question.n_children));
        std::vector<double> weights(rows.size(), 0.0);
        std::vector<std::int64_t> child(task.end - task.begin, -1);
        for (std::uint32_t i = task.begin; i < task.end; ++i) {
            const double v = value(question.feature, rows_[i]);
            if (std::isnan(v)) continue;
            std::int64_t& c = child[i - task.begin];
            c = question.child_of.empty() ? v > question.threshold : question.child_of[static_cast<std::size_t>(v)];
            weights[static_cast<std::size_t>(c)] += data_.weight[rows_[i]];
        }
        for (std::uint32_t i = task.begin; i < task.end; ++i) {
            std::int64_t c = child[i - task.begin];
            if (c < 0) c = drawn_child(weights, path.of_row(rows_[i]));
            rows[static_cast<std::size_t>(c)].push_back(rows_[i]);
        }
        auto next = rows_.begin() + task.begin;
        std::vector<std::uint32_t> sizes;
        for (const std::vector<std::uint32_t>& part : rows) {
            next = std::copy(part.begin(), part.end(), next);
            sizes.push_back(static_cast<std::uint32_t>(part.size()));
        }
        return sizes;
    }

    // With the weights as probabilities: the same in expectation as dividing the row.
    static std::int64_t drawn_child(const std::vector<double>& weights, Path path) {
        double sum = 0;
        const double at = Draws(path).real() * std::accumulate(weights.begin(), weights.end(), 0.0);
        for (std::size_t c = 0; c + 1 < weights.size(); ++c)
            if (at < (sum += weights[c])) return static_cast<std::int64_t>(c);
        return static_cast<std::int64_t>(weights.size()) - 1;
    }

    const TrainingData& data_;
    const std::vector<std::uint8_t>& complete_;
    const RandomGrowOptions& options_;
    const Cancelled& cancelled_;
    std::vector<std::int32_t> features_;
    std::vector<std::uint32_t> rows_;
    TreeBuilder builder_;
};

}  // namespace

GrownForest grow_random(const TrainingData& data, const RandomGrowOptions& options, std::atomic<std::int64_t>& n_done,
                        const Poll& poll) {
    const bool short_work = data.n_rows * options.n_trees < 1 << 12;
    std::vector<std::uint8_t> complete(static_cast<std::size_t>(data.n_rows), 1);
    for (std::int64_t i = 0; i < data.n_rows * data.n_features; ++i)
        if (std::isnan(data.X[i])) complete[static_cast<std::size_t>(i % data.n_rows)] = 0;
    std::vector<GrownTree> trees(static_cast<std::size_t>(options.n_trees));
    parallel_for(
        options.n_trees, short_work ? 0 : std::max<std::int64_t>(options.n_threads, 1),
        [&](std::int64_t tree, const Cancelled& cancelled) {
            try {
                trees[static_cast<std::size_t>(tree)] = RandomGrower(data, complete, options, cancelled)(tree);
            } catch (const Stopped&) {
                return;
            }
            ++n_done;
        },
        poll);
    GrownForest forest;
    concatenate(forest, trees);
    return forest;
}

}  // namespace hedgerow
