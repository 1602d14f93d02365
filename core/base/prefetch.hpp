// A hint that memory will be read soon.
#pragma once

namespace hedgerow::base {

inline void prefetch([[maybe_unused]] const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
#endif
}

}  // namespace hedgerow::base
