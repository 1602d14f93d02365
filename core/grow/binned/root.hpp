// Where growth begins: at the root of a tree, or at a node of one whose rows are all there is.
#pragma once

#include <cstdint>

#include "base/random.hpp"

namespace hedgerow::grow::binned {

struct Root {
    base::Path path;  // addresses the draws of the node and of those below
    std::int64_t depth = 0;
    double tree_weight = -1;  // of the rows of the whole tree; negative: these are all
};

}  // namespace hedgerow::grow::binned
