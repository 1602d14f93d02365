// Threads: joined by RAII, the first exception rethrown in the caller, Ctrl-C handled while workers compute.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace hedgerow::base {

// Called by the calling thread about every 50 ms while workers compute; it throws to end the work.
using Poll = std::function<void()>;

// Set when work is to end; long tasks check it and return early. Their results are discarded.
using Cancelled = std::atomic<bool>;

// Thrown by a task that sees that it was cancelled; parallel_for rethrows the reason of the cancellation.
struct Stopped {};

inline constexpr std::chrono::milliseconds poll_interval{50};

// More threads only take memory, whatever n_jobs is.
inline std::int64_t max_threads() { return 4 * std::max<std::int64_t>(std::thread::hardware_concurrency(), 2); }

// glibc allocates a thread's exception storage at the first throw, and aborts the process if that fails: std::bad_alloc
// could not be thrown where memory is short. Asking for the number of exceptions allocates it now.
inline void allocate_exception_storage() { static_cast<void>(std::uncaught_exceptions()); }

// Runs all tasks in the calling thread, with a poll every poll_interval.
template <class Body>
void run_here(std::int64_t n_tasks, const Body& body, const Cancelled& cancelled, const Poll& poll) {
    auto last_poll = std::chrono::steady_clock::now();
    for (std::int64_t task = 0; task < n_tasks; ++task) {
        body(task, cancelled);
        if (std::chrono::steady_clock::now() - last_poll < poll_interval) continue;
        poll();
        last_poll = std::chrono::steady_clock::now();
    }
}

// Calls body(task, cancelled) for every task in 0 .. n_tasks-1 on n_threads threads, or on as many as can be started.
// Each task writes its own slot, so results do not depend on which thread ran it. n_threads <= 0: in the calling
// thread, without a poll, for work too short to be worth a thread.
template <class Body>
void parallel_for(std::int64_t n_tasks, std::int64_t n_threads, const Body& body, const Poll& poll) {
    Cancelled cancelled{false};
    if (n_threads <= 0) {
        for (std::int64_t task = 0; task < n_tasks; ++task) body(task, cancelled);
        return;
    }

    std::atomic<std::int64_t> next_task{0};
    std::mutex mutex;
    std::condition_variable finished;
    std::exception_ptr error;
    const std::int64_t n_wanted = std::min({n_threads, n_tasks, max_threads()});
    std::int64_t running = n_wanted;

    const auto fail = [&] {  // called in a catch block
        const std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
        cancelled = true;
    };
    const auto work = [&] {
        allocate_exception_storage();
        try {
            for (;;) {
                const std::int64_t task = next_task.fetch_add(1);
                if (task >= n_tasks || cancelled) break;
                body(task, cancelled);
            }
        } catch (...) {
            fail();
        }
        // Notified under the lock: once the caller sees 0 it may leave, and the condition variable with it.
        const std::lock_guard lock(mutex);
        --running;
        finished.notify_one();
    };

    {
        std::vector<std::jthread> threads;
        allocate_exception_storage();
        try {
            threads.reserve(static_cast<std::size_t>(n_wanted));
            for (std::int64_t i = 0; i < n_wanted; ++i) threads.emplace_back(work);
        } catch (const std::exception&) {  // no memory or too many threads: go on with those that have started
            const std::lock_guard lock(mutex);
            running -= n_wanted - static_cast<std::int64_t>(threads.size());
        }
        if (threads.empty()) return run_here(n_tasks, body, cancelled, poll);
        std::unique_lock lock(mutex);
        while (running > 0) {
            if (finished.wait_for(lock, poll_interval, [&] { return running == 0; })) break;
            if (cancelled) continue;
            lock.unlock();
            try {
                poll();
            } catch (...) {
                fail();
            }
            lock.lock();
        }
    }
    if (error) std::rethrow_exception(error);
}

}  // namespace hedgerow::base
