// SplitMix64: a fast hash of 64 bits.
#pragma once

#include <cstdint>

namespace hedgerow::base {

// The k-th output of SplitMix64 from a seed is the mix of seed + k * golden_gamma (Steele, Lea, Flood: Fast splittable
// pseudorandom number generators; OOPSLA 2014).
inline constexpr std::uint64_t golden_gamma = 0x9E3779B97F4A7C15;
inline std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

}  // namespace hedgerow::base
