// Addressed randomness: a draw is a function of (key, counter), and the key of a child node is a hash of its parent's
// key and its number. The same seed gives the same bits in any order of growth.
#pragma once

#include <array>
#include <cstdint>

#include "base/hash.hpp"

namespace hedgerow::base {

// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; SC 2011).
inline std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
        const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
        counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
                   static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
        key[0] += 0x9E3779B9;
        key[1] += 0xBB67AE85;
    }
    return counter;
}

// Address of a node: hashes of (seed, tree, child, child, ...). 64 bits, so that two of a million nodes share a key
// with probability below 3e-8.
class Path {
public:
    explicit Path(std::uint64_t seed) : key_(seed) {}

    // The last counter word separates keys from draws.
    Path child(std::uint64_t number) const {
        const auto words = philox({low(number), high(number), 0, 1}, {low(key_), high(key_)});
        return Path(words[0] | std::uint64_t{words[1]} << 32);
    }
    // Address of a row's own draws at this node: beside the children, of which there are fewer than 2^32.
    Path of_row(std::uint64_t row) const { return child((std::uint64_t{1} << 32) + row); }
    std::uint64_t key() const { return key_; }

private:
    static std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
    static std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }
    std::uint64_t key_;
};

// The draws at one address, in order. std::*_distribution differs between standard libraries; these do not.
class Draws {
public:
    explicit Draws(Path path) : key_(path.key()) {}

    std::uint64_t bits() {
        if (position_ == 2) refill();
        const int at = 2 * position_++;
        return words_[at] | std::uint64_t{words_[at + 1]} << 32;
    }

    // Uniform in [0, 1): a multiple of 2^-53.
    double real() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

    // Uniform in 0 .. n-1, n >= 1, without bias: values of the last, incomplete run of n are rejected.
    std::uint64_t below(std::uint64_t n) {
        for (;;) {
            const std::uint64_t draw = bits();
            // The excess 2^64 mod n is below n: nearly every draw is above it without the division.
            if (draw >= n || draw >= (0 - n) % n) return draw % n;
        }
    }

private:
    void refill() {
        words_ = philox({static_cast<std::uint32_t>(block_), static_cast<std::uint32_t>(block_ >> 32), 0, 0},
                        {static_cast<std::uint32_t>(key_), static_cast<std::uint32_t>(key_ >> 32)});
        ++block_;
        position_ = 0;
    }

    std::uint64_t key_;
    std::uint64_t block_ = 0;
    std::array<std::uint32_t, 4> words_{};
    int position_ = 2;
};

// Draws of a node of a random tree, where Philox would take a sixth of the time: SplitMix64 takes a quarter of that.
// The first draws are two words of 32 bits, enough for most nodes; those of Draws follow.
class NodeDraws {
public:
    NodeDraws() = default;
    NodeDraws(Path parent, std::uint64_t number) : path_(mix(parent.key() + (number + 1) * golden_gamma)) {
        const std::uint64_t bits = mix(path_.key() ^ apart_from_children);
        first_ = {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)};
    }

    Path path() const { return path_; }

    // Uniform in 0 .. n-1, n >= 1, without bias (Lemire: Fast random integer generation in an interval, 2019). One out
    // of one takes no draw.
    std::uint32_t below(std::uint32_t n) {
        if (n == 1) return 0;
        std::uint64_t product = std::uint64_t{word()} * n;
        if (static_cast<std::uint32_t>(product) < n) [[unlikely]] {
            const std::uint32_t excess = (0 - n) % n;
            while (static_cast<std::uint32_t>(product) < excess) product = std::uint64_t{word()} * n;
        }
        return static_cast<std::uint32_t>(product >> 32);
    }

private:
    static constexpr std::uint64_t apart_from_children = 0xD1B54A32D192ED03;

    std::uint32_t word() {
        const std::uint32_t at = n_taken_++;
        return at < 2 ? first_[at] : later_word(at - 2);
    }
    // One hash per word: too rare to be worth caching, or inlining into the callers.
#ifdef __GNUC__
    [[gnu::noinline, gnu::cold]]
#endif
    std::uint32_t later_word(std::uint32_t at) const {
        const std::uint64_t key = path_.key();
        return philox({at / 4, 0, 0, 0},
                      {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)})[at % 4];
    }

    Path path_{0};
    std::array<std::uint32_t, 2> first_{};
    std::uint32_t n_taken_ = 0;
};

}  // namespace hedgerow::base
