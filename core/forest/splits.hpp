// Reads the split of a node of any kind: the only reader of nodes in the core.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "data/codes.hpp"
#include "forest/forest.hpp"

namespace hedgerow::forest {

using data::code_of;
using data::no_code;

inline constexpr std::int64_t no_child = -1;

// Multiway split: `children` has the child of each code.
inline std::int64_t child_of_category(const std::int32_t* children, std::int64_t n_codes, double value) {
    const std::int64_t code = code_of(value, n_codes);
    return code == no_code ? no_child : children[code];
}

// Payload of a multiway split or a subset.
struct CategoryWords {
    const std::int32_t* words;
    std::int64_t n_words;
};
inline CategoryWords category_words(const Forest& forest, std::int64_t node) {
    const std::int64_t begin = forest.payload_start[forest.payload[node]];
    return {forest.payload_codes + begin, forest.payload_start[forest.payload[node] + 1] - begin};
}

// Number of codes that a multiway split or a subset knows: 0 .. n - 1.
inline std::int64_t n_codes(const Forest& forest, std::int64_t node) {
    return category_words(forest, node).n_words * (forest.kind[node] == Kind::multiway ? 1 : 32);
}

// Multiway split or subset: the child of one of its codes, no_child where no training row had it.
inline std::int64_t child_of_code(const Forest& forest, std::int64_t node, std::int64_t code) {
    const std::int32_t* words = category_words(forest, node).words;
    if (forest.kind[node] == Kind::multiway) return words[code];
    return static_cast<std::uint32_t>(words[code / 32]) >> (code % 32) & 1 ? 0 : 1;
}

inline std::int64_t category_child(const Forest& forest, std::int64_t node, double value) {
    const std::int64_t code = code_of(value, n_codes(forest, node));
    return code == no_code ? no_child : child_of_code(forest, node, code);
}

// Adds n products weight · value, a missing value replaced by its mean, which may be NaN; NaN where no value is known.
template <class ValueOf>
double sum_with_means(const double* weights, const double* means, std::int64_t n, const ValueOf& value_of) {
    double sum = 0;
    std::int64_t n_known = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        const double value = value_of(i);
        const bool known = !std::isnan(value);
        n_known += known;
        sum += weights[i] * (known ? value : means[i]);
    }
    return n_known > 0 ? sum : std::numeric_limits<double>::quiet_NaN();
}

// A Row is anything that gives the value of a column by its number.
template <class Row>
double oblique_sum(const Forest& forest, std::int64_t node, const Row& row) {
    const std::int64_t begin = forest.payload_start[forest.payload[node]];
    const std::int64_t end = forest.payload_start[forest.payload[node] + 1];
    const auto value_of = [&](std::int64_t i) { return row[forest.payload_codes[begin + i]]; };
    if (forest.payload_means != nullptr)
        return sum_with_means(forest.payload_weights + begin, forest.payload_means + begin, end - begin, value_of);
    double sum = 0;
    for (std::int64_t i = 0; i < end - begin; ++i) sum += forest.payload_weights[begin + i] * value_of(i);
    return sum;
}

// The number of the child that the row goes to; no_child where the value is missing or has no branch. `node` is
// absolute and no leaf.
template <class Row>
std::int64_t branch_of(const Forest& forest, std::int64_t node, const Row& row) {
    const Kind kind = forest.kind[node];
    const Node& test = forest.nodes[node];
    const double value = kind == Kind::oblique ? oblique_sum(forest, node, row) : row[test.feature];
    if (std::isnan(value)) return no_child;
    switch (kind) {
        case Kind::subset:
        case Kind::multiway:
            return category_child(forest, node, value);
        case Kind::one_against_rest:
            return value == test.threshold ? 0 : 1;
        default:
            return value <= test.threshold ? 0 : 1;
    }
}

inline std::int64_t n_children(const Forest& forest, std::int64_t node) {
    std::int64_t n = 2;
    if (forest.kind[node] == Kind::multiway) {
        const std::int32_t* codes = forest.payload_codes;
        const std::int64_t p = forest.payload[node];
        n = 1 + *std::max_element(codes + forest.payload_start[p], codes + forest.payload_start[p + 1]);
    }
    return n + (forest.missing_of(node) == Missing::own_branch);
}

// The child of a row without a usable value, by the node's policy; no_child where the row is to be spread.
inline std::int64_t child_if_missing(const Forest& forest, std::int64_t node) {
    switch (forest.missing_of(node)) {
        case Missing::spread:
            return no_child;
        case Missing::first_child:
            return 0;
        default:
            return n_children(forest, node) - 1;  // own_branch: the branch of missing values is the last
    }
}

// As `branch_of`, with the node's policy for missing values.
template <class Row>
std::int64_t child_number(const Forest& forest, std::int64_t node, const Row& row) {
    const std::int64_t child = branch_of(forest, node, row);
    return child != no_child ? child : child_if_missing(forest, node);
}

// The child with the largest training weight; the first of equals.
inline std::int64_t heaviest_child(const Forest& forest, std::int64_t root, std::int64_t node) {
    if (forest.weight == nullptr) return 0;
    const double* weights = forest.weight + root + forest.nodes[node].first_child;
    return std::max_element(weights, weights + n_children(forest, node)) - weights;
}

}  // namespace hedgerow::forest
