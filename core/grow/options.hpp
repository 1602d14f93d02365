// Settings of growth.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/random.hpp"
#include "grow/bootstrap.hpp"
#include "grow/criteria.hpp"
#include "grow/fixed_point.hpp"
#include "grow/linear_fit.hpp"

namespace hedgerow::grow {

// The bindings export these by name; hedgerow.growth has no numbers for them.
enum class Nominal : std::uint8_t { multiway, binary, subset };
// Which splits of a column are tried: all of them, or one that is drawn (extremely randomized trees; Geurts, Ernst and
// Wehenkel, 2006); `mixed` does either in every second tree. A multiway split leaves nothing to draw.
enum class Splitter : std::uint8_t { best, random, mixed };
enum class TrainMissing : std::uint8_t { fractional, category, learned, random };

struct GrowOptions {
    CriterionId criterion{};
    Nominal nominal = Nominal::multiway;
    TrainMissing missing = TrainMissing::fractional;
    Splitter splitter = Splitter::best;
    double min_fraction = 1.0 / 64;  // a smaller fraction of a row is not split further
    std::int64_t max_depth = -1;     // -1: none
    double min_samples_split = 2;
    double min_samples_leaf = 1;
    double min_weight_leaf = 0;
    double min_impurity_decrease = 0;
    std::int64_t max_leaf_nodes = -1;   // -1: none, depth first; else best first
    std::int64_t max_features = -1;     // -1: all
    bool c45 = false;                   // with gain_ratio: all of C4.5's conditions on a split
    bool collapse = false;              // drop splits that save no training error; not with regression or leaf rows
    double significance = 1;            // a split with a larger chi-square p-value is not made
    std::vector<double> class_costs;    // cost_gini: true × predicted class
    std::vector<double> feature_costs;  // per column, positive; empty: all alike
    LinearFit fit_linear;               // makes oblique splits, not from binned columns; empty: none are made
    std::uint64_t seed = 0;
    std::int64_t max_nodes = 0x7FFFFFFF;  // of a tree

    // The forest. max_bins > 0 grows from binned columns: missing is `random`, no ratio criterion, at most 255
    // categories a column.
    std::int64_t n_trees = 1;
    std::int64_t max_bins = 0;
    std::int64_t n_draws = 0;  // rows drawn with replacement for each tree, by their weights; 0: all rows, as weighted
    DrawScheme draw_scheme = DrawScheme::multinomial;
    FixedPoint targets;  // of regression from bins: makes sums of targets exact
    bool keep_in_bag = false;
    bool keep_leaf_rows = false;
    std::int64_t n_threads = 1;

    // Whether a node is large and shallow enough: two of its branches must reach min_samples_leaf.
    bool may_split(double rows, std::int64_t depth) const {
        return rows >= std::max(min_samples_split, 2 * min_samples_leaf) - 1e-9 && (max_depth < 0 || depth < max_depth);
    }

    // A draw in [0, 1) that picks the one split of a column to be tried; none where all are.
    std::optional<double> draw_split(base::Draws& draws) const {
        if (splitter == Splitter::best) return std::nullopt;
        return draws.real();
    }

    // Options of one tree. Every second tree of a mixed forest draws its splits, and tries twice as many columns: the
    // best of few drawn splits is a weak one.
    GrowOptions of_tree(std::int64_t tree) const {
        GrowOptions own = *this;
        if (splitter != Splitter::mixed) return own;
        own.splitter = tree % 2 == 0 ? Splitter::best : Splitter::random;
        if (own.splitter == Splitter::random && max_features > 0) own.max_features = 2 * max_features;
        return own;
    }

    // Whether a split is scored by the rows with a value alone.
    bool known_only() const { return missing == TrainMissing::fractional || missing == TrainMissing::random; }
};

// A threshold drawn between two values, low < high, so that low <= threshold < high.
inline double drawn_threshold(double low, double high, double draw) {
    const double value = low * (1 - draw) + high * draw;  // high - low may overflow
    return low <= value && value < high ? value : low;
}

// One of n drawn, n > 0.
inline std::size_t drawn_index(std::size_t n, double draw) {
    return std::min(static_cast<std::size_t>(draw * static_cast<double>(n)), n - 1);
}

}  // namespace hedgerow::grow
