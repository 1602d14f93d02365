// Rows of a node along a linear direction, as one more column to split.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "grow/exact/samples.hpp"

namespace hedgerow::grow::exact {

struct Direction {
    std::vector<std::int32_t> features;  // ascending
    std::vector<double> weights;         // none is 0
};

// The sum of weight · value, with the instances of a node that have all values, as a sorted column has them.
struct Projection {
    Direction direction;
    std::vector<ListEntry> entries;
    std::vector<double> values;  // by rank
};

// Coefficients of standardised columns as weights of the columns, in the unit of the one that weighs most there. Four
// digits are kept, so that the text of a split is all of it.
inline Direction readable_direction(const std::vector<std::int32_t>& features, const std::vector<double>& coefficients,
                                    const std::vector<double>& deviations) {
    Direction direction;
    if (coefficients.empty()) return direction;
    const auto weightier = [](double a, double b) { return std::abs(a) < std::abs(b); };
    const auto most = static_cast<std::size_t>(std::max_element(coefficients.begin(), coefficients.end(), weightier) -
                                               coefficients.begin());
    const double unit = coefficients[most] / deviations[most];
    constexpr double least = 0.03;  // of the largest coefficient; columns with less take no part
    for (std::size_t i = 0; i < features.size(); ++i) {
        if (!(std::abs(coefficients[i]) > least * std::abs(coefficients[most]))) continue;
        const double weight = coefficients[i] / deviations[i] / unit;
        const double digits = std::pow(10.0, 3 - std::floor(std::log10(std::abs(weight))));
        const double rounded = std::round(weight * digits) / digits;
        if (!std::isfinite(rounded) || rounded == 0) return {};
        direction.features.push_back(features[i]);
        direction.weights.push_back(rounded);
    }
    return direction;
}

// Adds in the order of the walk, so that a training row goes where it will go later.
template <class ValueOf>
double along(const Direction& direction, const ValueOf& value_of) {
    double sum = 0;
    for (std::size_t i = 0; i < direction.features.size(); ++i)
        sum += direction.weights[i] * value_of(direction.features[i]);
    return sum;
}

// None where a sum overflows.
template <class Target, class ValueAt>
std::shared_ptr<const Projection> project(Direction direction, const NodeSamples<Target>& node,
                                          const ValueAt& value_at) {
    const SampleBlock<Target>& block = *node.block;
    std::vector<std::pair<double, std::uint32_t>> sums;
    for (std::uint32_t at = node.members.begin; at < node.members.end; ++at) {
        const std::uint32_t id = block.members[at];
        const double sum = along(direction, [&](std::int32_t feature) { return value_at(block.rows[id], feature); });
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
