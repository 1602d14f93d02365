// Vectors for what may have millions of elements and is written once: new elements are not set to zero first, and the
// system is asked for large pages. A forest of 4,000,000 nodes takes 150 MB: to get them in pages of 4 kB takes 95 ms, in
// large ones 17 ms, and growing all of it takes about as long as the former.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace hedgerow::base {

#ifdef __linux__
// On the whole pages of some memory, if it is large. A wish: where it is not granted, or not known, everything works without.
inline void advise(void* memory, std::size_t n_bytes, int advice) {
    const std::size_t page = 4096;
    if (n_bytes < std::size_t{4} << 20) return;
    const auto at = reinterpret_cast<std::uintptr_t>(memory);
    const std::uintptr_t first = (at + page - 1) / page * page, last = (at + n_bytes) / page * page;
    madvise(reinterpret_cast<void*>(first), last - first, advice);
}
#endif

template <class T>
struct BulkAllocator : std::allocator<T> {
    template <class U>
    struct rebind {
        using other = BulkAllocator<U>;
    };

    T* allocate(std::size_t n) {
        T* memory = std::allocator<T>::allocate(n);
        ask_for_large_pages(memory, n * sizeof(T));
        return memory;
    }
    template <class U>
    void construct(U* at) noexcept {
        ::new (static_cast<void*>(at)) U;
    }
    template <class U, class... Arguments>
    void construct(U* at, Arguments&&... arguments) {
        ::new (static_cast<void*>(at)) U(std::forward<Arguments>(arguments)...);
    }

private:
    static void ask_for_large_pages([[maybe_unused]] T* memory, [[maybe_unused]] std::size_t n_bytes) {
#ifdef __linux__
        advise(memory, n_bytes, MADV_HUGEPAGE);
#endif
    }
};

template <class T>
using Bulk = std::vector<T, BulkAllocator<T>>;

// Has the system fetch the memory of the first `n` elements, which there is room for, now and not page by page as they are
// written. A virtual machine's host may take back what is left free for some seconds: while a forest of 1 GB grows, its
// pages take 1.7 s then, and .15 s if all are fetched as the growth begins.
//
// Even so, large pages may be those that the host has taken back, where small ones have just been freed: 760 MB took 1.8 to
// 2.6 s in large pages after another program's forest had been freed, .32 in small ones, and .08 in large ones otherwise. So
// small ones are taken once large ones are slow. Answers whether large pages are worth a try for more.
//
// A busy host may take a minute for all of it, so a part is fetched at a time, with a call of check_cancelled() in between.
template <class T, class Check>
bool fetch_memory([[maybe_unused]] Bulk<T>& elements, [[maybe_unused]] std::size_t n, bool large_pages,
                  [[maybe_unused]] const Check& check_cancelled) {
#ifdef __linux__
    const int populate_write = 23;  // MADV_POPULATE_WRITE, which headers older than Linux 5.14 do not name
    const std::size_t megabyte = 1 << 20, some = 16 * megabyte;
    auto* memory = reinterpret_cast<unsigned char*>(elements.data());
    if (!large_pages) advise(memory, n * sizeof(T), MADV_NOHUGEPAGE);
    for (std::size_t left = n * sizeof(T); left > 0;) {
        check_cancelled();
        const std::size_t part = std::min(some, left);
        const auto start = std::chrono::steady_clock::now();
        advise(memory, part, populate_write);
        memory += part;
        left -= part;
        if (!large_pages) continue;
        large_pages = std::chrono::steady_clock::now() - start < std::chrono::milliseconds(some / megabyte);
        if (!large_pages) advise(memory, left, MADV_NOHUGEPAGE);
    }
#endif
    return large_pages;
}

// Gives back what was fetched and no element came to.
template <class T>
void return_memory([[maybe_unused]] Bulk<T>& elements) {
#ifdef __linux__
    advise(elements.data() + elements.size(), (elements.capacity() - elements.size()) * sizeof(T), MADV_DONTNEED);
#endif
}

}  // namespace hedgerow::base
