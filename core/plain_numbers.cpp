#include "plain_numbers.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <system_error>

namespace hedgerow {
namespace {

bool starts_a_number(const char* begin, const char* end) {
    if (begin != end && *begin == '-') ++begin;
    return begin != end && (*begin == '.' || (*begin >= '0' && *begin <= '9'));  // no nan, no inf
}

// Reads one field, and leaves `at` behind the number: true if it stands before a delimiter or the end of the line.
class Fields {
public:
    Fields(char delimiter, const std::vector<std::string_view>& missing) : delimiter_(delimiter), missing_(missing) {
        for (const std::string_view marker : missing)
            numbers_may_be_missing_ |= starts_a_number(marker.data(), marker.data() + marker.size());
    }

    bool ends_field(const char* at, const char* end) const { return at == end || *at == delimiter_ || *at == '\n' || *at == '\r'; }

    const char* skip(const char* at, const char* end) const {
        while (!ends_field(at, end))
            if (*at++ == '"') return nullptr;
        return at;
    }

    const char* read(const char* at, const char* end, double& value) const {
        if (starts_a_number(at, end) && !numbers_may_be_missing_) {
            const auto [behind, error] = std::from_chars(at, end, value);
            return error == std::errc{} && ends_field(behind, end) ? behind : nullptr;
        }
        const char* behind = skip(at, end);
        if (behind == nullptr) return nullptr;
        const std::string_view field(at, static_cast<std::size_t>(behind - at));
        if (std::find(missing_.begin(), missing_.end(), field) != missing_.end()) {
            value = std::numeric_limits<double>::quiet_NaN();
            return behind;
        }
        if (!starts_a_number(at, end)) return nullptr;
        const auto [stop, error] = std::from_chars(at, behind, value);
        return error == std::errc{} && stop == behind ? behind : nullptr;
    }

private:
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
