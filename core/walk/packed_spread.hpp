// The leaves of one packed tree that the rows of a block reach which are spread in it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "walk/list_division.hpp"
#include "walk/packed_lanes.hpp"
#include "walk/tree_spread.hpp"

namespace hedgerow::walk {

class PackedSpread {
public:
    using Reached = TreeSpread::Reached;

    // `list` has rows, `leaf` is what PackedRowsWalk found. Rows that are spread begin at the root again, all together;
    // what is left of them to lanes advances in rounds: parts of rows that were spread once, then twice, and so on.
    void find(const Forest& forest, const PackedTree& tree, const KeyedRows& rows,
              const std::vector<std::uint32_t>& list, const std::vector<std::int32_t>& leaf) {
        in_leaves_.clear();
        next_.clear();
        const PackedPartsWalk walk{{forest, tree, rows}, &parts_, &in_leaves_, &next_};
        if (start_.empty()) divide_.read(rows, leaf.size());
        divide_(walk, spread_rows(list, leaf));
        while (!next_.empty()) {
            std::swap(parts_, next_);
            next_.clear();
            run_lanes<n_lanes>(static_cast<std::int64_t>(parts_.size()), walk);
        }
        group_by_row(leaf.size());
    }

    // Leaves ascending, with their weights; only for rows that are spread.
    std::span<const Reached> operator[](std::uint32_t row) const {
        return {reached_.data() + start_[row], reached_.data() + start_[row + 1]};
    }

private:
    static constexpr int n_lanes = 8;

    const std::vector<std::uint32_t>& spread_rows(const std::vector<std::uint32_t>& list,
                                                  const std::vector<std::int32_t>& leaf) {
        rows_.clear();
        std::copy_if(list.begin(), list.end(), std::back_inserter(rows_),
                     [&](std::uint32_t row) { return leaf[row] == spreads; });
        return rows_;
    }

    void group_by_row(std::size_t n_rows) {
        start_.assign(n_rows + 2, 0);  // of a row at row + 2 while counting, at row + 1 while filling
        for (const RowPart& part : in_leaves_) ++start_[part.row + 2];
        for (std::size_t row = 2; row < start_.size(); ++row) start_[row] += start_[row - 1];
        reached_.resize(in_leaves_.size());
        for (const RowPart& part : in_leaves_) reached_[start_[part.row + 1]++] = {part.place, part.weight};
        for (std::size_t row = 0; row < n_rows; ++row)
            std::sort(reached_.data() + start_[row], reached_.data() + start_[row + 1]);
    }

    ListDivision divide_;
    std::vector<std::uint32_t> rows_;
    std::vector<RowPart> parts_, next_, in_leaves_;
    std::vector<std::size_t> start_;  // per row of the block, and one past
    std::vector<Reached> reached_;
};

}  // namespace hedgerow::walk
