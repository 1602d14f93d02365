#include "prune/prune.hpp"

#include <limits>

#include "prune/working_tree.hpp"

namespace hedgerow::prune {
namespace {

// Quinlan's allowance, in errors, for what is simpler; and J48's for rounding.
constexpr double allowance = 0.1;
constexpr double rounding = 1e-6;

bool at_most(double a, double b) { return a <= b + rounding; }

class Pruner {
public:
    Pruner(const Forest& forest, const double* node_counts, const TrainingData& data, const PruneOptions& options)
        : places_(forest, node_counts, data, options), raising_(options.raising) {
        for (std::int64_t place = 0; place < places_.size(); ++place)
            if (!places_.at(place).is_leaf()) waiting_.push_back(place);
    }

    // Children stand behind their parents, so that the last one that waits has no child that does.
    Rearrangement operator()(const Poll& poll) {
        for (std::int64_t n_done = 1; !waiting_.empty(); ++n_done) {
            const std::int64_t place = waiting_.back();
            waiting_.pop_back();
            if (!places_.at(place).is_leaf()) consider(place);
            if (n_done % 4096 == 0) poll();
        }
        return laid_out();
    }

private:
    void consider(std::int64_t place) {
        double as_tree = 0;
        for (const WorkingNode& child : places_.children(places_.at(place))) as_tree += child.errors;
        const double as_leaf = places_.errors_as_leaf(place);
        const std::int64_t largest = largest_branch(places_.at(place));
        // More errors than these are too many, however many more they are.
        const double as_branch = raising_ ? places_.errors_of_branch(place, largest, as_tree + allowance + rounding)
                                          : std::numeric_limits<double>::infinity();
        if (at_most(as_leaf, as_tree + allowance) && at_most(as_leaf, as_branch + allowance))
            places_.make_leaf(place, as_leaf);
        else if (at_most(as_branch, as_tree + allowance))
            places_.raise(place, largest, waiting_);  // what has changed waits again; the rest would be decided as before
        else
            places_.at(place).errors = as_tree;
    }

    // The last of equals, as in J48.
    std::int64_t largest_branch(const WorkingNode& place) {
        std::int64_t largest = place.first;
        for (std::int64_t child = place.first; child < place.first + place.n_children; ++child)
            if (at_most(places_.at(largest).weight, places_.at(child).weight)) largest = child;
        return largest;
    }

    Rearrangement laid_out() {
        Rearrangement tree;
        std::vector<std::int64_t> order{0};
        for (std::size_t i = 0; i < order.size(); ++i) {
            const WorkingNode& place = places_.at(order[i]);
            tree.source.push_back(place.source);
            tree.weight.push_back(place.weight);
            tree.first_child.push_back(place.is_leaf() ? 0 : static_cast<std::int32_t>(order.size()));
            for (std::int64_t child = place.first; child < place.first + place.n_children; ++child) order.push_back(child);
            const auto counts = places_.counts(order[i]);
            if (place.is_leaf()) tree.leaf_values.insert(tree.leaf_values.end(), counts.begin(), counts.end());
        }
        tree.tree_start = {0, static_cast<std::int64_t>(order.size())};
        return tree;
    }

    WorkingTree places_;
    bool raising_;
    std::vector<std::int64_t> waiting_;  // to be considered
};

}  // namespace

Rearrangement prune(const Forest& forest, const double* leaf_counts, const TrainingData& data,
                    const PruneOptions& options, const Poll& poll) {
    return Pruner(forest, node_sums(forest, leaf_counts, data.n_classes).data(), data, options)(poll);
}

}  // namespace hedgerow::prune
