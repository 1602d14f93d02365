// The invariants of a forest that concern every node: which one is broken first, and where. hedgerow.invariants has the
// words, in the order of these rules, and has checked sizes and offsets before.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "forest.hpp"

namespace hedgerow {

inline constexpr std::int64_t no_fault = -1;

struct Fault {
    std::int64_t rule = no_fault;
    std::int64_t place = 0;  // the node, or the tree
    std::int64_t found = 0;  // what was counted there

    // The least rule wins, and of those the first place.
    void note(std::int64_t other_rule, std::int64_t other_place, std::int64_t other_found = 0) {
        if (rule == no_fault || other_rule < rule) *this = {other_rule, other_place, other_found};
    }
};

namespace node_rule {
enum : std::int64_t {
    kind, missing, weight, leaf_feature, oblique_feature, feature, leaf_missing, threshold, code, unused_threshold,
    no_payload, payload
};
}  // namespace node_rule

// The first rule that a node breaks by itself.
inline std::int64_t broken_rule(const Forest& forest, std::int64_t at, std::int64_t n_payloads) {
    using namespace node_rule;
    const Node node = forest.nodes[at];
    const Kind is = forest.kind[at];
    if (is > Kind::oblique) return node_rule::kind;
    if (forest.missing[at] > Missing::own_branch) return node_rule::missing;
    if (!(forest.weight[at] >= 0 && std::isfinite(forest.weight[at]))) return node_rule::weight;
    if (is == Kind::leaf) {
        if (node.feature != hedgerow::leaf_feature) return node_rule::leaf_feature;
        if (forest.missing[at] != Missing::spread) return leaf_missing;
    } else if (is == Kind::oblique) {
        if (node.feature != hedgerow::oblique_feature) return node_rule::oblique_feature;
    } else if (node.feature < 0 || node.feature >= forest.n_features) {
        return node_rule::feature;
    }
    if (is == Kind::threshold || is == Kind::oblique) {
        if (!(node.threshold > -std::numeric_limits<double>::infinity())) return node_rule::threshold;
    } else if (is == Kind::one_against_rest) {
        if (!(node.threshold >= 0 && std::isfinite(node.threshold) && node.threshold == std::floor(node.threshold)))
            return code;
    } else if (!std::isnan(node.threshold)) {
        return unused_threshold;
    }
    const std::int32_t number = forest.payload[at];
    if (is < Kind::subset) return number == hedgerow::no_payload ? no_fault : node_rule::no_payload;
    return number >= 0 && number < n_payloads ? no_fault : node_rule::payload;
}

inline Fault node_fault(const Forest& forest, std::int64_t n_payloads) {
    Fault fault;
    for (std::int64_t at = 0; at < forest.tree_start[forest.n_trees]; ++at) {
        const std::int64_t rule = broken_rule(forest, at, n_payloads);
        if (rule != no_fault) fault.note(rule, at);
    }
    return fault;
}

namespace link_rule {
enum : std::int64_t { n_children, behind, inside, one_parent, n_leaves, leaf_number };
}  // namespace link_rule

// Each node but the roots is the child of one node before it in its tree, and leaves are numbered. `largest_child` has
// the largest number in each payload of a multiway node.
class Links {
public:
    Links(const Forest& forest, const std::int32_t* largest_child) : forest_(forest), largest_child_(largest_child) {}

    Fault fault() {
        for (std::int64_t tree = 0; tree < forest_.n_trees; ++tree) look_at_nodes(tree);
        // Whose children are elsewhere can't be asked for their parents.
        if (fault_.rule == no_fault || fault_.rule > link_rule::inside)
            for (std::int64_t tree = 0; tree < forest_.n_trees; ++tree) look_at_parents(tree);
        return fault_;
    }

private:
    std::int64_t size(std::int64_t tree) const { return forest_.tree_start[tree + 1] - forest_.tree_start[tree]; }

    std::int64_t n_children(std::int64_t at) const {
        const std::int64_t asked =
            forest_.kind[at] == Kind::multiway ? std::int64_t{largest_child_[forest_.payload[at]]} + 1 : 2;
        return asked + (forest_.missing[at] == Missing::own_branch);
    }

    void look_at_nodes(std::int64_t tree) {
        std::int64_t n_leaves = 0;
        for (std::int64_t node = 0; node < size(tree); ++node) {
            const std::int64_t at = forest_.tree_start[tree] + node;
            const std::int64_t first = forest_.nodes[at].first_child;
            if (forest_.kind[at] == Kind::leaf) {
                if (first != n_leaves++) fault_.note(link_rule::leaf_number, at);
            } else if (n_children(at) < 2) {
                fault_.note(link_rule::n_children, at);
            } else if (first <= node) {
                fault_.note(link_rule::behind, at);
            } else if (first + n_children(at) > size(tree)) {
                fault_.note(link_rule::inside, at);
            }
        }
        if (n_leaves != forest_.leaf_start[tree + 1] - forest_.leaf_start[tree])
            fault_.note(link_rule::n_leaves, tree, n_leaves);
    }

    // How many groups of siblings cover each node: one more where a group starts, one less behind its end.
    void look_at_parents(std::int64_t tree) {
        steps_.assign(static_cast<std::size_t>(size(tree)) + 1, 0);
        for (std::int64_t node = 0; node < size(tree); ++node) {
            const std::int64_t at = forest_.tree_start[tree] + node;
            if (forest_.kind[at] == Kind::leaf) continue;
            const auto first = static_cast<std::size_t>(forest_.nodes[at].first_child);
            ++steps_[first];
            --steps_[first + static_cast<std::size_t>(n_children(at))];
        }
        std::int64_t covered = 0;
        for (std::int64_t node = 0; node < size(tree); ++node) {
            covered += steps_[static_cast<std::size_t>(node)];
            if (covered == (node > 0)) continue;
            fault_.note(link_rule::one_parent, forest_.tree_start[tree] + node, covered);
            return;
        }
    }

    const Forest& forest_;
    const std::int32_t* largest_child_;
    std::vector<std::int32_t> steps_;
    Fault fault_;
};

}  // namespace hedgerow
