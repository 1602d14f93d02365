// Bootstrap: rows drawn with replacement.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "base/random.hpp"
#include "data/training_data.hpp"

namespace hedgerow::grow {

using base::Cancelled;
using base::Draws;
using base::Path;
using base::Stopped;
using data::TrainingData;

// How often each row was drawn; empty: rows were not drawn, and have their weights.
using DrawCounts = std::vector<std::uint32_t>;

class Bootstrap {
public:
    Bootstrap(const TrainingData& data, std::int64_t n_draws) : n_rows_(data.n_rows), n_draws_(n_draws) {
        const double first = data.weight[0];
        if (std::all_of(data.weight, data.weight + data.n_rows, [&](double w) { return w == first; })) return;
        double sum = 0;
        for (std::int64_t row = 0; row < data.n_rows; ++row) cumulated_.push_back(sum += data.weight[row]);
    }

    // How often each row was drawn for the tree at this address. Rows of weight 0 never are.
    DrawCounts operator()(Path tree, const Cancelled& cancelled) const {
        DrawCounts counts(static_cast<std::size_t>(n_rows_), 0);
        Draws draws(tree.of_row(0xFFFFFFFF));  // distinct from the draws of nodes
        for (std::int64_t done = 0; done < n_draws_;) {
            if (cancelled) throw Stopped{};
            for (const std::int64_t end = std::min(n_draws_, done + draws_between_checks); done < end; ++done)
                ++counts[draw(draws)];
        }
        return counts;
    }

private:
    static constexpr std::int64_t draws_between_checks = 1 << 16;

    std::size_t draw(Draws& draws) const {
        if (cumulated_.empty()) return draws.below(static_cast<std::uint64_t>(n_rows_));
        const double at = draws.real() * cumulated_.back();
        const auto row = std::upper_bound(cumulated_.begin(), cumulated_.end(), at) - cumulated_.begin();
        return static_cast<std::size_t>(std::min(row, n_rows_ - 1));  // where the sum overflows
    }

    std::int64_t n_rows_;
    std::int64_t n_draws_;
    std::vector<double> cumulated_;  // empty: all weights are equal
};

}  // namespace hedgerow::grow
