// Growth of one soft tree.
//
// A split replaces the value of a region by those of its two parts, the step of both being the ridge solution for the
// current residuals of all rows, which it lowers at once. Whenever the leaves have doubled, a few steps of the solver
// let the values of all regions follow; at the end they are fitted once more.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "base/random.hpp"
#include "grow/frontier.hpp"
#include "grow/tree_builder.hpp"
#include "measured/grow/grow_soft.hpp"
#include "measured/grow/region_values.hpp"
#include "measured/grow/split_scan.hpp"

namespace hedgerow::measured {

class TreeGrower {
public:
    // `weight`: rows that each row stands for in this tree.
    TreeGrower(const CellData& data, const SoftGrowOptions& options, std::vector<double> weight, base::Path path,
               const base::Cancelled& cancelled)
        : data_(data),
          options_(options),
          weight_(std::move(weight)),
          path_(path),
          cancelled_(cancelled),
          scan_(data, options),
          builder_(0x7FFFFFFF),
          fit_weight_(weight_),
          may_move_(weight_.size(), options.tolerance) {
        for (std::size_t row = 0; row < weight_.size(); ++row) fit_weight_[row] *= data.precision[row];
    }

    forest::GrownTree grow() {
        start();
        while (!waiting_.empty()) {
            if (cancelled_) throw base::Stopped{};
            split(waiting_.pop());
            if (n_leaves() >= next_refit_) refit();
            if (options_.max_leaf_nodes > 0 && n_leaves() >= options_.max_leaf_nodes) break;
        }
        finish_values();
        const std::int64_t n_outputs = data_.n_outputs;
        for (std::size_t node = 0; node < regions_.size(); ++node)
            if (is_leaf_[node])
                builder_.set_leaf(static_cast<std::int64_t>(node), leaf_values(regions_[node], n_outputs));
        return builder_.finish();
    }

    // Σ γ s of each row, n_rows × n_outputs; after grow().
    std::vector<double> fitted() const {
        std::vector<double> of_rows(residuals_.size());
        const auto leaves = leaf_regions();
        values_of(leaves).forward(stacked(leaves), of_rows);
        return of_rows;
    }

private:
    struct Waiting {
        double gain;
        std::size_t node;
        std::int64_t depth;
        std::int64_t scored_at;  // splits that had been made
        std::optional<SoftSplit> split;
        base::Path path;
    };

    std::size_t outputs() const { return static_cast<std::size_t>(data_.n_outputs); }
    std::int64_t n_leaves() const { return n_splits_ + 1; }
    bool best_first() const { return options_.max_leaf_nodes > 0; }

    void start() {
        SoftRegion root;
        for (std::size_t row = 0; row < weight_.size(); ++row)
            if (weight_[row] > 0 || options_.keep_fitted) root.rows.push_back(static_cast<std::uint32_t>(row));
        root.share.assign(root.rows.size(), 1.0);
        root.value.assign(outputs(), 0.0);
        double total = 0;
        for (const std::uint32_t row : root.rows) {
            total += fit_weight_[row];
            for (std::size_t o = 0; o < outputs(); ++o)
                root.value[o] += fit_weight_[row] * data_.targets[row * outputs() + o];
        }
        for (double& value : root.value) value /= total;
        residuals_.resize(weight_.size() * outputs());
        double squares = 0;
        for (std::size_t i = 0; i < residuals_.size(); ++i) {
            residuals_[i] = data_.targets[i] - root.value[i % outputs()];
            squares += fit_weight_[i / outputs()] * residuals_[i] * residuals_[i];
        }
        least_gain_ = 1e-10 * squares;
        push(std::move(root), 0, path_);
    }

    void push(SoftRegion region, std::int64_t depth, base::Path path) {
        builder_.add_node(0);
        regions_.push_back(std::move(region));
        is_leaf_.push_back(1);
        Waiting waiting{0, regions_.size() - 1, depth, n_splits_, std::nullopt, path};
        if (best_first()) {
            waiting.split = find(waiting);
            if (!waiting.split) return;
            waiting.gain = waiting.split->gain;
        }
        waiting_.push(std::move(waiting));
    }

    // The best split over the columns that are drawn; further columns as long as none of them has any.
    std::optional<SoftSplit> find(const Waiting& waiting) {
        const SoftRegion& region = regions_[waiting.node];
        scan_.load(region, residuals_.data(), weight_.data());
        if (scan_.rows() < 2 * options_.min_weight_leaf) return std::nullopt;
        std::vector<std::int32_t> features = data_.features;
        const auto n_tried =
            options_.max_features < 0 ? features.size() : static_cast<std::size_t>(options_.max_features);
        base::Draws draws(waiting.path);
        std::optional<SoftSplit> found;
        for (std::size_t i = 0; i < features.size() && (i < n_tried || !found); ++i) {
            if (n_tried < features.size()) std::swap(features[i], features[i + draws.below(features.size() - i)]);
            auto better = scan_.best(region, features[i], found ? found->gain * (1 + tied) : least_gain_);
            if (better) found = std::move(better);
        }
        return found;
    }

    void split(Waiting waiting) {
        if (!best_first() || waiting.scored_at != n_splits_) waiting.split = find(waiting);
        if (!waiting.split) return;
        const SoftSplit& split = *waiting.split;
        auto [first, second] = parts(regions_[waiting.node], split);
        advance(regions_[waiting.node], first, second);
        const CellColumn& column = data_.columns[static_cast<std::size_t>(split.feature)];
        if (column.nominal()) {
            std::vector<std::int32_t> child(split.members.size());
            for (std::size_t code = 0; code < child.size(); ++code) child[code] = split.members[code] ? 0 : 1;
            builder_.set_split(static_cast<std::int64_t>(waiting.node), 2, forest::Kind::subset, split.feature,
                               std::numeric_limits<double>::quiet_NaN(), forest::Missing::spread,
                               grow::subset_words(child));
        } else {
            builder_.set_split(static_cast<std::int64_t>(waiting.node), 2, forest::Kind::threshold, split.feature,
                               column.at[split.at], forest::Missing::spread, {});
        }
        is_leaf_[waiting.node] = 0;
        regions_[waiting.node] = {};
        ++n_splits_;
        push(std::move(first), waiting.depth + 1, waiting.path.child(0));
        push(std::move(second), waiting.depth + 1, waiting.path.child(1));
    }

    std::pair<SoftRegion, SoftRegion> parts(const SoftRegion& region, const SoftSplit& split) {
        const CellColumn& column = data_.columns[static_cast<std::size_t>(split.feature)];
        SoftRegion first, second;
        first.bounds = second.bounds = region.bounds;
        first.value = second.value = region.value;
        SoftRegion::Bounds &lower = first.bound(split.feature, column), &upper = second.bound(split.feature, column);
        const SoftRegion::Bounds before = lower;
        lower.high = upper.low = split.at;
        for (std::size_t code = 0; code < split.members.size(); ++code)
            (split.members[code] ? upper : lower).inside[code] = 0;
        const std::vector<double> part = parts_of_cells(column, before, split);
        for (std::size_t i = 0; i < region.rows.size(); ++i) {
            const std::uint32_t row = region.rows[i];
            double low = region.share[i] * part[column.cell[row]], high = region.share[i] - low;
            const double smaller = std::min(low, high);
            if (smaller <= may_move_[row] / 8) {
                may_move_[row] -= smaller;
                (low >= high ? low : high) = region.share[i];
                (low >= high ? high : low) = 0;
            }
            if (low > 0) first.rows.push_back(row), first.share.push_back(low);
            if (high > 0) second.rows.push_back(row), second.share.push_back(high);
        }
        return {std::move(first), std::move(second)};
    }

    // Conditional probability of the first part in each cell.
    static std::vector<double> parts_of_cells(const CellColumn& column, const SoftRegion::Bounds& before,
                                              const SoftSplit& split) {
        std::vector<double> part(static_cast<std::size_t>(column.n_cells));
        for (std::int64_t cell = 0; cell < column.n_cells; ++cell) {
            const double* below = column.below + cell * column.n_at;
            double inside = 0, first = 0;
            if (column.nominal()) {
                for (std::size_t code = 0; code < split.members.size(); ++code) {
                    if (!before.inside[code]) continue;
                    inside += below[code];
                    if (split.members[code]) first += below[code];
                }
            } else {
                const double from = before.low < 0 ? 0.0 : below[before.low];
                inside = (before.high == column.n_at ? 1.0 : below[before.high]) - from;
                first = below[split.at] - from;
            }
            part[static_cast<std::size_t>(cell)] = inside > 0 ? std::clamp(first / inside, 0.0, 1.0) : 0.5;
        }
        return part;
    }

    // Steps both parts' values, and lowers the residuals by what that changes.
    void advance(const SoftRegion& region, SoftRegion& first, SoftRegion& second) {
        double ll = 0, rr = 0, own = 0;
        std::vector<double> to_first(outputs(), 0.0), to_second(outputs(), 0.0);
        const auto add = [&](const SoftRegion& part, double& square, std::vector<double>& products) {
            for (std::size_t i = 0; i < part.rows.size(); ++i) {
                const std::uint32_t row = part.rows[i];
                const double share = fit_weight_[row] * part.share[i];
                square += share * part.share[i];
                for (std::size_t o = 0; o < outputs(); ++o) products[o] += share * residuals_[row * outputs() + o];
            }
        };
        add(first, ll, to_first);
        add(second, rr, to_second);
        for (std::size_t i = 0; i < region.rows.size(); ++i)
            own += fit_weight_[region.rows[i]] * region.share[i] * region.share[i];
        const TwoSteps steps(ll, 0.5 * (own - ll - rr), rr, options_.ridge);
        if (!steps.separate()) return;
        std::vector<double> low(outputs()), high(outputs());
        for (std::size_t o = 0; o < outputs(); ++o) {
            low[o] = steps.first(to_first[o], to_second[o]);
            high[o] = steps.second(to_first[o], to_second[o]);
            first.value[o] += low[o];
            second.value[o] += high[o];
        }
        subtract(first, low);
        subtract(second, high);
    }

    void subtract(const SoftRegion& region, const std::vector<double>& step) {
        for (std::size_t i = 0; i < region.rows.size(); ++i) {
            double* row = residuals_.data() + region.rows[i] * outputs();
            for (std::size_t o = 0; o < outputs(); ++o) row[o] -= region.share[i] * step[o];
        }
    }

    // -- values of all regions

    std::vector<const SoftRegion*> leaf_regions() const {
        std::vector<const SoftRegion*> leaves;
        for (std::size_t node = 0; node < regions_.size(); ++node)
            if (is_leaf_[node]) leaves.push_back(&regions_[node]);
        return leaves;
    }

    RegionValues values_of(const std::vector<const SoftRegion*>& leaves) const {
        return {leaves, fit_weight_.data(), static_cast<std::int64_t>(weight_.size()), data_.n_outputs};
    }

    std::vector<double> stacked(const std::vector<const SoftRegion*>& leaves) const {
        std::vector<double> values;
        for (const SoftRegion* leaf : leaves) values.insert(values.end(), leaf->value.begin(), leaf->value.end());
        return values;
    }

    void set_values(const std::vector<double>& values) {
        auto value = values.begin();
        for (std::size_t node = 0; node < regions_.size(); ++node) {
            if (!is_leaf_[node]) continue;
            std::copy(value, value + static_cast<std::ptrdiff_t>(outputs()), regions_[node].value.begin());
            value += static_cast<std::ptrdiff_t>(outputs());
        }
    }

    void refit() {
        next_refit_ *= 2;
        step_values(options_.n_refits);
    }

    void step_values(std::int64_t n_steps) {
        if (n_steps == 0) return;
        const auto leaves = leaf_regions();
        const RegionValues solver = values_of(leaves);
        const std::vector<double> step = solver.solve(residuals_, options_.ridge, n_steps);
        std::vector<double> values = stacked(leaves), of_rows(residuals_.size());
        for (std::size_t i = 0; i < values.size(); ++i) values[i] += step[i];
        solver.forward(step, of_rows);
        for (std::size_t i = 0; i < residuals_.size(); ++i) residuals_[i] -= of_rows[i];
        set_values(values);
    }

    void finish_values() {
        if (!options_.simplex) return step_values(options_.n_final);
        const auto leaves = leaf_regions();
        std::vector<double> values = stacked(leaves);
        const RegionValues solver = values_of(leaves);
        solver.solve_on_simplex(data_.targets, values, options_.n_final);
        set_values(values);
        solver.forward(values, residuals_);
        for (std::size_t i = 0; i < residuals_.size(); ++i) residuals_[i] = data_.targets[i] - residuals_[i];
    }

    std::vector<double> leaf_values(const SoftRegion& region, std::int64_t n_outputs) const {
        std::vector<double> found(static_cast<std::size_t>(leaf_width(n_outputs)), 0.0);
        for (std::size_t o = 0; o < outputs(); ++o) found[1 + 3 * o] = region.value[o];
        for (std::size_t i = 0; i < region.rows.size(); ++i) {
            const std::uint32_t row = region.rows[i];
            const double share = weight_[row] * region.share[i];
            found[0] += share;
            for (std::size_t o = 0; o < outputs(); ++o) {
                const double off = residuals_[row * outputs() + o];
                found[2 + 3 * o] += share * data_.targets[row * outputs() + o];
                found[3 + 3 * o] += share * off * off;
            }
        }
        return found;
    }

    const CellData& data_;
    const SoftGrowOptions& options_;
    std::vector<double> weight_;
    base::Path path_;
    const base::Cancelled& cancelled_;
    SplitScan scan_;
    grow::TreeBuilder builder_;
    std::vector<double> fit_weight_;   // of squared residuals
    std::vector<double> may_move_;     // probability of each row that may still be moved to another region
    std::vector<double> residuals_;    // n_rows × n_outputs
    std::vector<SoftRegion> regions_;  // per node; those of inner nodes are empty
    std::vector<std::uint8_t> is_leaf_;
    grow::Frontier<Waiting> waiting_{true};  // without a limit all gains are 0: the region that was made first is next
    std::int64_t n_splits_ = 0;
    std::int64_t next_refit_ = 2;
    double least_gain_ = 0;
};

}  // namespace hedgerow::measured
