// Doubles as integers in numerical order.
#pragma once

#include <bit>
#include <cstdint>

namespace hedgerow::base {

inline std::uint64_t in_numerical_order(double value) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
    const std::uint64_t sign = std::uint64_t{1} << 63;
    const std::uint64_t magnitude = bits & ~sign;
    return bits & sign ? sign - magnitude : sign + magnitude;  // -0.0 and 0.0 are one
}

// The inverse; zero is positive.
inline double from_numerical_order(std::uint64_t m) {
    const std::uint64_t sign = std::uint64_t{1} << 63;
    return std::bit_cast<double>(m >= sign ? m - sign : sign | (sign - m));
}

}  // namespace hedgerow::base
