// The best two-way split of a node on one column, from the column's histogram.
#pragma once

#include <algorithm>
#include <array>
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

// Codes that go to the first child.
using CodeSet = std::array<bool, n_codes>;

template <class Group>
struct BinnedSplit {
    double gain = -std::numeric_limits<double>::infinity();
    std::int32_t feature = -1;
    Kind kind = Kind::threshold;
    std::uint8_t last_left = 0;    // threshold: codes up to this one go to the first child
    std::uint8_t first_right = 0;  // threshold: the next code that occurs at the node
    std::optional<double> drawn;   // threshold: where it was drawn between the values of the two; none: midway
    CodeSet first;                 // categories
    Group left{};                  // totals of the first child, rows with a missing value excluded
    bool any_missing = false;
    double share_left = 0;  // of the weight of the rows with a value, the part that goes to the first child
    bool valid() const { return feature >= 0; }
};

struct SearchedColumn {
    std::int32_t feature;
    bool has_categories;
    Nominal nominal;  // binary or subset
    const BinnedColumn& bins;
    std::optional<double> draw;  // in [0, 1), of the one split that is tried; none: all are
};

// Minimums for both branches of a split.
struct BranchMinimums {
    double samples;
    double weight;
};

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

    SplitJudge(const Criterion& criterion, const SearchedColumn& column, const BranchMinimums& minimums,
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
    // fills in which one it is. Ties go to the lower feature.
    template <class Complete>
    void offer(const Group& part, const Group& known, double rows_left, const Complete& complete) {
        const Fraction gain = criterion_.split_gain(part.data(), known.data(), known_score_);
        const double bar = column_.feature < best_.feature ? best_.gain - tolerance_ : best_.gain + tolerance_;
        if (!(gain.numerator > bar * gain.denominator) || !large_enough(rows_left, part)) return;
        best_.gain = gain.numerator / gain.denominator;
        best_.feature = column_.feature;
        best_.left = part;
        best_.any_missing = any_missing_;
        best_.share_left = criterion_.weight(part.data()) / known_weight_;
        complete(best_);
    }

private:
    // Whether both branches are, of which `part` is the first.
    bool large_enough(double rows_left, const Group& part) const {
        const bool counted = minimums_.samples > 1;  // else a branch that is not empty is enough
        if (counted && std::min(rows_left, known_rows_ - rows_left) < minimums_.samples - 1e-9) return false;
        const double left = criterion_.weight(part.data());
        return std::min(left, known_weight_ - left) >= minimums_.weight;
    }

    const Criterion& criterion_;
    const SearchedColumn& column_;
    const BranchMinimums& minimums_;
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

    HistogramSearch(const Criterion& criterion, const SearchedColumn& column, const BranchMinimums& minimums,
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
        if (column_.has_categories)
            search_categories();
        else
            search_thresholds();
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
                split.first.fill(false);
                split.first[static_cast<std::size_t>(category.code)] = true;
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
                split.first.fill(false);
                for (std::size_t i = 0; i < n; ++i) split.first[static_cast<std::size_t>(present[i].code)] = true;
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
void find_best_split(const Criterion& criterion, const SearchedColumn& column, const BranchMinimums& minimums,
                     const typename Criterion::Group& totals, double n_rows, double tolerance, Histogram& histogram,
                     SplitScratch<typename Criterion::Group>& scratch, BinnedSplit<typename Criterion::Group>& best) {
    HistogramSearch<Criterion, Histogram>(criterion, column, minimums, tolerance, histogram, scratch, best)(totals,
                                                                                                            n_rows);
}

}  // namespace hedgerow::grow::binned
