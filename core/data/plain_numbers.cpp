#include "data/plain_numbers.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <limits>
#include <system_error>

namespace hedgerow {
namespace {

// Without a branch, which half of all numbers would take by surprise.
const char* behind_sign(const char* begin, const char* end) {
    return begin == end ? begin : begin + static_cast<std::ptrdiff_t>(*begin == '-');
}

bool starts_a_number(const char* begin, const char* end) {
    begin = behind_sign(begin, end);
    return begin != end && (*begin == '.' || (*begin >= '0' && *begin <= '9'));  // no nan, no inf
}

// Up to 8 digits in one go: goes behind those that `at` points to, and appends them to `digits`. The bytes are lanes of
// a word whose first is the lowest; shifted up by the lanes that hold no digit, they have zeros in front, and pairs,
// fours and eights of digits are added up in a multiplication each.
const char* read_eight(const char* at, std::uint64_t& digits) {
    static constexpr std::uint64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    std::uint64_t lanes;
    std::memcpy(&lanes, at, sizeof lanes);
    lanes ^= 0x3030303030303030;
    const std::uint64_t others = (lanes | (lanes + 0x7676767676767676)) & 0x8080808080808080;  // a lane of 10 or more
    const int n = others == 0 ? 8 : std::countr_zero(others) / 8;
    if (n == 0) return at;
    lanes <<= 8 * (8 - n);
    lanes = (lanes * 10 + (lanes >> 8)) & 0x00ff00ff00ff00ff;
    lanes = (lanes * 100 + (lanes >> 16)) & 0x0000ffff0000ffff;
    lanes = (lanes * 10000 + (lanes >> 32)) & 0x00000000ffffffff;
    digits = digits * powers[n] + lanes;
    return at + n;
}

const char* read_digits(const char* at, const char* end, std::uint64_t& digits) {
    if constexpr (std::endian::native == std::endian::little)
        while (end - at >= 8) {
            const char* const behind = read_eight(at, digits);
            if (behind != at + 8) return behind;
            at = behind;
        }
    for (; at != end && *at >= '0' && *at <= '9'; ++at) digits = 10 * digits + static_cast<std::uint64_t>(*at - '0');
    return at;
}

// Up to 15 digits and no exponent: both whole numbers of digits/10^decimals are exact, so that their quotient is the
// nearest double (Clinger, How to read floating point numbers accurately, 1990), at a third of the cost of from_chars.
// Anything else is left to that.
const char* read_number(const char* begin, const char* end, double& value) {
    static constexpr double powers[] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                        1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const char* at = behind_sign(begin, end);
    const bool negative = at != begin;
    std::uint64_t digits = 0;
    const char* const first = at;
    for (; at != end && *at >= '0' && *at <= '9'; ++at) digits = 10 * digits + static_cast<std::uint64_t>(*at - '0');
    std::ptrdiff_t n_digits = at - first, decimals = 0;
    if (at != end && *at == '.') {
        const char* const point = at;
        at = read_digits(at + 1, end, digits);
        decimals = at - point - 1;
        n_digits += decimals;
    }
    if (n_digits == 0 || n_digits > 15 || (at != end && (*at == 'e' || *at == 'E'))) {
        const auto [behind, error] = std::from_chars(begin, end, value);
        return error == std::errc{} ? behind : nullptr;
    }
    const double size = static_cast<double>(digits) / powers[decimals];
    value = std::bit_cast<double>(std::bit_cast<std::uint64_t>(size) | static_cast<std::uint64_t>(negative) << 63);
    return at;
}

// Reads one field, and leaves `at` behind the number: true if it stands before a delimiter or the end of the line.
class Fields {
public:
    Fields(char delimiter, const std::vector<std::string_view>& missing) : delimiter_(delimiter), missing_(missing) {
        for (const std::string_view marker : missing)
            numbers_may_be_missing_ |= starts_a_number(marker.data(), marker.data() + marker.size());
    }

    bool ends_field(const char* at, const char* end) const {
        return at == end || *at == delimiter_ || *at == '\n' || *at == '\r';
    }

    // Behind a field that nobody reads: text, in quotes or not.
    const char* skip(const char* at, const char* end) const {
        return at != end && *at == '"' ? skip_quoted(at, end) : skip_bare(at, end);
    }

    const char* read(const char* at, const char* end, double& value) const {
        if (starts_a_number(at, end) && !numbers_may_be_missing_) {
            const char* behind = read_number(at, end, value);
            return behind != nullptr && ends_field(behind, end) ? behind : nullptr;
        }
        const char* behind = skip_bare(at, end);
        if (behind == nullptr) return nullptr;
        const std::string_view field(at, static_cast<std::size_t>(behind - at));
        if (std::find(missing_.begin(), missing_.end(), field) != missing_.end()) {
            value = std::numeric_limits<double>::quiet_NaN();
            return behind;
        }
        if (!starts_a_number(at, end)) return nullptr;
        return read_number(at, behind, value) == behind ? behind : nullptr;
    }

private:
    const char* skip_bare(const char* at, const char* end) const {
        while (!ends_field(at, end))
            if (*at++ == '"') return nullptr;
        return at;
    }

    const char* skip_quoted(const char* at, const char* end) const {
        do {  // a quote that is doubled does not end the field
            at = static_cast<const char*>(std::memchr(at + 1, '"', static_cast<std::size_t>(end - at - 1)));
            if (at == nullptr) return nullptr;
            ++at;
        } while (at != end && *at == '"');
        return ends_field(at, end) ? at : nullptr;
    }

    char delimiter_;
    const std::vector<std::string_view>& missing_;
    bool numbers_may_be_missing_ = false;
};

}  // namespace

std::int64_t plain_numbers(std::string_view text, char delimiter, const std::vector<std::int32_t>& column_of,
                           const std::vector<std::string_view>& missing, double* out, std::int64_t capacity) {
    const Fields fields(delimiter, missing);
    const char* at = text.data();
    const char* const end = at + text.size();
    std::int64_t row = 0;
    while (at != end) {
        if (*at == '\n' || *at == '\r') {  // an empty line is no row
            ++at;
            continue;
        }
        if (row == capacity) return -1;
        for (std::size_t i = 0; i < column_of.size(); ++i) {
            if (i > 0) {
                if (at == end || *at != delimiter) return -1;
                ++at;
            }
            const std::int32_t column = column_of[i];
            at = column < 0 ? fields.skip(at, end) : fields.read(at, end, out[column * capacity + row]);
            if (at == nullptr) return -1;
        }
        if (at != end && *at == '\r') ++at;
        if (at != end && *at++ != '\n') return -1;
        ++row;
    }
    return row;
}

}  // namespace hedgerow
