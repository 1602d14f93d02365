// The leaves of one packed tree that the rows of a block reach which may be spread in it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "walk/leaf_parts.hpp"
#include "walk/list_division.hpp"
#include "walk/packed_lanes.hpp"

namespace hedgerow::walk {

class PackedSpread {
public:
    // Rows begin at the root, all together; what is left of them to lanes advances in rounds: parts of rows that were
    // spread once, then twice, and so on. `leaf` has the leaf of each row that was not spread afterwards, `spreads` for
    // those that were; `in_leaves` has their parts. `n_rows`: of the block.
    void find(const Forest& forest, const PackedTree& tree, const KeyedRows& rows,
              const std::vector<std::uint32_t>& list, std::size_t n_rows, std::int32_t* leaf, LeafParts& in_leaves) {
        next_.clear();
        for (const std::uint32_t row : list) leaf[row] = spreads;
        const PackedPartsWalk walk{{forest, tree, rows}, &parts_, &in_leaves, &next_, leaf};
        if (!has_read_) divide_.read(rows, n_rows);
        has_read_ = true;
        divide_(walk, list);
        while (!next_.empty()) {
            std::swap(parts_, next_);
            next_.clear();
            run_lanes<n_lanes>(static_cast<std::int64_t>(parts_.size()), walk);
        }
    }

private:
    static constexpr int n_lanes = 8;

    bool has_read_ = false;
    ListDivision divide_;
    std::vector<RowPart> parts_, next_;
};

}  // namespace hedgerow::walk
