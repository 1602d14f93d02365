// When a forest is packed, and for how long.
//
// Packing takes about as long as a quarter of a visit to each node. So it begins when rows have been walked down the
// trees that often, in one call or in many, and the packed trees are kept with the forest: 16 bytes a node, and 16 more
// once a row is spread. Where nodes of a feature send missing values different ways, rows that have some make another
// 16. Larger forests are packed anew in each call that is long enough.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/kept.hpp"
#include "data/rows.hpp"
#include "forest/forest.hpp"
#include "walk/packed.hpp"

namespace hedgerow::walk {

using data::Rows;

inline constexpr std::int64_t most_kept_nodes = std::int64_t{1} << 23;  // 256 MB

class Packing {
public:
    // For a walk of the rows down some trees; null where it is to take the forest's own arrays. May be called by
    // several threads at a time.
    std::shared_ptr<const PackedForest> packed_for(const Forest& forest, const Rows& rows, std::int64_t first_tree,
                                                   std::int64_t last_tree);

private:
    base::Kept<std::shared_ptr<const PackedForest>> all_trees_;
    base::Kept<std::shared_ptr<const PackedForest>> all_trees_both_ways_;  // for rows with missing values
    base::Kept<bool> sends_both_ways_;
    std::atomic<std::int64_t> n_walks_{0};  // of a row down a tree, while there were no packed trees to keep
};

}  // namespace hedgerow::walk
