// Grows a tree exactly: all thresholds, multiway splits, fractions of rows, any weights.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "grow/exact/choice.hpp"
#include "grow/exact/directions.hpp"
#include "grow/exact/samples.hpp"
#include "grow/exact/split_search.hpp"
#include "grow/frontier.hpp"
#include "grow/options.hpp"
#include "grow/tree_builder.hpp"

namespace hedgerow::grow::exact {

using base::Cancelled;
using base::Draws;
using base::Path;
using base::Stopped;

// A node that will be split, with its best split.
template <class Target>
struct ExactTask {
    std::int64_t node;
    std::int64_t depth;
    Path path;
    NodeSamples<Target> samples;
    Totals totals;
    std::vector<std::int32_t> positions;  // of the nominal columns in which rows differ
    Candidate split;
    double gain = 0;
};

template <class Criterion>
class ExactGrower {
public:
    using Target = typename Criterion::Target;

    ExactGrower(const TrainingData& data, const SortedData& sorted, const GrowOptions& options,
                const Cancelled& cancelled)
        : data_(data),
          sorted_(sorted),
          options_(options),
          cancelled_(cancelled),
          root_weight_(sum(data.weight, data.n_rows)),
          criterion_({data.n_classes, root_weight_, options.class_costs.data()}),
          search_(data, options, criterion_, sorted),
          directions_(data, options),
          choose_(data, options, root_weight_),
          frontier_(options.max_leaf_nodes >= 0),
          builder_(options.max_nodes) {
        if (data.targets)
            for (std::int64_t row = 0; row < data.n_rows; ++row)
                centre_ += data.targets[row] * (data.weight[row] / root_weight_);
    }

    GrownTree operator()(Path path) {
        NodeSamples<Target> samples = root_samples();
        Totals totals = empty_totals();
        for (const auto& instance : samples.block->instances) add(totals, instance, 1.0);
        totals.weight = criterion_.weight(totals.group.data());
        builder_.add_node(totals.weight);
        std::vector<std::int32_t> positions(sorted_.categories.n_positions());
        std::iota(positions.begin(), positions.end(), 0);
        consider({0, 0, path, std::move(samples), std::move(totals), std::move(positions), {}});
        while (!frontier_.empty()) {
            check_cancelled();
            split(frontier_.pop());
        }
        return builder_.finish();
    }

private:
    void check_cancelled() const {
        if (cancelled_) throw Stopped{};
    }

    static double sum(const double* values, std::int64_t n) { return std::accumulate(values, values + n, 0.0); }

    // -- the root: rows of weight 0 (not drawn for this tree) are left out

    NodeSamples<Target> root_samples() {
        auto block = std::make_shared<SampleBlock<Target>>();
        std::vector<std::uint32_t> id_of(static_cast<std::size_t>(data_.n_rows));
        for (std::int64_t row = 0; row < data_.n_rows; ++row) {
            if (data_.weight[row] <= 0) continue;
            id_of[static_cast<std::size_t>(row)] = static_cast<std::uint32_t>(block->rows.size());
            block->instances.push_back({data_.weight[row], target(row)});
            block->rows.push_back(static_cast<std::uint32_t>(row));
        }
        block->members.resize(block->rows.size());
        std::iota(block->members.begin(), block->members.end(), 0u);
        NodeSamples<Target> samples{block, {0, static_cast<std::uint32_t>(block->rows.size())}, {}};
        for (const SortedColumn& column : sorted_.columns) {
            check_cancelled();
            std::vector<ListEntry> list;
            list.reserve(column.rows.size());
            for (std::size_t i = 0; i < column.rows.size(); ++i)
                if (data_.weight[column.rows[i]] > 0) list.push_back({column.ranks[i], id_of[column.rows[i]]});
            samples.lists.push_back({0, static_cast<std::uint32_t>(list.size())});
            block->lists.push_back(std::move(list));
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

    // Whether a node with these totals may be split at all.
    bool may_split(const Totals& totals, std::int64_t depth) const {
        return totals.mixed && options_.may_split(totals.rows, depth);
    }

    void consider(ExactTask<Target> task) {
        if (may_split(task.totals, task.depth)) {
            task.split = choose_(best_of_each_feature(task), task.totals);
            if (task.split.valid()) {
                task.gain = task.split.gain;
                frontier_.push(std::move(task));
                return;
            }
        }
        make_leaf(task);
    }

    // -- the best split

    const std::vector<Candidate>& best_of_each_feature(ExactTask<Target>& task) {
        order_.resize(static_cast<std::size_t>(data_.n_features));
        std::iota(order_.begin(), order_.end(), 0);
        differs_.assign(sorted_.categories.n_positions(), false);
        for (const std::int32_t position : task.positions) differs_[static_cast<std::size_t>(position)] = true;
        const bool all = options_.max_features < 0 || options_.max_features >= data_.n_features;
        if (all) search_.count(task.samples, task.positions);
        Draws draws(task.path);
        candidates_.clear();
        std::size_t n_tried = 0;
        for (std::size_t i = 0; i < order_.size(); ++i) {
            // As in scikit-learn: features are drawn until max_features have been tried and one of them can be split.
            if (!all && static_cast<std::int64_t>(i) >= options_.max_features && !candidates_.empty()) break;
            if (!all) std::swap(order_[i], order_[i + draws.below(order_.size() - i)]);
            n_tried = i + 1;
            check_cancelled();
            const std::int32_t position = sorted_.categories.position_of(order_[i]);
            if (position >= 0 && !differs_[static_cast<std::size_t>(position)]) continue;
            if (position >= 0 && !all) search_.count(task.samples, {&position, 1});
            Candidate candidate = search_(task.samples, task.totals, order_[i], options_.draw_split(draws));
            if (candidate.valid()) candidates_.push_back(std::move(candidate));
            if (position >= 0 && search_.is_settled()) differs_[static_cast<std::size_t>(position)] = false;
        }
        std::erase_if(task.positions,
                      [&](std::int32_t position) { return !differs_[static_cast<std::size_t>(position)]; });
        auto number = static_cast<std::int32_t>(data_.n_features);
        for (const auto& projection : directions_(task.samples, {order_.data(), n_tried}, task.path)) {
            check_cancelled();
            Candidate candidate = search_(task.samples, task.totals, number++, projection, options_.draw_split(draws));
            if (candidate.valid()) candidates_.push_back(std::move(candidate));
        }
        return candidates_;
    }

    // -- the split

    void split(ExactTask<Target> task) {
        const Candidate& split = task.split;
        std::vector<std::int32_t> codes;  // child of each category: multiway and subset splits
        if (split.kind == Kind::multiway) codes = children_of_codes(task);
        if (split.kind == Kind::subset) codes = children_of_subset(split);
        if (split.kind == Kind::oblique) codes = split.projection->direction.features;
        const std::int64_t n_known_children =
            split.kind == Kind::multiway ? 1 + *std::max_element(codes.begin(), codes.end()) : 2;
        const std::int64_t n_children = n_known_children + (split.missing == Missing::own_branch);
        const std::int64_t n_leaves = builder_.n_leaves() + frontier_.size() + n_children;  // after this split
        if (options_.max_leaf_nodes >= 0 && n_leaves > options_.max_leaf_nodes) {
            make_leaf(task);
            return;
        }

        assign(task, codes, static_cast<std::size_t>(n_children));
        std::vector<Totals> totals = child_totals(task, static_cast<std::size_t>(n_children));
        for (std::size_t c = 0; c < totals.size(); ++c) assignment_.live[c] = may_split(totals[c], task.depth + 1);
        const std::vector<std::uint8_t> live = assignment_.live;
        std::vector<NodeSamples<Target>> samples = distribute_(task.samples, assignment_);
        const Path path = task.path;
        const std::int64_t depth = task.depth;
        if (split.projection)
            builder_.set_oblique_split(task.node, n_children, codes, split.projection->direction.weights,
                                       split.projection->direction.means, split.threshold, split.missing);
        else
            builder_.set_split(task.node, n_children, split.kind, split.feature, split.threshold, split.missing,
                               split.kind == Kind::subset ? subset_words(codes) : codes);
        task.samples = {};  // frees an unused block before its children are searched

        const std::int64_t first = builder_.n_nodes();
        for (const Totals& child : totals) builder_.add_node(child.weight);
        // Depth first takes the last one pushed: so that it is the first child, they are pushed in reverse.
        for (std::int64_t c = n_children - 1; c >= 0; --c) {
            const auto at = static_cast<std::size_t>(c);
            consider({first + c,
                      depth + 1,
                      path.child(static_cast<std::uint64_t>(c)),
                      std::move(samples[at]),
                      std::move(totals[at]),
                      live[at] ? task.positions : std::vector<std::int32_t>{},
                      {}});
        }
    }

    // Categories that occur at the node get children in the order of their codes; the others none or, as in C4.5, an
    // empty one.
    std::vector<std::int32_t> children_of_codes(const ExactTask<Target>& task) const {
        const auto position = static_cast<std::size_t>(sorted_.categories.position_of(task.split.feature));
        const SampleBlock<Target>& block = *task.samples.block;
        std::vector<std::int32_t> codes(static_cast<std::size_t>(data_.n_categories[task.split.feature]),
                                        options_.c45 ? 0 : -1);
        for (std::uint32_t at = task.samples.members.begin; !options_.c45 && at < task.samples.members.end; ++at) {
            const std::int32_t code = sorted_.categories.code(block.rows[block.members[at]], position);
            if (code >= 0) codes[static_cast<std::size_t>(code)] = 0;
        }
        std::int32_t next = 0;
        for (std::int32_t& code : codes)
            if (code == 0) code = next++;
        return codes;
    }

    std::vector<std::int32_t> children_of_subset(const Candidate& split) const {
        std::vector<std::int32_t> codes(static_cast<std::size_t>(data_.n_categories[split.feature]), 1);
        for (const std::int32_t code : split.members) codes[static_cast<std::size_t>(code)] = 0;
        return codes;
    }

    // Instances with a value of what is compared with a threshold.
    std::span<const ListEntry> known_entries(const ExactTask<Target>& task) const {
        if (task.split.projection) return task.split.projection->entries;
        const auto list = static_cast<std::size_t>(sorted_.list_of[static_cast<std::size_t>(task.split.feature)]);
        const Range range = task.samples.lists[list];
        return {task.samples.block->lists[list].data() + range.begin, range.size()};
    }

    static constexpr std::int32_t unknown = -2;  // in child_of, until the row gets a child

    void assign(const ExactTask<Target>& task, const std::vector<std::int32_t>& codes, std::size_t n_children) {
        const SampleBlock<Target>& block = *task.samples.block;
        const Candidate& split = task.split;
        std::vector<std::int32_t>& child_of = assignment_.child_of;
        child_of.resize(std::max(child_of.size(), block.instances.size()));
        const Range members = task.samples.members;
        bool any_unknown = false;
        if (split.projection || data_.n_categories[split.feature] == 0) {
            const std::span<const ListEntry> known = known_entries(task);
            any_unknown = known.size() < members.size();
            if (any_unknown)
                for (std::uint32_t at = members.begin; at < members.end; ++at) child_of[block.members[at]] = unknown;
            for (const ListEntry& entry : known) child_of[entry.id] = entry.rank > split.last_left;
        } else {
            const auto position = static_cast<std::size_t>(sorted_.categories.position_of(split.feature));
            for (std::uint32_t at = members.begin; at < members.end; ++at) {
                const std::uint32_t id = block.members[at];
                const std::int32_t code = sorted_.categories.code(block.rows[id], position);
                child_of[id] = code < 0 ? unknown : category_child(split, codes, code);
                any_unknown |= code < 0;
            }
        }
        assignment_.shares.assign(n_children, 0.0);
        assignment_.live.assign(n_children, false);
        assignment_.any_divided = false;
        if (any_unknown) assign_unknown(block, members, split.missing, task.path);
    }

    static std::int32_t category_child(const Candidate& split, const std::vector<std::int32_t>& codes,
                                       std::int32_t code) {
        if (!codes.empty()) return codes[static_cast<std::size_t>(code)];
        if (split.kind == Kind::one_against_rest) return code != static_cast<std::int32_t>(split.threshold);
        return 0;  // known against missing
    }

    void assign_unknown(const SampleBlock<Target>& block, Range members, Missing policy, Path path) {
        std::vector<std::int32_t>& child_of = assignment_.child_of;
        std::vector<double>& shares = assignment_.shares;
        for (std::uint32_t at = members.begin; at < members.end; ++at) {
            const std::uint32_t id = block.members[at];
            if (child_of[id] != unknown) shares[static_cast<std::size_t>(child_of[id])] += block.instances[id].weight;
        }
        const double known_weight = std::accumulate(shares.begin(), shares.end(), 0.0);
        const auto heaviest =
            static_cast<std::int32_t>(std::max_element(shares.begin(), shares.end()) - shares.begin());
        for (double& share : shares) share /= known_weight;
        for (std::uint32_t at = members.begin; at < members.end; ++at) {
            const std::uint32_t id = block.members[at];
            if (child_of[id] != unknown) continue;
            if (policy == Missing::first_child)
                child_of[id] = 0;
            else if (policy != Missing::spread)
                child_of[id] = static_cast<std::int32_t>(shares.size()) - 1;
            else if (options_.missing == TrainMissing::random)
                child_of[id] = drawn_child(path, block.rows[id]);
            else if (block.fraction(id) < options_.min_fraction)
                child_of[id] = heaviest;
            else
                child_of[id] = Assignment::divided;
            assignment_.any_divided |= child_of[id] == Assignment::divided;
        }
    }

    // Draws a child with the shares as probabilities: in expectation the same as a fractional split.
    std::int32_t drawn_child(Path path, std::uint32_t row) const {
        double rest = Draws(path.of_row(row)).real();
        const std::vector<double>& shares = assignment_.shares;
        std::size_t child = 0;
        while (child + 1 < shares.size() && rest >= shares[child]) rest -= shares[child++];
        return static_cast<std::int32_t>(child);
    }

    std::vector<Totals> child_totals(const ExactTask<Target>& task, std::size_t n_children) {
        const SampleBlock<Target>& block = *task.samples.block;
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
                if (share > 0)
                    add(totals[c], {block.instances[id].weight * share, block.instances[id].target},
                        block.fraction(id) * share);
            }
        }
        for (Totals& child : totals) child.weight = criterion_.weight(child.group.data());
        return totals;
    }

    void make_leaf(const ExactTask<Target>& task) {
        builder_.set_leaf(task.node, leaf_values(task.samples, task.totals));
        if (!options_.keep_leaf_rows) return;
        const SampleBlock<Target>& block = *task.samples.block;
        for (std::uint32_t at = task.samples.members.begin; at < task.samples.members.end; ++at) {
            const std::uint32_t id = block.members[at];
            builder_.add_leaf_row(block.rows[id], block.instances[id].weight);
        }
    }

    std::vector<double> leaf_values(const NodeSamples<Target>& samples, const Totals& totals) const {
        if constexpr (std::is_same_v<Target, double>) {
            const SampleBlock<Target>& block = *samples.block;
            return leaf_moments(samples.members.size(), [&](std::uint32_t i) {
                const std::uint32_t id = block.members[samples.members.begin + i];
                return Instance<double>{block.instances[id].weight, data_.targets[block.rows[id]]};
            });
        } else {
            return totals.group;
        }
    }

    const TrainingData& data_;
    const SortedData& sorted_;
    const GrowOptions& options_;
    const Cancelled& cancelled_;
    double root_weight_;
    Criterion criterion_;
    double centre_ = 0;  // mean target; targets are stored as differences from it
    SplitSearch<Criterion> search_;
    Directions<Target> directions_;
    Choice choose_;
    Distributor<Target> distribute_;
    Assignment assignment_;
    Frontier<ExactTask<Target>> frontier_;
    TreeBuilder builder_;
    std::vector<std::int32_t> order_;  // in which columns are searched
    std::vector<bool> differs_;        // per position: whether its rows differ
    std::vector<Candidate> candidates_;
};

}  // namespace hedgerow::grow::exact
