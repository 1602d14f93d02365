// Division of many rows at the nodes of one packed tree.
//
// A lane waits for each step before it knows the next. A list of rows at a node does not: its comparisons are
// independent of each other, and the node is read once for all of them. That pays where rows are spread, which makes
// several parts of each row; single parts, and nodes that more than a key decides, are left to lanes.
//
// A part is eight bytes: the row, and a mark for each node of the path that spread it. Marks become a weight in the
// leaf, the product of the fractions from the root on. Lists are divided depth first: one of the two takes the place
// of the list itself, the other comes behind it and is divided first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "walk/leaf_parts.hpp"
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

    // Divides `rows` from the root of the walk's tree. Those that come to one leaf whole have its number in
    // `walk.leaf` afterwards; parts of rows in leaves go to `walk.in_leaves`, and what is left to lanes to `walk.next`.
    void operator()(const PackedPartsWalk& walk, const std::vector<std::uint32_t>& rows) {
        make_room(rows.size());
        std::copy(rows.begin(), rows.end(), parts_.begin());
        waiting_.assign(1, {0, 0, rows.size(), 0, 1.0});
        while (!waiting_.empty()) {
            const List list = waiting_.back();
            waiting_.pop_back();
            if (list.n_marks > 0) fractions_.set(list.n_marks - 1, list.fraction);
            if (list.first < list.last) divide(walk, list);
        }
    }

private:
    // Parts of rows at a slot: first .. last - 1. `fraction` belongs to the last of the marks that they may have.
    struct List {
        std::int64_t slot;
        std::size_t first, last;
        std::size_t n_marks;
        double fraction;
    };

    void make_room(std::size_t n) {
        if (n > parts_.size()) parts_.resize(2 * n);
    }

    void divide(const PackedPartsWalk& walk, const List& list) {
        const std::int32_t place = walk.tree.places[list.slot];
        if (place >= 0) return arrive(walk, list, place);
        const bool compares = walk.tree.slots[list.slot].key != stop_key;
        if (list.last - list.first == 1 || !walk.tree.shares || list.n_marks == most_marks ||
            !(compares || spreads_at(place)))
            return leave(walk, list);
        if (compares)
            divide_by_key(walk, list, place);
        else
            divide_by_shares(walk, list, place);
    }

    void arrive(const PackedPartsWalk& walk, const List& list, std::int32_t leaf) const {
        walk.in_leaves->add(leaf, {parts_.data() + list.first, parts_.data() + list.last},
                            fractions_.first(list.n_marks), [&](std::uint32_t row) { walk.leaf[row] = leaf; });
    }

    void leave(const PackedPartsWalk& walk, const List& list) const {
        for (std::size_t i = list.first; i < list.last; ++i) {
            const double weight = fractions_.weight(marks_of(parts_[i]));
            if (weight > 0)
                walk.next->push_back(
                    {row_of(parts_[i]), static_cast<std::int32_t>(list.slot), weight, marks_of(parts_[i]) == 0});
        }
    }

    void divide_by_key(const PackedPartsWalk& walk, const List& list, std::int32_t place) {
        const PackedNode node = walk.tree.slots[list.slot];
        const std::size_t n = list.last - list.first;
        make_room(list.last + n);
        const std::size_t shift = 32 + list.n_marks;
        // Read long before they are needed, since they are in no cache yet; a node that is no threshold may have one.
        const ChildShare* const shares = walk.shares_at(place);
        const double left_fraction = shares[0].share, right_fraction = shares[shares[0].n_after > 0].share;
        const std::uint32_t* const keys = keys_.data() + node.column * n_rows_;
        MarkedRow* const right = parts_.data() + list.first;
        MarkedRow* const left = parts_.data() + list.last;
        std::size_t n_left = 0, n_right = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const MarkedRow part = right[i];
            const std::uint32_t key = keys[row_of(part)];
            bool to_right = node.key < key;
            if (key == node.key) [[unlikely]]
                to_right = walk.exceeds(row_of(part), place);
            // No branch depends on the row: it would be mispredicted every second time.
            const std::uint64_t to_both = key == missing_key;
            const std::uint64_t marked = part | to_both << shift;
            left[n_left] = marked;
            right[n_right] = marked;
            n_left += static_cast<std::uint64_t>(!to_right) | to_both;
            n_right += static_cast<std::uint64_t>(to_right);
        }
        const std::int64_t child = list.slot + node.to_child;
        const bool marks = n_left + n_right > n;
        const std::size_t n_marks = list.n_marks + marks;
        waiting_.push_back(
            {child + 1, list.first, list.first + n_right, n_marks, marks ? right_fraction : list.fraction});
        waiting_.push_back({child, list.last, list.last + n_left, n_marks, marks ? left_fraction : list.fraction});
    }

    // Where all rows that stop are spread.
    void divide_by_shares(const PackedPartsWalk& walk, const List& list, std::int32_t place) {
        const ChildShare* const shares = walk.shares_at(place);
        const std::size_t n = list.last - list.first, n_children = static_cast<std::size_t>(shares->n_after) + 1;
        make_room(list.first + n_children * n);
        const std::uint64_t mark = std::uint64_t{1} << (32 + list.n_marks);
        for (std::size_t i = list.first; i < list.last; ++i) parts_[i] |= mark;
        for (std::size_t child = 0; child < n_children; ++child) {
            const std::size_t first = list.first + child * n;
            if (child > 0) std::copy_n(parts_.data() + list.first, n, parts_.data() + first);
            waiting_.push_back({walk.slot_of_child_at(place, static_cast<std::int64_t>(child)), first, first + n,
                                list.n_marks + 1, shares[child].share});
        }
    }

    std::size_t n_rows_ = 0;
    std::vector<std::uint32_t> keys_;  // of the block's rows, column after column
    std::vector<MarkedRow> parts_;
    std::vector<List> waiting_;
    Fractions fractions_;  // on the path to the list that is divided
};

}  // namespace hedgerow::walk
