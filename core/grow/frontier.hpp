// Nodes waiting to be split, and which is next: the last found (depth first), or the one with the largest gain (best
// first).
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace hedgerow::grow {

// A Task has `gain`.
template <class Task>
class Frontier {
public:
    explicit Frontier(bool best_first) : best_first_(best_first) {}

    bool empty() const { return tasks_.empty(); }
    std::int64_t size() const { return static_cast<std::int64_t>(tasks_.size()); }

    void push(Task task) {
        tasks_.push_back({n_pushed_++, std::move(task)});
        if (best_first_) std::push_heap(tasks_.begin(), tasks_.end(), comes_later);
    }

    Task pop() {
        if (best_first_) std::pop_heap(tasks_.begin(), tasks_.end(), comes_later);
        Task task = std::move(tasks_.back().task);
        tasks_.pop_back();
        return task;
    }

private:
    struct Waiting {
        std::int64_t order;
        Task task;
    };
    // Ties go to the node that was found first.
    static bool comes_later(const Waiting& a, const Waiting& b) {
        if (a.task.gain != b.task.gain) return a.task.gain < b.task.gain;
        return a.order > b.order;
    }

    bool best_first_;
    std::int64_t n_pushed_ = 0;
    std::vector<Waiting> tasks_;
};

}  // namespace hedgerow::grow
