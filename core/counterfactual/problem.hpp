// The nearest change of a row after which linear conditions on its leaves hold.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "forest/forest.hpp"

namespace hedgerow::counterfactual {

using forest::Forest;

// Values that each column may take, one of them its own. Columns that are split by threshold list them in ascending
// order, and costs rise to both sides of the column's own value; categories list their own first, which costs 0.
struct Candidates {
    const std::int64_t* start;  // per column, and one past
    const double* values;
    const double* costs;
    const std::int32_t* home;  // per column: the number of its own value
    std::int64_t n_columns;

    std::int32_t count(std::int64_t column) const {
        return static_cast<std::int32_t>(start[column + 1] - start[column]);
    }
    double cost(std::int64_t column, std::int32_t choice) const { return costs[start[column] + choice]; }
};

// An accepted row has Σ over trees of table[leaf] + offset >= 0 in every column of the table.
struct Conditions {
    const double* table;  // n_leaves × n
    const double* offset;
    std::int64_t n;
    const std::uint8_t* barred;  // leaves that no row may reach, or null
    // Whether a row that reaches several leaves of a tree has the weighted mean of their entries; else it has something
    // between the least and the largest of them.
    bool mixes;
};

struct Limits {
    std::int64_t n_changes;  // columns that may change
    std::int64_t n_nodes;    // boxes that may be looked into
    double seconds;
};

using Choices = std::vector<std::int32_t>;  // per column

// What only the model can say: whether a row is accepted. Asked for rows that would be the nearest so far.
using Accept = std::function<bool(const Choices&)>;
// Called now and then; throws to end the work.
using Poll = std::function<void()>;

struct Found {
    Choices choices;  // empty: none
    double distance = std::numeric_limits<double>::infinity();
    double bound = 0;  // no accepted row is nearer; infinite: there is none
    std::int64_t n_nodes = 0;
};

// Best-first branch and bound over boxes of candidates.
Found nearest(const Forest& forest, const Candidates& candidates, const Conditions& conditions, const Limits& limits,
              const Accept& accept, const Poll& poll);

}  // namespace hedgerow::counterfactual
