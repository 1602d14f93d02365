// Categories of the training rows, and how often each occurs at a node: all columns are counted in one pass over the rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bulk.hpp"
#include "forest/splits.hpp"
#include "grow/criteria.hpp"
#include "grow/grow.hpp"

namespace hedgerow {

// Row by row. Categories are numbered on from column to column; behind the last of a column comes one for missing.
class CategoryRows {
public:
    CategoryRows() = default;
    explicit CategoryRows(const TrainingData& data) : place_of_(static_cast<std::size_t>(data.n_features), -1) {
        std::vector<const double*> columns;
        for (std::int64_t feature = 0; feature < data.n_features; ++feature) {
            if (data.n_categories[feature] == 0) continue;
            place_of_[static_cast<std::size_t>(feature)] = static_cast<std::int32_t>(columns.size());
            columns.push_back(data.X + feature * data.n_rows);
            first_.push_back(first_.back() + static_cast<std::uint32_t>(data.n_categories[feature]) + 1);
        }
        numbers_.resize(columns.size() * static_cast<std::size_t>(data.n_rows));
        const std::int64_t size = 64;  // rows that are written to side by side
        for (std::int64_t begin = 0; begin < data.n_rows; begin += size)
            for (std::size_t place = 0; place < columns.size(); ++place)
                write_numbers(columns[place], begin, std::min(data.n_rows, begin + size), place);
    }

    // Columns with categories have places; -1 for any other.
    std::int32_t place_of(std::int32_t feature) const { return place_of_[static_cast<std::size_t>(feature)]; }
    std::size_t n_places() const { return first_.size() - 1; }
    std::uint32_t first_number(std::size_t place) const { return first_[place]; }
    std::uint32_t missing_number(std::size_t place) const { return first_[place + 1] - 1; }
    std::size_t n_numbers() const { return first_.back(); }

    const std::uint32_t* of_row(std::uint32_t row) const { return numbers_.data() + row * n_places(); }
    // -1 where missing.
    std::int32_t code(std::uint32_t row, std::size_t place) const {
        const std::uint32_t number = of_row(row)[place];
        return number == missing_number(place) ? -1 : static_cast<std::int32_t>(number - first_[place]);
    }

private:
    void write_numbers(const double* column, std::int64_t begin, std::int64_t end, std::size_t place) {
        const std::uint32_t first = first_[place];
        const std::int64_t missing = missing_number(place) - first;  // and the number of categories
        const std::size_t width = n_places();
        std::uint32_t* out = numbers_.data() + static_cast<std::size_t>(begin) * width + place;
        for (std::int64_t row = begin; row < end; ++row, out += width) {
            const std::int64_t code = code_of(column[row], missing);
            *out = first + static_cast<std::uint32_t>(code == no_answer ? missing : code);
        }
    }

    std::vector<std::int32_t> place_of_;
    std::vector<std::uint32_t> first_{0};  // per place: the number of its first category
    Bulk<std::uint32_t> numbers_;
};

// Groups of a node's rows by category. What is counted in a column must be cleared before the column is counted again.
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
    void count(const Samples& node, std::span<const std::int32_t> places) {
        const auto& block = *node.block;
        for (std::uint32_t at = node.members.begin; at < node.members.end; ++at) {
            const std::uint32_t id = block.members[at];
            const std::uint32_t* numbers = categories_.of_row(block.rows[id]);
            const auto instance = block.instances[id];
            for (const std::int32_t place : places) criterion_.add(cell(numbers[place]), instance);
            if (unit_weights_) continue;
            const double fraction = block.fraction(id);
            for (const std::int32_t place : places) cell(numbers[place])[size_] += fraction;
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

}  // namespace hedgerow
