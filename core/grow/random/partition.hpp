// Stable partition of rows in two.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>
#define HEDGEROW_HAS_SHUFFLES
#endif

namespace hedgerow::grow::random {

// Rows `first` to `n` that go left follow the `n_left` in front, the others those in `right`. Both are written for
// every row and only one cursor moves: a branch would be mispredicted at every second row. `ranks` prefetches for later
// rows.
template <class Index, class Ranks, class GoesLeft>
std::uint32_t partition(Index* rows, Index* right, std::uint32_t first, std::uint32_t n, std::uint32_t n_left,
                        const Ranks& ranks, const GoesLeft& goes_left) {
    for (std::uint32_t i = first; i < n; ++i) {
        ranks.fetch_later(rows + i);
        const Index row = rows[i];
        rows[n_left] = row;
        right[i - n_left] = row;
        n_left += goes_left(row);
    }
    return n_left;
}

#ifdef HEDGEROW_HAS_SHUFFLES

inline bool can_shuffle() { return __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("popcnt"); }

// For each set of lanes the byte shuffle that moves them to the front, and the others behind them.
template <std::size_t n_lanes>
struct Shuffles {
    alignas(16) std::uint8_t bytes[std::size_t{1} << n_lanes][16];

    constexpr Shuffles() : bytes{} {
        for (std::size_t lanes = 0; lanes < std::size_t{1} << n_lanes; ++lanes) {
            std::size_t n = 0;
            for (const std::size_t in_front : {1, 0})
                for (std::size_t byte = 0; byte < 16; ++byte)
                    if ((lanes >> byte * n_lanes / 16 & 1) == in_front)
                        bytes[lanes][n++] = static_cast<std::uint8_t>(byte);
        }
    }
};
template <std::size_t n_lanes>
inline constexpr Shuffles<n_lanes> shuffles;

template <std::size_t n_lanes>
[[gnu::target("ssse3")]] inline void write_lanes(void* to, __m128i rows, std::uint32_t lanes) {
    const auto* bytes = reinterpret_cast<const __m128i*>(shuffles<n_lanes>.bytes[lanes]);
    _mm_storeu_si128(static_cast<__m128i*>(to), _mm_shuffle_epi8(rows, _mm_load_si128(bytes)));
}

// Eight rows at once; lanes behind those that are wanted are overwritten later.
struct EightShort {
    __m128i rows;

    explicit EightShort(const std::uint16_t* from) : rows(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))) {}
    [[gnu::target("ssse3")]] void write(std::uint16_t* to, std::uint32_t lanes) const {
        write_lanes<8>(to, rows, lanes);
    }
};
struct EightLong {
    __m128i low, high;

    explicit EightLong(const std::uint32_t* from)
        : low(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))),
          high(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 4))) {}
    [[gnu::target("ssse3,popcnt")]] void write(std::uint32_t* to, std::uint32_t lanes) const {
        write_lanes<4>(to, low, lanes & 15);
        write_lanes<4>(to + __builtin_popcount(lanes & 15), high, lanes >> 4);
    }
};
inline EightShort eight_rows(const std::uint16_t* from) { return EightShort(from); }
inline EightLong eight_rows(const std::uint32_t* from) { return EightLong(from); }

// Eight ranks, compared at once.
class EightRanks {
public:
    template <class RankOf>
    explicit EightRanks(const RankOf& rank_of)
        : ranks_(_mm_setr_epi16(word(rank_of(0)), word(rank_of(1)), word(rank_of(2)), word(rank_of(3)),
                                word(rank_of(4)), word(rank_of(5)), word(rank_of(6)), word(rank_of(7)))) {}

    std::uint32_t equal(std::uint16_t rank) const { return lanes_of(_mm_cmpeq_epi16(ranks_, all(rank))); }
    std::uint32_t at_most(std::uint16_t rank) const {
        return lanes_of(_mm_cmpeq_epi16(_mm_subs_epu16(ranks_, all(rank)), _mm_setzero_si128()));
    }

private:
    static std::int16_t word(std::uint16_t rank) { return static_cast<std::int16_t>(rank); }
    static __m128i all(std::uint16_t rank) { return _mm_set1_epi16(word(rank)); }
    static std::uint32_t lanes_of(__m128i words) {
        return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(words, _mm_setzero_si128())));
    }
    __m128i ranks_;
};

// `partition` from 0 to `n`, a multiple of 8, by ranks: those up to `limit` go left, equal ones only where `tie` holds
// (if ask_ties).
template <bool ask_ties, class Index, class Ranks, class Tie>
[[gnu::target("ssse3,popcnt")]] std::uint32_t partition_eights(Index* rows, Index* right, std::uint32_t n,
                                                               const Ranks& ranks, std::uint16_t limit,
                                                               const Tie& tie) {
    std::uint32_t n_left = 0;
    for (std::uint32_t i = 0; i < n; i += 8) {
        const Index* const next = rows + i;
        for (std::uint32_t k = 0; k < 8; ++k) ranks.fetch_later(next + k);
        const auto eight = eight_rows(next);
        const EightRanks found([&](std::uint32_t k) { return ranks[next[k]]; });
        std::uint32_t left = found.at_most(limit);
        if constexpr (ask_ties)
            for (std::uint32_t same = found.equal(limit); same != 0; same &= same - 1)
                if (!tie(next[std::countr_zero(same)])) left ^= same & (0 - same);
        eight.write(rows + n_left, left);
        eight.write(right + (i - n_left), left ^ 255);
        n_left += static_cast<std::uint32_t>(__builtin_popcount(left));
    }
    return n_left;
}

#endif

}  // namespace hedgerow::grow::random
