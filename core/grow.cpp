#include "grow.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>
#include <optional>
#include <queue>
#include <stdexcept>
#include <utility>

#include "random.hpp"
#include "samples.hpp"
#include "split.hpp"

namespace hedgerow {
namespace {

// Thrown by a worker whose caller has asked it to stop; parallel_for rethrows the caller's own reason.
struct Stopped {};

// A node that will be split, with its question.
template <class Target>
struct Task {
    std::int64_t node;
    std::int64_t depth;
    Path path;
    NodeSamples<Target> samples;
    Totals totals;
    Candidate split;
    std::int64_t order;  // in which it was found
};

template <class Criterion>
class Grower {
public:
    using Target = typename Criterion::Target;

    Grower(const TrainingData& data, const GrowOptions& options, const Cancelled& cancelled, double total_weight,
           double centre)
        : data_(data),
          options_(options),
          cancelled_(cancelled),
          centre_(centre),
          criterion_(data.n_classes, total_weight),
          root_weight_(total_weight),
          list_of_(static_cast<std::size_t>(data.n_features), -1),
          codes_(static_cast<std::size_t>(data.n_features)),
          search_(data, options, criterion_, list_of_, columns_, codes_) {}

    GrownTree operator()() {
        NodeSamples<Target> samples = root_samples();
        Totals totals = empty_totals();
        for (const auto& instance : samples.block->instances) add(totals, instance, 1.0);
        totals.weight = criterion_.weight(totals.group.data());
        add_node(totals.weight);
        consider({0, 0, Path(options_.seed), std::move(samples), std::move(totals), {}, 0});
        while (!frontier_.empty()) {
            check_cancelled();
            split(next_task());
        }
        number_leaves();
        return std::move(tree_);
    }

private:
    void check_cancelled() const {
        if (cancelled_) throw Stopped{};
    }

    // -- the root

    NodeSamples<Target> root_samples() {
        auto block = std::make_shared<Block<Target>>();
        const auto n_rows = static_cast<std::size_t>(data_.n_rows);
        block->instances.reserve(n_rows);
        for (std::int64_t row = 0; row < data_.n_rows; ++row) block->instances.push_back({data_.weight[row], target(row)});
        block->rows.resize(n_rows);
        std::iota(block->rows.begin(), block->rows.end(), 0u);
        block->members = block->rows;
        NodeSamples<Target> samples{block, {0, static_cast<std::uint32_t>(n_rows)}, {}};
        ColumnSorter sort;
        for (std::int64_t f = 0; f < data_.n_features; ++f) {
            check_cancelled();
            const double* column = data_.X + f * data_.n_rows;
            if (data_.n_categories[f] > 0) {
                std::vector<std::int32_t>& codes = codes_[static_cast<std::size_t>(f)];
                codes.reserve(n_rows);
                for (std::int64_t row = 0; row < data_.n_rows; ++row)
                    codes.push_back(std::isnan(column[row]) ? -1 : static_cast<std::int32_t>(column[row]));
                continue;
            }
            list_of_[static_cast<std::size_t>(f)] = static_cast<std::int32_t>(columns_.size());
            SortedColumn sorted = sort(column, data_.n_rows);
            std::vector<Entry> list;
            list.reserve(sorted.rows.size());
            for (std::size_t i = 0; i < sorted.rows.size(); ++i) list.push_back({sorted.ranks[i], sorted.rows[i]});
            samples.lists.push_back({0, static_cast<std::uint32_t>(list.size())});
            block->lists.push_back(std::move(list));
            columns_.push_back({{}, {}, std::move(sorted.values)});
        }
        return samples;
    }

    Target target(std::int64_t row) const {
        if constexpr (std::is_same_v<Target, double>)
            return data_.targets[row] - centre_;
        else
            return data_.labels[row];
    }

    // -- totals

    Totals empty_totals() const {
        Totals totals;
        totals.group.assign(static_cast<std::size_t>(criterion_.size()), 0.0);
        return totals;
    }

    void add(Totals& totals, const Instance<Target>& instance, double fraction) {
        if (totals.rows > 0 && instance.target != totals.last_target) totals.mixed = true;
        totals.last_target = static_cast<double>(instance.target);
        totals.rows += fraction;
        totals.magnitude += criterion_.magnitude(instance);
        criterion_.add(totals.group.data(), instance);
    }

    // -- which node next

    static bool comes_later(const Task<Target>& a, const Task<Target>& b) {
        if (a.split.gain != b.split.gain) return a.split.gain < b.split.gain;
        return a.order > b.order;
    }

    Task<Target> next_task() {
        if (best_first()) std::pop_heap(frontier_.begin(), frontier_.end(), comes_later);
        Task<Target> task = std::move(frontier_.back());
        frontier_.pop_back();
        return task;
    }

    bool best_first() const { return options_.max_leaf_nodes >= 0; }

    // Whether a node with these totals may be split at all.
    bool may_split(const Totals& totals, std::int64_t depth) const {
        return totals.mixed && totals.rows >= options_.min_samples_split - 1e-9 &&
               (options_.max_depth < 0 || depth < options_.max_depth);
    }

    void consider(Task<Target> task) {
        if (may_split(task.totals, task.depth)) {
            task.split = best_split(task);
            if (task.split.valid()) {
                task.order = n_found_++;
                frontier_.push_back(std::move(task));
                if (best_first()) std::push_heap(frontier_.begin(), frontier_.end(), comes_later);
                return;
            }
        }
        make_leaf(task.node, task.samples, task.totals);
    }

    // -- which question

    Candidate best_split(const Task<Target>& task) {
        const double tolerance = 1e-12 * task.totals.magnitude;
        std::vector<Candidate> candidates = best_of_each_feature(task);
        if (options_.criterion == hedgerow::Criterion::gain_ratio) return best_ratio(candidates, tolerance, task.totals.weight);
        Candidate best;
        for (const Candidate& candidate : candidates)
            if (search_.better(candidate, candidate.gain, best, best.gain, tolerance)) best = candidate;
        return worthwhile(best, tolerance) ? best : Candidate{};
    }

    bool worthwhile(const Candidate& candidate, double tolerance) const {
        return candidate.valid() && candidate.gain + tolerance >= options_.min_impurity_decrease * root_weight_;
    }

    std::vector<Candidate> best_of_each_feature(const Task<Target>& task) {
        std::vector<std::int32_t> order(static_cast<std::size_t>(data_.n_features));
        std::iota(order.begin(), order.end(), 0);
        const bool all = options_.max_features < 0 || options_.max_features >= data_.n_features;
        Draws draws(task.path);
        std::vector<Candidate> candidates;
        for (std::size_t i = 0; i < order.size(); ++i) {
            // As in scikit-learn: features are drawn until the wanted number has been tried and one can be split.
            if (!all && static_cast<std::int64_t>(i) >= options_.max_features && !candidates.empty()) break;
            if (!all) std::swap(order[i], order[i + draws.below(order.size() - i)]);
            check_cancelled();
            const Candidate candidate = search_(task.samples, task.totals, order[i]);
            if (candidate.valid()) candidates.push_back(candidate);
        }
        return candidates;
    }

    // Quinlan (1993): the largest gain ratio among the questions that gain at least as much as they do on average;
    // a question that gains nothing is none.
    Candidate best_ratio(const std::vector<Candidate>& candidates, double tolerance, double weight) const {
        double sum = 0;
        std::int64_t n = 0;
        for (const Candidate& candidate : candidates)
            if (candidate.gain > tolerance && candidate.split_information > 0) {
                sum += candidate.gain;
                ++n;
            }
        Candidate best;
        double best_value = 0;
        for (const Candidate& candidate : candidates) {
            if (candidate.gain <= tolerance || candidate.split_information <= 0 || !worthwhile(candidate, tolerance)) continue;
            if (candidate.gain < sum / static_cast<double>(n) - tolerance) continue;
            const double ratio = candidate.gain / weight / candidate.split_information;
            if (search_.better(candidate, ratio, best, best_value, 1e-12)) {
                best = candidate;
                best_value = ratio;
            }
        }
        return best;
    }

    // -- a split is made

    void split(Task<Target> task) {
        const Candidate& split = task.split;
        std::vector<std::int32_t> codes;
        if (split.kind == Kind::multiway) codes = children_of_codes(task);
        const std::int64_t n_known_children =
            split.kind == Kind::multiway ? 1 + *std::max_element(codes.begin(), codes.end()) : 2;
        const std::int64_t n_children = n_known_children + (split.missing == Missing::own_branch);
        if (best_first() && n_leaves_ + n_children + static_cast<std::int64_t>(frontier_.size()) > options_.max_leaf_nodes) {
            make_leaf(task.node, task.samples, task.totals);
            return;
        }

        assign(task, codes, static_cast<std::size_t>(n_children));
        std::vector<Totals> totals = child_totals(task, static_cast<std::size_t>(n_children));
        for (std::size_t c = 0; c < totals.size(); ++c) assignment_.live[c] = may_split(totals[c], task.depth + 1);
        std::vector<NodeSamples<Target>> samples = distribute_(task.samples, assignment_);
        const Path path = task.path;
        const std::int64_t node = task.node, depth = task.depth;
        write_split(node, split, codes);
        task.samples = {};  // a block that is no longer used is freed before its children are searched

        const auto first = static_cast<std::int64_t>(tree_.kind.size());
        tree_.first_child[static_cast<std::size_t>(node)] = static_cast<std::int32_t>(first);
        for (const Totals& child : totals) add_node(child.weight);
        // Depth first takes the last: so that it is the first child, they are considered from the last on.
        for (std::int64_t c = n_children - 1; c >= 0; --c) {
            const auto at = static_cast<std::size_t>(c);
            consider({first + c, depth + 1, path.child(static_cast<std::uint64_t>(c)), std::move(samples[at]),
                      std::move(totals[at]), {}, 0});
        }
    }

    // Categories that occur at the node get children in the order of their codes; the others none.
    std::vector<std::int32_t> children_of_codes(const Task<Target>& task) const {
        const auto feature = static_cast<std::size_t>(task.split.feature);
        const Block<Target>& block = *task.samples.block;
        std::vector<std::int32_t> codes(static_cast<std::size_t>(data_.n_categories[feature]), -1);
        for (std::uint32_t at = task.samples.members.begin; at < task.samples.members.end; ++at) {
            const std::int32_t code = codes_[feature][block.rows[block.members[at]]];
            if (code >= 0) codes[static_cast<std::size_t>(code)] = 0;
        }
        std::int32_t next = 0;
        for (std::int32_t& code : codes)
            if (code == 0) code = next++;
        return codes;
    }

    static constexpr std::int32_t unknown = -2;  // in child_of until it is decided what is done with it

    void assign(const Task<Target>& task, const std::vector<std::int32_t>& codes, std::size_t n_children) {
        const Block<Target>& block = *task.samples.block;
        const Candidate& split = task.split;
        std::vector<std::int32_t>& child_of = assignment_.child_of;
        child_of.resize(std::max(child_of.size(), block.instances.size()));
        const auto feature = static_cast<std::size_t>(split.feature);
        const Range members = task.samples.members;
        if (data_.n_categories[feature] == 0) {
            const auto list_number = static_cast<std::size_t>(list_of_[feature]);
            const Range range = task.samples.lists[list_number];
            if (range.size() < members.size())
                for (std::uint32_t at = members.begin; at < members.end; ++at) child_of[block.members[at]] = unknown;
            for (std::uint32_t i = range.begin; i < range.end; ++i) {
                const Entry entry = block.lists[list_number][i];
                child_of[entry.id] = entry.rank > split.last_left;
            }
        } else {
            for (std::uint32_t at = members.begin; at < members.end; ++at) {
                const std::uint32_t id = block.members[at];
                const std::int32_t code = codes_[feature][block.rows[id]];
                child_of[id] = code < 0 ? unknown : category_child(split, codes, code);
            }
        }
        assignment_.shares.assign(n_children, 0.0);
        assignment_.live.assign(n_children, false);
        assignment_.any_divided = false;
        assign_unknown(block, members, split.missing);
    }

    static std::int32_t category_child(const Candidate& split, const std::vector<std::int32_t>& codes, std::int32_t code) {
        if (split.kind == Kind::multiway) return codes[static_cast<std::size_t>(code)];
        if (split.kind == Kind::one_against_rest) return code != static_cast<std::int32_t>(split.threshold);
        return 0;  // known against missing
    }

    void assign_unknown(const Block<Target>& block, Range members, Missing policy) {
        std::vector<std::int32_t>& child_of = assignment_.child_of;
        std::vector<double>& shares = assignment_.shares;
        bool any = false;
        for (std::uint32_t at = members.begin; at < members.end; ++at) {
            const std::uint32_t id = block.members[at];
            if (child_of[id] == unknown)
                any = true;
            else
                shares[static_cast<std::size_t>(child_of[id])] += block.instances[id].weight;
        }
        if (!any) return;
        const double known_weight = std::accumulate(shares.begin(), shares.end(), 0.0);
        const auto heaviest = static_cast<std::int32_t>(std::max_element(shares.begin(), shares.end()) - shares.begin());
        for (double& share : shares) share /= known_weight;
        for (std::uint32_t at = members.begin; at < members.end; ++at) {
            const std::uint32_t id = block.members[at];
            if (child_of[id] != unknown) continue;
            if (policy == Missing::first_child)
                child_of[id] = 0;
            else if (policy != Missing::spread)
                child_of[id] = static_cast<std::int32_t>(shares.size()) - 1;
            else if (block.fraction(id) < options_.min_fraction)
                child_of[id] = heaviest;
            else
                child_of[id] = Assignment::divided;
            assignment_.any_divided |= child_of[id] == Assignment::divided;
        }
    }

    std::vector<Totals> child_totals(const Task<Target>& task, std::size_t n_children) {
        const Block<Target>& block = *task.samples.block;
        std::vector<Totals> totals(n_children, empty_totals());
        for (std::uint32_t at = task.samples.members.begin; at < task.samples.members.end; ++at) {
            const std::uint32_t id = block.members[at];
            const std::int32_t child = assignment_.child_of[id];
            if (child != Assignment::divided) {
                add(totals[static_cast<std::size_t>(child)], block.instances[id], block.fraction(id));
                continue;
            }
            for (std::size_t c = 0; c < n_children; ++c) {
                const double share = assignment_.shares[c];
                if (share > 0) add(totals[c], {block.instances[id].weight * share, block.instances[id].target}, block.fraction(id) * share);
            }
        }
        for (Totals& child : totals) child.weight = criterion_.weight(child.group.data());
        return totals;
    }

    // -- the tree

    void add_node(double weight) {
        if (static_cast<std::int64_t>(tree_.kind.size()) >= options_.max_nodes)
            throw std::length_error("the tree needs more than " + std::to_string(options_.max_nodes) + " nodes");
        tree_.threshold.push_back(std::numeric_limits<double>::quiet_NaN());
        tree_.weight.push_back(weight);
        tree_.feature.push_back(-1);
        tree_.first_child.push_back(0);
        tree_.payload.push_back(-1);
        tree_.kind.push_back(static_cast<std::uint8_t>(Kind::leaf));
        tree_.missing.push_back(static_cast<std::uint8_t>(Missing::spread));
    }

    void write_split(std::int64_t node, const Candidate& split, const std::vector<std::int32_t>& codes) {
        const auto at = static_cast<std::size_t>(node);
        tree_.threshold[at] = split.threshold;
        tree_.feature[at] = split.feature;
        tree_.kind[at] = static_cast<std::uint8_t>(split.kind);
        tree_.missing[at] = static_cast<std::uint8_t>(split.missing);
        if (split.kind != Kind::multiway) return;
        tree_.payload[at] = static_cast<std::int32_t>(tree_.payload_start.size()) - 1;
        tree_.payload_codes.insert(tree_.payload_codes.end(), codes.begin(), codes.end());
        tree_.payload_start.push_back(static_cast<std::int64_t>(tree_.payload_codes.size()));
    }

    void make_leaf(std::int64_t node, const NodeSamples<Target>& samples, const Totals& totals) {
        ++n_leaves_;
        leaves_.push_back({node, leaf_values(samples, totals)});
    }

    std::vector<double> leaf_values(const NodeSamples<Target>& samples, const Totals& totals) const {
        if constexpr (std::is_same_v<Target, double>) {
            const double mean = totals.group[1] / totals.weight;
            double squares = 0;
            for (std::uint32_t at = samples.members.begin; at < samples.members.end; ++at) {
                const auto& instance = samples.block->instances[samples.block->members[at]];
                squares += instance.weight * (instance.target - mean) * (instance.target - mean);
            }
            return {totals.weight, centre_ + mean, squares};
        } else {
            return totals.group;
        }
    }

    // Leaves are numbered in the order of the nodes, whatever order they were found in.
    void number_leaves() {
        std::sort(leaves_.begin(), leaves_.end());
        std::int32_t number = 0;
        for (const auto& [node, values] : leaves_) {
            tree_.first_child[static_cast<std::size_t>(node)] = number++;
            tree_.leaf_values.insert(tree_.leaf_values.end(), values.begin(), values.end());
        }
    }

    const TrainingData& data_;
    const GrowOptions& options_;
    const Cancelled& cancelled_;
    double centre_;
    Criterion criterion_;
    double root_weight_;
    std::vector<std::int32_t> list_of_;              // per column: its number among the lists, -1 for categories
    std::vector<SortedColumn> columns_;              // per list: distinct values by rank
    std::vector<std::vector<std::int32_t>> codes_;   // per column with categories: code of each row, -1 missing
    SplitSearch<Criterion> search_;
    Distributor<Target> distribute_;
    Assignment assignment_;
    std::vector<Task<Target>> frontier_;
    std::int64_t n_found_ = 0;
    std::int64_t n_leaves_ = 0;
    std::vector<std::pair<std::int64_t, std::vector<double>>> leaves_;
    GrownTree tree_;
};

template <class Criterion>
GrownTree grow_with(const TrainingData& data, const GrowOptions& options, const Cancelled& cancelled) {
    double weight = 0, centre = 0;
    for (std::int64_t row = 0; row < data.n_rows; ++row) weight += data.weight[row];
    if (data.targets)
        for (std::int64_t row = 0; row < data.n_rows; ++row) centre += data.targets[row] * (data.weight[row] / weight);
    return Grower<Criterion>(data, options, cancelled, weight, centre)();
}

GrownTree grow_by(const TrainingData& data, const GrowOptions& options, const Cancelled& cancelled) {
    const bool two = data.n_classes == 2;
    switch (options.criterion) {
        case Criterion::squared_error: return grow_with<SquaredError>(data, options, cancelled);
        case Criterion::gini:
            return two ? grow_with<Gini<2>>(data, options, cancelled) : grow_with<Gini<0>>(data, options, cancelled);
        default:
            return two ? grow_with<Entropy<2>>(data, options, cancelled) : grow_with<Entropy<0>>(data, options, cancelled);
    }
}

}  // namespace

GrownTree grow(const TrainingData& data, const GrowOptions& options, const Poll& poll) {
    GrownTree tree;
    const bool short_work = data.n_rows * data.n_features < 1 << 14;
    parallel_for(
        1, short_work ? 0 : 1,
        [&](std::int64_t, const Cancelled& cancelled) {
            try {
                tree = grow_by(data, options, cancelled);
            } catch (const Stopped&) {
            }
        },
        poll);
    return tree;
}

}  // namespace hedgerow
