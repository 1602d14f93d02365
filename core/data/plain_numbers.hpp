// Rows of plain numbers between delimiters, read several times as fast as a reader of all that CSV can be.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace hedgerow {

// Column `column_of[i]` of `out` (each column `capacity` numbers long) gets the i-th field of each row; -1: none does.
// NaN for fields that equal one of `missing`. Returns the number of rows, or -1 where anything is not plain: a number
// in quotes, a field that is no number, another number of fields, more rows than there is room for.
std::int64_t plain_numbers(std::string_view text, char delimiter, const std::vector<std::int32_t>& column_of,
                           const std::vector<std::string_view>& missing, double* out, std::int64_t capacity);

}  // namespace hedgerow
