#include "data/row_end.hpp"

#include <array>
#include <cstddef>

namespace hedgerow {
namespace {

struct Counts {
    std::int64_t lines = 0, quotes = 0;
};

// Many bytes at once, in counters of a byte each, which are added up before they can overflow: as fast as memory.
Counts count(std::string_view text) {
    constexpr std::size_t width = 64, most = 255;
    Counts found;
    std::size_t at = 0;
    while (text.size() - at >= width) {
        std::array<std::uint8_t, width> lines{}, quotes{};
        for (std::size_t n = 0; n < most && text.size() - at >= width; ++n, at += width)
            for (std::size_t i = 0; i < width; ++i) {
                lines[i] += text[at + i] == '\n';
                quotes[i] += text[at + i] == '"';
            }
        for (std::size_t i = 0; i < width; ++i) {
            found.lines += lines[i];
            found.quotes += quotes[i];
        }
    }
    for (; at < text.size(); ++at) {
        found.lines += text[at] == '\n';
        found.quotes += text[at] == '"';
    }
    return found;
}

std::size_t behind_last_line_end(std::string_view text) {
    const std::size_t found = text.rfind('\n');
    return found == std::string_view::npos ? 0 : found + 1;
}

}  // namespace

RowEnd row_end(std::string_view text) {
    std::string_view rows = text.substr(0, behind_last_line_end(text));
    Counts found = count(rows);
    while (found.quotes % 2 != 0) {  // not at the start: nothing stands before it
        const std::size_t before = behind_last_line_end(rows.substr(0, rows.size() - 1));
        const Counts last = count(rows.substr(before));
        found.lines -= last.lines;
        found.quotes -= last.quotes;
        rows = rows.substr(0, before);
    }
    return {static_cast<std::int64_t>(rows.size()), found.lines};
}

}  // namespace hedgerow
