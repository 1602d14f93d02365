// A tree while it is pruned, with the rows of its leaves, and rows that are routed down it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/bulk.hpp"
#include "data/rows.hpp"
#include "data/training_data.hpp"
#include "forest/forest.hpp"
#include "forest/splits.hpp"
#include "prune/error_limit.hpp"
#include "prune/pessimistic.hpp"

namespace hedgerow::prune {

using base::Bulk;
using data::ColumnRow;
using forest::child_of_category;
using forest::Kind;
using forest::no_child;

// A row that reached a node, or a fraction of one.
struct RowShare {
    std::uint32_t row;
    double weight;
};
using RowShares = Bulk<RowShare>;

// A node while the tree is pruned. Its number stays; its content may be replaced by that of its largest branch.
struct WorkingNode {
    std::int64_t source;  // the node of the given tree whose split it has
    std::int64_t first;   // its children are contiguous
    std::int64_t n_children = 0;
    double weight = 0;
    double errors = 0;     // expected, of its leaves
    bool divides = false;  // a row has no value here and goes down all children
    RowShares rows;        // of a leaf

    bool is_leaf() const { return n_children == 0; }
};

// Rows on their way to a node: a range of `moving_`. `alone`: they replace the node's rows instead of joining them.
struct Arrival {
    std::int64_t node;
    std::size_t begin, end;
    bool alone;

    bool empty() const { return begin == end; }
};

class WorkingTree {
public:
    // The tree as grown. Without raising no row is ever routed.
    WorkingTree(const Forest& forest, const double* node_counts, const TrainingData& data, const PruneOptions& options)
        : forest_(forest),
          data_(data),
          options_(options),
          n_classes_(data.n_classes),
          limit_(options.confidence, options.z),
          slot_(options.raising ? static_cast<std::size_t>(data.n_rows) : 0, no_slot) {
        const std::int64_t n_nodes = forest.tree_start[1];
        counts_.resize(static_cast<std::size_t>(n_nodes * n_classes_));
        nodes_.reserve(static_cast<std::size_t>(n_nodes));
        for (std::int64_t node = 0; node < n_nodes; ++node) {
            const std::int64_t n = forest.is_leaf(node) ? 0 : n_children(forest, node);
            nodes_.push_back({node, forest.nodes[node].first_child, n, 0, 0, false, {}});
        }
        std::vector<std::int64_t> all;
        if (options.raising) {
            take_all_rows();
            send(arrival_at(0, true), all);
        }
        // The grown counts win: sums of fractions may differ from them by rounding.
        std::copy(node_counts, node_counts + counts_.size(), counts_.begin());
        for (std::int64_t node = 0; node < n_nodes; ++node) {
            at(node).weight = forest.weight[node];
            if (at(node).is_leaf()) at(node).errors = errors_as_leaf(node);
        }
    }

    std::int64_t size() const { return static_cast<std::int64_t>(nodes_.size()); }
    WorkingNode& at(std::int64_t node) { return nodes_[static_cast<std::size_t>(node)]; }
    std::span<WorkingNode> children(const WorkingNode& node) {
        return {nodes_.data() + node.first, static_cast<std::size_t>(node.n_children)};
    }
    std::span<double> counts(std::int64_t node) {
        return {counts_.data() + node * n_classes_, static_cast<std::size_t>(n_classes_)};
    }
    double errors_as_leaf(std::int64_t node) { return limit_(counts(node).data(), n_classes_); }

    void make_leaf(std::int64_t node, double errors) {
        if (options_.raising) {
            moving_.clear();
            take_rows_below(node);
            forget_rows_below(node);
            at(node).rows = moving_;
        }
        at(node).n_children = 0;
        at(node).divides = false;
        at(node).errors = errors;
    }

    // The branch replaces its parent and gets all its rows. Inner nodes whose rows changed are appended to `changed`,
    // children after their parents.
    void raise(std::int64_t node, std::int64_t branch, std::vector<std::int64_t>& changed) {
        const bool alone = at(node).divides;
        take_rows_for_branch(node, branch);
        const double weight = at(node).weight;
        const std::vector<double> own_counts(counts(node).begin(), counts(node).end());
        for (std::int64_t child = at(node).first; child < at(node).first + at(node).n_children; ++child)
            if (child != branch) forget_rows_below(child);
        std::copy(counts(branch).begin(), counts(branch).end(), counts(node).begin());
        at(node) = std::move(at(branch));
        send(arrival_at(node, alone), changed);
        at(node).weight = weight;
        std::copy(own_counts.begin(), own_counts.end(), counts(node).begin());
        if (at(node).is_leaf()) at(node).errors = errors_as_leaf(node);
    }

    // Errors of a branch that gets the rows of its whole parent; counting stops beyond `enough`.
    double errors_of_branch(std::int64_t node, std::int64_t branch, double enough) {
        double errors = 0;
        take_rows_for_branch(node, branch);
        stack_.assign(1, arrival_at(branch, at(node).divides));
        while (!stack_.empty() && errors <= enough) {
            Arrival arrival = next_arrival();
            const WorkingNode& here = at(arrival.node);
            if (arrival.empty()) {
                if (!arrival.alone) errors += here.errors;
            } else if (here.is_leaf()) {
                counts_there_.assign(static_cast<std::size_t>(n_classes_), 0.0);
                if (!arrival.alone) std::copy_n(counts(arrival.node).begin(), n_classes_, counts_there_.begin());
                for (const RowShare& part : parts(arrival)) counts_there_[label(part)] += part.weight;
                errors += limit_(counts_there_.data(), n_classes_);
            } else {
                include_rows_that_move(arrival);
                divide(arrival);
            }
        }
        return errors;
    }

private:
    static constexpr std::int32_t no_slot = -1;

    // -- moving rows: a stack, with the rows that are split next at the top

    Arrival arrival_at(std::int64_t node, bool alone) const { return {node, 0, moving_.size(), alone}; }
    std::span<const RowShare> parts(const Arrival& arrival) const {
        return {moving_.data() + arrival.begin, arrival.end - arrival.begin};
    }

    // Rows above these have arrived.
    Arrival next_arrival() {
        const Arrival arrival = stack_.back();
        stack_.pop_back();
        moving_.resize(arrival.end);
        return arrival;
    }

    void take_all_rows() {
        for (std::int64_t row = 0; row < data_.n_rows; ++row)
            if (data_.weight[row] > 0) moving_.push_back({static_cast<std::uint32_t>(row), data_.weight[row]});
    }

    // The rows of the parent that the branch lacks; where rows are split at the parent, all of its rows.
    void take_rows_for_branch(std::int64_t node, std::int64_t branch) {
        moving_.clear();
        if (at(node).divides) return take_rows_below(node);
        for (std::int64_t child = at(node).first; child < at(node).first + at(node).n_children; ++child)
            if (child != branch) collect(child);
        forget_slots(0);
    }

    void take_rows_below(std::int64_t node) {
        const std::size_t first = moving_.size();
        collect(node);
        forget_slots(first);
    }

    // Fractions of a row are summed.
    void collect(std::int64_t node) {
        for_each_leaf(node, [&](WorkingNode& leaf) {
            if (!any_divided_) {
                moving_.insert(moving_.end(), leaf.rows.begin(), leaf.rows.end());
                return;
            }
            for (const RowShare& part : leaf.rows) {
                std::int32_t& slot = slot_[part.row];
                if (slot == no_slot) {
                    slot = static_cast<std::int32_t>(moving_.size());
                    moving_.push_back(part);
                } else {
                    moving_[static_cast<std::size_t>(slot)].weight += part.weight;
                }
            }
        });
    }

    void forget_slots(std::size_t first) {
        if (!any_divided_) return;
        for (std::size_t i = first; i < moving_.size(); ++i) slot_[moving_[i].row] = no_slot;
    }

    void forget_rows_below(std::int64_t node) {
        for_each_leaf(node, [](WorkingNode& leaf) { leaf.rows = {}; });
    }

    template <class Use>
    void for_each_leaf(std::int64_t node, const Use& use) {
        below_.assign(1, node);
        while (!below_.empty()) {
            WorkingNode& next = at(below_.back());
            below_.pop_back();
            if (next.is_leaf()) use(next);
            for (std::int64_t child = next.first + next.n_children; child-- > next.first;) below_.push_back(child);
        }
    }

    // Routes rows for good.
    void send(const Arrival& first, std::vector<std::int64_t>& changed) {
        stack_.assign(1, first);
        while (!stack_.empty()) {
            Arrival arrival = next_arrival();
            WorkingNode& here = at(arrival.node);
            if (arrival.empty() && !arrival.alone) continue;
            if (!here.is_leaf()) include_rows_that_move(arrival);
            count(arrival);
            if (here.is_leaf()) {
                if (arrival.alone) here.rows.clear();
                here.rows.insert(here.rows.end(), parts(arrival).begin(), parts(arrival).end());
                here.errors = errors_as_leaf(arrival.node);
            } else {
                const bool divided = divide(arrival);
                here.divides = divided || (here.divides && !arrival.alone);
                changed.push_back(arrival.node);
            }
        }
    }

    // New rows change the branch shares, so rows already split here are redistributed.
    void include_rows_that_move(Arrival& arrival) {
        if (arrival.alone || !at(arrival.node).divides) return;
        take_rows_below(arrival.node);
        arrival.end = moving_.size();
        arrival.alone = true;
    }

    void count(const Arrival& arrival) {
        const std::span<double> here = counts(arrival.node);
        if (arrival.alone) {
            std::fill(here.begin(), here.end(), 0.0);
            at(arrival.node).weight = 0;
        }
        for (const RowShare& part : parts(arrival)) {
            here[label(part)] += part.weight;
            at(arrival.node).weight += part.weight;
        }
    }

    std::size_t label(const RowShare& part) const { return static_cast<std::size_t>(data_.labels[part.row]); }

    // Pushes an arrival at each child; returns whether a row had no value. Such a row goes down every child in
    // proportion to the rows that have one, equally where none has; a small fraction follows the heaviest child.
    bool divide(const Arrival& arrival) {
        const WorkingNode& here = at(arrival.node);
        known_.clear();
        for (const WorkingNode& child : children(here)) known_.push_back(arrival.alone ? 0.0 : child.weight);
        n_arriving_.assign(known_.size(), 0);
        const std::size_t n_unknown = find_children(here.source, parts(arrival));
        const double total = std::accumulate(known_.begin(), known_.end(), 0.0);
        if (n_unknown > 0) for_each_part(arrival, total, [&](std::size_t child, RowShare) { ++n_arriving_[child]; });

        std::size_t end = moving_.size();
        for (std::size_t c = 0; c < known_.size(); ++c) {
            stack_.push_back({here.first + static_cast<std::int64_t>(c), end, end + n_arriving_[c], arrival.alone});
            end += std::exchange(n_arriving_[c], end);  // from here on: where the next one goes
        }
        moving_.resize(end);
        const RowShare* from = moving_.data() + arrival.begin;
        for (const std::int32_t child : child_of_) {
            const RowShare part = *from++;
            if (child != no_child) moving_[n_arriving_[static_cast<std::size_t>(child)]++] = part;
        }
        if (n_unknown > 0)
            for_each_part(arrival, total,
                          [&](std::size_t child, RowShare part) { moving_[n_arriving_[child]++] = part; });
        any_divided_ |= n_unknown > 0;
        return n_unknown > 0;
    }

    // Calls use(child, part) for the fractions of rows without a value; the children have `known_` weights.
    template <class Use>
    void for_each_part(const Arrival& arrival, double total, const Use& use) const {
        const auto heaviest = static_cast<std::size_t>(std::max_element(known_.begin(), known_.end()) - known_.begin());
        for (std::size_t i = 0; i < child_of_.size(); ++i) {
            if (child_of_[i] != no_child) continue;
            const RowShare part = moving_[arrival.begin + i];
            if (part.weight < (1 - 1e-9) * options_.min_fraction * data_.weight[part.row]) {
                use(heaviest, part);
                continue;
            }
            for (std::size_t c = 0; c < known_.size(); ++c) {
                const double share = total > 0 ? known_[c] / total : 1.0 / static_cast<double>(known_.size());
                if (share > 0) use(c, RowShare{part.row, part.weight * share});
            }
        }
    }

    // Finds the child of each row as child_number does, with what is the same for all rows looked up once. Counts them,
    // and returns the number of rows without a value.
    std::size_t find_children(std::int64_t node, std::span<const RowShare> parts) {
        const double* column = data_.X + forest_.nodes[node].feature * data_.n_rows;
        if (forest_.kind[node] == Kind::threshold) {
            const double threshold = forest_.nodes[node].threshold;
            return find_children(node, parts, [=](std::uint32_t row) {
                return std::isnan(column[row]) ? no_child : std::int64_t{column[row] > threshold};
            });
        }
        if (forest_.kind[node] == Kind::multiway) {
            const std::int32_t* codes = forest_.payload_codes + forest_.payload_start[forest_.payload[node]];
            const std::int64_t n_codes =
                forest_.payload_codes + forest_.payload_start[forest_.payload[node] + 1] - codes;
            return find_children(node, parts,
                                 [=](std::uint32_t row) { return child_of_category(codes, n_codes, column[row]); });
        }
        return find_children(node, parts, [&](std::uint32_t row) {
            return branch_of(forest_, node, ColumnRow{data_.X + row, data_.n_rows});
        });
    }

    template <class Answer>
    std::size_t find_children(std::int64_t node, std::span<const RowShare> parts, const Answer& answer) {
        const std::int64_t without = child_if_missing(forest_, node);
        child_of_.resize(parts.size());
        std::int32_t* child_of = child_of_.data();
        double* known = known_.data();
        std::size_t* n_arriving = n_arriving_.data();
        std::size_t n_unknown = 0;
        for (const RowShare& part : parts) {
            const std::int64_t answered = answer(part.row);
            const std::int64_t child = answered == no_child ? without : answered;
            *child_of++ = static_cast<std::int32_t>(child);
            if (child == no_child) {
                ++n_unknown;
                continue;
            }
            known[child] += part.weight;
            ++n_arriving[child];
        }
        return n_unknown;
    }

    const Forest& forest_;
    const TrainingData& data_;
    const PruneOptions& options_;
    std::int64_t n_classes_;
    ErrorLimit limit_;
    std::vector<WorkingNode> nodes_;
    std::vector<double> counts_;      // n_classes per node
    std::vector<std::int32_t> slot_;  // position of a row in the list that is collected
    bool any_divided_ = false;        // fractions of a row are at several leaves

    // Buffers.
    RowShares moving_;
    std::vector<Arrival> stack_;
    std::vector<std::int64_t> below_;
    std::vector<std::int32_t> child_of_;   // per part that is divided
    std::vector<double> known_;            // per child: weight of its rows with a value
    std::vector<std::size_t> n_arriving_;  // per child
    std::vector<double> counts_there_;
};

}  // namespace hedgerow::prune
