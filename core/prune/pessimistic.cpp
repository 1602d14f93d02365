#include "prune/pessimistic.hpp"

#include <limits>

#include "prune/working_tree.hpp"

namespace hedgerow::prune {
namespace {

// Quinlan's allowance, in errors, for the simpler tree; and J48's for rounding.
constexpr double allowance = 0.1;
constexpr double rounding = 1e-6;

bool at_most(double a, double b) { return a <= b + rounding; }

class Pruner {
public:
    Pruner(const Forest& forest, const double* node_counts, const TrainingData& data, const PruneOptions& options)
        : tree_(forest, node_counts, data, options), raising_(options.raising) {
        for (std::int64_t node = 0; node < tree_.size(); ++node)
            if (!tree_.at(node).is_leaf()) waiting_.push_back(node);
    }

    // Children come after their parents, so the last node that waits has no child that does.
    Rearrangement operator()(const Poll& poll) {
        for (std::int64_t n_done = 1; !waiting_.empty(); ++n_done) {
            const std::int64_t node = waiting_.back();
            waiting_.pop_back();
            if (!tree_.at(node).is_leaf()) consider(node);
            if (n_done % 4096 == 0) poll();
        }
        return laid_out();
    }

private:
    void consider(std::int64_t node) {
        double as_tree = 0;
        for (const WorkingNode& child : tree_.children(tree_.at(node))) as_tree += child.errors;
        const double as_leaf = tree_.errors_as_leaf(node);
        const std::int64_t largest = largest_branch(tree_.at(node));
        // Counting stops beyond this number of errors.
        const double as_branch = raising_ ? tree_.errors_of_branch(node, largest, as_tree + allowance + rounding)
                                          : std::numeric_limits<double>::infinity();
        if (at_most(as_leaf, as_tree + allowance) && at_most(as_leaf, as_branch + allowance))
            tree_.make_leaf(node, as_leaf);
        else if (at_most(as_branch, as_tree + allowance))
            tree_.raise(node, largest,
                        waiting_);  // changed nodes are considered again; the others would be decided as before
        else
            tree_.at(node).errors = as_tree;
    }

    // The last of equals, as in J48.
    std::int64_t largest_branch(const WorkingNode& node) {
        std::int64_t largest = node.first;
        for (std::int64_t child = node.first; child < node.first + node.n_children; ++child)
            if (at_most(tree_.at(largest).weight, tree_.at(child).weight)) largest = child;
        return largest;
    }

    Rearrangement laid_out() {
        Rearrangement tree;
        std::vector<std::int64_t> order{0};
        for (std::size_t i = 0; i < order.size(); ++i) {
            const WorkingNode& node = tree_.at(order[i]);
            tree.source.push_back(node.source);
            tree.weight.push_back(node.weight);
            tree.first_child.push_back(node.is_leaf() ? 0 : static_cast<std::int32_t>(order.size()));
            for (std::int64_t child = node.first; child < node.first + node.n_children; ++child) order.push_back(child);
            const auto counts = tree_.counts(order[i]);
            if (node.is_leaf()) tree.leaf_values.insert(tree.leaf_values.end(), counts.begin(), counts.end());
        }
        tree.tree_start = {0, static_cast<std::int64_t>(order.size())};
        return tree;
    }

    WorkingTree tree_;
    bool raising_;
    std::vector<std::int64_t> waiting_;  // to be considered
};

}  // namespace

Rearrangement prune(const Forest& forest, const double* leaf_counts, const TrainingData& data,
                    const PruneOptions& options, const Poll& poll) {
    return Pruner(forest, node_sums(forest, leaf_counts, data.n_classes).data(), data, options)(poll);
}

}  // namespace hedgerow::prune
