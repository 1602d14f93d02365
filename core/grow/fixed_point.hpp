// Targets rounded to multiples of a power of two, so that their sums are exact and do not depend on their order.
#pragma once

#include <cmath>

namespace hedgerow::grow {

struct FixedPoint {
    double centre = 0;   // subtracted from targets first
    double range = 0;    // a power of two, at least as large as they are then
    double quantum = 0;  // a power of two; 0: targets are not rounded

    bool exact() const { return quantum > 0; }
    double rounded(double target) const { return exact() ? std::nearbyint(target / quantum) * quantum : target; }

    // Weight times square, relative to the range, upwards to multiples of 2^-20: sums of it are exact, too.
    template <class Instance>
    double magnitude(const Instance& instance) const {
        const double share = instance.target / range;
        return instance.weight * std::ceil(share * share * 0x1p20) * (range * 0x1p-20 * range);
    }
};

}  // namespace hedgerow::grow
