// Links and ops of one row of a leaf table.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "walk/walk.hpp"

namespace hedgerow::walk {

// Columns of linked values, each by its own op.
struct AddAny {
    static void add(const LeafTable& table, const double* linked, double tree_weight, double* out) {
        for (std::int64_t c = 0; c < table.n_columns; ++c) {
            switch (table.ops[c]) {
                case Op::sum:
                    out[c] += tree_weight * linked[c];
                    break;
                case Op::min:
                    out[c] = std::min(out[c], linked[c]);
                    break;
                case Op::max:
                    out[c] = std::max(out[c], linked[c]);
                    break;
            }
        }
    }
};

// Entropy: −p·log2 p, so that the columns of a distribution add up to its entropy in bits.
inline double link(Link kind, double value) {
    switch (kind) {
        case Link::identity:
            return value;
        case Link::log:
            return std::log(value);
        case Link::entropy:
            return value > 0 ? -value * std::log2(value) : 0.0;
    }
    return value;
}

}  // namespace hedgerow::walk
