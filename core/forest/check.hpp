// Invariants of every node: which one is broken first, and where. hedgerow.forest.check has the messages, in the order
// of these rules, and has checked sizes and offsets before: every column is there.
#pragma once

#include <cstdint>

#include "forest/forest.hpp"

namespace hedgerow::forest {

inline constexpr std::int64_t no_fault = -1;

struct Fault {
    std::int64_t rule = no_fault;
    std::int64_t position = 0;  // the node, or the tree
    std::int64_t found = 0;     // what was counted there

    // The lowest rule wins, and of those the first position.
    void note(std::int64_t other_rule, std::int64_t other_place, std::int64_t other_found = 0) {
        if (rule == no_fault || other_rule < rule) *this = {other_rule, other_place, other_found};
    }
};

// Rules that concern one node alone.
Fault node_fault(const Forest& forest, std::int64_t n_payloads);

// Each node but the roots is the child of one node before it in its tree, and leaves are numbered. `largest_child` has
// the largest number in each payload of a multiway node.
Fault link_fault(const Forest& forest, const std::int32_t* largest_child);

}  // namespace hedgerow::forest
