// Bootstrap: rows drawn with replacement.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "base/random.hpp"
#include "data/training_data.hpp"
#include "grow/poisson.hpp"

namespace hedgerow::grow {

using base::Cancelled;
using base::Draws;
using base::Path;
using base::Stopped;
using data::TrainingData;

// How often each row was drawn; empty: rows were not drawn, and have their weights.
using DrawCounts = std::vector<std::uint32_t>;

// Row of a Poisson bag in which no row was drawn, which happens with probability exp(-n_draws).
inline std::uint64_t only_row(Path tree, std::uint64_t n_rows) { return Draws(tree.of_row(0xFFFFFFFF)).below(n_rows); }

// How many draws a tree has: a number of them, or each row its own, n_draws on average.
enum class DrawScheme : std::uint8_t { multinomial, poisson };

class Bootstrap {
public:
    Bootstrap(const TrainingData& data, std::int64_t n_draws, DrawScheme scheme = DrawScheme::multinomial)
        : weight_(data.weight), n_rows_(data.n_rows), n_draws_(n_draws), scheme_(scheme) {
        const double first = data.weight[0];
        const bool equal = std::all_of(data.weight, data.weight + data.n_rows, [&](double w) { return w == first; });
        if (equal && scheme_ == DrawScheme::multinomial) return;
        double sum = 0;
        for (std::int64_t row = 0; row < data.n_rows; ++row) {
            sum += data.weight[row];
            if (scheme_ == DrawScheme::multinomial) cumulated_.push_back(sum);
        }
        total_ = sum;
    }

    // How often each row was drawn for the tree at this address. Rows of weight 0 never are.
    DrawCounts operator()(Path tree, const Cancelled& cancelled) const {
        return scheme_ == DrawScheme::poisson ? draw_each(tree, cancelled) : draw_many(tree, cancelled);
    }

private:
    DrawCounts draw_many(Path tree, const Cancelled& cancelled) const {
        DrawCounts counts(static_cast<std::size_t>(n_rows_), 0);
        Draws draws(tree.of_row(0xFFFFFFFF));  // distinct from the draws of nodes
        for (std::int64_t done = 0; done < n_draws_;) {
            if (cancelled) throw Stopped{};
            for (const std::int64_t end = std::min(n_draws_, done + draws_between_checks); done < end; ++done)
                ++counts[draw(draws)];
        }
        return counts;
    }

    DrawCounts draw_each(Path tree, const Cancelled& cancelled) const {
        DrawCounts counts(static_cast<std::size_t>(n_rows_));
        PoissonDraws draws(tree, static_cast<double>(n_draws_) / total_);
        bool any = false;
        for (std::int64_t done = 0; done < n_rows_;) {
            if (cancelled) throw Stopped{};
            for (const std::int64_t end = std::min(n_rows_, done + draws_between_checks); done < end; ++done) {
                const auto row = static_cast<std::size_t>(done);
                counts[row] = draws(row, weight_[row]);
                any |= counts[row] > 0;
            }
        }
        if (!any) counts[only_row(tree, static_cast<std::uint64_t>(n_rows_))] = 1;
        return counts;
    }

    static constexpr std::int64_t draws_between_checks = 1 << 16;

    std::size_t draw(Draws& draws) const {
        if (cumulated_.empty()) return draws.below(static_cast<std::uint64_t>(n_rows_));
        const double at = draws.real() * cumulated_.back();
        const auto row = std::upper_bound(cumulated_.begin(), cumulated_.end(), at) - cumulated_.begin();
        return static_cast<std::size_t>(std::min(row, n_rows_ - 1));  // where the sum overflows
    }

    const double* weight_;
    std::int64_t n_rows_;
    std::int64_t n_draws_;
    DrawScheme scheme_;
    double total_ = 0;               // of the weights, for Poisson draws
    std::vector<double> cumulated_;  // empty: all weights are equal
};

}  // namespace hedgerow::grow
