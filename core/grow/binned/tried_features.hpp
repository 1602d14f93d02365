// The features that a node tries, in the order of its draws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "grow/options.hpp"

namespace hedgerow::grow::binned {

class TriedFeatures {
public:
    explicit TriedFeatures(std::int64_t n_features) : features_(static_cast<std::size_t>(n_features)) {
        std::iota(features_.begin(), features_.end(), 0);
    }

    // Calls search(feature, draw) for each; found() says whether one of them can be split.
    template <class Found, class Search>
    void operator()(const GrowOptions& options, base::Path path, const Found& found, const Search& search) {
        const bool all =
            options.max_features < 0 || options.max_features >= static_cast<std::int64_t>(features_.size());
        base::Draws draws(path);
        swaps_.clear();
        for (std::size_t i = 0; i < features_.size(); ++i) {
            // As in scikit-learn: features are drawn until max_features have been tried and one of them can be split.
            if (!all && static_cast<std::int64_t>(i) >= options.max_features && found()) break;
            if (!all) {
                const std::size_t other = i + draws.below(features_.size() - i);
                std::swap(features_[i], features_[other]);
                swaps_.emplace_back(i, other);
            }
            search(features_[i], options.draw_split(draws));
        }
        // Back in order, so that the next node's draws do not depend on this one's.
        for (auto swap = swaps_.rbegin(); swap != swaps_.rend(); ++swap)
            std::swap(features_[swap->first], features_[swap->second]);
    }

private:
    std::vector<std::int32_t> features_;
    std::vector<std::pair<std::size_t, std::size_t>> swaps_;
};

}  // namespace hedgerow::grow::binned
