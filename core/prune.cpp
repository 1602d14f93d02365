#include "prune.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "data.hpp"
#include "error_limit.hpp"
#include "step.hpp"

namespace hedgerow {
namespace {

// Quinlan's allowance, in errors, for what is simpler; and J48's for rounding.
constexpr double allowance = 0.1;
constexpr double rounding = 1e-6;

bool at_most(double a, double b) { return a <= b + rounding; }

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

class Pruner {
public:
    Pruner(const Forest& forest, const double* node_counts, const TrainingData& data, const PruneOptions& options)
        : forest_(forest),
          data_(data),
          options_(options),
          n_classes_(data.n_classes),
          limit_(options.confidence, options.z),
          slot_(options.raising ? static_cast<std::size_t>(data.n_rows) : 0, no_slot) {
        const std::int64_t n_nodes = forest.tree_start[1];
        counts_.resize(static_cast<std::size_t>(n_nodes * n_classes_));
        for (std::int64_t node = 0; node < n_nodes; ++node) {
            const bool leaf = forest.is_leaf(node);
            places_.push_back({node, forest.nodes[node].first_child, leaf ? 0 : n_children(forest, node), 0, 0, false, {}});
        }
        if (options.raising) send({0, all_rows(), true});
        // What was grown has the last word: parts of rows may differ from it by rounding.
        std::copy(node_counts, node_counts + counts_.size(), counts_.begin());
        waiting_.clear();
        for (std::int64_t node = 0; node < n_nodes; ++node) {
            at(node).weight = forest.weight[node];
            if (at(node).is_leaf())
                at(node).errors = limit_(counts(node), n_classes_);
            else
                waiting_.push_back(node);
        }
    }

    // Children come after their parents, so that the last one that waits has no child that does.
    PrunedTree operator()(const Poll& poll) {
        for (std::int64_t n_done = 1; !waiting_.empty(); ++n_done) {
            const std::int64_t place = waiting_.back();
            waiting_.pop_back();
            if (!at(place).is_leaf()) consider(place);
            if (n_done % 4096 == 0) poll();
        }
        return laid_out();
    }

private:
    static constexpr std::int32_t no_slot = -1;

    Place& at(std::int64_t place) { return places_[static_cast<std::size_t>(place)]; }
    double* counts(std::int64_t place) { return counts_.data() + place * n_classes_; }
    std::span<Place> children(const Place& place) {
        return {places_.data() + place.first, static_cast<std::size_t>(place.n_children)};
    }

    Parts all_rows() const {
        Parts rows;
        rows.reserve(static_cast<std::size_t>(data_.n_rows));
        for (std::int64_t row = 0; row < data_.n_rows; ++row)
            if (data_.weight[row] > 0) rows.push_back({static_cast<std::uint32_t>(row), data_.weight[row]});
        return rows;
    }

    // -- the decision

    void consider(std::int64_t place) {
        double as_tree = 0;
        for (const Place& child : children(at(place))) as_tree += child.errors;
        const double as_leaf = limit_(counts(place), n_classes_);
        const std::int64_t largest = largest_branch(at(place));
        const double as_branch = options_.raising ? errors_of_branch(place, largest) : std::numeric_limits<double>::infinity();
        if (at_most(as_leaf, as_tree + allowance) && at_most(as_leaf, as_branch + allowance))
            make_leaf(place, as_leaf);
        else if (at_most(as_branch, as_tree + allowance))
            raise(place, largest);
        else
            at(place).errors = as_tree;
    }

    // The last of equals, as in J48.
    std::int64_t largest_branch(const Place& place) {
        std::int64_t largest = place.first;
        for (std::int64_t child = place.first; child < place.first + place.n_children; ++child)
            if (at_most(at(largest).weight, at(child).weight)) largest = child;
        return largest;
    }

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

    // The branch takes its parent's place and gets all its rows. Whatever got other rows must be considered again; the
    // rest would be decided as before.
    void raise(std::int64_t place, std::int64_t branch) {
        const bool alone = at(place).divides;
        Parts parts = rows_for_branch(place, branch);
        const double weight = at(place).weight;
        const std::vector<double> own_counts(counts(place), counts(place) + n_classes_);
        for (std::int64_t child = at(place).first; child < at(place).first + at(place).n_children; ++child)
            if (child != branch) forget_rows_below(child);
        std::copy(counts(branch), counts(branch) + n_classes_, counts(place));
        at(place) = std::move(at(branch));
        send({place, std::move(parts), alone});
        at(place).weight = weight;
        std::copy(own_counts.begin(), own_counts.end(), counts(place));
        if (at(place).is_leaf()) at(place).errors = limit_(counts(place), n_classes_);
    }

    // -- rows of places

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

    // -- rows on their way

    // Errors of a branch that gets the rows of its whole parent.
    double errors_of_branch(std::int64_t place, std::int64_t branch) {
        double errors = 0;
        std::vector<double> counts_there(static_cast<std::size_t>(n_classes_));
        std::vector<Arrival> stack;
        stack.push_back({branch, rows_for_branch(place, branch), at(place).divides});
        while (!stack.empty()) {
            Arrival arrival = std::move(stack.back());
            stack.pop_back();
            const Place& here = at(arrival.place);
            if (arrival.parts.empty()) {
                if (!arrival.alone) errors += here.errors;
            } else if (here.is_leaf()) {
                std::fill(counts_there.begin(), counts_there.end(), 0.0);
                if (!arrival.alone) std::copy_n(counts(arrival.place), n_classes_, counts_there.begin());
                for (const Part& part : arrival.parts) counts_there[label(part)] += part.weight;
                errors += limit_(counts_there.data(), n_classes_);
            } else {
                include_rows_that_move(arrival);
                divide(arrival, stack);
            }
        }
        return errors;
    }

    // Lets rows in for good. Inner places that get some wait to be considered, children before their parents.
    void send(Arrival first) {
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
                here.errors = limit_(counts(arrival.place), n_classes_);
            } else {
                const bool divided = divide(arrival, stack);
                here.divides = divided || (here.divides && !arrival.alone);
                waiting_.push_back(arrival.place);
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
        double* here = counts(arrival.place);
        if (arrival.alone) {
            std::fill(here, here + n_classes_, 0.0);
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
        Parts unknown;
        for (const Part& part : arrival.parts) {
            const std::int64_t child = child_number(forest_, here.source, ColumnRow{data_.X + part.row, data_.n_rows});
            if (child == no_answer) {
                unknown.push_back(part);
                continue;
            }
            stack[first + static_cast<std::size_t>(child)].parts.push_back(part);
            known[static_cast<std::size_t>(child)] += part.weight;
        }
        if (unknown.empty()) return false;
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

    // -- the tree that is left

    PrunedTree laid_out() {
        PrunedTree tree;
        std::vector<std::int64_t> order{0};
        for (std::size_t i = 0; i < order.size(); ++i) {
            const Place& place = at(order[i]);
            tree.source.push_back(place.source);
            tree.weight.push_back(place.weight);
            tree.first_child.push_back(place.is_leaf() ? 0 : static_cast<std::int32_t>(order.size()));
            for (std::int64_t child = place.first; child < place.first + place.n_children; ++child) order.push_back(child);
            if (place.is_leaf())
                tree.leaf_counts.insert(tree.leaf_counts.end(), counts(order[i]), counts(order[i]) + n_classes_);
        }
        return tree;
    }

    const Forest& forest_;
    const TrainingData& data_;
    const PruneOptions& options_;
    std::int64_t n_classes_;
    ErrorLimit limit_;
    std::vector<Place> places_;
    std::vector<double> counts_;         // n_classes a place
    std::vector<std::int64_t> waiting_;  // to be considered; children stand behind their parents
    std::vector<std::int32_t> slot_;     // of a row in the list that is being collected
};

}  // namespace

PrunedTree prune(const Forest& forest, const double* node_counts, const TrainingData& data, const PruneOptions& options,
                 const Poll& poll) {
    return Pruner(forest, node_counts, data, options)(poll);
}

}  // namespace hedgerow
