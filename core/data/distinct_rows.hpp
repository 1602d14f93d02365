// Distinct rows of a table in which many are equal.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "base/bulk.hpp"
#include "base/hash.hpp"

namespace hedgerow::data {

using base::Bulk;
using base::mix;

// Numbers rows in the order of their first occurrence: rows with the same bits share a number and one copy.
class DistinctRows {
public:
    explicit DistinctRows(std::size_t n_columns) : n_columns_(n_columns), slots_(64, empty) {}

    std::uint32_t number(const double* row) {
        const std::uint64_t hash = hash_of(row);
        const std::size_t mask = slots_.size() - 1;
        std::size_t slot = hash & mask;
        for (; slots_[slot] != empty; slot = (slot + 1) & mask)
            if (std::memcmp(rows_.data() + slots_[slot] * n_columns_, row, n_columns_ * sizeof(double)) == 0)
                return slots_[slot];
        const auto added = static_cast<std::uint32_t>(hashes_.size());
        slots_[slot] = added;
        hashes_.push_back(hash);
        rows_.insert(rows_.end(), row, row + n_columns_);
        if (2 * hashes_.size() > slots_.size()) widen();
        return added;
    }

    std::size_t size() const { return hashes_.size(); }
    const std::vector<double>& rows() const { return rows_; }

private:
    static constexpr std::uint32_t empty = 0xFFFFFFFF;

    std::uint64_t hash_of(const double* row) const {
        std::uint64_t hash = 0;
        for (std::size_t c = 0; c < n_columns_; ++c) hash = mix(hash ^ std::bit_cast<std::uint64_t>(row[c]));
        return hash;
    }
    void widen() {
        slots_.assign(2 * slots_.size(), empty);
        const std::size_t mask = slots_.size() - 1;
        for (std::uint32_t number = 0; number < hashes_.size(); ++number) {
            std::size_t slot = hashes_[number] & mask;
            while (slots_[slot] != empty) slot = (slot + 1) & mask;
            slots_[slot] = number;
        }
    }

    std::size_t n_columns_;
    std::vector<std::uint32_t> slots_;  // open addressing by hash, at most half full
    std::vector<std::uint64_t> hashes_;
    std::vector<double> rows_;
};

struct NumberedRows {
    std::vector<double> distinct;
    Bulk<std::uint32_t> numbers;  // per row: which of the distinct rows it equals
};

// Rows in the order of their first occurrence; nothing if more than `most` are distinct.
inline std::optional<NumberedRows> number_rows(const double* rows, std::size_t n_rows, std::size_t n_columns,
                                               std::size_t most) {
    DistinctRows distinct(n_columns);
    Bulk<std::uint32_t> numbers(n_rows);
    for (std::size_t row = 0; row < n_rows; ++row) {
        numbers[row] = distinct.number(rows + row * n_columns);
        if (distinct.size() > most) return std::nullopt;
    }
    return NumberedRows{distinct.rows(), std::move(numbers)};
}

}  // namespace hedgerow::data
