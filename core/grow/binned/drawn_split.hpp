// One drawn threshold on a column of numbers: two passes over the node's codes, and no histogram.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "grow/binned/best_split.hpp"
#include "grow/binned/bins.hpp"
#include "grow/binned/histogram.hpp"
#include "grow/options.hpp"

namespace hedgerow::grow::binned {

struct DrawnThreshold {
    std::uint8_t first_right;  // the lowest code that goes to the second child
    double threshold;
    bool any_missing;
};

// Between the lowest and the highest code of some rows; none where they have fewer than two.
inline std::optional<DrawnThreshold> draw_between(std::uint8_t low, std::uint8_t high, bool any_missing,
                                                  const BinnedColumn& bins, double draw) {
    if (low >= high) return std::nullopt;
    const double threshold = drawn_threshold(bins.least[low], bins.least[high], draw);
    const auto first_right = static_cast<std::size_t>(
        std::upper_bound(bins.least.begin() + low, bins.least.begin() + high, threshold) - bins.least.begin());
    // A threshold within a bin moves to its end: rows of a bin stay together.
    return DrawnThreshold{static_cast<std::uint8_t>(first_right), std::max(threshold, bins.greatest[first_right - 1]),
                          any_missing};
}

template <class Row>
std::optional<DrawnThreshold> draw_threshold(const std::uint8_t* codes, const Row* rows, std::uint32_t n_rows,
                                             const BinnedColumn& bins, double draw) {
    std::uint8_t low = missing_code, high = 0;
    bool any_missing = false;
    for (std::uint32_t i = 0; i < n_rows; ++i) {
        const std::uint8_t code = codes[rows[i].row];
        low = std::min(low, code);
        high = std::max(high, code == missing_code ? std::uint8_t{0} : code);
        any_missing |= code == missing_code;
    }
    return draw_between(low, high, any_missing, bins, draw);
}

template <class Split>
void set_drawn(const DrawnThreshold& drawn, Split& split) {
    split.kind = Kind::threshold;
    split.last_left = static_cast<std::uint8_t>(drawn.first_right - 1);
    split.first_right = drawn.first_right;
    split.drawn = drawn.threshold;
}

// Adds the rows with first <= code < end to a group; returns their number. instance(row) is a row's weight and target.
template <class Criterion, class Row, class InstanceOf>
double add_between(const Criterion& criterion, const std::uint8_t* codes, const Row* rows, std::uint32_t n_rows,
                   int first, int end, typename Criterion::Group& group, const InstanceOf& instance) {
    std::uint32_t n_added = 0;
    const auto is_between = [&](std::uint32_t i) { return codes[rows[i].row] >= first && codes[rows[i].row] < end; };
    if constexpr (std::is_same_v<Row, CountedRow> && std::is_same_v<typename Criterion::Group, std::array<double, 2>>) {
        // As in PairHistogram: both counts share one word, so that a row costs one addition and no branch.
        std::uint64_t sum = 0;
        for (std::uint32_t i = 0; i < n_rows; ++i) {
            const std::uint64_t added = is_between(i);
            sum += added * (std::uint64_t{rows[i].count} << 32 * rows[i].label);
            n_added += static_cast<std::uint32_t>(added);
        }
        group[0] += static_cast<std::uint32_t>(sum);
        group[1] += static_cast<double>(sum >> 32);
    } else {
        for (std::uint32_t i = 0; i < n_rows; ++i) {
            if (!is_between(i)) continue;
            criterion.add(group.data(), instance(rows[i]));
            ++n_added;
        }
    }
    return n_added;
}

// Replaces `best` where the drawn split gains more; as find_best_split, without a histogram.
template <class Criterion, class Row, class InstanceOf>
void try_drawn_split(const Criterion& criterion, const SearchedColumn& column, const SplitMinimums& minimums,
                     const typename Criterion::Group& totals, double tolerance, const std::uint8_t* codes,
                     const Row* rows, std::uint32_t n_rows, const InstanceOf& instance,
                     SplitScratch<typename Criterion::Group>& scratch, BinnedSplit<typename Criterion::Group>& best) {
    const auto drawn = draw_threshold(codes, rows, n_rows, column.bins, *column.draw);
    if (!drawn) return;
    auto &left = scratch.left, &known = scratch.known;
    known = totals;
    double known_rows = n_rows;
    if (drawn->any_missing) {
        std::fill(left.begin(), left.end(), 0.0);
        known_rows -= add_between(criterion, codes, rows, n_rows, missing_code, n_codes, left, instance);
        for (std::size_t k = 0; k < known.size(); ++k) known[k] -= left[k];
    }
    std::fill(left.begin(), left.end(), 0.0);
    const double rows_left = add_between(criterion, codes, rows, n_rows, 0, drawn->first_right, left, instance);
    SplitJudge<Criterion> judge(criterion, column, minimums, tolerance, best);
    judge.set_known(known, known_rows, drawn->any_missing);
    judge.offer(left, known, rows_left, [&](auto& split) { set_drawn(*drawn, split); });
}

}  // namespace hedgerow::grow::binned
