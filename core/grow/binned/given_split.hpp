// The split of a node from histograms of its rows that were added up elsewhere: the one that the rows themselves give.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "grow/binned/best_split.hpp"
#include "grow/binned/bins.hpp"
#include "grow/binned/drawn_split.hpp"
#include "grow/binned/histogram.hpp"
#include "grow/binned/root.hpp"
#include "grow/binned/tried_features.hpp"
#include "grow/criteria.hpp"
#include "grow/options.hpp"

namespace hedgerow::grow::binned {

// How often rows of each class were drawn, (n_features, n_codes, n_classes), and how many different rows are in each
// cell, (n_features, n_codes), or null where leaves may hold one.
struct GivenNode {
    const std::uint32_t* draws;
    const std::uint32_t* rows;
    double n_rows;  // different rows of the node
    std::int64_t n_features;
    std::int64_t n_classes;
};

struct NodeSplit {
    std::int32_t feature;
    Kind kind;
    double threshold;
    std::vector<std::int32_t> payload;
    ChildOfCode child_of;  // of each code; a missing value draws its child
    int n_children;
    bool any_missing;
    double share_left;  // of two children, the probability of the first
};

// None: the node is a leaf. `root` is the node, with the weight of the whole tree.
std::optional<NodeSplit> split_given_node(const GivenNode& node, const std::vector<BinnedColumn>& columns,
                                          const std::int32_t* n_categories, const GrowOptions& options,
                                          const Root& root);

// One column of a GivenNode, with the interface of a histogram.
class GivenHistogram {
public:
    GivenHistogram(const GivenNode& node, std::int32_t feature)
        : n_(static_cast<std::size_t>(node.n_classes)),
          draws_(node.draws + static_cast<std::size_t>(feature) * n_codes * n_),
          rows_(node.rows ? node.rows + static_cast<std::size_t>(feature) * n_codes : nullptr) {
        for (std::size_t code = 0; code < n_codes; ++code)
            if (std::any_of(draws_ + code * n_, draws_ + (code + 1) * n_, [](std::uint32_t n) { return n > 0; }))
                touched_.touch(static_cast<std::uint8_t>(code));
    }

    double take(std::uint8_t code, double* group) {
        for (std::size_t k = 0; k < n_; ++k) group[k] += draws_[code * n_ + k];
        return rows_ ? rows_[code] : 0;
    }
    TouchedCodes& touched() { return touched_; }

private:
    std::size_t n_;
    const std::uint32_t* draws_;
    const std::uint32_t* rows_;
    TouchedCodes touched_;
};

template <class Criterion>
void try_drawn_split(const Criterion& criterion, const SearchedColumn& column, const SplitMinimums& minimums,
                     const typename Criterion::Group& totals, double n_rows, double tolerance,
                     GivenHistogram& histogram, BinnedSplit<typename Criterion::Group>& best) {
    std::uint8_t low = missing_code, high = 0;
    for (std::uint8_t code = 0; code < missing_code; ++code) {
        if (!histogram.touched().touched(code)) continue;
        low = std::min(low, code);
        high = code;
    }
    const bool any_missing = histogram.touched().touched(missing_code);
    const auto drawn = draw_between(low, high, any_missing, column.bins, *column.draw);
    if (!drawn) return;
    auto known = totals, left = criterion.empty();
    double rows_left = 0;
    if (any_missing) {
        n_rows -= histogram.take(missing_code, left.data());
        for (std::size_t k = 0; k < known.size(); ++k) known[k] -= left[k];
        std::fill(left.begin(), left.end(), 0.0);
    }
    for (std::uint8_t code = 0; code < drawn->first_right; ++code) rows_left += histogram.take(code, left.data());
    SplitJudge<Criterion> judge(criterion, column, minimums, tolerance, best);
    judge.set_known(known, n_rows, any_missing);
    judge.offer(left, known, rows_left, [&](auto& split) { set_drawn(*drawn, split); });
}

// None: the node is a leaf.
template <class Criterion>
std::optional<BinnedSplit<typename Criterion::Group>> find_given_split(const Criterion& criterion,
                                                                       const GivenNode& node,
                                                                       const std::vector<BinnedColumn>& columns,
                                                                       const std::int32_t* n_categories,
                                                                       const GrowOptions& options, const Root& root) {
    using Group = typename Criterion::Group;
    Group totals = criterion.empty();
    GivenHistogram any(node, 0);
    for (int code = 0; code < n_codes; ++code) any.take(static_cast<std::uint8_t>(code), totals.data());
    const bool mixed = std::count_if(totals.begin(), totals.end(), [](double n) { return n > 0; }) > 1;
    if (!options.may_split(node.n_rows, root.depth) || !mixed) return std::nullopt;
    const double tolerance = 1e-12 * criterion.magnitude({criterion.weight(totals.data()), 0});
    const SplitMinimums minimums = split_minimums(options, root.tree_weight);
    SplitScratch<Group> scratch{criterion.empty(), criterion.empty(), {}};
    BinnedSplit<Group> best;
    TriedFeatures features(node.n_features);
    features(
        options, root.path, [&] { return best.valid(); },
        [&](std::int32_t feature, std::optional<double> draw) {
            const auto at = static_cast<std::size_t>(feature);
            const SearchedColumn column = searched_column(options, feature, n_categories[at], columns[at], draw);
            GivenHistogram histogram(node, feature);
            if (draw && !column.has_categories)
                try_drawn_split(criterion, column, minimums, totals, node.n_rows, tolerance, histogram, best);
            else
                find_best_split(criterion, column, minimums, totals, node.n_rows, tolerance, histogram, scratch, best);
        });
    if (!best.valid() || best.gain + tolerance < options.min_impurity_decrease * root.tree_weight) return std::nullopt;
    return best;
}

}  // namespace hedgerow::grow::binned
