// What the leaves of a tree lose on rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "importance/permutation.hpp"
#include "walk/tree_spread.hpp"

namespace hedgerow::importance {

class LeafLosses {
public:
    using Leaves = std::vector<walk::TreeSpread::Reached>;

    LeafLosses(const Forest& forest, std::int64_t tree, const Answers& answers, const Truth& truth, Loss loss)
        : answers_(answers),
          truth_(truth),
          loss_(loss),
          first_leaf_(forest.leaf_start[tree]),
          answer_(static_cast<std::size_t>(answers.n_outputs)),
          without_(answer_.size()) {
        if (answers.leaf_weight != nullptr || loss >= Loss::squared) return;
        const std::int64_t n = answers.n_outputs;
        for (std::int64_t leaf = first_leaf_; leaf < forest.leaf_start[tree + 1]; ++leaf)
            for (std::int64_t c = 0; c < n; ++c)
                of_class_.push_back(loss_of(static_cast<double>(c), answers.values + leaf * n));
    }

    // `own`: the leaves that count the row, where rows are left out.
    double operator()(std::int64_t row, std::int32_t leaf, const Leaves& own) {
        const double truth = truth_.values[row];
        if (of_class_.empty()) return loss_of(truth, answer_of(row, leaf, own));
        return of_class_[static_cast<std::size_t>(leaf * answers_.n_outputs + static_cast<std::int64_t>(truth))];
    }
    double operator()(std::int64_t row, const Leaves& reached, const Leaves& own) {
        std::fill(answer_.begin(), answer_.end(), 0.0);
        for (const auto& [leaf, share] : reached) {
            const double* values = answer_of(row, leaf, own);
            for (std::size_t c = 0; c < answer_.size(); ++c) answer_[c] += share * values[c];
        }
        return loss_of(truth_.values[row], answer_.data());
    }

private:
    // Of a leaf to a row: without the row itself, if it was counted there.
    const double* answer_of(std::int64_t row, std::int32_t leaf, const Leaves& own) {
        const std::int64_t at = first_leaf_ + leaf;
        const double* values = answers_.values + at * answers_.n_outputs;
        if (answers_.leaf_weight == nullptr) return values;
        const auto found = std::find_if(own.begin(), own.end(), [&](const auto& one) { return one.first == leaf; });
        if (found == own.end()) return values;
        const double counted = found->second * truth_.weight[row], total = answers_.leaf_weight[at];
        if (!(total - counted > 1e-9 * total)) return answers_.empty;
        for (std::size_t c = 0; c < without_.size(); ++c) {
            const bool is_own = static_cast<double>(c) == truth_.values[row];
            without_[c] = std::max(0.0, (values[c] * total - (is_own ? counted : 0.0)) / (total - counted));
        }
        return without_.data();
    }

    double loss_of(double truth, const double* answer) const {
        const std::int64_t n = answers_.n_outputs;
        const auto code = static_cast<std::int64_t>(truth);
        switch (loss_) {
            case Loss::zero_one:
                return std::max_element(answer, answer + n) - answer == code ? 0.0 : 1.0;
            case Loss::log:
                return -std::log(std::max(answer[code], std::numeric_limits<double>::epsilon()));
            case Loss::brier: {
                double sum = 0;
                for (std::int64_t c = 0; c < n; ++c) sum += (answer[c] - (c == code)) * (answer[c] - (c == code));
                return sum;
            }
            case Loss::squared:
                return (answer[0] - truth) * (answer[0] - truth);
            default:
                return std::abs(answer[0] - truth);
        }
    }

    const Answers& answers_;
    const Truth& truth_;
    Loss loss_;
    std::int64_t first_leaf_;
    std::vector<double> answer_, without_;
    std::vector<double> of_class_;  // leaf × class, where no row is left out
};

}  // namespace hedgerow::importance
