// A split applied to the rows of a node, and written as a node of the tree.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "base/random.hpp"
#include "data/training_data.hpp"
#include "grow/binned/best_split.hpp"
#include "grow/binned/bins.hpp"
#include "grow/tree_builder.hpp"

namespace hedgerow::grow::binned {

using base::Draws;
using base::Path;
using data::RowNumbers;

// Stable partition; returns the number of rows that go to the first child. Both sides are written for every row and
// only one cursor moves, so there is no branch to mispredict. `path` is the node's.
template <class Row, class Split, class GoesLeft>
std::uint32_t partition_rows(Row* rows, std::uint32_t n_rows, Row* spare, const std::uint8_t* codes, const Split& split,
                             Path path, const RowNumbers& number, const GoesLeft& goes_left) {
    Row* left = rows;
    Row* right = spare;
    for (std::uint32_t i = 0; i < n_rows; ++i) {
        const Row row = rows[i];
        bool first = goes_left(codes[row.row]);
        // A missing value: draw the child with the shares as probabilities, which equals a fractional split in
        // expectation.
        if (split.any_missing && codes[row.row] == missing_code) [[unlikely]]
            first = Draws(path.of_row(number(row.row))).real() < split.share_left;
        *left = row;
        *right = row;
        left += first;
        right += !first;
    }
    std::copy(spare, right, left);
    return static_cast<std::uint32_t>(left - rows);
}

// Rows of a split with two children; returns the number of those that go to the first.
template <class Row, class Group>
std::uint32_t apply_split(Row* rows, std::uint32_t n_rows, Row* spare, const std::uint8_t* codes,
                          const BinnedSplit<Group>& split, Path path, const RowNumbers& number) {
    const auto by_threshold = [&](std::uint8_t code) { return code <= split.last_left; };
    const auto by_set = [&](std::uint8_t code) { return split.child_of[code] == 0; };
    if (split.kind == Kind::threshold)
        return partition_rows(rows, n_rows, spare, codes, split, path, number, by_threshold);
    return partition_rows(rows, n_rows, spare, codes, split, path, number, by_set);
}

// Child drawn with the weights of the children, of their sum `total`, as probabilities.
inline std::size_t draw_child(Path of_row, const std::vector<double>& weights, double total) {
    double rest = Draws(of_row).real();
    std::size_t child = 0;
    while (child + 1 < weights.size() && rest >= weights[child] / total) rest -= weights[child++] / total;
    return child;
}

// Rows of a multiway split, stable: sets `begins` to where the rows of each child begin, and to their number.
// weight(row) is the weight of a row.
template <class Row, class Group, class WeightOf>
void apply_multiway(Row* rows, std::uint32_t n_rows, Row* spare, const std::uint8_t* codes,
                    const BinnedSplit<Group>& split, Path path, const RowNumbers& number, const WeightOf& weight_of,
                    std::vector<std::uint32_t>& begins, std::vector<std::uint8_t>& child_of_row) {
    const auto n_children = static_cast<std::size_t>(split.n_children);
    child_of_row.resize(n_rows);
    for (std::uint32_t i = 0; i < n_rows; ++i) child_of_row[i] = split.child_of[codes[rows[i].row]];
    if (split.any_missing) {
        std::vector<double> weights(n_children, 0.0);
        for (std::uint32_t i = 0; i < n_rows; ++i)
            if (codes[rows[i].row] != missing_code) weights[child_of_row[i]] += weight_of(rows[i]);
        const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
        for (std::uint32_t i = 0; i < n_rows; ++i)
            if (codes[rows[i].row] == missing_code)
                child_of_row[i] =
                    static_cast<std::uint8_t>(draw_child(path.of_row(number(rows[i].row)), weights, total));
    }
    begins.assign(n_children + 1, 0);
    for (std::uint32_t i = 0; i < n_rows; ++i) ++begins[child_of_row[i] + 1u];
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    std::array<std::uint32_t, n_codes> next;
    std::copy(begins.begin(), begins.end() - 1, next.begin());
    for (std::uint32_t i = 0; i < n_rows; ++i) spare[next[child_of_row[i]]++] = rows[i];
    std::copy(spare, spare + n_rows, rows);
}

// Threshold: as it was drawn, else midway between the values of two bins. One against the rest: the category's code.
template <class Group>
double node_threshold(const BinnedSplit<Group>& split, const BinnedColumn& column) {
    if (split.kind == Kind::subset || split.kind == Kind::multiway) return std::numeric_limits<double>::quiet_NaN();
    if (split.kind == Kind::one_against_rest)
        return static_cast<double>(std::find(split.child_of.begin(), split.child_of.end(), 0) - split.child_of.begin());
    if (split.drawn) return *split.drawn;
    const double low = column.greatest[split.last_left], high = column.least[split.first_right];
    const double middle = low / 2 + high / 2;
    return low <= middle && middle < high ? middle : low;
}

template <class Group>
std::vector<std::int32_t> node_payload(const BinnedSplit<Group>& split, std::int32_t n_categories) {
    if (split.kind != Kind::subset && split.kind != Kind::multiway) return {};
    std::vector<std::int32_t> child_of_code(static_cast<std::size_t>(n_categories));
    std::copy_n(split.child_of.begin(), child_of_code.size(), child_of_code.begin());
    if (split.kind == Kind::subset) return subset_words(child_of_code);
    std::replace(child_of_code.begin(), child_of_code.end(), std::int32_t{no_child}, -1);
    return child_of_code;
}

}  // namespace hedgerow::grow::binned
