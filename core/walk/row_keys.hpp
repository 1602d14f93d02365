// Rows as 32-bit keys, which packed nodes compare.
//
// A double is replaced by a key so that most comparisons need neither the row's double nor the node's. With m the
// double's bits as an integer in numerical order, a row's key is 2·(m >> 33), plus 1 if a bit was lost; a threshold's
// key is 2·(m >> 33) + 1 always. Then
//     key(x) < key(t)  implies  x <= t,        key(x) > key(t)  implies  x > t,
// and only where the keys are equal (x and t agree in sign, exponent and 19 bits of mantissa) the doubles decide.
// A category's key is twice its code, and a node's key is odd: these are never equal. A category that many nodes ask
// for has a column of its own, in which its key is 0 and that of all others 2: one comparison instead of two.
#pragma once

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/float_order.hpp"
#include "data/codes.hpp"

namespace hedgerow::walk {

using base::in_numerical_order;
using data::code_of;
using data::no_code;

inline std::uint32_t row_key(double value) {
    const std::uint64_t m = in_numerical_order(value);
    const bool lost = (m & ((std::uint64_t{1} << 33) - 1)) != 0;
    return static_cast<std::uint32_t>(m >> 33 << 1 | lost);
}

inline std::uint32_t threshold_key(double value) {
    return static_cast<std::uint32_t>(in_numerical_order(value) >> 33 << 1 | 1);
}

inline constexpr std::int64_t most_codes = std::int64_t{1} << 30;

inline std::uint32_t code_key(std::int64_t code) { return static_cast<std::uint32_t>(2 * code); }

// Keys of missing values: below and above all that nodes compare with, and the one with which a row stays at its node.
inline constexpr std::uint32_t first_key = 0;
inline constexpr std::uint32_t last_key = ~std::uint32_t{0} - 1;
inline constexpr std::uint32_t missing_key = ~std::uint32_t{0};

// How a column of keys is made from a feature: numbers, by the key of a missing value; category codes; or whether the
// value is one category, again by the key of a missing value.
enum class Reading : std::uint8_t { stay, first, last, code, one_stay, one_first, one_last };

inline constexpr std::uint32_t key_of_the_one = 0, key_of_others = 2, key_of_one_node = 1;

// The columns of keys that the nodes of a forest read; features that no node reads have none.
class KeyColumns {
public:
    // A category with a column of its own.
    struct Category {
        std::int32_t feature;
        Reading reading;
        std::int64_t code;
        auto operator<=>(const Category&) const = default;
    };

    // `categories` ascend: those of a feature are side by side.
    KeyColumns(std::int64_t n_features, std::vector<Category> categories)
        : categories_(std::move(categories)),
          place_(static_cast<std::size_t>(4 * n_features), 0),
          index_of_(categories_.size(), 0) {
        for (const Category& one : categories_)
            of_reading(one.reading).push_back({one.feature, n_columns_++, one.code, 0});
    }

    // 0 where the category has none.
    std::int64_t category_column(const Category& category) const {
        const auto found = std::lower_bound(categories_.begin(), categories_.end(), category);
        return found != categories_.end() && *found == category ? 1 + (found - categories_.begin()) : 0;
    }

    // The number of the column, made if there is none yet. Column 0 is the number of the row: leaves read it too.
    std::int64_t column(std::int32_t feature, Reading reading) {
        std::int32_t& place = place_[static_cast<std::size_t>(feature) * 4 + static_cast<std::size_t>(reading)];
        if (place == 0) {
            place = n_columns_++;
            const std::int32_t known = reading == Reading::last
                                           ? place_[static_cast<std::size_t>(feature) * 4 + std::size_t(Reading::first)]
                                           : 0;
            of_reading(reading).push_back({feature, place, 0, known});
            index_of_.push_back(of_reading(reading).size() - 1);
        }
        return place;
    }

    // A column of codes that tells those below n_codes apart; the key of all other values is that of n_codes or more.
    std::int64_t code_column(std::int32_t feature, std::int64_t n_codes) {
        const std::int64_t place = column(feature, Reading::code);
        Source& source = of_reading(Reading::code)[index_of_[static_cast<std::size_t>(place - 1)]];
        source.n_codes = std::max(source.n_codes, n_codes);
        return place;
    }

    std::int64_t n_columns() const { return n_columns_; }

    // What a column is made from. `n_codes`: of categories that are told apart; or the code of the one category.
    // `known`: of two columns of numbers the other one, where known values have the same keys; 0: none.
    struct Source {
        std::int32_t feature, column;
        std::int64_t n_codes;
        std::int32_t known;
    };
    const std::vector<Source>& sources(Reading reading) const { return of_reading(reading); }

    // A feature's columns, if they are side by side; none if they are not.
    struct Range {
        std::int64_t first, n;
    };
    Range columns_of(std::int32_t feature) const {
        const auto is_before = [](const Category& one, std::int32_t number) { return one.feature < number; };
        const auto first = std::lower_bound(categories_.begin(), categories_.end(), feature, is_before);
        const auto end = std::lower_bound(first, categories_.end(), feature + 1, is_before);
        const auto* const places = place_.data() + static_cast<std::size_t>(feature) * 4;
        const auto n_places = 4 - std::count(places, places + 4, 0);
        if (n_places == 0) return {1 + (first - categories_.begin()), end - first};
        const std::int64_t first_place = *std::max_element(places, places + 4) - n_places + 1;
        const bool side_by_side =
            std::all_of(places, places + 4, [&](std::int32_t at) { return at == 0 || at >= first_place; });
        return {first_place, side_by_side && first == end ? n_places : 0};
    }

    // Writes the keys of a row with its number; returns whether it may stay at a node.
    bool fill(std::uint32_t number, const double* row, std::uint32_t* keys) const {
        keys[0] = number;
        bool missing = false;
        for (const auto& [feature, column, n_codes, known] : of_reading(Reading::stay)) {
            const double value = row[feature];
            const bool is_nan = std::isnan(value);
            keys[column] = is_nan ? missing_key : row_key(value);
            missing |= is_nan;
        }
        for (const auto& [feature, column, n_codes, known] : of_reading(Reading::first))
            keys[column] = std::isnan(row[feature]) ? first_key : row_key(row[feature]);
        for (const auto& [feature, column, n_codes, known] : of_reading(Reading::last)) {
            if (known)
                keys[column] = keys[known] == first_key ? last_key : keys[known];
            else
                keys[column] = std::isnan(row[feature]) ? last_key : row_key(row[feature]);
        }
        for (const auto& [feature, column, n_codes, known] : of_reading(Reading::code)) {
            const std::int64_t code = code_of(row[feature], n_codes);
            keys[column] = std::isnan(row[feature]) ? last_key : code_key(code == no_code ? n_codes : code);
        }
        missing |= fill_categories(Reading::one_stay, missing_key, row, keys);
        fill_categories(Reading::one_first, first_key, row, keys);
        fill_categories(Reading::one_last, last_key, row, keys);
        return missing;
    }

private:
    // Returns whether a value is missing.
    bool fill_categories(Reading reading, std::uint32_t if_missing, const double* row, std::uint32_t* keys) const {
        bool missing = false;
        for (const auto& [feature, column, code, known] : of_reading(reading)) {
            const double value = row[feature];
            const bool is_nan = std::isnan(value);
            const std::uint32_t if_known = value == static_cast<double>(code) ? key_of_the_one : key_of_others;
            keys[column] = is_nan ? if_missing : if_known;
            missing |= is_nan;
        }
        return missing;
    }

    std::vector<Source>& of_reading(Reading reading) { return sources_[static_cast<std::size_t>(reading)]; }
    const std::vector<Source>& of_reading(Reading reading) const { return sources_[static_cast<std::size_t>(reading)]; }

    std::int32_t n_columns_ = 1;
    std::vector<Category> categories_;   // their columns are the first
    std::vector<std::int32_t> place_;    // by feature and reading; 0: none
    std::vector<std::size_t> index_of_;  // of each column but the first, in its reading's sources
    std::vector<Source> sources_[7];
};

}  // namespace hedgerow::walk
