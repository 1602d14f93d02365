// Category codes as data frames store them: integers of any size, -1 where a value is missing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

namespace hedgerow::data {

inline constexpr std::int64_t no_code = -1;

// The code, if `value` is a whole number in 0 .. n_codes - 1; else no_code.
inline std::int64_t code_of(double value, std::int64_t n_codes) {
    if (!(value >= 0 && value < static_cast<double>(n_codes))) return no_code;
    const auto code = static_cast<std::int64_t>(value);
    return static_cast<double>(code) == value ? code : no_code;
}

// Marks the levels that occur in `used`, (n_levels,). The loop has no branch: an invalid code is reported afterwards.
template <class Code>
void mark_codes(const Code* codes, std::size_t n, std::uint8_t* used, std::size_t n_levels) {
    std::vector<std::uint8_t> seen(n_levels + 2, 0);  // missing, the levels, invalid codes
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t slot = static_cast<std::size_t>(codes[i]) + 1;  // a code below -1 becomes too large
        seen[slot <= n_levels ? slot : n_levels + 1] = 1;
    }
    if (seen[n_levels + 1]) throw std::invalid_argument("a category code has no level");
    for (std::size_t level = 0; level < n_levels; ++level) used[level] = seen[level + 1];
}

// out[i] = table[codes[i]], NaN where the code is -1.
template <class Code>
void place_codes(const Code* codes, std::size_t n, const double* table, std::size_t n_levels, double* out) {
    std::vector<double> entries(n_levels + 2, std::numeric_limits<double>::quiet_NaN());
    for (std::size_t level = 0; level < n_levels; ++level) entries[level + 1] = table[level];
    bool all_known = true;
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t slot = static_cast<std::size_t>(codes[i]) + 1;
        out[i] = entries[slot <= n_levels ? slot : n_levels + 1];
        all_known &= slot <= n_levels;
    }
    if (!all_known) throw std::invalid_argument("a category code has no level");
}

}  // namespace hedgerow::data
