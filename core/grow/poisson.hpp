// Poisson bootstrap: a row is drawn for a tree Poisson(rate * weight) times, as a hash of (seed, tree, row) says. The
// draws of a row depend on no other row, so that rows can be drawn wherever they are.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/hash.hpp"
#include "base/random.hpp"

namespace hedgerow::grow {

class PoissonDraws {
public:
    // `rate`: mean number of draws of a row of weight 1.
    PoissonDraws(base::Path tree, double rate) : key_(base::mix(tree.key() ^ apart_from_nodes)), rate_(rate) {}

    std::uint32_t operator()(std::uint64_t row, double weight) {
        if (rate_ * weight != mean_) set_mean(rate_ * weight);
        const std::uint64_t key = base::mix(key_ + (row + 1) * base::golden_gamma);
        std::uint32_t n = count(key);
        for (std::uint64_t part = 1; part < n_parts_; ++part) n += count(base::mix(key + part * base::golden_gamma));
        return n;
    }

private:
    static constexpr std::uint64_t apart_from_nodes = 0xA0761D6478BD642F;
    static constexpr double most_of_part = 16;
    static constexpr std::uint32_t most_draws = 200;  // of a part: P(more) < 1e-100

    // A large mean is a sum of smaller ones: its probability of no draw would underflow.
    void set_mean(double mean) {
        mean_ = mean;
        n_parts_ = mean > most_of_part ? static_cast<std::uint64_t>(std::ceil(mean / most_of_part)) : 1;
        part_mean_ = mean / static_cast<double>(n_parts_);
        none_ = exp_of_minus(part_mean_);
    }

    // exp(-x) for x in [0, 16]. std::exp differs between platforms in the last digit, and draws must not.
    static double exp_of_minus(double x) {
        const double step = x / 64;
        double sum = 1, term = 1;
        for (int k = 1; k <= 12; ++k) sum += term *= -step / k;
        for (int square = 0; square < 6; ++square) sum *= sum;
        return sum;
    }

    // Inverse of the distribution function.
    std::uint32_t count(std::uint64_t bits) const {
        const double at = static_cast<double>(bits >> 11) * 0x1p-53;
        double probability = none_, upto = none_;
        std::uint32_t n = 0;
        while (at >= upto && n < most_draws) upto += probability *= part_mean_ / ++n;
        return n;
    }

    std::uint64_t key_;
    double rate_;
    double mean_ = -1, part_mean_ = 0, none_ = 1;
    std::uint64_t n_parts_ = 1;
};

}  // namespace hedgerow::grow
