// Training data from arrays of NumPy.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "bindings/arrays.hpp"
#include "data/training_data.hpp"

namespace hedgerow::bindings {

using Labels = std::optional<In<std::int32_t>>;

using Targets = std::optional<In<double>>;

template <class Matrix>
data::TrainingData training_data(const Matrix& X, const In<std::int32_t>& n_categories, const In<double>& sample_weight,
                                 const Labels& labels, const Targets& targets, std::int64_t n_classes) {
    const std::size_t n_rows = X.shape(0);
    if (labels.has_value() == targets.has_value() || n_rows == 0 || n_categories.size() != X.shape(1) ||
        sample_weight.size() != n_rows || (labels ? labels->size() : targets->size()) != n_rows)
        throw std::invalid_argument("training data of the wrong shape");
    if (n_rows > 0x7FFFFFFF) throw std::length_error("more than 2147483647 rows");
    return {X.data(),
            n_categories.data(),
            sample_weight.data(),
            labels ? labels->data() : nullptr,
            targets ? targets->data() : nullptr,
            static_cast<std::int64_t>(n_rows),
            static_cast<std::int64_t>(X.shape(1)),
            n_classes};
}

// Weights, labels and targets, copied and checked: the core reads them more than once, and another thread may write to
// the caller's arrays while the interpreter lock is released.
class RowCopies {
public:
    explicit RowCopies(const data::TrainingData& lent)
        : weight_(lent.weight, lent.weight + (lent.weight ? lent.n_rows : 0)),
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
    data::TrainingData applied_to(data::TrainingData data) const {
        if (data.weight) data.weight = weight_.data();
        if (data.labels) data.labels = labels_.data();
        if (data.targets) data.targets = targets_.data();
        return data;
    }

private:
    std::vector<double> weight_;
    std::vector<std::int32_t> labels_;
    std::vector<double> targets_;
};

}  // namespace hedgerow::bindings
