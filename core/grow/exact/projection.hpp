// Rows of a node along a linear direction, as one more column to split.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "forest/splits.hpp"
#include "grow/exact/samples.hpp"

namespace hedgerow::grow::exact {

struct Direction {
    std::vector<std::int32_t> features;  // ascending
    std::vector<double> weights;         // none is 0
    std::vector<double> means;           // in the node, in place of missing values; NaN of a column that weighs much
};

// The sum of weight · value, with the instances of a node that have any of the values, as a sorted column has them.
struct Projection {
    Direction direction;
    std::vector<ListEntry> entries;
    std::vector<double> values;  // by rank
};

// Coefficients of standardised columns as weights of the columns, in the unit of the one that weighs most there. Four
// digits are kept, so that the text of a split is all of it. A row without a value of a column that has more than a
// part of the squared coefficients is not split by its other columns.
inline Direction readable_direction(const std::vector<std::int32_t>& features, const std::vector<double>& coefficients,
                                    const std::vector<double>& deviations, const std::vector<double>& means) {
    Direction direction;
    if (coefficients.empty()) return direction;
    const auto weightier = [](double a, double b) { return std::abs(a) < std::abs(b); };
    const auto most = static_cast<std::size_t>(std::max_element(coefficients.begin(), coefficients.end(), weightier) -
                                               coefficients.begin());
    const double squares = std::inner_product(coefficients.begin(), coefficients.end(), coefficients.begin(), 0.0);
    const double unit = coefficients[most] / deviations[most];
    constexpr double most_replaced = 0.3;
    constexpr double least = 0.03;  // of the largest coefficient; columns with less take no part
    for (std::size_t i = 0; i < features.size(); ++i) {
        if (!(std::abs(coefficients[i]) > least * std::abs(coefficients[most]))) continue;
        const double weight = coefficients[i] / deviations[i] / unit;
        const double digits = std::pow(10.0, 3 - std::floor(std::log10(std::abs(weight))));
        const double rounded = std::round(weight * digits) / digits;
        if (!std::isfinite(rounded) || rounded == 0) return {};
        direction.features.push_back(features[i]);
        direction.weights.push_back(rounded);
        const bool weighs_much = coefficients[i] * coefficients[i] > most_replaced * squares;
        direction.means.push_back(weighs_much ? std::numeric_limits<double>::quiet_NaN() : means[i]);
    }
    return direction;
}

// None where a sum overflows.
template <class Target, class ValueAt>
std::shared_ptr<const Projection> project(Direction direction, const NodeSamples<Target>& node,
                                          const ValueAt& value_at) {
    const SampleBlock<Target>& block = *node.block;
    std::vector<std::pair<double, std::uint32_t>> sums;
    for (std::uint32_t at = node.members.begin; at < node.members.end; ++at) {
        const std::uint32_t id = block.members[at];
        // As the walk adds, so that a training row goes where it will go later.
        const auto value_of = [&](std::int64_t i) {
            return value_at(block.rows[id], direction.features[static_cast<std::size_t>(i)]);
        };
        const double sum = forest::sum_with_means(direction.weights.data(), direction.means.data(),
                                                  std::ssize(direction.features), value_of);
        if (std::isinf(sum)) return nullptr;
        if (!std::isnan(sum)) sums.emplace_back(sum, id);
    }
    std::sort(sums.begin(), sums.end());
    auto made = std::make_shared<Projection>();
    made->direction = std::move(direction);
    for (const auto& [sum, id] : sums) {
        if (made->values.empty() || sum > made->values.back()) made->values.push_back(sum);
        made->entries.push_back({static_cast<std::uint32_t>(made->values.size() - 1), id});
    }
    return made;
}

}  // namespace hedgerow::grow::exact
