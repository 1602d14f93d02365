#include "base/checksum.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace hedgerow::base {
namespace {

constexpr std::uint64_t prime1 = 0x9E3779B185EBCA87;
constexpr std::uint64_t prime2 = 0xC2B2AE3D27D4EB4F;
constexpr std::uint64_t prime3 = 0x165667B19E3779F9;
constexpr std::uint64_t prime4 = 0x85EBCA77C2B2AE63;
constexpr std::uint64_t prime5 = 0x27D4EB2F165667C5;

std::uint64_t round(std::uint64_t lane, std::uint64_t word) { return std::rotl(lane + word * prime2, 31) * prime1; }

// Little-endian, whatever the machine.
template <class Word>
std::uint64_t read(const std::uint8_t* data) {
    Word word;
    std::memcpy(&word, data, sizeof word);
    if constexpr (std::endian::native == std::endian::big) {
        std::uint64_t swapped = 0;
        for (std::size_t byte = 0; byte < sizeof word; ++byte) swapped |= std::uint64_t{data[byte]} << 8 * byte;
        return swapped;
    }
    return word;
}

}  // namespace

std::uint64_t checksum(const std::uint8_t* data, std::size_t size) {
    const std::uint8_t* const end = data + size;
    std::uint64_t hash = prime5;
    if (size >= 32) {
        std::array<std::uint64_t, 4> lanes{prime1 + prime2, prime2, 0, 0 - prime1};
        for (; end - data >= 32; data += 32)
            for (std::size_t lane = 0; lane < 4; ++lane)
                lanes[lane] = round(lanes[lane], read<std::uint64_t>(data + 8 * lane));
        hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) + std::rotl(lanes[3], 18);
        for (const std::uint64_t lane : lanes) hash = (hash ^ round(0, lane)) * prime1 + prime4;
    }
    hash += size;
    for (; end - data >= 8; data += 8)
        hash = std::rotl(hash ^ round(0, read<std::uint64_t>(data)), 27) * prime1 + prime4;
    if (end - data >= 4) {
        hash = std::rotl(hash ^ read<std::uint32_t>(data) * prime1, 23) * prime2 + prime3;
        data += 4;
    }
    for (; data < end; ++data) hash = std::rotl(hash ^ *data * prime5, 11) * prime1;
    hash = (hash ^ hash >> 33) * prime2;
    hash = (hash ^ hash >> 29) * prime3;
    return hash ^ hash >> 32;
}

}  // namespace hedgerow::base
