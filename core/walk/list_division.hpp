// Division of many rows at the nodes of one packed tree, level by level.
//
// A lane waits for each step before it knows the next. A list of rows at a node does not: its comparisons are
// independent of each other, and the node is read once for all of them. That pays where the parts of rows that are
// spread make several of each row; single rows, and nodes that more than a key decides, are left to lanes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "walk/packed_lanes.hpp"

namespace hedgerow::walk {

class ListDivision {
public:
    // Takes the keys of a block of rows, column after column: the rows of a list ascend.
    void read(const KeyedRows& rows, std::size_t n_rows) {
        n_rows_ = n_rows;
        const auto n_columns = static_cast<std::size_t>(rows.n_columns);
        keys_.resize(n_rows * n_columns);
        for (std::size_t row = 0; row < n_rows; ++row)
            for (std::size_t column = 0; column < n_columns; ++column)
                keys_[column * n_rows + row] = rows.keys[row * n_columns + column];
    }

    // Divides `rows`, each of weight 1, from the root of the walk's tree: parts that come to a leaf go to
    // `walk.in_leaves`, those that are left to lanes to `walk.next`.
    void operator()(const PackedPartsWalk& walk, const std::vector<std::uint32_t>& rows) {
        here_.lists.assign(1, {0, 0, rows.size()});
        here_.n_used = rows.size();
        here_.reserve(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) here_.put(i, rows[i], 1.0);
        for (; !here_.lists.empty(); std::swap(here_, below_)) {
            below_.clear();
            for (const List& list : here_.lists) divide(walk, list);
        }
    }

private:
    // Parts of rows at a slot: first .. last - 1 of a level.
    struct List {
        std::int64_t slot;
        std::size_t first, last;
    };

    // All parts on one level of the tree, list after list, with gaps.
    struct Level {
        std::vector<List> lists;
        std::vector<std::uint32_t> rows;
        std::vector<double> weights;
        std::size_t n_used = 0;

        void clear() {
            lists.clear();
            n_used = 0;
        }
        void reserve(std::size_t n) {
            if (n <= rows.size()) return;
            rows.resize(2 * n);
            weights.resize(2 * n);
        }
        void put(std::size_t i, std::uint32_t row, double weight) {
            rows[i] = row;
            weights[i] = weight;
        }
        // Room for a list of at most n parts.
        std::size_t add_room(std::size_t n) {
            reserve(n_used + n);
            return std::exchange(n_used, n_used + n);
        }
        void add_list(std::int64_t slot, std::size_t first, std::size_t n) {
            if (n > 0) lists.push_back({slot, first, first + n});
        }
    };

    void divide(const PackedPartsWalk& walk, const List& list) {
        const std::int32_t place = walk.tree.places[list.slot];
        if (place >= 0) return move(list, place, *walk.in_leaves);
        const bool compares = walk.tree.slots[list.slot].key != stop_key;
        // A threshold that does not spread rows has another policy for missing values.
        const bool by_key = spreads_at(place) || !walk.forest.is_threshold(walk.tree.root + node_of_place(place));
        if (list.last - list.first == 1 || !walk.tree.shares || (compares ? !by_key : !spreads_at(place)))
            return move(list, static_cast<std::int32_t>(list.slot), *walk.next);
        if (compares)
            divide_by_key(walk, list, place);
        else
            divide_by_shares(walk, list, place);
    }

    void move(const List& list, std::int32_t place, std::vector<RowPart>& parts) const {
        for (std::size_t i = list.first; i < list.last; ++i) parts.push_back({here_.rows[i], place, here_.weights[i]});
    }

    void divide_by_key(const PackedPartsWalk& walk, const List& list, std::int32_t place) {
        const PackedNode node = walk.tree.slots[list.slot];
        const ChildShare* const shares = walk.shares_at(place);
        const double left_share = shares[0].share, right_share = shares[1].share;
        const std::size_t left = below_.add_room(list.last - list.first);
        const std::size_t right = below_.add_room(list.last - list.first);
        const std::uint32_t* const keys = keys_.data() + node.column * n_rows_;
        std::size_t n_left = 0, n_right = 0;
        for (std::size_t i = list.first; i < list.last; ++i) {
            const std::uint32_t row = here_.rows[i], key = keys[row];
            bool to_right = node.key < key;
            if (key == node.key) [[unlikely]]
                to_right = walk.exceeds(row, place);
            // No branch depends on the row: it would be mispredicted every second time.
            const bool to_both = key == missing_key;
            const double weight = here_.weights[i];
            const double left_weight = to_both ? left_share * weight : weight;
            const double right_weight = to_both ? right_share * weight : weight;
            below_.put(left + n_left, row, left_weight);
            below_.put(right + n_right, row, right_weight);
            n_left += static_cast<std::size_t>((!to_right | to_both) & (left_weight > 0));
            n_right += static_cast<std::size_t>(to_right & (right_weight > 0));
        }
        below_.add_list(list.slot + node.to_child, left, n_left);
        below_.add_list(list.slot + node.to_child + 1, right, n_right);
    }

    // Where all rows that stop are spread.
    void divide_by_shares(const PackedPartsWalk& walk, const List& list, std::int32_t place) {
        const ChildShare* const shares = walk.shares_at(place);
        for (std::int64_t child = 0; child <= shares->n_after; ++child) {
            const std::size_t first = below_.add_room(list.last - list.first);
            std::size_t n = 0;
            for (std::size_t i = list.first; i < list.last; ++i) {
                const double part = shares[child].share * here_.weights[i];
                below_.put(first + n, here_.rows[i], part);
                n += static_cast<std::size_t>(part > 0);
            }
            below_.add_list(walk.slot_of_child_at(place, child), first, n);
        }
    }

    std::size_t n_rows_ = 0;
    std::vector<std::uint32_t> keys_;  // of the block's rows, column after column
    Level here_, below_;
};

}  // namespace hedgerow::walk
