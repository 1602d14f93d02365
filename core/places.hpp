// A tree that is being pruned, with the rows of its leaves, and rows that are sent down it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "data.hpp"
#include "error_limit.hpp"
#include "forest.hpp"
#include "grow.hpp"
#include "prune.hpp"
#include "step.hpp"

namespace hedgerow {

// A row that reached a place, or the part of one.
struct Part {
    std::uint32_t row;
    double weight;
};
using Parts = std::vector<Part>;

// A node while the tree is being pruned. Its number stays, its content may be replaced by that of its largest branch.
struct Place {
    std::int64_t source;  // the node of the given tree whose question it asks
    std::int64_t first;   // its children stand side by side
    std::int64_t n_children = 0;
    double weight = 0;
    double errors = 0;     // that its leaves are expected to make
    bool divides = false;  // a row has no answer here and goes down all children
    Parts rows;            // of a leaf

    bool is_leaf() const { return n_children == 0; }
};

// Rows on their way to a place. Either they join those that are there, or they are all that will be.
struct Arrival {
    std::int64_t place;
    Parts parts;
    bool alone;
};

class Places {
public:
    // As the tree was grown. Without raising, no row is ever sent anywhere.
    Places(const Forest& forest, const double* node_counts, const TrainingData& data, const PruneOptions& options)
        : forest_(forest),
          data_(data),
          options_(options),
          n_classes_(data.n_classes),
          limit_(options.confidence, options.z),
          slot_(options.raising ? static_cast<std::size_t>(data.n_rows) : 0, no_slot) {
        const std::int64_t n_nodes = forest.tree_start[1];
        counts_.resize(static_cast<std::size_t>(n_nodes * n_classes_));
        places_.reserve(static_cast<std::size_t>(n_nodes));
        for (std::int64_t node = 0; node < n_nodes; ++node) {
            const std::int64_t n = forest.is_leaf(node) ? 0 : n_children(forest, node);
            places_.push_back({node, forest.nodes[node].first_child, n, 0, 0, false, {}});
        }
        std::vector<std::int64_t> all;
        if (options.raising) send({0, all_rows(), true}, all);
        // What was grown has the last word: parts of rows may differ from it by rounding.
        std::copy(node_counts, node_counts + counts_.size(), counts_.begin());
        for (std::int64_t node = 0; node < n_nodes; ++node) {
            at(node).weight = forest.weight[node];
            if (at(node).is_leaf()) at(node).errors = errors_as_leaf(node);
        }
    }

    std::int64_t size() const { return static_cast<std::int64_t>(places_.size()); }
    Place& at(std::int64_t place) { return places_[static_cast<std::size_t>(place)]; }
    std::span<Place> children(const Place& place) {
        return {places_.data() + place.first, static_cast<std::size_t>(place.n_children)};
    }
    std::span<double> counts(std::int64_t place) {
        return {counts_.data() + place * n_classes_, static_cast<std::size_t>(n_classes_)};
    }
    double errors_as_leaf(std::int64_t place) { return limit_(counts(place).data(), n_classes_); }

    void make_leaf(std::int64_t place, double errors) {
        if (options_.raising) {
            Parts rows = rows_below(place);
            forget_rows_below(place);
            at(place).rows = std::move(rows);
        }
        at(place).n_children = 0;
        at(place).divides = false;
        at(place).errors = errors;
    }

    // The branch takes its parent's place and gets all its rows. Inner places that got other rows than they had are
    // `changed`, children behind their parents.
    void raise(std::int64_t place, std::int64_t branch, std::vector<std::int64_t>& changed) {
        const bool alone = at(place).divides;
        Parts parts = rows_for_branch(place, branch);
        const double weight = at(place).weight;
        const std::vector<double> own_counts(counts(place).begin(), counts(place).end());
        for (std::int64_t child = at(place).first; child < at(place).first + at(place).n_children; ++child)
            if (child != branch) forget_rows_below(child);
        std::copy(counts(branch).begin(), counts(branch).end(), counts(place).begin());
        at(place) = std::move(at(branch));
        send({place, std::move(parts), alone}, changed);
        at(place).weight = weight;
        std::copy(own_counts.begin(), own_counts.end(), counts(place).begin());
        if (at(place).is_leaf()) at(place).errors = errors_as_leaf(place);
    }

    // Errors of a branch that gets the rows of its whole parent; if they are more than `enough`, not all of them.
    double errors_of_branch(std::int64_t place, std::int64_t branch, double enough) {
        double errors = 0;
        std::vector<double> counts_there(static_cast<std::size_t>(n_classes_));
        std::vector<Arrival> stack;
        stack.push_back({branch, rows_for_branch(place, branch), at(place).divides});
        while (!stack.empty() && errors <= enough) {
            Arrival arrival = std::move(stack.back());
            stack.pop_back();
            const Place& here = at(arrival.place);
            if (arrival.parts.empty()) {
                if (!arrival.alone) errors += here.errors;
            } else if (here.is_leaf()) {
                std::fill(counts_there.begin(), counts_there.end(), 0.0);
                if (!arrival.alone) std::copy_n(counts(arrival.place).begin(), n_classes_, counts_there.begin());
                for (const Part& part : arrival.parts) counts_there[label(part)] += part.weight;
                errors += limit_(counts_there.data(), n_classes_);
            } else {
                include_rows_that_move(arrival);
                divide(arrival, stack);
            }
        }
        return errors;
    }

private:
    static constexpr std::int32_t no_slot = -1;

    Parts all_rows() const {
        Parts rows;
        rows.reserve(static_cast<std::size_t>(data_.n_rows));
        for (std::int64_t row = 0; row < data_.n_rows; ++row)
            if (data_.weight[row] > 0) rows.push_back({static_cast<std::uint32_t>(row), data_.weight[row]});
        return rows;
    }

    // The rows that a branch lacks of its parent's; where parts of a row went there, all of its parent's.
    Parts rows_for_branch(std::int64_t place, std::int64_t branch) {
        if (at(place).divides) return rows_below(place);
        Parts rows;
        for (std::int64_t child = at(place).first; child < at(place).first + at(place).n_children; ++child)
            if (child != branch) collect(child, rows);
        forget_slots(rows);
        return rows;
    }

    Parts rows_below(std::int64_t place) {
        Parts rows;
        collect(place, rows);
        forget_slots(rows);
        return rows;
    }

    // Parts of one row are put together again.
    void collect(std::int64_t place, Parts& rows) {
        for_each_leaf(place, [&](Place& leaf) {
            if (!any_divided_) {
                rows.insert(rows.end(), leaf.rows.begin(), leaf.rows.end());
                return;
            }
            for (const Part& part : leaf.rows) {
                std::int32_t& slot = slot_[part.row];
                if (slot == no_slot) {
                    slot = static_cast<std::int32_t>(rows.size());
                    rows.push_back(part);
                } else {
                    rows[static_cast<std::size_t>(slot)].weight += part.weight;
                }
            }
        });
    }

    void forget_slots(const Parts& rows) {
        if (!any_divided_) return;
        for (const Part& part : rows) slot_[part.row] = no_slot;
    }

    void forget_rows_below(std::int64_t place) {
        for_each_leaf(place, [](Place& leaf) { leaf.rows = {}; });
    }

    template <class Use>
    void for_each_leaf(std::int64_t place, const Use& use) {
        std::vector<std::int64_t> stack{place};
        while (!stack.empty()) {
            Place& next = at(stack.back());
            stack.pop_back();
            if (next.is_leaf()) use(next);
            for (std::int64_t child = next.first + next.n_children; child-- > next.first;)
                stack.push_back(child);
        }
    }

    // Lets rows in for good.
    void send(Arrival first, std::vector<std::int64_t>& changed) {
        std::vector<Arrival> stack;
        stack.push_back(std::move(first));
        while (!stack.empty()) {
            Arrival arrival = std::move(stack.back());
            stack.pop_back();
            Place& here = at(arrival.place);
            if (arrival.parts.empty() && !arrival.alone) continue;
            if (!here.is_leaf()) include_rows_that_move(arrival);
            count(arrival);
            if (here.is_leaf()) {
                if (arrival.alone) here.rows.clear();
                here.rows.insert(here.rows.end(), arrival.parts.begin(), arrival.parts.end());
                here.errors = errors_as_leaf(arrival.place);
            } else {
                const bool divided = divide(arrival, stack);
                here.divides = divided || (here.divides && !arrival.alone);
                changed.push_back(arrival.place);
            }
        }
    }

    // Where rows are divided, by the shares of the others, those that come change what those that are there do.
    void include_rows_that_move(Arrival& arrival) {
        if (arrival.alone || !at(arrival.place).divides) return;
        const Parts rows = rows_below(arrival.place);
        arrival.parts.insert(arrival.parts.end(), rows.begin(), rows.end());
        arrival.alone = true;
    }

    void count(const Arrival& arrival) {
        const std::span<double> here = counts(arrival.place);
        if (arrival.alone) {
            std::fill(here.begin(), here.end(), 0.0);
            at(arrival.place).weight = 0;
        }
        for (const Part& part : arrival.parts) {
            here[label(part)] += part.weight;
            at(arrival.place).weight += part.weight;
        }
    }

    std::size_t label(const Part& part) const { return static_cast<std::size_t>(data_.labels[part.row]); }

    // Puts an arrival at each child on the stack; whether a row had no answer. Such a row goes down every child in
    // proportion to the rows that have one, in equal parts where none has; a small part follows the heaviest child.
    bool divide(const Arrival& arrival, std::vector<Arrival>& stack) {
        const Place& here = at(arrival.place);
        const std::size_t first = stack.size();
        std::vector<double> known;
        for (std::int64_t child = here.first; child < here.first + here.n_children; ++child) {
            known.push_back(arrival.alone ? 0.0 : at(child).weight);
            stack.push_back({child, {}, arrival.alone});
        }
        find_children(here.source, arrival.parts);
        n_arriving_.assign(known.size() + 1, 0);
        for (const std::int64_t child : child_of_) ++n_arriving_[static_cast<std::size_t>(child + 1)];  // no_answer is -1
        for (std::size_t c = 0; c < known.size(); ++c) stack[first + c].parts.reserve(n_arriving_[c + 1]);
        Parts unknown;
        for (std::size_t i = 0; i < arrival.parts.size(); ++i) {
            const Part& part = arrival.parts[i];
            if (child_of_[i] == no_answer) {
                unknown.push_back(part);
                continue;
            }
            const auto child = static_cast<std::size_t>(child_of_[i]);
            stack[first + child].parts.push_back(part);
            known[child] += part.weight;
        }
        if (unknown.empty()) return false;
        any_divided_ = true;
        const double total = std::accumulate(known.begin(), known.end(), 0.0);
        const auto heaviest = static_cast<std::size_t>(std::max_element(known.begin(), known.end()) - known.begin());
        for (const Part& part : unknown) {
            if (part.weight < (1 - 1e-9) * options_.min_fraction * data_.weight[part.row]) {
                stack[first + heaviest].parts.push_back(part);
                continue;
            }
            for (std::size_t c = 0; c < known.size(); ++c) {
                const double share = total > 0 ? known[c] / total : 1.0 / static_cast<double>(known.size());
                if (share > 0) stack[first + c].parts.push_back({part.row, part.weight * share});
            }
        }
        return true;
    }

    void find_children(std::int64_t node, const Parts& parts) {
        child_of_.resize(parts.size());
        for (std::size_t i = 0; i < parts.size(); ++i)
            child_of_[i] = child_number(forest_, node, ColumnRow{data_.X + parts[i].row, data_.n_rows});
    }

    const Forest& forest_;
    const TrainingData& data_;
    const PruneOptions& options_;
    std::int64_t n_classes_;
    ErrorLimit limit_;
    std::vector<Place> places_;
    std::vector<double> counts_;      // n_classes a place
    std::vector<std::int32_t> slot_;  // of a row in the list that is being collected
    bool any_divided_ = false;        // a row is at several leaves, in parts
    std::vector<std::int64_t> child_of_;
    std::vector<std::size_t> n_arriving_;
};

}  // namespace hedgerow
