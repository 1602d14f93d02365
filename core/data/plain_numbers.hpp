// Fast path for delimited text whose wanted columns hold nothing but plain numbers and words for missing values.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace hedgerow::data {

// Reads field i of each row into column `column_of[i]` of `out`, whose columns are `capacity` numbers long; -1 skips
// the field. Fields that equal one of `missing`, which must not be numbers, become NaN. Returns the number of rows, or
// -1 if the text is not plain: a wanted field in quotes, not a number or 2^53 or more (which an integer beyond may be
// rounded to); a row with another number of fields; more than `capacity` rows.
std::int64_t plain_numbers(std::string_view text, char delimiter, const std::vector<std::int32_t>& column_of,
                           const std::vector<std::string_view>& missing, double* out, std::int64_t capacity);

}  // namespace hedgerow::data
