// Eight bytes a node, for walking many rows down the trees of a forest: a key to compare, and where the children are.
//
// Every split becomes comparisons of keys (walk/row_keys.hpp). A threshold is one. A split by category is a search
// among runs of codes that take the same branch: nodes of its own, log2(n_runs) of which a row visits. What keys can't
// decide stops a walk, as a leaf does: an oblique split, a subset with too many runs, a child that is too far away.
// Such a split is evaluated on the forest's own arrays, and the walk goes on from its child.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/kept.hpp"
#include "forest/forest.hpp"
#include "walk/row_keys.hpp"

namespace hedgerow::walk {

using forest::Forest;

struct PackedNode {
    std::uint32_t key;
    std::uint16_t column;
    std::uint16_t to_child;  // from this node to the first of two; 0 where walks stop
};
static_assert(sizeof(PackedNode) == 8);

// Above every key of a row: no row goes right, so that a leaf leads to itself and a walk may overshoot.
inline constexpr std::uint32_t stop_key = ~std::uint32_t{0};

// What a slot stands for: in a leaf its leaf number; else negative, with the node and whether all rows that stop there
// are spread.
inline std::int64_t node_of_place(std::int32_t place) { return ~place >> 1; }  // relative to the root
inline bool spreads_at(std::int32_t place) { return (~place & 1) != 0; }

// Fraction of a row that is spread at a node's parent, and how many siblings follow the node.
struct ChildShare {
    double share;
    std::int64_t n_after;
};

// One tree. A node of the forest may be in several slots: where runs of codes take the same branch.
struct PackedTree {
    const PackedNode* slots;
    const std::int32_t* places;   // per slot
    const std::int32_t* slot_of;  // per node, relative to the root: one of its slots
    const ChildShare* shares;     // per node, relative to the root; null if no row can be spread
    std::int64_t root;
};

// Nodes of a feature that send missing values to the first and to the last child read different columns of keys. Rows
// that lack no value do without half of the columns: where there are such features, they have packed nodes of their
// own.
enum class RowsHave { all_values, missing_values };
bool sends_both_ways(const Forest& forest);

class PackedForest {
public:
    // `most_category_columns`: key columns of a single category each; there are fewer for few trees.
    PackedForest(const Forest& forest, std::int64_t first_tree, std::int64_t last_tree, RowsHave rows_have,
                 std::int64_t most_category_columns = 256);

    // Computes the shares of children, once: before a walk of rows that may be spread.
    void find_shares(const Forest& forest) const;

    const KeyColumns& columns() const { return columns_; }
    bool spreads() const { return spreads_; }  // whether some node spreads rows without a value
    PackedTree tree(const Forest& forest, std::int64_t tree) const {
        const auto start = slot_start_[static_cast<std::size_t>(tree - first_tree_)];
        const std::int64_t root = forest.tree_start[tree];
        const auto* const shares = shares_.get();
        return {slots_.data() + start, places_.data() + start, slot_of_.data() + (root - first_node_),
                shares ? shares->data() + (root - first_node_) : nullptr, root};
    }
    const PackedNode* root(std::int64_t tree) const {
        return slots_.data() + slot_start_[static_cast<std::size_t>(tree - first_tree_)];
    }
    PackedTree tree_of(const Forest& forest, const PackedNode* slot) const {
        const auto next = std::upper_bound(slot_start_.begin(), slot_start_.end(), slot - slots_.data());
        return tree(forest, first_tree_ + (next - slot_start_.begin()) - 1);
    }
    std::int32_t place(const PackedNode* slot) const { return places_[static_cast<std::size_t>(slot - slots_.data())]; }

    // The arrays themselves, for walks on another device. Of shares there are none before `find_shares`.
    const std::vector<std::int64_t>& slot_starts() const { return slot_start_; }
    const std::vector<PackedNode>& slots() const { return slots_; }
    const std::vector<std::int32_t>& places() const { return places_; }
    const std::vector<std::int32_t>& slots_of_nodes() const { return slot_of_; }
    const std::vector<ChildShare>* shares() const { return shares_.get(); }

private:
    friend class Packer;

    std::int64_t first_tree_, last_tree_, first_node_;
    bool spreads_;
    KeyColumns columns_;
    std::vector<std::int64_t> slot_start_;  // per tree
    std::vector<PackedNode> slots_;
    std::vector<std::int32_t> places_, slot_of_;
    mutable base::Kept<std::vector<ChildShare>> shares_;
};

// A block of rows: doubles, and the keys of those columns that the forest reads.
struct KeyedRows {
    const double* values;
    std::int64_t n_features;
    const std::uint32_t* keys;
    std::int64_t n_columns;

    const double* row(const std::uint32_t* of_row) const { return values + of_row[0] * n_features; }
};

// Evaluates a split that stops walks on the forest's own arrays. Not inline: lanes stay in registers.
// Returns the slot of the row's child; no_child where the row is to be spread.
std::int64_t slot_of_child(const Forest& forest, const PackedTree& tree, const KeyedRows& rows, std::int32_t place,
                           const std::uint32_t* keys);

}  // namespace hedgerow::walk
