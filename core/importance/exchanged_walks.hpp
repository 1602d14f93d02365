// Walks of rows some columns of which have the values of other rows, for run_lanes.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "forest/splits.hpp"
#include "importance/permutation.hpp"
#include "walk/lanes.hpp"
#include "walk/packed_lanes.hpp"

namespace hedgerow::importance {

using walk::no_child;

inline constexpr int n_lanes = 8;
inline constexpr std::int32_t is_spread = walk::spreads;  // instead of a leaf number

// A row, some columns of which have the values of another.
struct MixedRow {
    const double* own;
    const double* donor;
    const std::uint8_t* exchanged;

    double operator[](std::int64_t column) const { return exchanged[column] ? donor[column] : own[column]; }
};

// A walk of a row with values of its donor from a node, relative to the root. Rows are numbered as the tree is asked.
struct Job {
    std::uint32_t row, donor;
    std::int32_t node;
};

// On the forest's own arrays: any columns are exchanged.
struct MixedWalk {
    struct Lane {
        std::int64_t node;
        MixedRow row;
    };
    static constexpr int burst = 1;
    const Forest& forest;
    const Rows& rows;
    const std::int64_t* row_of;  // numbers of all rows
    std::int64_t root;
    const std::uint8_t* exchanged;
    const Job* jobs;
    std::int32_t* leaf;  // of each job

    Lane start(std::int64_t job) const {
        const auto [row, donor, node] = jobs[job];
        return {root + node, {rows[row_of[row]], rows[row_of[donor]], exchanged}};
    }
    void advance(Lane& lane) const {
        if (arrived(lane)) return;
        const forest::Node& test = forest.nodes[lane.node];
        const double x = forest.is_threshold(lane.node) ? lane.row[test.feature] : std::nan("");
        std::int64_t child = x > test.threshold;
        if (std::isnan(x)) child = forest::child_number(forest, lane.node, lane.row);
        lane.node = child == no_child ? is_spread : root + test.first_child + child;
    }
    bool arrived(const Lane& lane) const { return lane.node == is_spread || forest.is_leaf(lane.node); }
    bool arrive(std::int64_t job, const Lane& lane) const {
        leaf[job] = lane.node == is_spread ? is_spread : forest.nodes[lane.node].first_child;
        return true;
    }
};

// On a packed tree: a single feature is exchanged, that columns of keys side by side stand for.
template <bool stays>
struct PackedExchange {
    struct Lane {
        const walk::PackedNode* at;
        const std::uint32_t* keys;
        const std::uint32_t* donor;
    };
    static constexpr int burst = walk::packed_burst;
    const Forest& forest;
    const walk::PackedTree tree;
    const walk::KeyedRows rows;
    const std::uint8_t* exchanged;          // features
    std::uint16_t first_column, n_columns;  // of keys
    const Job* jobs;
    std::int32_t* leaf;  // of each job

    Lane start(std::int64_t job) const {
        const auto [row, donor, node] = jobs[job];
        return {tree.slots + tree.slot_of[node], rows.keys + row * rows.n_columns, rows.keys + donor * rows.n_columns};
    }
    std::uint32_t key(const Lane& lane) const {
        const std::uint16_t column = lane.at->column;
        return (static_cast<std::uint16_t>(column - first_column) < n_columns ? lane.donor : lane.keys)[column];
    }
    void advance(Lane& lane) const {
        const std::uint32_t row_key = key(lane), node_key = lane.at->key;
        if (node_key == row_key) [[unlikely]]
            return advance_exactly(lane);
        const std::uint32_t step = lane.at->to_child + (node_key < row_key);
        lane.at += stays && row_key == walk::missing_key ? 0 : step;
    }
    bool arrived(const Lane& lane) const {
        return lane.at->key == walk::stop_key || (stays && key(lane) == walk::missing_key);
    }
    bool arrive(std::int64_t job, Lane& lane) const {
        const std::int32_t place = leaf[job] = tree.places[lane.at - tree.slots];
        if (place >= 0) [[likely]]
            return true;
        const std::int64_t node = walk::node_of_place(place);
        const std::int64_t child =
            walk::spreads_at(place) ? no_child : forest::child_number(forest, tree.root + node, mixed(lane));
        leaf[job] = is_spread;
        if (child == no_child) return true;
        lane.at = tree.slots + tree.slot_of[forest.nodes[tree.root + node].first_child + child];
        return false;
    }

private:
    MixedRow mixed(const Lane& lane) const { return {rows.row(lane.keys), rows.row(lane.donor), exchanged}; }
    void advance_exactly(Lane& lane) const {
        const std::int64_t node = tree.root + walk::node_of_place(tree.places[lane.at - tree.slots]);
        const forest::Node& test = forest.nodes[node];
        lane.at += lane.at->to_child + (mixed(lane)[test.feature] > test.threshold);
    }
};

}  // namespace hedgerow::importance
