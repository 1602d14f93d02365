// Vectors for what may have millions of elements and is written once: new elements are not set to zero first, and the
// system is asked for large pages. A forest of 4,000,000 nodes takes 150 MB: to get them in pages of 4 kB takes 95 ms, in
// large ones 17 ms, and growing all of it takes about as long as the former.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace hedgerow {

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
    // A wish: where it is not granted, or not known, everything works with small pages.
    static void ask_for_large_pages([[maybe_unused]] T* memory, [[maybe_unused]] std::size_t n_bytes) {
#ifdef __linux__
        const std::size_t page = 4096;
        if (n_bytes < std::size_t{4} << 20) return;
        const auto at = reinterpret_cast<std::uintptr_t>(memory);
        const std::uintptr_t first = (at + page - 1) / page * page;
        madvise(reinterpret_cast<void*>(first), at + n_bytes - first, MADV_HUGEPAGE);
#endif
    }
};

template <class T>
using Bulk = std::vector<T, BulkAllocator<T>>;

}  // namespace hedgerow
