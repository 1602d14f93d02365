// Groups of a node's rows by category, for all columns in one pass over the rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/categories.hpp"

namespace hedgerow::grow::exact {

using data::CategoryRows;

// Groups of a node's rows by category. A column must be cleared before it is counted again.
template <class Criterion>
class CategoryCounts {
public:
    // `unit_weights`: the weight of a group is the number of its rows.
    CategoryCounts(const CategoryRows& categories, const Criterion& criterion, bool unit_weights)
        : categories_(categories),
          criterion_(criterion),
          unit_weights_(unit_weights),
          size_(static_cast<std::size_t>(criterion.size())),
          stride_(size_ + !unit_weights),
          cells_(categories.n_numbers() * stride_, 0.0) {}

    template <class Samples>
    void count(const Samples& node, std::span<const std::int32_t> positions) {
        const auto& block = *node.block;
        for (std::uint32_t at = node.members.begin; at < node.members.end; ++at) {
            const std::uint32_t id = block.members[at];
            const std::uint32_t* numbers = categories_.of_row(block.rows[id]);
            const auto instance = block.instances[id];
            for (const std::int32_t position : positions) criterion_.add(cell(numbers[position]), instance);
            if (unit_weights_) continue;
            const double fraction = block.fraction(id);
            for (const std::int32_t position : positions) cell(numbers[position])[size_] += fraction;
        }
    }

    const double* group(std::uint32_t number) const { return cells_.data() + number * stride_; }
    double rows(std::uint32_t number) const {
        return unit_weights_ ? criterion_.weight(group(number)) : group(number)[size_];
    }
    void clear(std::uint32_t number) { std::fill_n(cell(number), stride_, 0.0); }

private:
    double* cell(std::uint32_t number) { return cells_.data() + number * stride_; }

    const CategoryRows& categories_;
    const Criterion& criterion_;
    bool unit_weights_;
    std::size_t size_, stride_;  // of a group, and with its number of rows
    std::vector<double> cells_;  // zero unless counted
};

}  // namespace hedgerow::grow::exact
