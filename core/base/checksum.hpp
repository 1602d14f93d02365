// XXH64 with seed 0: a published checksum (xxhash.com, doc/xxhash_spec.md) that other programs can compute too, many
// times faster than CRC-32. It detects accidents, not forgeries.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hedgerow::base {

std::uint64_t checksum(const std::uint8_t* data, std::size_t size);

}  // namespace hedgerow::base
