// One forest that several threads write trees to.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <tuple>
#include <utility>

#include "base/parallel.hpp"
#include "base/prefault.hpp"
#include "forest/grown.hpp"

namespace hedgerow::grow::random {

using base::Cancelled;
using base::Stopped;
using forest::GrownForest;
using forest::GrownTree;

// Trees stand in the order of their numbers, whichever thread grew them. A tree gets its room once all trees before it
// have theirs, and is written while others are: nothing is copied, and memory for all of them is reserved after the
// first tree.
class SharedForest {
public:
    explicit SharedForest(std::int64_t n_trees) : n_trees_(n_trees) {}

    // Called by the tasks of a parallel_for, which starts them in the order of their numbers.
    template <class Tree>
    void add(std::int64_t number, Tree& tree, const Cancelled& cancelled) {
        const auto room = make_room(number, tree, cancelled);
        tree.write(room);
        const std::lock_guard lock(mutex_);
        --n_writing_;
        changed_.notify_all();
    }

    GrownForest take() {
        GrownTree& trees = forest_.trees;
        std::apply([](auto&... column) { (base::release_unused(column), ...); },
                   std::tie(trees.nodes, trees.kind, trees.count_of, trees.leaf_values, trees.weight, trees.payload));
        return std::move(forest_);
    }

private:
    template <class Tree>
    auto make_room(std::int64_t number, const Tree& tree, const Cancelled& cancelled) {
        std::unique_lock lock(mutex_);
        const auto wait_until = [&](const auto& reached) {
            // A task that ends early does not notify.
            while (!changed_.wait_for(lock, std::chrono::milliseconds(20), reached))
                if (cancelled) throw Stopped{};
        };
        wait_until([&] { return n_placed_ == number; });
        if (number == 0) reserve(tree, cancelled);
        bool fits = true;
        tree.for_each_column(forest_.trees, [&](const auto& column, std::size_t n) {
            fits = fits && column.size() + n <= column.capacity();
        });
        if (!fits) wait_until([&] { return n_writing_ == 0; });  // growing a column moves it
        const auto room = tree.make_room(forest_);
        ++n_placed_;
        ++n_writing_;
        changed_.notify_all();
        return room;
    }

    // Most trees have about as many nodes as the first. A small forest is not prefaulted: its page faults are quick,
    // and its pages are then in the cache when they are written.
    template <class Tree>
    void reserve(const Tree& first, const Cancelled& cancelled) {
        std::size_t n_bytes = 0;
        const auto expected = [this](std::size_t n) { return static_cast<std::size_t>(n_trees_) * n; };
        first.for_each_column(forest_.trees, [&](auto& column, std::size_t n) {
            column.reserve(expected(n) + expected(n) / 32);
            n_bytes += expected(n) * sizeof(column[0]);
        });
        if (n_bytes < std::size_t{256} << 20) return;
        bool large_pages = true;
        const auto check_cancelled = [&] {
            if (cancelled) throw Stopped{};
        };
        first.for_each_column(forest_.trees, [&](auto& column, std::size_t n) {
            large_pages = base::prefault(column, expected(n), large_pages, check_cancelled);
        });
    }

    const std::int64_t n_trees_;
    GrownForest forest_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::int64_t n_placed_ = 0, n_writing_ = 0;
};

}  // namespace hedgerow::grow::random
