#include "forest/check.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace hedgerow::forest {
namespace {

// The rules that a node breaks by itself, one bit each. Leaves and splits alternate at random: mispredicted branches
// would cost more than all comparisons. `only_thresholds` lets the compiler drop most of them.
template <bool only_thresholds>
std::uint32_t broken_rules(const Forest& forest, std::int64_t at, std::int64_t n_payloads) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const auto [threshold, feature, first_child] = forest.nodes[at];
    const Kind kind = forest.kind[at];
    const Missing missing = forest.missing[at];
    const double weight = forest.weight[at];
    const std::int32_t payload = forest.payload[at];
    const bool leaf = kind == Kind::leaf;
    const bool oblique = !only_thresholds && kind == Kind::oblique;
    const bool coded = !only_thresholds && kind == Kind::one_against_rest;
    const bool listed = !only_thresholds && kind >= Kind::subset;
    const bool compares = only_thresholds ? !leaf : (kind == Kind::threshold) | oblique;
    std::uint32_t broken = 0;
    broken |= std::uint32_t{!only_thresholds && kind > Kind::oblique} << 0;
    broken |= std::uint32_t{missing > Missing::own_branch} << 1;
    broken |= std::uint32_t{!((weight >= 0) & (weight < infinity))} << 2;
    broken |= std::uint32_t{leaf & (feature != leaf_feature)} << 3;
    broken |= std::uint32_t{oblique & (feature != oblique_feature)} << 4;
    broken |= std::uint32_t{!(leaf | oblique) & ((feature < 0) | (feature >= forest.n_features))} << 5;
    broken |= std::uint32_t{leaf & (missing != Missing::spread)} << 6;
    broken |= std::uint32_t{compares & !(threshold > -infinity)} << 7;
    constexpr double largest_code = std::numeric_limits<std::int32_t>::max();
    broken |=
        std::uint32_t{coded && !(threshold >= 0 && threshold <= largest_code && threshold == std::floor(threshold))}
        << 8;
    broken |= std::uint32_t{!(compares | coded) & (threshold == threshold)} << 9;
    broken |= std::uint32_t{!listed & (payload != no_payload)} << 10;
    broken |= std::uint32_t{listed & ((payload < 0) | (payload >= n_payloads))} << 11;
    return broken;
}

// Whether some nodes keep all rules, in a forest of thresholds only: all rules together, array by array, without a
// branch. A false "no" is possible (a weight of -0.0 counts as negative), a false "yes" is not.
bool all_sound(const Forest& forest, std::int64_t first, std::int64_t end) {
    constexpr std::int64_t infinity = std::bit_cast<std::int64_t>(std::numeric_limits<double>::infinity());
    const auto n_features = static_cast<std::uint32_t>(forest.n_features);
    std::uint8_t wrong_missing = 0;
    std::int32_t payloads = no_payload;
    std::int64_t weights = -1;  // its sign stays if each is finite and not negative
    std::uint32_t wrong_node = 0;
    for (std::int64_t at = first; at < end; ++at) {
        const auto missing = static_cast<std::uint8_t>(forest.missing[at]);
        const std::uint8_t most = forest.kind[at] == Kind::leaf ? 0 : static_cast<std::uint8_t>(Missing::own_branch);
        wrong_missing |= missing > most;
    }
    for (std::int64_t at = first; at < end; ++at) payloads &= forest.payload[at];
    for (std::int64_t at = first; at < end; ++at) {
        const auto bits = std::bit_cast<std::int64_t>(forest.weight[at]);
        weights &= static_cast<std::int64_t>(static_cast<std::uint64_t>(bits) - infinity) & ~bits;
    }
    for (std::int64_t at = first; at < end; ++at) {
        const auto [threshold, feature, first_child] = forest.nodes[at];
        const bool leaf = forest.kind[at] == Kind::leaf;
        wrong_node |= static_cast<std::uint32_t>(feature) + 1 > n_features;
        wrong_node |= (feature == leaf_feature) ^ leaf;
        wrong_node |= (threshold != threshold) ^ leaf;
        wrong_node |= threshold == -std::numeric_limits<double>::infinity();
    }
    return wrong_missing == 0 && payloads == no_payload && weights < 0 && wrong_node == 0;
}

// Nodes are checked one by one only where some of them may break a rule.
template <bool only_thresholds>
Fault find_node_fault(const Forest& forest, std::int64_t n_payloads) {
    constexpr std::int64_t some = 1024;
    Fault fault;
    const std::int64_t n_nodes = forest.tree_start[forest.n_trees];
    for (std::int64_t first = 0; first < n_nodes; first += some) {
        const std::int64_t end = std::min(first + some, n_nodes);
        if (only_thresholds && all_sound(forest, first, end)) continue;
        for (std::int64_t at = first; at < end; ++at) {
            const std::uint32_t broken = broken_rules<only_thresholds>(forest, at, n_payloads);
            if (broken != 0) fault.note(std::countr_zero(broken), at);
        }
    }
    return fault;
}

namespace link_rule {
enum : std::int64_t { n_children, behind, inside, one_parent, n_leaves, leaf_number };
}  // namespace link_rule

class LinkCheck {
public:
    LinkCheck(const Forest& forest, const std::int32_t* largest_child)
        : forest_(forest), largest_child_(largest_child) {}

    Fault fault() {
        for (std::int64_t tree = 0; tree < forest_.n_trees; ++tree) {
            if (forest_.only_thresholds && in_order(tree)) continue;
            const bool all_have_parents = look_at_nodes(tree);
            // Children outside the tree have no parents to count.
            if (!all_have_parents && (fault_.rule == no_fault || fault_.rule > link_rule::inside)) count_parents(tree);
        }
        return fault_;
    }

private:
    std::int64_t size(std::int64_t tree) const { return forest_.tree_start[tree + 1] - forest_.tree_start[tree]; }

    std::int64_t n_children(const Forest& forest, std::int64_t at) const {
        const bool multiway = !forest.only_thresholds && forest.kind[at] == Kind::multiway;
        const std::int64_t asked = multiway ? std::int64_t{largest_child_[forest.payload[at]]} + 1 : 2;
        return asked + (forest.missing[at] == Missing::own_branch);
    }

    // Whether the children of each split are the next two nodes, which is how most trees are grown: then all links are
    // right, and nothing needs to be marked. Every node must be a child by its turn: one of 2 * n_inner, or the root.
    bool in_order(std::int64_t tree) const {
        const std::int64_t start = forest_.tree_start[tree], n_nodes = size(tree);
        const Node* const nodes = forest_.nodes + start;
        const Kind* const kinds = forest_.kind + start;
        const Missing* const missing = forest_.missing + start;
        std::uint8_t any_third = 0;
        for (std::int64_t node = 0; node < n_nodes; ++node) any_third |= missing[node] == Missing::own_branch;
        std::int64_t n_inner = 0, elsewhere = 0, n_spare = 0;
        for (std::int64_t node = 0; node < n_nodes; ++node) {
            const std::int64_t inner = kinds[node] != Kind::leaf;
            const std::int64_t next_child = 1 + 2 * n_inner, next_leaf = node - n_inner;
            elsewhere |= nodes[node].first_child ^ (inner ? next_child : next_leaf);
            n_spare |= 2 * n_inner - node;
            n_inner += inner;
        }
        return any_third == 0 && elsewhere == 0 && n_spare >= 0 && n_nodes == 1 + 2 * n_inner &&
               n_nodes - n_inner == forest_.leaf_start[tree + 1] - forest_.leaf_start[tree];
    }

    // Notes faults of nodes and leaves; returns whether every node but the root has one parent. That holds if all are
    // marked as children and there are no more children than nodes. Leaves mark a spare entry.
    bool look_at_nodes(std::int64_t tree) {
        const Forest forest = forest_;  // in registers: a mark is a byte, which may be part of anything
        const std::int64_t start = forest.tree_start[tree], n_nodes = size(tree);
        marked_.assign(static_cast<std::size_t>(n_nodes) + 2, 0);
        std::uint8_t* const marked = marked_.data();
        std::int64_t n_leaves = 0, n_marks = 0;
        for (std::int64_t node = 0; node < n_nodes; ++node) {
            const std::int64_t inner = forest.kind[start + node] != Kind::leaf;
            const std::int64_t first = forest.nodes[start + node].first_child, n = n_children(forest, start + node);
            // Negative if any of the three is: one branch that is hardly ever taken, whatever the nodes are.
            const std::int64_t misplaced = (n - 2) | (first - node - 1) | (n_nodes - first - n);
            if ((misplaced & -inner) < 0) {
                fault_.note(n < 2           ? link_rule::n_children
                            : first <= node ? link_rule::behind
                                            : link_rule::inside,
                            start + node);
                continue;
            }
            if (((first ^ n_leaves) & (inner - 1)) != 0) fault_.note(link_rule::leaf_number, start + node);
            std::uint8_t* const children = marked + n_nodes - inner * (n_nodes - first);
            children[0] = children[1] = 1;
            if (n > 2 && inner != 0) std::fill(children + 2, children + n, std::uint8_t{1});
            n_leaves += 1 - inner;
            n_marks += inner * n;
        }
        if (n_leaves != forest_.leaf_start[tree + 1] - forest_.leaf_start[tree])
            fault_.note(link_rule::n_leaves, tree, n_leaves);
        return n_marks == n_nodes - 1 && std::find(marked + 1, marked + n_nodes, 0) == marked + n_nodes;
    }

    // For the message: the first node with another number of parents than one, and that number.
    void count_parents(std::int64_t tree) {
        const std::int64_t start = forest_.tree_start[tree];
        std::vector<std::int64_t> n_parents(static_cast<std::size_t>(size(tree)), 0);
        for (std::int64_t node = 0; node < size(tree); ++node) {
            if (forest_.kind[start + node] == Kind::leaf) continue;
            const auto first = n_parents.begin() + forest_.nodes[start + node].first_child;
            std::for_each(first, first + n_children(forest_, start + node), [](std::int64_t& n) { ++n; });
        }
        for (std::int64_t node = 1; node < size(tree); ++node) {
            const std::int64_t n = n_parents[static_cast<std::size_t>(node)];
            if (n == 1) continue;
            fault_.note(link_rule::one_parent, start + node, n);
            return;
        }
    }

    const Forest& forest_;
    const std::int32_t* largest_child_;
    std::vector<std::uint8_t> marked_;
    Fault fault_;
};

}  // namespace

Fault node_fault(const Forest& forest, std::int64_t n_payloads) {
    return forest.only_thresholds ? find_node_fault<true>(forest, n_payloads)
                                  : find_node_fault<false>(forest, n_payloads);
}

Fault link_fault(const Forest& forest, const std::int32_t* largest_child) {
    return LinkCheck(forest, largest_child).fault();
}

}  // namespace hedgerow::forest
