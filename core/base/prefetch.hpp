// A hint that memory will be read soon.
#pragma once

#include <cstdint>

namespace hedgerow {

inline constexpr std::uint32_t cache_line = 64;

inline void prefetch([[maybe_unused]] const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
#endif
}

}  // namespace hedgerow
