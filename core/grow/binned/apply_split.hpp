// A split applied to the rows of a node, and written as a node of the tree.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/random.hpp"
#include "grow/binned/best_split.hpp"
#include "grow/binned/bins.hpp"
#include "grow/tree_builder.hpp"

namespace hedgerow::grow::binned {

using base::Draws;
using base::Path;

// Stable partition; returns the number of rows that go to the first child. Both sides are written for every row and
// only one cursor moves, so there is no branch to mispredict. `path` is the node's.
template <class Row, class Split, class GoesLeft>
std::uint32_t partition_rows(Row* rows, std::uint32_t n_rows, Row* spare, const std::uint8_t* codes, const Split& split,
                             Path path, const GoesLeft& goes_left) {
    Row* left = rows;
    Row* right = spare;
    for (std::uint32_t i = 0; i < n_rows; ++i) {
        const Row row = rows[i];
        bool first = goes_left(codes[row.row]);
        // A missing value: draw the child with the shares as probabilities, which equals a fractional split in
        // expectation.
        if (split.any_missing && codes[row.row] == missing_code) [[unlikely]]
            first = Draws(path.of_row(row.row)).real() < split.share_left;
        *left = row;
        *right = row;
        left += first;
        right += !first;
    }
    std::copy(spare, right, left);
    return static_cast<std::uint32_t>(left - rows);
}

template <class Row, class Group>
std::uint32_t apply_split(Row* rows, std::uint32_t n_rows, Row* spare, const std::uint8_t* codes,
                          const BinnedSplit<Group>& split, Path path) {
    const auto by_threshold = [&](std::uint8_t code) { return code <= split.last_left; };
    const auto by_set = [&](std::uint8_t code) { return split.first[code]; };
    if (split.kind == Kind::threshold) return partition_rows(rows, n_rows, spare, codes, split, path, by_threshold);
    return partition_rows(rows, n_rows, spare, codes, split, path, by_set);
}

// Threshold: as it was drawn, else midway between the values of two bins. One against the rest: the category's code.
template <class Group>
double node_threshold(const BinnedSplit<Group>& split, const BinnedColumn& column) {
    if (split.kind == Kind::subset) return std::numeric_limits<double>::quiet_NaN();
    if (split.kind == Kind::one_against_rest)
        return static_cast<double>(std::find(split.first.begin(), split.first.end(), true) - split.first.begin());
    if (split.drawn) return *split.drawn;
    const double low = column.greatest[split.last_left], high = column.least[split.first_right];
    const double middle = low / 2 + high / 2;
    return low <= middle && middle < high ? middle : low;
}

template <class Group>
std::vector<std::int32_t> node_payload(const BinnedSplit<Group>& split, std::int32_t n_categories) {
    if (split.kind != Kind::subset) return {};
    std::vector<std::int32_t> child_of_code(static_cast<std::size_t>(n_categories));
    for (std::size_t code = 0; code < child_of_code.size(); ++code) child_of_code[code] = !split.first[code];
    return subset_words(child_of_code);
}

}  // namespace hedgerow::grow::binned
