// Weights, labels and targets of training rows, copied and checked: the core reads them more than once, and another thread
// may write to the caller's arrays while the interpreter lock is released.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "grow/grow.hpp"

class RowCopies {
public:
    explicit RowCopies(const hedgerow::TrainingData& lent)
        : weight_(lent.weight, lent.weight + lent.n_rows),
          labels_(lent.labels, lent.labels + (lent.labels ? lent.n_rows : 0)),
          targets_(lent.targets, lent.targets + (lent.targets ? lent.n_rows : 0)) {
        const auto is_weight = [](double weight) { return std::isfinite(weight) && weight >= 0; };
        const auto is_label = [&](std::int32_t label) { return label >= 0 && label < lent.n_classes; };
        const auto is_target = [](double target) { return std::isfinite(target); };
        if (!std::all_of(weight_.begin(), weight_.end(), is_weight))
            throw std::invalid_argument("sample_weight must be finite and not negative");
        if (!std::all_of(labels_.begin(), labels_.end(), is_label))
            throw std::invalid_argument("labels must be class numbers in 0 .. n_classes - 1");
        if (!std::all_of(targets_.begin(), targets_.end(), is_target))
            throw std::invalid_argument("targets must be finite");
    }

    // `data` with these copies, as long as they live.
    hedgerow::TrainingData applied_to(hedgerow::TrainingData data) const {
        data.weight = weight_.data();
        if (data.labels) data.labels = labels_.data();
        if (data.targets) data.targets = targets_.data();
        return data;
    }

private:
    std::vector<double> weight_;
    std::vector<std::int32_t> labels_;
    std::vector<double> targets_;
};
