// The best split of a soft region.
//
// Rows of a cell go to the first part with the same conditional probability g. So the sums over the rows of a candidate
// split are sums over cells of g and g² times what a histogram of the region has: A = Σ w s r, B = Σ w s², C = Σ n s,
// with s the probability to be in the region, r the residual, w the weight of its square and n the rows it stands for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "measured/grow/training.hpp"

namespace hedgerow::measured {

struct SoftSplit {
    double gain;
    std::int32_t feature;
    std::int32_t at;                    // position of the threshold
    std::vector<std::uint8_t> members;  // nominal: categories of the first child
};

// Of the rows that a part must have, so much must be well inside: Σ s² counts a row that is there with probability s as
// s². Regions that are less sharp than that hardly change answers, and there would be twice as many of them.
inline constexpr double least_inside = 0.4;

inline constexpr double tied = 1e-8;  // gains within this relative difference are equal: the first is taken

// Least squares with a ridge for the steps of the values of both parts: columns v_L and v_R with the Gram matrix
// [[ll, lr], [lr, rr]] and products with the residuals.
struct TwoSteps {
    double ll, lr, rr, det;

    TwoSteps(double first, double cross, double second, double ridge)
        : ll(first + ridge), lr(cross), rr(second + ridge), det(ll * rr - lr * lr) {}
    bool separate() const { return det > 1e-9 * ll * rr; }
    double first(double to_first, double to_second) const { return (rr * to_first - lr * to_second) / det; }
    double second(double to_first, double to_second) const { return (ll * to_second - lr * to_first) / det; }
    double drop(double to_first, double to_second) const {
        return first(to_first, to_second) * to_first + second(to_first, to_second) * to_second;
    }
};

class SplitScan {
public:
    SplitScan(const CellData& data, const SoftGrowOptions& options)
        : data_(data), options_(options), width_(data.n_outputs + 2) {}

    // Sums of a region's rows that all columns share.
    void load(const SoftRegion& region, const double* residuals, const double* weight) {
        const std::int64_t n_outputs = data_.n_outputs;
        terms_.resize(region.rows.size() * static_cast<std::size_t>(width_));
        total_.assign(static_cast<std::size_t>(width_), 0.0);
        double* term = terms_.data();
        for (std::size_t i = 0; i < region.rows.size(); ++i, term += width_) {
            const std::uint32_t row = region.rows[i];
            const double inside = weight[row] * region.share[i], of_square = inside * data_.precision[row];
            for (std::int64_t o = 0; o < n_outputs; ++o) term[o] = of_square * residuals[row * n_outputs + o];
            term[n_outputs] = of_square * region.share[i];
            term[n_outputs + 1] = inside;
            for (std::int64_t k = 0; k < width_; ++k) total_[static_cast<std::size_t>(k)] += term[k];
        }
        unsplit_ = 0;
        const double square = total_[static_cast<std::size_t>(n_outputs)] + options_.ridge;
        for (std::int64_t o = 0; o < n_outputs && square > 0; ++o)
            unsplit_ += total_[static_cast<std::size_t>(o)] * total_[static_cast<std::size_t>(o)] / square;
    }

    double rows() const { return total_[static_cast<std::size_t>(data_.n_outputs + 1)]; }

    // The best split of a column, if one gains more than `least`; the first of equals.
    std::optional<SoftSplit> best(const SoftRegion& region, std::int32_t feature, double least) {
        const CellColumn& column = data_.columns[static_cast<std::size_t>(feature)];
        fill_histogram(region, column);
        return column.nominal() ? best_set(region, feature, column, least)
                                : best_threshold(region, feature, column, least);
    }

private:
    void fill_histogram(const SoftRegion& region, const CellColumn& column) {
        histogram_.assign(static_cast<std::size_t>(column.n_cells * width_), 0.0);
        const double* term = terms_.data();
        for (const std::uint32_t row : region.rows) {
            double* cell = histogram_.data() + column.cell[row] * width_;
            for (std::int64_t k = 0; k < width_; ++k) cell[k] += term[k];
            term += width_;
        }
    }

    const double* cell_sums(std::int64_t cell) const { return histogram_.data() + cell * width_; }
    bool is_empty(std::int64_t cell) const { return cell_sums(cell)[data_.n_outputs + 1] == 0; }

    void clear_sums(std::int64_t n_candidates) {
        sums_.assign(static_cast<std::size_t>(n_candidates * (width_ + 1)), 0.0);
    }

    // Adds a cell to the sums of all candidates, whose conditional probabilities are in `part_`: products with the
    // residuals, with the region's own column, rows, and squares of the first part.
    void add_cell(std::int64_t cell, std::int64_t n_candidates) {
        const double* of_cell = cell_sums(cell);
        double* sums = sums_.data();
        const double* part = part_.data();
        for (std::int64_t k = 0; k < width_; ++k, sums += n_candidates) {
            const double value = of_cell[k];
            for (std::int64_t t = 0; t < n_candidates; ++t) sums[t] += value * part[t];
        }
        const double square = of_cell[data_.n_outputs];
        for (std::int64_t t = 0; t < n_candidates; ++t) sums[t] += square * part[t] * part[t];
    }

    // Position and gain of the best candidate.
    std::optional<std::pair<std::int64_t, double>> choose(std::int64_t n_candidates, double least) const {
        const std::int64_t n_outputs = data_.n_outputs;
        const double own = total_[static_cast<std::size_t>(n_outputs)], all_rows = rows();
        const double least_rows = options_.min_weight_leaf * (1 - 1e-9);  // sums of weights are rounded
        std::optional<std::pair<std::int64_t, double>> found;
        for (std::int64_t t = 0; t < n_candidates; ++t) {
            const auto sum = [&](std::int64_t k) { return sums_[static_cast<std::size_t>(k * n_candidates + t)]; };
            const double first_rows = sum(n_outputs + 1);
            if (std::min(first_rows, all_rows - first_rows) < least_rows) continue;
            const double square = sum(width_), cross = sum(n_outputs) - square;
            const double rest = own - square - 2 * cross;
            if (std::min(square, rest) < least_inside * least_rows) continue;
            const TwoSteps steps(square, cross, std::max(rest, 0.0), options_.ridge);
            if (!steps.separate()) continue;
            double drop = 0;
            for (std::int64_t o = 0; o < n_outputs; ++o)
                drop += steps.drop(sum(o), total_[static_cast<std::size_t>(o)] - sum(o));
            const double gain = drop - unsplit_;
            if (gain > least && (!found || gain > found->second * (1 + tied))) found.emplace(t, gain);
        }
        return found;
    }

    std::optional<SoftSplit> best_threshold(const SoftRegion& region, std::int32_t feature, const CellColumn& column,
                                            double least) {
        const SoftRegion::Bounds* bounds = region.bounds_of(feature);
        const std::int64_t low = bounds ? bounds->low : -1, high = bounds ? bounds->high : column.n_at;
        const std::int64_t n_candidates = high - low - 1;
        if (n_candidates <= 0) return std::nullopt;
        clear_sums(n_candidates);
        part_.resize(static_cast<std::size_t>(n_candidates));
        for (std::int64_t cell = 0; cell < column.n_cells; ++cell) {
            if (is_empty(cell)) continue;
            const double* below = column.below + cell * column.n_at;
            const double from = low < 0 ? 0.0 : below[low];
            const double inside = (high == column.n_at ? 1.0 : below[high]) - from;
            if (inside > 0) {
                const double scale = 1.0 / inside;
                for (std::int64_t t = 0; t < n_candidates; ++t)
                    part_[static_cast<std::size_t>(t)] = std::clamp((below[low + 1 + t] - from) * scale, 0.0, 1.0);
            } else {
                std::fill(part_.begin(), part_.end(), 0.5);
            }
            add_cell(cell, n_candidates);
        }
        const auto found = choose(n_candidates, least);
        if (!found) return std::nullopt;
        return SoftSplit{found->second, feature, static_cast<std::int32_t>(low + 1 + found->first), {}};
    }

    // Sets of the first categories in the order of their mean residual, of the output that varies most: the best set
    // is among them with one output and exact columns (Breiman et al., CART, 1984, 4.2.2), else it is a heuristic.
    std::optional<SoftSplit> best_set(const SoftRegion& region, std::int32_t feature, const CellColumn& column,
                                      double least) {
        const std::vector<std::int32_t> order = ordered_categories(region, feature, column);
        const auto n_candidates = static_cast<std::int64_t>(order.size()) - 1;
        if (n_candidates < 1) return std::nullopt;
        clear_sums(n_candidates);
        part_.resize(static_cast<std::size_t>(n_candidates));
        for (std::int64_t cell = 0; cell < column.n_cells; ++cell) {
            if (is_empty(cell)) continue;
            const double* of_category = column.below + cell * column.n_at;
            double inside = 0;
            for (const std::int32_t code : order) inside += of_category[code];
            double first = 0;
            for (std::int64_t t = 0; t < n_candidates; ++t) {
                first += of_category[order[static_cast<std::size_t>(t)]];
                part_[static_cast<std::size_t>(t)] = inside > 0 ? std::min(first / inside, 1.0) : 0.5;
            }
            add_cell(cell, n_candidates);
        }
        const auto found = choose(n_candidates, least);
        if (!found) return std::nullopt;
        std::vector<std::uint8_t> members(static_cast<std::size_t>(column.n_at), 0);
        for (std::int64_t t = 0; t <= found->first; ++t)
            members[static_cast<std::size_t>(order[static_cast<std::size_t>(t)])] = 1;
        return SoftSplit{found->second, feature, 0, std::move(members)};
    }

    std::vector<std::int32_t> ordered_categories(const SoftRegion& region, std::int32_t feature,
                                                 const CellColumn& column) const {
        const SoftRegion::Bounds* bounds = region.bounds_of(feature);
        const auto n_categories = static_cast<std::size_t>(column.n_at);
        const auto n_outputs = static_cast<std::size_t>(data_.n_outputs);
        std::vector<double> sums(n_categories * n_outputs, 0.0), mass(n_categories, 0.0);
        for (std::int64_t cell = 0; cell < column.n_cells; ++cell) {
            if (is_empty(cell)) continue;
            const double* of_category = column.below + cell * column.n_at;
            const double* of_cell = cell_sums(cell);
            for (std::size_t code = 0; code < n_categories; ++code) {
                if (of_category[code] == 0 || (bounds && !bounds->inside[code])) continue;
                mass[code] += of_category[code] * of_cell[n_outputs + 1];
                for (std::size_t o = 0; o < n_outputs; ++o)
                    sums[code * n_outputs + o] += of_category[code] * of_cell[o];
            }
        }
        std::vector<std::int32_t> order;
        for (std::size_t code = 0; code < n_categories; ++code)
            if (mass[code] > 0) order.push_back(static_cast<std::int32_t>(code));
        std::size_t axis = 0;
        double widest = -1;
        for (std::size_t o = 0; o < n_outputs; ++o) {
            double varies = 0;
            for (const std::int32_t code : order) {
                const auto at = static_cast<std::size_t>(code);
                varies += sums[at * n_outputs + o] * sums[at * n_outputs + o] / mass[at];
            }
            if (varies > widest) widest = varies, axis = o;
        }
        const auto mean = [&](std::int32_t code) {
            return sums[static_cast<std::size_t>(code) * n_outputs + axis] / mass[static_cast<std::size_t>(code)];
        };
        std::stable_sort(order.begin(), order.end(),
                         [&](std::int32_t one, std::int32_t other) { return mean(one) < mean(other); });
        return order;
    }

    const CellData& data_;
    const SoftGrowOptions& options_;
    std::int64_t width_;         // of a row's terms: one for each output, square, rows
    std::vector<double> terms_;  // of each row of the region
    std::vector<double> total_;
    double unsplit_ = 0;  // what a step of the region's own value would gain
    std::vector<double> histogram_;
    std::vector<double> sums_;  // per term, then per candidate
    std::vector<double> part_;
};

}  // namespace hedgerow::measured
