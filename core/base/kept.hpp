// A value that is made when it is first needed, and kept.
#pragma once

#include <atomic>
#include <memory>

namespace hedgerow::base {

// Threads that ask at the same time may each make the value; all get the first one. Without a lock, which a process
// that is forked meanwhile would wait for forever.
template <class T>
class Kept {
public:
    Kept() = default;
    Kept(const Kept&) = delete;
    Kept& operator=(const Kept&) = delete;
    ~Kept() { delete value_.load(std::memory_order_relaxed); }

    // Null if it was not made yet.
    const T* get() const { return value_.load(std::memory_order_acquire); }

    // make() returns a T.
    template <class Make>
    const T* get_or(const Make& make) {
        if (const T* const value = get()) return value;
        auto made = std::make_unique<const T>(make());
        const T* first = nullptr;
        if (!value_.compare_exchange_strong(first, made.get(), std::memory_order_acq_rel)) return first;
        return made.release();
    }

private:
    std::atomic<const T*> value_{nullptr};
};

}  // namespace hedgerow::base
