// Page faults of large arrays taken in advance.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "base/bulk.hpp"

namespace hedgerow::base {

// Faults in the memory of the first `n` elements, for which there is capacity, at once instead of page by page as they
// are written. The host of a virtual machine may have reclaimed pages that were free for some seconds: the page faults
// of a forest of 1 GB then take 1.7 s while it grows, and 0.15 s in advance.
//
// Large pages may still be slow where small ones were just freed: 760 MB took 1.8 to 2.6 s in large pages after another
// process had freed as much, 0.32 s in small ones, and 0.08 s in large ones otherwise. So small pages are used once
// large ones turn out slow; returns whether large pages are worth a try for more.
//
// A busy host may take a minute for all of it, so check_cancelled() is called after each part.
template <class T, class Check>
bool prefault([[maybe_unused]] Bulk<T>& elements, [[maybe_unused]] std::size_t n, bool large_pages,
              [[maybe_unused]] const Check& check_cancelled) {
#ifdef __linux__
    const int populate_write = 23;  // MADV_POPULATE_WRITE; headers older than Linux 5.14 lack it
    const std::size_t megabyte = 1 << 20, step = 16 * megabyte;
    auto* memory = reinterpret_cast<unsigned char*>(elements.data());
    if (!large_pages) advise(memory, n * sizeof(T), MADV_NOHUGEPAGE);
    for (std::size_t left = n * sizeof(T); left > 0;) {
        check_cancelled();
        const std::size_t part = std::min(step, left);
        const auto start = std::chrono::steady_clock::now();
        advise(memory, part, populate_write);
        memory += part;
        left -= part;
        if (!large_pages) continue;
        large_pages = std::chrono::steady_clock::now() - start < std::chrono::milliseconds(step / megabyte);
        if (!large_pages) advise(memory, left, MADV_NOHUGEPAGE);
    }
#endif
    return large_pages;
}

// Returns unused pages to the OS.
template <class T>
void release_unused([[maybe_unused]] Bulk<T>& elements) {
#ifdef __linux__
    advise(elements.data() + elements.size(), (elements.capacity() - elements.size()) * sizeof(T), MADV_DONTNEED);
#endif
}

}  // namespace hedgerow::base
