#include "data/plain_numbers.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <system_error>

namespace hedgerow::data {
namespace {

constexpr double first_inexact = 9007199254740992;  // 2^53, which 2^53 + 1 is rounded to

// Exact where digits and power of ten are: their quotient is the nearest double (Clinger 1990). from_chars reads the
// rest.
const char* read_number(const char* begin, const char* end, double& value) {
    static constexpr double powers[] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                        1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const auto is_digit = [end](const char* at) { return at != end && *at >= '0' && *at <= '9'; };
    const char* const first = begin + (begin != end && *begin == '-');
    const char* at = first;
    std::uint64_t digits = 0;
    for (; is_digit(at); ++at) digits = 10 * digits + static_cast<std::uint64_t>(*at - '0');
    std::ptrdiff_t n_digits = at - first, decimals = 0;
    if (at != end && *at == '.') {
        const char* const point = at++;
        for (; is_digit(at); ++at) digits = 10 * digits + static_cast<std::uint64_t>(*at - '0');
        decimals = at - point - 1;
        n_digits += decimals;
    }
    if (n_digits > 0 && n_digits <= 15 && (at == end || (*at | 0x20) != 'e')) {
        value = static_cast<double>(digits) / powers[decimals];
        if (first != begin) value = -value;
        return at;
    }
    const auto [behind, error] = std::from_chars(begin, end, value);
    return error == std::errc{} && std::abs(value) < first_inexact ? behind : nullptr;
}

// Each function returns the end of the field that starts at `at`, or nullptr if it is not plain.
class Fields {
public:
    Fields(char delimiter, const std::vector<std::string_view>& missing) : delimiter_(delimiter), missing_(missing) {}

    const char* skip(const char* at, const char* end) const {
        return at != end && *at == '"' ? skip_quoted(at, end) : skip_bare(at, end);
    }

    const char* read(const char* at, const char* end, double& value) const {
        if (const char* const behind = read_number(at, end, value)) return ends_field(behind, end) ? behind : nullptr;
        const char* const field_end = skip_bare(at, end);
        if (field_end == nullptr) return nullptr;
        value = std::numeric_limits<double>::quiet_NaN();
        const std::string_view field(at, static_cast<std::size_t>(field_end - at));
        return std::find(missing_.begin(), missing_.end(), field) != missing_.end() ? field_end : nullptr;
    }

private:
    bool ends_field(const char* at, const char* end) const {
        return at == end || *at == delimiter_ || *at == '\n' || *at == '\r';
    }

    const char* skip_bare(const char* at, const char* end) const {
        while (!ends_field(at, end))
            if (*at++ == '"') return nullptr;
        return at;
    }

    const char* skip_quoted(const char* at, const char* end) const {
        do {  // a doubled quote does not end the field
            at = static_cast<const char*>(std::memchr(at + 1, '"', static_cast<std::size_t>(end - at - 1)));
            if (at == nullptr) return nullptr;
            ++at;
        } while (at != end && *at == '"');
        return ends_field(at, end) ? at : nullptr;
    }

    char delimiter_;
    const std::vector<std::string_view>& missing_;
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
            if (i > 0 && (at == end || *at++ != delimiter)) return -1;
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

}  // namespace hedgerow::data
