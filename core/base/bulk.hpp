// Vectors for large arrays that are written once: new elements are not zeroed first, and large pages are requested for
// them. A forest of 4,000,000 nodes takes 150 MB: page faults take 95 ms with pages of 4 kB, 17 ms with large ones.
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

namespace hedgerow::base {

#ifdef __linux__
// Advises the kernel on the whole pages of a large allocation. Only a hint: errors are ignored.
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

}  // namespace hedgerow::base
