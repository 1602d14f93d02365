// Which of the columns' best splits a node gets, if any.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "grow/exact/split_search.hpp"
#include "grow/options.hpp"

namespace hedgerow::grow::exact {

class Choice {
public:
    Choice(const TrainingData& data, const GrowOptions& options, double root_weight)
        : data_(data), options_(options), root_weight_(root_weight) {
        for (std::int64_t f = 0; f < data.n_features; ++f)
            all_many_valued_ = all_many_valued_ && is_many_valued(static_cast<std::int32_t>(f));
    }

    Candidate operator()(const std::vector<Candidate>& candidates, const Totals& totals) const {
        const double tolerance = 1e-12 * totals.magnitude;
        Candidate best;
        if (!is_ratio(options_.criterion))
            best = best_gain(candidates, tolerance);
        else if (options_.c45)
            best = best_ratio(candidates, least_gain_in_c45(candidates, totals.weight), tolerance, totals.weight);
        else
            best = best_ratio(candidates, mean_gain(candidates, tolerance), tolerance, totals.weight);
        return best.valid() && is_significant(best) ? best : Candidate{};
    }

private:
    struct Best {
        Candidate candidate;
        double value = 0;

        // Ties go to the lower feature.
        void offer(const Candidate& other, double other_value, double tolerance) {
            const bool tie = other_value >= value - tolerance && other.feature < candidate.feature;
            if (candidate.valid() && !(other_value > value + tolerance) && !tie) return;
            candidate = other;
            value = other_value;
        }
    };

    // Splits are ordered by gain²/cost (Honavar, Decision Trees and Forests, the slide on attribute costs), so by its
    // root.
    double with_cost(const Candidate& candidate, double value) const {
        if (options_.feature_costs.empty()) return value;
        return value / std::sqrt(cost_of(candidate));
    }

    // An oblique split needs all of its columns.
    double cost_of(const Candidate& candidate) const {
        const auto of_column = [&](std::int32_t feature) {
            return options_.feature_costs[static_cast<std::size_t>(feature)];
        };
        if (!candidate.projection) return of_column(candidate.feature);
        double sum = 0;
        for (const std::int32_t feature : candidate.projection->direction.features) sum += of_column(feature);
        return sum;
    }

    bool is_significant(const Candidate& candidate) const {
        return options_.significance >= 1 || candidate.chi_square.p_value() <= options_.significance;
    }

    bool is_worthwhile(const Candidate& candidate, double tolerance) const {
        return candidate.gain + tolerance >= options_.min_impurity_decrease * root_weight_;
    }

    Candidate best_gain(const std::vector<Candidate>& candidates, double tolerance) const {
        Best best;
        for (const Candidate& candidate : candidates)
            if (is_worthwhile(candidate, tolerance))
                best.offer(candidate, with_cost(candidate, candidate.gain), tolerance);
        return std::move(best.candidate);
    }

    // Quinlan (1993): the largest gain ratio among the splits that gain enough.
    Candidate best_ratio(const std::vector<Candidate>& candidates, double least, double tolerance,
                         double weight) const {
        Best best;
        for (const Candidate& candidate : candidates) {
            if (candidate.gain <= tolerance || candidate.split_information <= 0 || !is_worthwhile(candidate, tolerance))
                continue;
            if (candidate.gain < least - tolerance) continue;
            const double ratio = candidate.gain / weight / candidate.split_information;
            best.offer(candidate, with_cost(candidate, ratio), 1e-12);
        }
        return std::move(best.candidate);
    }

    // Mean gain of the splits that gain anything; 0 if there are none.
    double mean_gain(const std::vector<Candidate>& candidates, double tolerance) const {
        double sum = 0, n = 0;
        for (const Candidate& candidate : candidates)
            if (candidate.gain > tolerance && candidate.split_information > 0 && counts_in_mean(candidate)) {
                sum += candidate.gain;
                ++n;
            }
        return n > 0 ? sum / n : 0.0;
    }

    // As in C4.5: the mean gain, nominal splits that gain nothing included, less a tolerance in bits; infinite if there
    // are none.
    double least_gain_in_c45(const std::vector<Candidate>& candidates, double weight) const {
        double sum = 0, n = 0;
        for (const Candidate& candidate : candidates)
            if (counts_in_mean(candidate)) {
                sum += candidate.gain;
                ++n;
            }
        return n > 0 ? sum / n - 1e-3 * weight : std::numeric_limits<double>::infinity();
    }

    // Columns with very many categories gain much by chance: they count only if there are no others.
    bool counts_in_mean(const Candidate& candidate) const {
        return all_many_valued_ || candidate.projection || !is_many_valued(candidate.feature);
    }

    bool is_many_valued(std::int32_t feature) const {
        return data_.n_categories[feature] >= 0.3 * static_cast<double>(data_.n_rows) &&
               data_.n_categories[feature] > 0;
    }

    const TrainingData& data_;
    const GrowOptions& options_;
    double root_weight_;
    bool all_many_valued_ = true;
};

}  // namespace hedgerow::grow::exact
