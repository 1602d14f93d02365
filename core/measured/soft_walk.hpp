// Walks that spread a row over the leaves of a tree by the probability that its latent values are there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "measured/soft_forest.hpp"
#include "walk/walk.hpp"

namespace hedgerow::measured {

using base::Poll;

// The leaves of one tree that a row reaches.
//
// At a node that u reaches with probability p and passes to the first child with conditional probability q, the
// children get p·q and p − p·q. If the smaller of the two is at most an eighth of what may still be moved in this tree,
// `tolerance` at its root, all of p goes to the other. So nothing is lost, and no more than `tolerance` of the row's
// probability is in another leaf than where it belongs: a mean over leaves is off by at most `tolerance` times the
// difference between the tree's largest and smallest leaf.
class SoftTreeWalk {
public:
    struct Reached {
        std::int32_t leaf;  // its number in the tree
        double share;
    };

    SoftTreeWalk(const SoftForest& forest, double tolerance) : forest_(forest), tolerance_(tolerance) {}

    // In the order of a walk that takes the first child first; probabilities add up to 1. Valid until the next call.
    std::span<const Reached> operator()(std::int64_t tree, const double* below) {
        const std::int64_t root = forest_.forest.tree_start[tree];
        const auto n_nodes = static_cast<std::size_t>(forest_.forest.tree_start[tree + 1] - root);
        if (reached_.size() < n_nodes) reached_.resize(n_nodes), stack_.resize(n_nodes);
        const forest::Node* nodes = forest_.forest.nodes + root;
        const SoftNode* soft = forest_.nodes + root;
        Reached *reached = reached_.data(), *stack = stack_.data();  // the stack has nodes instead of leaves
        *stack++ = {0, 1.0};
        double most = tolerance_ / 8;
        while (stack != stack_.data()) {
            auto [node, share] = *--stack;
            for (SoftNode test = soft[node]; test.at != soft_leaf; test = soft[node]) {
                const std::int32_t first = nodes[node].first_child;
                const double low = share * first_share(test, below), high = share - low;
                const double smaller = std::min(low, high);
                node = first;
                if (smaller <= most) {
                    most -= smaller / 8;
                    node += low < high;
                    continue;
                }
                *stack++ = {first + 1, high};
                share = low;
            }
            *reached++ = {nodes[node].first_child, share};
        }
        return {reached_.data(), reached};
    }

private:
    // P(first child | node, x)
    double first_share(const SoftNode& node, const double* below) const {
        if (node.at == soft_nominal) return first_share_nominal(node, below);
        if (node.low < 0 && node.high < 0) return below[node.at];
        const double low = node.low < 0 ? 0.0 : below[node.low];
        const double inside = (node.high < 0 ? 1.0 : below[node.high]) - low;
        // Differences of rounded probabilities may be a little outside.
        return inside > 0 ? std::clamp((below[node.at] - low) / inside, 0.0, 1.0) : 0.5;
    }

    double first_share_nominal(const SoftNode& node, const double* below) const {
        double first = 0, rest = 0;
        for (std::int32_t i = node.low; i < node.high; ++i) first += below[forest_.categories[i]];
        for (std::int32_t i = node.high; i < node.end; ++i) rest += below[forest_.categories[i]];
        return first + rest > 0 ? first / (first + rest) : 0.5;
    }

    SoftForest forest_;
    double tolerance_;
    std::vector<Reached> stack_, reached_;
};

// As walk::fold, of soft walks: `below` has the numbers of each row, see SoftForest.
void soft_fold(const SoftForest& forest, const data::Rows& below, double tolerance,
               const std::vector<walk::LeafTable>& tables, const walk::FoldOptions& options, const Poll& poll);

// As walk::spread.
walk::Spread soft_spread(const SoftForest& forest, const data::Rows& below, double tolerance, std::int64_t n_threads,
                         const Poll& poll);

}  // namespace hedgerow::measured
