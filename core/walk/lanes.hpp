// Interleaved walks, so that one walk's memory latency is hidden by the others. A lane that arrives takes the next job
// at once: lanes in lock-step would all wait for the deepest.
#pragma once

#include <cstdint>
#include <utility>

#include "data/rows.hpp"
#include "forest/forest.hpp"
#include "forest/splits.hpp"

namespace hedgerow::walk {

using forest::Forest;
using forest::no_child;
using forest::Node;

// Inlines all calls of a function. Compilers that count what they have inlined into a file leave some, and lanes go to
// memory: a fifth slower.
#if defined(__GNUC__)
#define HEDGEROW_FLATTEN __attribute__((flatten))
#else
#define HEDGEROW_FLATTEN
#endif

template <int n_lanes, class Use>
void for_each_lane(const Use& use) {
    [&]<int... i>(std::integer_sequence<int, i...>) { (use(i), ...); }(std::make_integer_sequence<int, n_lanes>());
}

// A walk has `Lane start(job)`, `void advance(Lane&)` (which stays where it has arrived), `bool arrived(const Lane&)`,
// `bool arrive(job, Lane&)` (false where the lane was put on its way again), and `burst`: how often all lanes advance
// between checks for arrivals.
template <int n_lanes, class Walk>
HEDGEROW_FLATTEN void run_lanes(std::int64_t n_jobs, const Walk walk) {
    typename Walk::Lane lanes[n_lanes];
    std::int64_t job_of[n_lanes];
    std::int64_t next = 0;
    int n_active = 0;
    for (; n_active < n_lanes && next < n_jobs; ++n_active) lanes[n_active] = walk.start(job_of[n_active] = next++);
    while (next < n_jobs) {
        // One step of every lane, then the next step of every lane: a lane's loads depend on each other.
        for (int step = 0; step < Walk::burst; ++step) for_each_lane<n_lanes>([&](int i) { walk.advance(lanes[i]); });
        for_each_lane<n_lanes>([&](int i) {  // unrolled: lanes stay in registers
            if (!walk.arrived(lanes[i]) || next == n_jobs) return;
            if (walk.arrive(job_of[i], lanes[i])) lanes[i] = walk.start(job_of[i] = next++);
        });
    }
    while (n_active > 0) {
        for (int i = n_active - 1; i >= 0; --i) {
            walk.advance(lanes[i]);
            if (!walk.arrived(lanes[i]) || !walk.arrive(job_of[i], lanes[i])) continue;
            lanes[i] = lanes[--n_active];
            job_of[i] = job_of[n_active];
        }
    }
}

inline constexpr std::int32_t spreads = -1;  // instead of a leaf number: the row reaches several leaves

// A walk on the forest's own arrays: any kind of node, any missing value.
struct AnyLane {
    std::int64_t root;
    std::int64_t node;  // absolute; `spreads` where the walk came to a node that spreads the row
    const double* row;

    void advance(const Forest& forest) {
        if (arrived(forest)) return;
        const Node& test = forest.nodes[node];
        if (forest.is_threshold(node) && !std::isnan(row[test.feature])) {
            node = root + test.first_child + (row[test.feature] > test.threshold);
            return;
        }
        const std::int64_t child = child_number(forest, node, row);
        node = child == no_child ? spreads : root + test.first_child + child;
    }
    bool arrived(const Forest& forest) const { return node == spreads || forest.is_leaf(node); }
    std::int32_t leaf(const Forest& forest) const { return node == spreads ? spreads : forest.nodes[node].first_child; }
};

// Several rows down one tree.
struct AnyRowsWalk {
    using Lane = AnyLane;
    static constexpr int burst = 1;
    const Forest& forest;
    const double* block;  // the first row of the block
    std::int64_t n_columns;
    std::int64_t root;
    const std::uint32_t* list;  // rows of the block to walk
    std::int32_t* leaf;         // per row of the block

    Lane start(std::int64_t job) const { return {root, root, block + list[job] * n_columns}; }
    void advance(Lane& lane) const { lane.advance(forest); }
    bool arrived(const Lane& lane) const { return lane.arrived(forest); }
    bool arrive(std::int64_t job, const Lane& lane) const {
        leaf[list[job]] = lane.leaf(forest);
        return true;
    }
};

// One row down several trees.
struct AnyTreesWalk {
    using Lane = AnyLane;
    static constexpr int burst = 1;
    const Forest& forest;
    const double* row;
    std::int64_t first_tree;
    std::int32_t* leaf;  // per tree

    Lane start(std::int64_t job) const {
        const std::int64_t root = forest.tree_start[first_tree + job];
        return {root, root, row};
    }
    void advance(Lane& lane) const { lane.advance(forest); }
    bool arrived(const Lane& lane) const { return lane.arrived(forest); }
    bool arrive(std::int64_t job, const Lane& lane) const {
        leaf[job] = lane.leaf(forest);
        return true;
    }
};

}  // namespace hedgerow::walk
