// Walks down one packed tree, for run_lanes.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "walk/lanes.hpp"
#include "walk/leaf_parts.hpp"
#include "walk/packed.hpp"
#include "walk/tree_spread.hpp"

namespace hedgerow::walk {

struct PackedLane {
    const PackedNode* at;
    const std::uint32_t* keys;
};

// A walk stays where it has arrived: cheaper than a check at every step.
inline constexpr int packed_burst = 6;

template <bool stays>
bool packed_arrived(const PackedLane& lane) {
    return lane.at->key == stop_key || (stays && lane.keys[lane.at->column] == missing_key);
}

// Steps of walks down one tree. Written out: with a function for the exact split as an argument, lanes do not stay in
// registers, and walks take half as long again.
template <bool stays>
struct PackedSteps {
    static constexpr int burst = packed_burst;
    using Lane = PackedLane;
    const Forest& forest;
    PackedTree tree;
    KeyedRows rows;
    const forest::Node* nodes = forest.nodes + tree.root;

    Lane lane(std::uint32_t row, std::int64_t slot) const {
        return {tree.slots + slot, rows.keys + row * rows.n_columns};
    }
    std::int32_t place(const Lane& lane) const { return tree.places[lane.at - tree.slots]; }

    void advance(Lane& lane) const {
        const std::uint32_t key = lane.keys[lane.at->column], node_key = lane.at->key;
        const std::uint32_t to_child = lane.at->to_child;
        if (node_key == key) [[unlikely]]
            return advance_exactly(lane);
        const std::uint32_t step = to_child + (node_key < key);
        lane.at += stays && key == missing_key ? 0 : step;
    }
    void advance_exactly(Lane& lane) const {
        const forest::Node& node = nodes[node_of_place(place(lane))];
        lane.at += lane.at->to_child + (rows.row(lane.keys)[node.feature] > node.threshold);
    }
    // Whether a row's value is above the threshold of the node at a place.
    bool exceeds(std::uint32_t row, std::int32_t place) const {
        const forest::Node& node = nodes[node_of_place(place)];
        return rows.values[row * rows.n_features + node.feature] > node.threshold;
    }
    bool arrived(const Lane& lane) const { return packed_arrived<stays>(lane); }
};

// Several rows from the root.
template <bool stays>
struct PackedRowsWalk : PackedSteps<stays> {
    using Lane = typename PackedSteps<stays>::Lane;
    const std::uint32_t* list;
    std::int32_t* leaf;     // per row of the block
    std::int64_t* n_exact;  // splits that keys did not decide

    Lane start(std::int64_t job) const { return this->lane(list[job], 0); }
    bool arrive(std::int64_t job, Lane& lane) const {
        const std::int32_t place = this->place(lane);
        leaf[list[job]] = place;
        if (place >= 0) [[likely]]
            return true;
        const std::int64_t slot =
            spreads_at(place) ? no_child : slot_of_child(this->forest, this->tree, this->rows, place, lane.keys);
        if (slot == no_child) {
            leaf[list[job]] = spreads;
            return true;
        }
        ++*n_exact;
        lane.at = this->tree.slots + slot;
        return false;
    }
};

// One row down several trees.
template <bool stays>
struct PackedTreesWalk {
    static constexpr int burst = packed_burst;
    using Lane = PackedLane;
    const Forest& forest;
    const PackedForest& packed;
    KeyedRows row;
    std::int64_t first_tree;
    std::int32_t* leaf;  // per tree

    Lane start(std::int64_t job) const { return {packed.root(first_tree + job), row.keys}; }
    void advance(Lane& lane) const {
        if (lane.at->key == lane.keys[lane.at->column]) [[unlikely]]
            return PackedSteps<stays>{forest, packed.tree_of(forest, lane.at), row}.advance_exactly(lane);
        const std::uint32_t key = lane.keys[lane.at->column];
        if (!stays || key != missing_key) lane.at += lane.at->to_child + (lane.at->key < key);
    }
    bool arrived(const Lane& lane) const { return packed_arrived<stays>(lane); }
    bool arrive(std::int64_t job, Lane& lane) const {
        const std::int32_t place = leaf[job] = packed.place(lane.at);
        if (place >= 0) [[likely]]
            return true;
        const PackedTree tree = packed.tree(forest, first_tree + job);
        const std::int64_t slot = spreads_at(place) ? no_child : slot_of_child(forest, tree, row, place, lane.keys);
        if (slot == no_child) {
            leaf[job] = spreads;
            return true;
        }
        lane.at = tree.slots + slot;
        return false;
    }
};

// A row, or part of a row that was spread, at a slot of a tree.
struct RowPart {
    std::uint32_t row;
    std::int32_t slot;
    double weight;
    bool whole;
};

// Parts of rows, each from its slot; those that are spread again become parts of the next round.
struct PackedPartsWalk : PackedSteps<true> {
    const std::vector<RowPart>* parts;
    LeafParts* in_leaves;
    std::vector<RowPart>* next;
    std::int32_t* leaf;  // per row of the block: where whole rows arrive

    Lane start(std::int64_t job) const {
        const RowPart& part = (*parts)[static_cast<std::size_t>(job)];
        return lane(part.row, part.slot);
    }
    bool arrive(std::int64_t job, Lane& lane) const {
        const auto [row, from, weight, whole] = (*parts)[static_cast<std::size_t>(job)];
        const std::int32_t place = this->place(lane);
        if (place >= 0) {
            if (whole)
                leaf[row] = place;
            else
                in_leaves->add(place, row, weight);
            return true;
        }
        const std::int64_t slot = spreads_at(place) ? no_child : slot_of_child(forest, tree, rows, place, lane.keys);
        if (slot == no_child) {
            split(row, node_of_place(place), weight);
            return true;
        }
        lane.at = this->tree.slots + slot;
        return false;
    }
    // At a node that spreads rows: fractions of its children, and where they are.
    const ChildShare* shares_at(std::int32_t place) const {
        return tree.shares + nodes[node_of_place(place)].first_child;
    }
    std::int64_t slot_of_child_at(std::int32_t place, std::int64_t child) const {
        return tree.slot_of[nodes[node_of_place(place)].first_child + child];
    }
    void split(std::uint32_t row, std::int64_t node, double weight) const {
        // Without shares no row had a missing value when the forest was packed: another thread has written to the rows.
        if (!tree.shares) return split_slowly(row, node, weight);
        const ChildShare* share = tree.shares + nodes[node].first_child;
        const std::int32_t* slot = tree.slot_of + nodes[node].first_child;
        for (std::int64_t i = 0; i <= share->n_after; ++i)
            if (share[i].share * weight > 0) next->push_back({row, slot[i], share[i].share * weight, false});
    }
    void split_slowly(std::uint32_t row, std::int64_t node, double weight) const {
        for_each_part(forest, tree.root, tree.root + node, weight, [&](std::int64_t child, double part) {
            next->push_back({row, tree.slot_of[child - tree.root], part, false});
        });
    }
};

}  // namespace hedgerow::walk
