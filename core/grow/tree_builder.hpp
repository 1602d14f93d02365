// A tree while it grows: nodes and leaves are added in any order, then the leaves are numbered.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "forest/grown.hpp"
#include "grow/criteria.hpp"

namespace hedgerow::grow {

using forest::GrownTree;
using forest::Kind;
using forest::leaf_feature;
using forest::Missing;
using forest::Node;

// Bitset of the categories that go to the first child.
inline std::vector<std::int32_t> subset_words(const std::vector<std::int32_t>& child_of_code) {
    std::vector<std::uint32_t> words((child_of_code.size() + 31) / 32, 0);
    for (std::size_t code = 0; code < child_of_code.size(); ++code)
        if (child_of_code[code] == 0) words[code / 32] |= 1u << code % 32;
    return {words.begin(), words.end()};
}

// Weight, mean and sum of squared deviations of a leaf. The mean is updated row by row (West, 1979) and the squares are
// taken about it, so small targets beside large ones lose no digits. instance(i) gives row i of n.
template <class InstanceAt>
std::vector<double> leaf_moments(std::uint32_t n, const InstanceAt& instance) {
    double weight = 0, mean = 0, squares = 0, rest = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
        weight += instance(i).weight;
        mean += (instance(i).target - mean) * (instance(i).weight / weight);
    }
    for (std::uint32_t i = 0; i < n; ++i) {
        const double deviation = instance(i).target - mean;
        squares += instance(i).weight * deviation * deviation;
        rest += instance(i).weight * deviation;  // rounding error of the mean
    }
    return {weight, mean, std::max(squares - rest * rest / weight, 0.0)};
}

[[noreturn]] inline void throw_too_many_nodes(std::int64_t max_nodes) {
    throw std::length_error("the tree needs more than " + std::to_string(max_nodes) + " nodes");
}

class TreeBuilder {
public:
    explicit TreeBuilder(std::int64_t max_nodes) : max_nodes_(max_nodes) {}

    std::int64_t n_nodes() const { return static_cast<std::int64_t>(tree_.kind.size()); }
    std::int64_t n_leaves() const { return static_cast<std::int64_t>(leaves_.size()); }

    // A node is a leaf until it gets a split.
    void add_node(double weight) {
        if (n_nodes() >= max_nodes_) throw_too_many_nodes(max_nodes_);
        tree_.nodes.push_back({std::numeric_limits<double>::quiet_NaN(), leaf_feature, 0});
        tree_.weight.push_back(weight);
        tree_.payload.push_back(-1);
        tree_.kind.push_back(static_cast<std::uint8_t>(Kind::leaf));
        tree_.missing.push_back(static_cast<std::uint8_t>(Missing::spread));
        n_children_.push_back(0);
    }

    // Its `n_children` children are the nodes added next. `codes`: payload of a multiway or subset split.
    void set_split(std::int64_t node, std::int64_t n_children, Kind kind, std::int32_t feature, double threshold,
                   Missing missing, const std::vector<std::int32_t>& codes) {
        const auto at = static_cast<std::size_t>(node);
        tree_.nodes[at] = {threshold, feature, static_cast<std::int32_t>(n_nodes())};
        tree_.kind[at] = static_cast<std::uint8_t>(kind);
        tree_.missing[at] = static_cast<std::uint8_t>(missing);
        n_children_[at] = static_cast<std::int32_t>(n_children);
        if (codes.empty()) return;
        tree_.payload[at] = static_cast<std::int32_t>(tree_.payload_start.size()) - 1;
        tree_.payload_codes.insert(tree_.payload_codes.end(), codes.begin(), codes.end());
        tree_.payload_start.push_back(static_cast<std::int64_t>(tree_.payload_codes.size()));
    }

    // `means`: what stands in for a missing value of each feature.
    void set_oblique_split(std::int64_t node, std::int64_t n_children, const std::vector<std::int32_t>& features,
                           const std::vector<double>& weights, const std::vector<double>& means, double threshold,
                           Missing missing) {
        set_split(node, n_children, Kind::oblique, forest::oblique_feature, threshold, missing, features);
        set_last(tree_.payload_weights, tree_, weights.data(), std::ssize(weights));
        set_last(tree_.payload_means, tree_, means.data(), std::ssize(means));
    }

    void set_leaf(std::int64_t node, const std::vector<double>& values) {
        leaves_.push_back({node, leaf_values_.size(), rows_.size(), 0});
        leaf_values_.insert(leaf_values_.end(), values.begin(), values.end());
        leaf_size_ = values.size();
    }

    // Adds a training row to the leaf that was set last.
    void add_leaf_row(std::uint32_t row, double weight) {
        rows_.push_back(static_cast<std::int32_t>(row));
        row_weights_.push_back(weight);
        ++leaves_.back().n_rows;
    }

    // Nodes breadth first, so that the upper levels, which every walk passes, share cache lines; leaves numbered in
    // that order.
    GrownTree finish() {
        const std::vector<std::int32_t> order = breadth_first();
        GrownTree sorted;
        sorted.payload_start = std::move(tree_.payload_start);
        sorted.payload_codes = std::move(tree_.payload_codes);
        sorted.payload_weights = std::move(tree_.payload_weights);
        sorted.payload_means = std::move(tree_.payload_means);
        if (!sorted.payload_weights.empty()) {
            fill_up(sorted.payload_weights, sorted);
            fill_up(sorted.payload_means, sorted);
        }
        std::vector<std::size_t> leaf_at(order.size());
        for (std::size_t i = 0; i < leaves_.size(); ++i) leaf_at[static_cast<std::size_t>(leaves_[i].node)] = i;
        std::int32_t next_child = 1, next_leaf = 0;
        for (const std::int32_t node : order) {
            const auto at = static_cast<std::size_t>(node);
            const bool leaf = n_children_[at] == 0;
            const Node& test = tree_.nodes[at];
            sorted.nodes.push_back({test.threshold, test.feature, leaf ? next_leaf++ : next_child});
            sorted.weight.push_back(tree_.weight[at]);
            sorted.payload.push_back(tree_.payload[at]);
            sorted.kind.push_back(tree_.kind[at]);
            sorted.missing.push_back(tree_.missing[at]);
            next_child += n_children_[at];
            if (leaf) append_leaf(leaves_[leaf_at[at]], sorted);
        }
        return sorted;
    }

private:
    struct Leaf {
        std::int64_t node;
        std::size_t first_value, first_row, n_rows;
    };

    std::vector<std::int32_t> breadth_first() const {
        std::vector<std::int32_t> order{0};
        order.reserve(n_children_.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
            const auto at = static_cast<std::size_t>(order[i]);
            for (std::int32_t c = 0; c < n_children_[at]; ++c) order.push_back(tree_.nodes[at].first_child + c);
        }
        return order;
    }

    void append_leaf(const Leaf& leaf, GrownTree& sorted) const {
        append(sorted.leaf_values, leaf_values_, leaf.first_value, leaf_size_);
        if (rows_.empty()) return;
        append(sorted.leaf_rows, rows_, leaf.first_row, leaf.n_rows);
        append(sorted.leaf_row_weights, row_weights_, leaf.first_row, leaf.n_rows);
        sorted.leaf_rows_start.push_back(static_cast<std::int64_t>(sorted.leaf_rows.size()));
    }

    template <class All, class T>
    static void append(All& all, const std::vector<T>& from, std::size_t first, std::size_t n) {
        const auto begin = from.begin() + static_cast<std::ptrdiff_t>(first);
        all.insert(all.end(), begin, begin + static_cast<std::ptrdiff_t>(n));
    }

    std::int64_t max_nodes_;
    GrownTree tree_;
    std::vector<std::int32_t> n_children_;
    std::vector<Leaf> leaves_;  // in the order in which they were set, as are the following
    std::vector<double> leaf_values_;
    std::size_t leaf_size_ = 0;
    std::vector<std::int32_t> rows_;
    std::vector<double> row_weights_;
};

}  // namespace hedgerow::grow
