#include "forest/edit.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "forest/splits.hpp"
#include "forest/structure.hpp"

namespace hedgerow::forest {
namespace {

// Calls use(node, first child, number of children) for every inner node, parents first; nodes are absolute.
template <class Use>
void for_each_family(const Forest& forest, const Use& use) {
    for (std::int64_t tree = 0; tree < forest.n_trees; ++tree) {
        const std::int64_t root = forest.tree_start[tree];
        for (std::int64_t node = root; node < forest.tree_start[tree + 1]; ++node)
            if (!forest.is_leaf(node)) use(node, root + forest.nodes[node].first_child, n_children(forest, node));
    }
}

void append_payload(const Forest& forest, std::int64_t node, GrownTree& trees) {
    const std::int64_t begin = forest.payload_start[forest.payload[node]];
    const std::int64_t end = forest.payload_start[forest.payload[node] + 1];
    trees.payload_codes.insert(trees.payload_codes.end(), forest.payload_codes + begin, forest.payload_codes + end);
    trees.payload_start.push_back(static_cast<std::int64_t>(trees.payload_codes.size()));
    if (forest.kind[node] != Kind::oblique) return;
    set_last(trees.payload_weights, trees, forest.payload_weights + begin, end - begin);
    if (forest.payload_means != nullptr)
        set_last(trees.payload_means, trees, forest.payload_means + begin, end - begin);
}

}  // namespace

GrownForest rearranged(const Forest& forest, Rearrangement nodes) {
    GrownForest made;
    GrownTree& trees = made.trees;
    std::size_t next = 0;
    std::int64_t n_leaves = 0;
    for (std::size_t tree = 1; tree < nodes.tree_start.size(); ++tree) {
        std::int32_t leaf = 0;
        for (; next < static_cast<std::size_t>(nodes.tree_start[tree]); ++next) {
            const std::int64_t source = nodes.source[next];
            if (nodes.first_child[next] == 0) {
                trees.nodes.push_back({std::numeric_limits<double>::quiet_NaN(), leaf_feature, leaf++});
                trees.payload.push_back(no_payload);
                trees.kind.push_back(static_cast<std::uint8_t>(Kind::leaf));
                trees.missing.push_back(static_cast<std::uint8_t>(Missing::spread));
                continue;
            }
            const Node& test = forest.nodes[source];
            trees.nodes.push_back({test.threshold, test.feature, nodes.first_child[next]});
            trees.kind.push_back(static_cast<std::uint8_t>(forest.kind[source]));
            trees.missing.push_back(static_cast<std::uint8_t>(forest.missing_of(source)));
            const bool has_payload = forest.payload_of(source) != no_payload;
            trees.payload.push_back(has_payload ? static_cast<std::int32_t>(trees.payload_start.size()) - 1
                                                : no_payload);
            if (has_payload) append_payload(forest, source, trees);
        }
        n_leaves += leaf;
        made.leaf_start.push_back(n_leaves);
    }
    for (std::vector<double>* of_codes : {&trees.payload_weights, &trees.payload_means})
        if (!of_codes->empty()) fill_up(*of_codes, trees);
    trees.weight.assign(nodes.weight.begin(), nodes.weight.end());
    trees.leaf_values.assign(nodes.leaf_values.begin(), nodes.leaf_values.end());
    made.tree_start = std::move(nodes.tree_start);
    return made;
}

Rearrangement cut(const Forest& forest, const std::uint8_t* marked, const double* node_values, std::int64_t n_values) {
    const auto n_nodes = static_cast<std::size_t>(forest.tree_start[forest.n_trees]);
    std::vector<std::uint8_t> dropped(n_nodes, 0);
    for_each_family(forest, [&](std::int64_t node, std::int64_t first, std::int64_t n) {
        const bool drops = marked[node] || dropped[static_cast<std::size_t>(node)];
        if (drops) std::fill_n(dropped.begin() + first, n, std::uint8_t{1});
    });
    Rearrangement kept;
    std::vector<std::int32_t> position(n_nodes);  // in the new tree
    for (std::int64_t tree = 0; tree < forest.n_trees; ++tree) {
        kept.tree_start.push_back(static_cast<std::int64_t>(kept.source.size()));
        for (std::int64_t node = forest.tree_start[tree]; node < forest.tree_start[tree + 1]; ++node) {
            const auto at = static_cast<std::size_t>(node);
            if (dropped[at]) continue;
            position[at] =
                static_cast<std::int32_t>(static_cast<std::int64_t>(kept.source.size()) - kept.tree_start.back());
            kept.source.push_back(node);
        }
    }
    kept.tree_start.push_back(static_cast<std::int64_t>(kept.source.size()));
    kept.first_child.resize(kept.source.size(), 0);
    std::size_t next = 0;
    for (std::size_t tree = 1; tree < kept.tree_start.size(); ++tree) {
        const std::int64_t root = forest.tree_start[tree - 1];
        for (; next < static_cast<std::size_t>(kept.tree_start[tree]); ++next) {
            const std::int64_t node = kept.source[next];
            kept.weight.push_back(forest.weight[node]);
            if (!forest.is_leaf(node) && !marked[node]) {
                kept.first_child[next] = position[static_cast<std::size_t>(root + forest.nodes[node].first_child)];
                continue;
            }
            const double* values = node_values + node * n_values;
            kept.leaf_values.insert(kept.leaf_values.end(), values, values + n_values);
        }
    }
    return kept;
}

std::vector<std::int64_t> parents(const Forest& forest) {
    std::vector<std::int64_t> parent(static_cast<std::size_t>(forest.tree_start[forest.n_trees]), -1);
    for_each_family(forest, [&](std::int64_t node, std::int64_t first, std::int64_t n) {
        std::fill_n(parent.begin() + first, n, node);
    });
    return parent;
}

std::vector<double> node_sums(const Forest& forest, const double* leaf_values, std::int64_t n_values) {
    const std::int64_t n_nodes = forest.tree_start[forest.n_trees];
    std::vector<double> sums(static_cast<std::size_t>(n_nodes * n_values), 0.0);
    for (std::int64_t node = 0; node < n_nodes; ++node) {
        if (!forest.is_leaf(node)) continue;
        std::copy(leaf_values, leaf_values + n_values, sums.begin() + node * n_values);
        leaf_values += n_values;
    }
    node_sums(parents(forest).data(), n_nodes, n_values, sums.data());
    return sums;
}

std::optional<Rearrangement> collapse(const Forest& forest, const double* leaf_counts, std::int64_t n_classes) {
    const std::int64_t n_nodes = forest.tree_start[forest.n_trees];
    const std::vector<double> node_counts = node_sums(forest, leaf_counts, n_classes);
    std::vector<double> errors, leaf_errors;
    for (std::int64_t node = 0; node < n_nodes; ++node) {
        const double* counts = node_counts.data() + node * n_classes;
        errors.push_back(std::accumulate(counts, counts + n_classes, 0.0) -
                         *std::max_element(counts, counts + n_classes));
        if (forest.is_leaf(node)) leaf_errors.push_back(errors.back());
    }
    const std::vector<double> below = node_sums(forest, leaf_errors.data(), 1);
    std::vector<std::uint8_t> marked;
    for (std::int64_t node = 0; node < n_nodes; ++node) {
        const auto at = static_cast<std::size_t>(node);
        marked.push_back(!forest.is_leaf(node) && below[at] >= errors[at] - 1e-3);
    }
    if (std::find(marked.begin(), marked.end(), 1) == marked.end()) return std::nullopt;
    return cut(forest, marked.data(), node_counts.data(), n_classes);
}

}  // namespace hedgerow::forest
