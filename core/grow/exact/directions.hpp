// Directions for the oblique splits of a node: a linear model is fitted to its rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "data/training_data.hpp"
#include "grow/class_groups.hpp"
#include "grow/exact/projection.hpp"
#include "grow/exact/samples.hpp"
#include "grow/linear_fit.hpp"
#include "grow/options.hpp"

namespace hedgerow::grow::exact {

using base::Path;
using data::TrainingData;

template <class Target>
class Directions {
public:
    Directions(const TrainingData& data, const GrowOptions& options) : data_(data), options_(options) {}

    // Projections of the rows of a node on directions in these columns, of which nominal ones are left out. Of two
    // classes or numbers there is one; more classes are grouped into two in several ways.
    std::vector<std::shared_ptr<const Projection>> operator()(const NodeSamples<Target>& node,
                                                              std::span<const std::int32_t> columns, Path path) {
        std::vector<std::shared_ptr<const Projection>> projections;
        if (!options_.fit_linear) return projections;
        standardise(node, columns);
        if (features_.size() < 2) return projections;  // an axis-parallel split does as well
        rows_.seed = path.key();
        const auto add = [&] {
            Direction direction = readable_direction(features_, options_.fit_linear(rows_), deviations_, means_);
            if (direction.features.size() < 2) return;
            const auto value_at = [&](std::uint32_t row, std::int32_t feature) { return value(row, feature); };
            if (auto made = project(std::move(direction), node, value_at)) projections.push_back(std::move(made));
        };
        if constexpr (std::is_same_v<Target, double>) {
            rows_.targets = targets_;
            add();
        } else {
            for (const std::vector<bool>& group : class_groups(rows_, targets_, data_.n_classes)) {
                rows_.targets.clear();
                for (const std::int32_t label : targets_)
                    rows_.targets.push_back(group[static_cast<std::size_t>(label)] ? 1.0 : -1.0);
                add();
            }
        }
        return projections;
    }

private:
    static constexpr double most_missing = 0.5;  // of the weight: columns with more take no part

    double value(std::uint32_t row, std::int32_t feature) const { return data_.X[feature * data_.n_rows + row]; }

    // Fills rows_, targets_, features_, means_ and deviations_.
    void standardise(const NodeSamples<Target>& node, std::span<const std::int32_t> columns) {
        const SampleBlock<Target>& block = *node.block;
        features_.clear();
        deviations_.clear();
        means_.clear();
        for (const std::int32_t feature : columns) {
            if (data_.n_categories[feature] > 0) continue;
            if (const Moments of = moments(node, feature); of.deviation > 0) {
                features_.push_back(feature);
            }
        }
        std::sort(features_.begin(), features_.end());
        for (const std::int32_t feature : features_) {
            const Moments of = moments(node, feature);
            means_.push_back(of.mean);
            deviations_.push_back(of.deviation);
        }
        rows_.n_columns = static_cast<std::int64_t>(features_.size());
        rows_.values.clear();
        rows_.weights.clear();
        targets_.clear();
        for (std::uint32_t at = node.members.begin; at < node.members.end; ++at) {
            const std::uint32_t id = block.members[at];
            rows_.weights.push_back(block.instances[id].weight);
            targets_.push_back(block.instances[id].target);
            for (std::size_t i = 0; i < features_.size(); ++i) {
                const double x = value(block.rows[id], features_[i]);
                rows_.values.push_back(std::isnan(x) ? 0.0 : (x - means_[i]) / deviations_[i]);
            }
        }
    }

    struct Moments {
        double mean = 0;
        double deviation = 0;  // 0 for columns that take no part
    };

    Moments moments(const NodeSamples<Target>& node, std::int32_t feature) const {
        const SampleBlock<Target>& block = *node.block;
        double known = 0, total = 0, sum = 0, squares = 0;
        const auto for_each = [&](const auto& use) {
            for (std::uint32_t at = node.members.begin; at < node.members.end; ++at) {
                const std::uint32_t id = block.members[at];
                use(block.instances[id].weight, value(block.rows[id], feature));
            }
        };
        for_each([&](double weight, double x) {
            total += weight;
            if (std::isnan(x)) return;
            known += weight;
            sum += weight * x;
        });
        if (!(known >= (1 - most_missing) * total)) return {};
        const double mean = sum / known;
        for_each([&](double weight, double x) {
            if (!std::isnan(x)) squares += weight * (x - mean) * (x - mean);
        });
        const double deviation = std::sqrt(squares / known);
        constexpr double rounding = 1e-12;
        if (!std::isfinite(deviation) || !(deviation > rounding * std::abs(mean))) return {};
        return {mean, deviation};
    }

    const TrainingData& data_;
    const GrowOptions& options_;
    LinearRows rows_;
    std::vector<Target> targets_;
    std::vector<std::int32_t> features_;
    std::vector<double> means_, deviations_;
};

}  // namespace hedgerow::grow::exact
