// Threads: joined by RAII, the first exception rethrown in the caller, Ctrl-C seen while workers compute.
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

namespace hedgerow {

// Called by the calling thread about every 50 ms while workers compute; it throws to end the work.
using Poll = std::function<void()>;

// Set once work is to end; long tasks look at it and return early. Their results are thrown away.
using Cancelled = std::atomic<bool>;

// Calls body(task, cancelled) for every task in 0 .. n_tasks-1 on n_threads threads. Each task writes its own slot,
// so results do not depend on which thread ran it. n_threads <= 0: in the calling thread, without a poll, for work
// too short to be worth a thread.
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
    std::int64_t running = std::min(n_threads, n_tasks);

    const auto fail = [&] {  // called in a catch block
        const std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
        cancelled = true;
    };
    const auto work = [&] {
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
        threads.reserve(static_cast<std::size_t>(running));
        const std::int64_t n_wanted = running;
        try {
            for (std::int64_t i = 0; i < n_wanted; ++i) threads.emplace_back(work);
        } catch (...) {  // the system gave us fewer threads than we asked for
            const std::lock_guard lock(mutex);
            running -= n_wanted - static_cast<std::int64_t>(threads.size());
            if (threads.empty()) throw;
        }
        std::unique_lock lock(mutex);
        while (running > 0) {
            if (finished.wait_for(lock, std::chrono::milliseconds(50), [&] { return running == 0; })) break;
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

}  // namespace hedgerow
