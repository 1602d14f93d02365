// The best split of a node on one column, from the column's histogram.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "forest/forest.hpp"
#include "grow/binned/bins.hpp"
#include "grow/category_order.hpp"
#include "grow/criteria.hpp"
#include "grow/options.hpp"

namespace hedgerow::grow::binned {

using forest::Kind;

// Child of each code; in a multiway split `no_child` for those that do not occur at the node.
using ChildOfCode = std::array<std::uint8_t, n_codes>;
inline constexpr std::uint8_t no_child = 255;

template <class Group>
struct BinnedSplit {
    double gain = -std::numeric_limits<double>::infinity();
    double value = gain;  // what splits are ordered by: the gain, less where the column is costly
    std::int32_t feature = -1;
    Kind kind = Kind::threshold;
    std::uint8_t last_left = 0;    // threshold: codes up to this one go to the first child
    std::uint8_t first_right = 0;  // threshold: the next code that occurs at the node
    std::optional<double> drawn;   // threshold: where it was drawn between the values of the two; none: midway
    ChildOfCode child_of;          // categories
    int n_children = 2;            // more in a multiway split
    Group left{};                  // two children: totals of the first, rows with a missing value excluded
    bool any_missing = false;
    double share_left = 0;  // two children: of the weight of the rows with a value, the part that goes to the first
    bool valid() const { return feature >= 0; }
};

struct SearchedColumn {
    std::int32_t feature;
    bool has_categories;
    Nominal nominal;
    const BinnedColumn& bins;
    std::optional<double> draw;  // in [0, 1), of the one split that is tried; none: all are
    double root_of_cost = 1;     // splits are ordered by gain²/cost, so by the gain over this
};

// Minimums for both branches of a split, and for its gain where the best split need not be the one that gains most.
struct SplitMinimums {
    double samples;
    double weight;
    double gain = -std::numeric_limits<double>::infinity();
};

inline SearchedColumn searched_column(const GrowOptions& options, std::int32_t feature, std::int32_t n_categories,
                                      const BinnedColumn& bins, std::optional<double> draw) {
    SearchedColumn column{feature, n_categories > 0, options.nominal, bins, draw};
    if (!options.feature_costs.empty())
        column.root_of_cost = std::sqrt(options.feature_costs[static_cast<std::size_t>(feature)]);
    return column;
}

inline SplitMinimums split_minimums(const GrowOptions& options, double tree_weight) {
    SplitMinimums minimums{options.min_samples_leaf, options.min_weight_leaf};
    if (!options.feature_costs.empty()) minimums.gain = options.min_impurity_decrease * tree_weight;
    return minimums;
}

// Buffers that the searches of a tree share.
template <class Group>
struct SplitScratch {
    Group left, known;
    std::vector<CategoryGroup<Group>> present;  // categories that occur at the node
};

// Judges the splits of a node on one column, and keeps the best of all columns.
template <class Criterion>
class SplitJudge {
public:
    using Group = typename Criterion::Group;
    using Split = BinnedSplit<Group>;

    SplitJudge(const Criterion& criterion, const SearchedColumn& column, const SplitMinimums& minimums,
               double tolerance, Split& best)
        : criterion_(criterion), column_(column), minimums_(minimums), tolerance_(tolerance), best_(best) {}

    // Totals of the node's rows that have a value, and whether there are others.
    void set_known(const Group& known, double rows, bool any_missing) {
        known_rows_ = rows;
        known_score_ = criterion_.score(known.data());
        known_weight_ = criterion_.weight(known.data());
        any_missing_ = any_missing;
    }

    // Keeps the split that sends `part` of `known` to the first child if it beats the best so far; complete(split)
    // fills in which one it is.
    template <class Complete>
    void offer(const Group& part, const Group& known, double rows_left, const Complete& complete) {
        const Fraction gain = criterion_.split_gain(part.data(), known.data(), known_score_);
        if (!beats_best(gain) || !both_large_enough(rows_left, part) || !gains_enough(gain)) return;
        keep(gain, 2);
        best_.left = part;
        best_.share_left = criterion_.weight(part.data()) / known_weight_;
        complete(best_);
    }

    // As `offer`, for a multiway split whose branches have scores with this sum.
    template <class Complete>
    void offer_multiway(double score, int n_children, const Complete& complete) {
        const Fraction gain{score - known_score_, 1.0};
        if (!beats_best(gain) || !gains_enough(gain)) return;
        keep(gain, n_children);
        complete(best_);
    }

    bool large_enough(double rows, double weight) const {
        const bool counted = minimums_.samples > 1;  // else a branch that is not empty is enough
        return (!counted || rows >= minimums_.samples - 1e-9) && weight >= minimums_.weight;
    }

private:
    // Ties go to the lower feature.
    bool beats_best(const Fraction& gain) const {
        const double bar = column_.feature < best_.feature ? best_.value - tolerance_ : best_.value + tolerance_;
        return gain.numerator > bar * (gain.denominator * column_.root_of_cost);
    }

    bool gains_enough(const Fraction& gain) const {
        return gain.numerator + tolerance_ * gain.denominator >= minimums_.gain * gain.denominator;
    }

    void keep(const Fraction& gain, int n_children) {
        best_.gain = gain.numerator / gain.denominator;
        best_.value = best_.gain / column_.root_of_cost;
        best_.feature = column_.feature;
        best_.any_missing = any_missing_;
        best_.n_children = n_children;
    }

    // Whether both branches are, of which `part` is the first.
    bool both_large_enough(double rows_left, const Group& part) const {
        const double left = criterion_.weight(part.data());
        return large_enough(rows_left, left) && large_enough(known_rows_ - rows_left, known_weight_ - left);
    }

    const Criterion& criterion_;
    const SearchedColumn& column_;
    const SplitMinimums& minimums_;
    double tolerance_;
    Split& best_;
    double known_rows_ = 0;
    double known_score_ = 0;
    double known_weight_ = 0;
    bool any_missing_ = false;
};

// One call of find_best_split.
template <class Criterion, class Histogram>
class HistogramSearch {
public:
    using Group = typename Criterion::Group;
    using Split = BinnedSplit<Group>;

    HistogramSearch(const Criterion& criterion, const SearchedColumn& column, const SplitMinimums& minimums,
                    double tolerance, Histogram& histogram, SplitScratch<Group>& scratch, Split& best)
        : criterion_(criterion),
          column_(column),
          judge_(criterion, column, minimums, tolerance, best),
          histogram_(histogram),
          scratch_(scratch) {}

    void operator()(const Group& totals, double n_rows) {
        Group &left = scratch_.left, &known = scratch_.known;
        known = totals;
        double known_rows = n_rows;
        const bool any_missing = histogram_.touched().touched(missing_code);
        if (any_missing) {
            std::fill(left.begin(), left.end(), 0.0);
            known_rows -= histogram_.take(missing_code, left.data());
            for (std::size_t k = 0; k < known.size(); ++k) known[k] -= left[k];
        }
        judge_.set_known(known, known_rows, any_missing);
        if (!column_.has_categories)
            search_thresholds();
        else if (column_.nominal == Nominal::multiway)
            search_multiway();
        else
            search_categories();
    }

private:
    void search_thresholds() {
        // Groups of a constant size are copied, so that the compiler can keep them in registers.
        using Local = std::conditional_t<std::is_same_v<Group, std::vector<double>>, Group&, Group>;
        Local left = scratch_.left, known = scratch_.known;
        std::fill(left.begin(), left.end(), 0.0);
        double rows_left = 0;
        int last = -1;
        histogram_.touched().drain([&](std::uint8_t code) {
            if (code == missing_code) return;
            if (last >= 0)
                judge_.offer(left, known, rows_left, [&](Split& split) {
                    split.kind = Kind::threshold;
                    split.last_left = static_cast<std::uint8_t>(last);
                    split.first_right = code;
                });
            rows_left += histogram_.take(code, left.data());
            last = code;
        });
    }

    // A branch for each category, of which two must be large enough.
    void search_multiway() {
        Group& branch = scratch_.left;
        ChildOfCode present;
        int n_present = 0, n_large_enough = 0;
        double score = 0;
        histogram_.touched().drain([&](std::uint8_t code) {
            if (code == missing_code) return;
            std::fill(branch.begin(), branch.end(), 0.0);
            const double rows = histogram_.take(code, branch.data());
            n_large_enough += judge_.large_enough(rows, criterion_.weight(branch.data()));
            score += criterion_.score(branch.data());
            present[static_cast<std::size_t>(n_present++)] = code;
        });
        if (n_large_enough < 2) return;
        judge_.offer_multiway(score, n_present, [&](Split& split) {
            split.kind = Kind::multiway;
            split.child_of.fill(no_child);
            for (int child = 0; child < n_present; ++child)
                split.child_of[present[static_cast<std::size_t>(child)]] = static_cast<std::uint8_t>(child);
        });
    }

    void search_categories() {
        std::vector<CategoryGroup<Group>>& present = scratch_.present;
        present.clear();
        histogram_.touched().drain([&](std::uint8_t code) {
            if (code == missing_code) return;
            CategoryGroup<Group> category{code, 0, criterion_.empty()};
            category.rows = histogram_.take(code, category.group.data());
            present.push_back(std::move(category));
        });
        if (present.size() < 2) return;
        if (column_.nominal == Nominal::binary)
            offer_each_category();
        else
            offer_ordered_subsets();
    }

    void offer_each_category() {
        const std::vector<CategoryGroup<Group>>& present = scratch_.present;
        const std::size_t first = column_.draw ? drawn_index(present.size(), *column_.draw) : 0;
        const std::size_t last = column_.draw ? first + 1 : present.size();
        for (std::size_t i = first; i < last; ++i) {
            const CategoryGroup<Group>& category = present[i];
            judge_.offer(category.group, scratch_.known, category.rows, [&](Split& split) {
                split.kind = Kind::one_against_rest;
                split.child_of.fill(1);
                split.child_of[static_cast<std::size_t>(category.code)] = 0;
            });
        }
    }

    void offer_ordered_subsets() {
        std::vector<CategoryGroup<Group>>& present = scratch_.present;
        Group& left = scratch_.left;
        order_categories(present, std::is_same_v<typename Criterion::Target, double>);
        std::fill(left.begin(), left.end(), 0.0);
        double rows_left = 0;
        for (std::size_t n = 1; n < present.size(); ++n) {
            for (std::size_t k = 0; k < left.size(); ++k) left[k] += present[n - 1].group[k];
            rows_left += present[n - 1].rows;
            if (column_.draw && n != 1 + drawn_index(present.size() - 1, *column_.draw)) continue;
            judge_.offer(left, scratch_.known, rows_left, [&](Split& split) {
                split.kind = Kind::subset;
                split.child_of.fill(1);
                for (std::size_t i = 0; i < n; ++i) split.child_of[static_cast<std::size_t>(present[i].code)] = 0;
            });
        }
    }

    const Criterion& criterion_;
    const SearchedColumn& column_;
    SplitJudge<Criterion> judge_;
    Histogram& histogram_;
    SplitScratch<Group>& scratch_;
};

// Replaces `best` where a split on this column gains more. `totals` and `n_rows` are those of the node; the histogram
// of its rows is empty again afterwards.
template <class Criterion, class Histogram>
void find_best_split(const Criterion& criterion, const SearchedColumn& column, const SplitMinimums& minimums,
                     const typename Criterion::Group& totals, double n_rows, double tolerance, Histogram& histogram,
                     SplitScratch<typename Criterion::Group>& scratch, BinnedSplit<typename Criterion::Group>& best) {
    HistogramSearch<Criterion, Histogram>(criterion, column, minimums, tolerance, histogram, scratch, best)(totals,
                                                                                                            n_rows);
}

}  // namespace hedgerow::grow::binned
