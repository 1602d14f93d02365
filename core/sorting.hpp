// Columns in order, once for each tree.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "packed.hpp"

namespace hedgerow {

inline constexpr std::uint32_t missing_rank = std::numeric_limits<std::uint32_t>::max();

struct SortedColumn {
    std::vector<std::uint32_t> rows;  // those with a value, by value and then by row
    std::vector<std::uint32_t> ranks;  // of those rows: 0, 1, … over the distinct values
    std::vector<double> values;       // by rank
};

// Radix sort on the bits of the doubles, eleven at a time from the lowest; digits that are all alike (as in numbers
// that came from float32, or from whole numbers) cost one count.
class ColumnSorter {
public:
    SortedColumn operator()(const double* column, std::int64_t n_rows) {
        SortedColumn sorted;
        sort(column, n_rows);
        sorted.rows.reserve(keys_.size());
        sorted.ranks.reserve(keys_.size());
        for_each([&](std::uint32_t row, std::uint32_t rank) {
            if (rank == sorted.values.size()) sorted.values.push_back(column[row]);
            sorted.rows.push_back(row);
            sorted.ranks.push_back(rank);
        });
        return sorted;
    }

    // For many columns one after the other: no memory is asked for again.
    void sort(const double* column, std::int64_t n_rows) {
        keys_.clear();
        for (std::int64_t row = 0; row < n_rows; ++row)
            if (!std::isnan(column[row])) keys_.push_back({in_numerical_order(column[row]), static_cast<std::uint32_t>(row)});
        if (keys_.size() < 256)
            std::stable_sort(keys_.begin(), keys_.end(), [](const Key& a, const Key& b) { return a.bits < b.bits; });
        else
            radix_sort();
    }

    // Calls use(row, rank) for the rows with a value, by value and then by row.
    template <class Use>
    void for_each(const Use& use) const {
        std::uint32_t rank = 0;
        for (std::size_t i = 0; i < keys_.size(); ++i) {
            rank += i > 0 && keys_[i].bits != keys_[i - 1].bits;
            use(keys_[i].row, rank);
        }
    }
    std::size_t n_known() const { return keys_.size(); }

private:
    struct Key {
        std::uint64_t bits;
        std::uint32_t row;
    };
    static constexpr int digit_bits = 11;
    static constexpr std::size_t n_digits = 6;  // 66 bits

    static std::size_t digit(std::uint64_t bits, std::size_t d) { return bits >> (digit_bits * d) & ((1u << digit_bits) - 1); }

    void radix_sort() {
        std::vector<std::array<std::uint32_t, 1 << digit_bits>> counts(n_digits);
        for (auto& count : counts) count.fill(0);
        for (const Key& key : keys_)
            for (std::size_t d = 0; d < n_digits; ++d) ++counts[d][digit(key.bits, d)];
        spare_.resize(keys_.size());
        for (std::size_t d = 0; d < n_digits; ++d) {
            if (counts[d][digit(keys_[0].bits, d)] == keys_.size()) continue;
            std::uint32_t before = 0;
            for (std::uint32_t& count : counts[d]) before += std::exchange(count, before);
            for (const Key& key : keys_) spare_[counts[d][digit(key.bits, d)]++] = key;
            keys_.swap(spare_);
        }
    }

    std::vector<Key> keys_, spare_;
};

}  // namespace hedgerow
