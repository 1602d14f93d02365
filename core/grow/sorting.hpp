// Sorts columns, once for all trees.
//
// X belongs to the caller, and another thread may write to it while a column is sorted. So every value is read once,
// into its key, and whatever is needed later is decoded from the key.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/float_order.hpp"

namespace hedgerow::grow {

using base::from_numerical_order;
using base::in_numerical_order;

inline constexpr std::uint32_t missing_rank = std::numeric_limits<std::uint32_t>::max();

struct SortedColumn {
    std::vector<std::uint32_t> rows;   // those with a value, by value and then by row
    std::vector<std::uint32_t> ranks;  // of those rows: 0, 1, … over the distinct values
    std::vector<double> values;        // by rank
};

// A value as an integer in numerical order, and its row.
struct SortKey {
    std::uint64_t bits;
    std::uint32_t row;

    double value() const { return from_numerical_order(bits); }
};

// Sorts one column after another in the same buffers.
class ColumnSorter {
public:
    SortedColumn operator()(const double* column, std::int64_t n_rows) {
        SortedColumn sorted;
        sort(column, n_rows);
        sorted.rows.reserve(keys_.size());
        sorted.ranks.reserve(keys_.size());
        for_each([&](const SortKey& key, std::uint32_t rank) {
            if (rank == sorted.values.size()) sorted.values.push_back(key.value());
            sorted.rows.push_back(key.row);
            sorted.ranks.push_back(rank);
        });
        return sorted;
    }

    // Rows with a value, by value and then by row; valid until the next call. An infinity, which can only have been
    // written since X was checked, counts as missing.
    std::span<const SortKey> sort(const double* column, std::int64_t n_rows) {
        keys_.resize(static_cast<std::size_t>(n_rows));
        std::size_t n = 0;
        for (std::int64_t row = 0; row < n_rows; ++row) {
            const double value = column[row];
            keys_[n] = {in_numerical_order(value), static_cast<std::uint32_t>(row)};
            n += std::isfinite(value);
        }
        keys_.resize(n);
        if (!bucket_sort()) {
            if (n < 256)
                std::stable_sort(keys_.begin(), keys_.end(), before);
            else
                radix_sort();
        }
        return keys_;
    }

    // Calls use(key, rank) for the sorted rows.
    template <class Use>
    void for_each(const Use& use) const {
        std::uint32_t rank = 0;
        for (std::size_t i = 0; i < keys_.size(); ++i) {
            rank += i > 0 && keys_[i].bits != keys_[i - 1].bits;
            use(keys_[i], rank);
        }
    }
    std::size_t n_known() const { return keys_.size(); }
    std::size_t n_distinct() const {
        std::size_t n = !keys_.empty();
        for (std::size_t i = 1; i < keys_.size(); ++i) n += keys_[i].bits != keys_[i - 1].bits;
        return n;
    }

private:
    static constexpr std::size_t max_buckets = 1 << 17;  // more would not fit the cache
    static constexpr int digit_bits = 11;
    static constexpr std::size_t n_digits = 6;  // 66 bits

    static bool before(const SortKey& a, const SortKey& b) { return a.bits < b.bits; }
    static std::size_t digit(std::uint64_t bits, std::size_t d) {
        return bits >> (digit_bits * d) & ((1u << digit_bits) - 1);
    }

    // Bucket sort: twice as many buckets as rows, of equal width, then an insertion sort of what is almost in order.
    // False, and nothing done, where too many values would share a bucket: many ties, far outliers.
    bool bucket_sort() {
        const std::size_t n = keys_.size(), n_buckets = 2 * n;
        double least = std::numeric_limits<double>::infinity(), greatest = -least;
        for (const SortKey& key : keys_) {
            least = std::min(least, key.value());
            greatest = std::max(greatest, key.value());
        }
        const double scale = static_cast<double>(n_buckets) / (greatest - least);
        if (n_buckets > max_buckets || !(scale > 0 && scale < std::numeric_limits<double>::max())) return false;
        bucket_.resize(n);
        ends_.assign(n_buckets + 1, 0);
        for (std::size_t i = 0; i < n; ++i) {
            bucket_[i] = static_cast<std::uint32_t>((keys_[i].value() - least) * scale);  // at most n_buckets
            ++ends_[bucket_[i]];
        }
        std::uint64_t shared = 0;  // pairs in one bucket, twice
        std::uint32_t n_before = 0;
        for (std::uint32_t& end : ends_) {
            shared += std::uint64_t{end} * end;
            n_before += std::exchange(end, n_before);
        }
        if (shared > 16 * n) return false;
        spare_.resize(n);
        for (std::size_t i = 0; i < n; ++i) spare_[ends_[bucket_[i]]++] = keys_[i];
        keys_.swap(spare_);
        for (std::size_t i = 1; i < n; ++i) {
            const SortKey key = keys_[i];
            std::size_t to = i;
            for (; to > 0 && before(key, keys_[to - 1]); --to) keys_[to] = keys_[to - 1];
            keys_[to] = key;
        }
        return true;
    }

    // Radix sort, eleven bits at a time from the lowest; digits that are all alike (values that were float32 or whole
    // numbers) cost one count.
    void radix_sort() {
        std::vector<std::array<std::uint32_t, 1 << digit_bits>> counts(n_digits);
        for (auto& count : counts) count.fill(0);
        for (const SortKey& key : keys_)
            for (std::size_t d = 0; d < n_digits; ++d) ++counts[d][digit(key.bits, d)];
        spare_.resize(keys_.size());
        for (std::size_t d = 0; d < n_digits; ++d) {
            if (counts[d][digit(keys_[0].bits, d)] == keys_.size()) continue;
            std::uint32_t n_before = 0;
            for (std::uint32_t& count : counts[d]) n_before += std::exchange(count, n_before);
            for (const SortKey& key : keys_) spare_[counts[d][digit(key.bits, d)]++] = key;
            keys_.swap(spare_);
        }
    }

    std::vector<SortKey> keys_, spare_;
    std::vector<std::uint32_t> bucket_, ends_;
};

}  // namespace hedgerow::grow
