// Categories of the training rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bulk.hpp"
#include "data/codes.hpp"
#include "data/training_data.hpp"

namespace hedgerow::data {

using base::Bulk;

// Categories row by row, numbered consecutively over all columns; each column has one number more, for missing values.
class CategoryRows {
public:
    CategoryRows() = default;
    explicit CategoryRows(const TrainingData& data) : position_of_(static_cast<std::size_t>(data.n_features), -1) {
        std::vector<const double*> columns;
        for (std::int64_t feature = 0; feature < data.n_features; ++feature) {
            if (data.n_categories[feature] == 0) continue;
            position_of_[static_cast<std::size_t>(feature)] = static_cast<std::int32_t>(columns.size());
            columns.push_back(data.X + feature * data.n_rows);
            first_.push_back(first_.back() + static_cast<std::uint32_t>(data.n_categories[feature]) + 1);
        }
        numbers_.resize(columns.size() * static_cast<std::size_t>(data.n_rows));
        const std::int64_t size = 64;  // rows written together, for the cache
        for (std::int64_t begin = 0; begin < data.n_rows; begin += size)
            for (std::size_t position = 0; position < columns.size(); ++position)
                write_numbers(columns[position], begin, std::min(data.n_rows, begin + size), position);
    }

    // Position of a column among those with categories; -1 for any other.
    std::int32_t position_of(std::int32_t feature) const { return position_of_[static_cast<std::size_t>(feature)]; }
    std::size_t n_positions() const { return first_.size() - 1; }
    std::uint32_t first_number(std::size_t position) const { return first_[position]; }
    std::uint32_t missing_number(std::size_t position) const { return first_[position + 1] - 1; }
    std::size_t n_numbers() const { return first_.back(); }

    const std::uint32_t* of_row(std::uint32_t row) const { return numbers_.data() + row * n_positions(); }
    // -1 where missing.
    std::int32_t code(std::uint32_t row, std::size_t position) const {
        const std::uint32_t number = of_row(row)[position];
        return number == missing_number(position) ? -1 : static_cast<std::int32_t>(number - first_[position]);
    }

private:
    void write_numbers(const double* column, std::int64_t begin, std::int64_t end, std::size_t position) {
        const std::uint32_t first = first_[position];
        const std::int64_t missing = missing_number(position) - first;  // and the number of categories
        const std::size_t width = n_positions();
        std::uint32_t* out = numbers_.data() + static_cast<std::size_t>(begin) * width + position;
        for (std::int64_t row = begin; row < end; ++row, out += width) {
            const std::int64_t code = code_of(column[row], missing);
            *out = first + static_cast<std::uint32_t>(code == no_code ? missing : code);
        }
    }

    std::vector<std::int32_t> position_of_;
    std::vector<std::uint32_t> first_{0};  // per position: the number of the first category
    Bulk<std::uint32_t> numbers_;
};

}  // namespace hedgerow::data
