// Where a piece of a text file can be cut, so that rows stay whole.
#pragma once

#include <cstdint>
#include <string_view>

namespace hedgerow {

struct RowEnd {
    std::int64_t
        n_bytes;  // up to and with the last line end that an even number of quotes stands before; 0 if there is none
    std::int64_t n_lines;  // line ends in them
};

RowEnd row_end(std::string_view text);

}  // namespace hedgerow
