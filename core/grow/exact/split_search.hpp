// The best split of a node on each column.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "grow/category_order.hpp"
#include "grow/chi_square.hpp"
#include "grow/criteria.hpp"
#include "grow/exact/category_counts.hpp"
#include "grow/exact/projection.hpp"
#include "grow/exact/samples.hpp"
#include "grow/options.hpp"

namespace hedgerow::grow::exact {

using forest::Kind;
using forest::Missing;

// Totals of a node before it is split.
struct Totals {
    std::vector<double> group;  // as the criterion keeps it
    double rows = 0;            // whole rows and fractions
    double weight = 0;
    double magnitude = 0;
    double last_target = 0;  // of those added so far
    bool mixed = false;      // two targets differ
};

// A split and its gain: the decrease of weighted impurity over the rows with a value, so that a split on a column that
// few rows have gains little (C4.5's factor F).
struct Candidate {
    double gain = -std::numeric_limits<double>::infinity();
    double split_information = 0;
    ChiSquare chi_square;  // of branches and classes, if a test is wanted
    std::int32_t feature = -1;
    Kind kind = Kind::leaf;
    Missing missing = Missing::spread;
    double threshold = std::numeric_limits<double>::quiet_NaN();
    std::uint32_t last_left = 0;                   // threshold: the largest rank that goes left
    std::vector<std::int32_t> members;             // subset: the codes that go left
    std::shared_ptr<const Projection> projection;  // oblique: `feature` is then behind those of the columns
    bool valid() const { return feature >= 0; }
};

// One node's search.
template <class Criterion>
class SplitSearch {
public:
    using Target = typename Criterion::Target;

    SplitSearch(const TrainingData& data, const GrowOptions& options, const Criterion& criterion,
                const SortedData& sorted)
        : data_(data),
          options_(options),
          criterion_(criterion),
          sorted_(sorted),
          counts_(sorted.categories, criterion, has_unit_weights(data)) {
        const auto size = static_cast<std::size_t>(criterion.size());
        for (std::vector<double>* group : {&left_, &right_, &known_, &unknown_, &other_}) group->resize(size);
    }

    // Counts the rows of a node in nominal columns, each of which must then be searched once.
    void count(const NodeSamples<Target>& node, std::span<const std::int32_t> positions) {
        counts_.count(node, positions);
    }

    // Whether all rows have the same category in the column that was searched last, and so have all nodes below.
    bool is_settled() const { return present_.size() + any_unknown_ < 2; }

    // The best split on this column, by gain, or the one that `draw` in [0, 1) picks. A nominal column must have been
    // counted.
    Candidate operator()(const NodeSamples<Target>& node, const Totals& totals, std::int32_t feature,
                         std::optional<double> draw = std::nullopt) {
        begin(node, totals, feature, draw);
        if (data_.n_categories[feature] > 0) {
            search_categories();
            if (best_.valid()) best_.gain -= base_;
            return best_;
        }
        const auto list = static_cast<std::size_t>(sorted_.list_of[static_cast<std::size_t>(feature)]);
        const Range range = node.lists[list];
        entries_ = {node.block->lists[list].data() + range.begin, range.size()};
        values_ = &sorted_.columns[list].values;
        projection_ = nullptr;
        return best_threshold();
    }

    // The best oblique split along this projection, which counts as the column with the number `feature`.
    Candidate operator()(const NodeSamples<Target>& node, const Totals& totals, std::int32_t feature,
                         const std::shared_ptr<const Projection>& projection, std::optional<double> draw) {
        begin(node, totals, feature, draw);
        entries_ = projection->entries;
        values_ = &projection->values;
        projection_ = &projection;
        return best_threshold();
    }

private:
    using Group = std::vector<double>;
    static constexpr std::size_t max_searched_categories = 12;

    void begin(const NodeSamples<Target>& node, const Totals& totals, std::int32_t feature,
               std::optional<double> draw) {
        node_ = &node;
        totals_ = &totals;
        tolerance_ = 1e-12 * totals.magnitude;
        best_ = Candidate{};
        feature_ = feature;
        draw_ = draw;
        min_rows_ = options_.min_samples_leaf;
        n_offered_ = 0;
    }

    Candidate best_threshold() {
        search_thresholds();
        if (best_.valid()) best_.gain -= base_;
        if (options_.c45) subtract_threshold_cost();
        return best_;
    }

    // RowTotals of weight 0 are in no tree.
    static bool has_unit_weights(const TrainingData& data) {
        return std::all_of(data.weight, data.weight + data.n_rows, [](double w) { return w == 0 || w == 1; });
    }

    void clear(Group& group) const { std::fill(group.begin(), group.end(), 0.0); }
    void subtract(const Group& a, const Group& b, Group& out) const {
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = a[i] - b[i];
    }
    void add(const Group& a, const Group& b, Group& out) const { add(a, b.data(), out); }
    void add(const Group& a, const double* b, Group& out) const {
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = a[i] + b[i];
    }
    double score(const Group& group) const { return criterion_.score(group.data()); }

    // −p·log2 p of a branch that holds this weight, p its share of the node.
    double information(double weight) const {
        const double p = weight / totals_->weight;
        return p > 0 ? -p * std::log2(p) : 0.0;
    }

    // Split information, in which rows without a value count as a branch (C4.5), and the chi-square test.
    void describe(Candidate& c, std::initializer_list<const Group*> branches,
                  const Group* without_answer = nullptr) const {
        std::array<const double*, 3> groups;
        std::transform(branches.begin(), branches.end(), groups.begin(),
                       [](const Group* branch) { return branch->data(); });
        describe(c, std::span(groups.data(), branches.size()), without_answer);
    }
    void describe(Candidate& c, std::span<const double* const> branches, const Group* without_answer) const {
        c.split_information = without_answer ? information(criterion_.weight(without_answer->data())) : 0.0;
        for (const double* branch : branches) c.split_information += information(criterion_.weight(branch));
        if constexpr (!std::is_same_v<Target, double>)
            if (options_.significance < 1) c.chi_square = ChiSquare::of(branches, left_.size());
    }

    // Number of rows with a value, and without.
    struct RowTotals {
        double known = 0;
        double unknown = 0;
    };

    // C4.5: choosing one of n thresholds takes log2(n) bits, which are subtracted from the gain (Quinlan, 1996).
    void subtract_threshold_cost() {
        if (!best_.valid()) return;
        best_.gain -= std::log2(static_cast<double>(n_offered_));
        if (best_.gain <= tolerance_) best_ = Candidate{};
    }

    // C4.5: a tenth of the rows per class, at most 25.
    double least_rows_beside_a_threshold(double known) const {
        if (!options_.c45) return options_.min_samples_leaf;
        return std::max(options_.min_samples_leaf, std::min(25.0, 0.1 * known / static_cast<double>(data_.n_classes)));
    }

    // Whether a branch is large enough to count.
    bool enough(double rows, const Group& group) const { return enough(rows, group.data()); }
    bool enough(double rows, const double* group) const {
        return rows >= min_rows_ - 1e-9 &&
               (options_.min_weight_leaf <= 0 || criterion_.weight(group) >= options_.min_weight_leaf);
    }

    // Keeps a split with this score if it is the best so far; within a column, ties go to the first.
    template <class Complete>
    void offer(double value, const Complete& complete) {
        ++n_offered_;
        if (best_.valid() && !(value > best_.gain + tolerance_)) return;
        best_ = Candidate{};
        best_.gain = value;
        best_.feature = feature_;
        complete(best_);
    }

    void search_thresholds() {
        const SampleBlock<Target>& block = *node_->block;
        if (entries_.empty()) return;
        const bool any_missing = entries_.size() < node_->members.size();
        RowTotals rows{totals_->rows, 0};
        known_ = totals_->group;
        if (any_missing) {
            clear(known_);
            rows.known = 0;
            for (const ListEntry& entry : entries_) {
                criterion_.add(known_.data(), block.instances[entry.id]);
                rows.known += block.fraction(entry.id);
            }
            rows.unknown = totals_->rows - rows.known;
        }
        subtract(totals_->group, known_, unknown_);
        min_rows_ = least_rows_beside_a_threshold(rows.known);
        const bool fractional = options_.known_only();
        base_ = score(fractional ? known_ : totals_->group);
        if (any_missing && !fractional && !projection_) offer_known_against_missing(rows);
        if (any_missing && !fractional)
            scan<true>(rows);
        else
            scan<false>(rows);
    }

    template <bool with_missing>
    void scan(const RowTotals& rows) {
        const std::span<const ListEntry> entries = entries_;
        const SampleBlock<Target>& block = *node_->block;
        const bool whole = block.fractions.empty();
        clear(left_);
        double rows_left = 0;
        const std::uint32_t drawn_rank = draw_threshold(entries.front().rank, entries.back().rank);
        for (std::size_t i = 0; i + 1 < entries.size(); ++i) {
            criterion_.add(left_.data(), block.instances[entries[i].id]);
            rows_left += whole ? 1.0 : block.fractions[entries[i].id];
            if (entries[i].rank == entries[i + 1].rank) continue;
            if (draw_ && !(entries[i].rank <= drawn_rank && drawn_rank < entries[i + 1].rank)) continue;
            const double rows_right = rows.known - rows_left;
            if constexpr (with_missing) {
                offer_with_missing(entries[i].rank, entries[i + 1].rank, rows_left, rows_right, rows.unknown);
            } else {
                subtract(known_, left_, right_);
                if (!enough(rows_left, left_) || !enough(rows_right, right_)) continue;
                offer(score(left_) + score(right_), [&](Candidate& c) {
                    complete_threshold(c, entries[i].rank, entries[i + 1].rank, Missing::spread);
                    describe(c, {&left_, &right_}, &unknown_);
                });
            }
        }
    }

    // Draws a threshold between two values of the column; returns the rank of the largest value that is not above it.
    std::uint32_t draw_threshold(std::uint32_t lowest, std::uint32_t highest) {
        if (!draw_) return 0;
        const std::vector<double>& values = *values_;
        drawn_ = drawn_threshold(values[lowest], values[highest], *draw_);
        return static_cast<std::uint32_t>(std::upper_bound(values.begin() + lowest, values.begin() + highest, drawn_) -
                                          values.begin() - 1);
    }

    void complete_threshold(Candidate& c, std::uint32_t rank, std::uint32_t next_rank, Missing missing) const {
        const std::vector<double>& values = *values_;
        const double low = values[rank], high = values[next_rank];
        const double middle = low / 2 + high / 2;
        c.kind = projection_ ? Kind::oblique : Kind::threshold;
        if (projection_) c.projection = *projection_;
        c.threshold = low <= middle && middle < high ? middle : low;
        if (draw_) c.threshold = drawn_;
        if (options_.c45)  // a value of the training data, not above the middle
            c.threshold = *(std::upper_bound(values.begin() + rank, values.begin() + next_rank, c.threshold) - 1);
        c.last_left = rank;
        c.missing = missing;
    }

    // Missing values get a branch of their own, or go to the side that gains more.
    void offer_with_missing(std::uint32_t rank, std::uint32_t next_rank, double rows_left, double rows_right,
                            double rows_unknown) {
        subtract(known_, left_, right_);
        if (options_.missing == TrainMissing::category) {
            if (enough(rows_left, left_) + enough(rows_right, right_) + enough(rows_unknown, unknown_) < 2) return;
            offer(score(left_) + score(right_) + score(unknown_), [&](Candidate& c) {
                complete_threshold(c, rank, next_rank, Missing::own_branch);
                describe(c, {&left_, &right_, &unknown_});
            });
            return;
        }
        for (const Missing side : {Missing::first_child, Missing::last_child}) {
            const bool first = side == Missing::first_child;
            const Group& alone = first ? right_ : left_;
            add(first ? left_ : right_, unknown_, other_);
            const double rows_joined = (first ? rows_left : rows_right) + rows_unknown;
            if (!enough(rows_joined, other_) || !enough(first ? rows_right : rows_left, alone)) continue;
            offer(score(other_) + score(alone), [&](Candidate& c) {
                complete_threshold(c, rank, next_rank, side);
                describe(c, {&other_, &alone});
            });
        }
    }

    // Present or missing: a threshold of +∞ with the missing rows as last child.
    void offer_known_against_missing(const RowTotals& rows) {
        if (!enough(rows.known, known_) || !enough(rows.unknown, unknown_)) return;
        offer(score(known_) + score(unknown_), [&](Candidate& c) {
            c.kind = Kind::threshold;
            c.threshold = std::numeric_limits<double>::infinity();
            c.last_left = missing_rank;
            c.missing = Missing::last_child;
            describe(c, {&known_, &unknown_});
        });
    }

    // A category that occurs at the node.
    struct Category {
        std::int32_t code;
        double rows;
        const double* group;
    };

    void search_categories() {
        const auto position = static_cast<std::size_t>(sorted_.categories.position_of(feature_));
        const std::uint32_t first = sorted_.categories.first_number(position);
        const std::uint32_t missing = sorted_.categories.missing_number(position);
        find_present(position);
        any_unknown_ = counts_.rows(missing) > 0;
        offer_categories();
        for (const Category& category : present_) counts_.clear(first + static_cast<std::uint32_t>(category.code));
        if (any_unknown_) counts_.clear(missing);
    }

    // Found by the rows where there are fewer of them than categories.
    void find_present(std::size_t position) {
        const std::uint32_t first = sorted_.categories.first_number(position);
        const std::uint32_t missing = sorted_.categories.missing_number(position);
        const auto look_at = [&](std::uint32_t number) {
            const double rows = counts_.rows(number);
            if (rows > 0) present_.push_back({static_cast<std::int32_t>(number - first), rows, counts_.group(number)});
        };
        present_.clear();
        if (missing - first <= node_->members.size()) {
            for (std::uint32_t number = first; number < missing; ++number) look_at(number);
            return;
        }
        const SampleBlock<Target>& block = *node_->block;
        numbers_.clear();
        for (std::uint32_t at = node_->members.begin; at < node_->members.end; ++at)
            numbers_.push_back(sorted_.categories.of_row(block.rows[block.members[at]])[position]);
        std::sort(numbers_.begin(), numbers_.end());
        numbers_.erase(std::unique(numbers_.begin(), numbers_.end()), numbers_.end());
        for (const std::uint32_t number : numbers_)
            if (number != missing) look_at(number);
    }

    void offer_categories() {
        RowTotals rows;
        clear(known_);
        for (const Category& category : present_) {
            rows.known += category.rows;
            add(known_, category.group, known_);
        }
        subtract(totals_->group, known_, unknown_);
        rows.unknown = any_unknown_ ? totals_->rows - rows.known : 0;
        const bool fractional = options_.known_only();
        base_ = score(fractional || !any_unknown_ ? known_ : totals_->group);
        if (options_.nominal == Nominal::multiway)
            offer_multiway(rows);
        else if (options_.nominal == Nominal::binary)
            offer_one_against_rest(rows);
        else
            offer_subsets(rows);
    }

    void offer_multiway(const RowTotals& rows) {
        // Fractional: missing rows are no branch, but count as one in the split information (C4.5). Otherwise they are
        // a branch.
        const bool own_branch = !options_.known_only() && any_unknown_;
        if (present_.size() + own_branch < 2) return;
        int n_enough = own_branch && enough(rows.unknown, unknown_);
        double value = own_branch ? score(unknown_) : 0.0;
        for (const Category& category : present_) {
            n_enough += enough(category.rows, category.group);
            value += criterion_.score(category.group);
        }
        if (n_enough < 2) return;
        offer(value, [&](Candidate& c) {
            c.kind = Kind::multiway;
            c.missing = own_branch ? Missing::own_branch : Missing::spread;
            branches_.clear();
            for (const Category& category : present_) branches_.push_back(category.group);
            if (own_branch) branches_.push_back(unknown_.data());
            describe(c, branches_, own_branch ? nullptr : &unknown_);
        });
    }

    void offer_one_against_rest(const RowTotals& rows) {
        if (any_unknown_ && !options_.known_only()) offer_known_against_missing(rows);
        if (present_.empty()) return;
        const std::size_t first = draw_ ? drawn_index(present_.size(), *draw_) : 0;
        const std::size_t last = draw_ ? first + 1 : present_.size();
        for (std::size_t i = first; i < last; ++i) {
            const Category& category = present_[i];
            offer_two_sided(rows, category.group, category.rows, [&](Candidate& c) {
                c.kind = Kind::one_against_rest;
                c.threshold = category.code;
            });
        }
    }

    // Subsets of categories: all of them where there are few categories and no order is known to hold the best split,
    // else those along an order.
    void offer_subsets(const RowTotals& rows) {
        if (any_unknown_ && !options_.known_only()) offer_known_against_missing(rows);
        if (present_.size() < 2) return;
        std::vector<CategoryGroup<Group>> categories;
        for (const Category& category : present_)
            categories.push_back({category.code, category.rows, Group(category.group, category.group + left_.size())});
        const bool has_best_order = std::is_same_v<Target, double> || left_.size() == 2;
        if (!draw_ && !has_best_order && categories.size() <= max_searched_categories)
            offer_every_subset(rows, categories);
        else
            offer_ordered_subsets(rows, categories);
    }

    // The first category is never a member: a subset and its complement are the same split.
    void offer_every_subset(const RowTotals& rows, const std::vector<CategoryGroup<Group>>& categories) {
        for (std::uint32_t members = 1; members < 1u << (categories.size() - 1); ++members) {
            Group part(left_.size(), 0.0);
            double rows_part = 0;
            const auto is_member = [&](std::size_t i) { return i > 0 && (members >> (i - 1) & 1u) != 0; };
            for (std::size_t i = 1; i < categories.size(); ++i) {
                if (!is_member(i)) continue;
                add(part, categories[i].group, part);
                rows_part += categories[i].rows;
            }
            offer_two_sided(rows, part.data(), rows_part, [&](Candidate& c) {
                c.kind = Kind::subset;
                for (std::size_t i = 1; i < categories.size(); ++i)
                    if (is_member(i)) c.members.push_back(categories[i].code);
            });
        }
    }

    void offer_ordered_subsets(const RowTotals& rows, std::vector<CategoryGroup<Group>>& ordered) {
        order_categories(ordered, std::is_same_v<Target, double>);
        Group part(left_.size(), 0.0);
        double rows_part = 0;
        for (std::size_t n = 1; n < ordered.size(); ++n) {
            add(part, ordered[n - 1].group, part);
            rows_part += ordered[n - 1].rows;
            if (draw_ && n != 1 + drawn_index(ordered.size() - 1, *draw_)) continue;
            offer_two_sided(rows, part.data(), rows_part, [&](Candidate& c) {
                c.kind = Kind::subset;
                for (std::size_t i = 0; i < n; ++i) c.members.push_back(ordered[i].code);
            });
        }
    }

    // These categories against the rest. Missing rows join the rest, unless they are ignored or learned to join these.
    template <class Complete>
    void offer_two_sided(const RowTotals& rows, const double* part, double rows_part, const Complete& complete) {
        const bool known_only = options_.known_only();
        for (const Missing side : {Missing::last_child, Missing::first_child}) {
            const bool with_part = side == Missing::first_child;
            if (with_part && (options_.missing != TrainMissing::learned || !any_unknown_)) continue;
            const double rows_left = rows_part + (with_part ? rows.unknown : 0);
            const double rows_right = (known_only ? rows.known : rows.known + rows.unknown) - rows_left;
            left_.assign(part, part + left_.size());
            if (with_part) add(left_, unknown_, left_);
            subtract(known_only ? known_ : totals_->group, left_, right_);
            if (!enough(rows_left, left_) || !enough(rows_right, right_)) continue;
            offer(score(left_) + score(right_), [&](Candidate& c) {
                complete(c);
                c.missing = !any_unknown_ || known_only ? Missing::spread : side;
                describe(c, {&left_, &right_}, known_only ? &unknown_ : nullptr);
            });
        }
    }

    const TrainingData& data_;
    const GrowOptions& options_;
    const Criterion& criterion_;
    const SortedData& sorted_;

    const NodeSamples<Target>* node_ = nullptr;
    const Totals* totals_ = nullptr;
    std::int32_t feature_ = -1;
    std::span<const ListEntry> entries_;                             // of a column that is split by threshold
    const std::vector<double>* values_ = nullptr;                    // by rank
    const std::shared_ptr<const Projection>* projection_ = nullptr;  // none for a column of the data
    std::optional<double> draw_;                                     // of the one split that is tried; none: all are
    double drawn_ = 0;                                               // the threshold that it stands for
    double tolerance_ = 0;
    double base_ = 0;
    double min_rows_ = 0;  // of a branch
    std::int64_t n_offered_ = 0;
    Candidate best_;
    Group left_, right_, known_, unknown_, other_;
    CategoryCounts<Criterion> counts_;
    std::vector<Category> present_;
    std::vector<std::uint32_t> numbers_;
    std::vector<const double*> branches_;
    bool any_unknown_ = false;
};

}  // namespace hedgerow::grow::exact
