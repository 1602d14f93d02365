// Histograms of a node's rows over the codes of a column. In small nodes only cells that were touched are looked at and
// cleared, so that a node of ten rows costs ten cells and not 256: this replaces both a sort and a choice between the two.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "bins.hpp"
#include "criteria.hpp"

namespace hedgerow {

class TouchedCodes {
public:
    void touch(std::uint8_t code) { words_[code / 64] |= std::uint64_t{1} << code % 64; }

    // Calls use(code) for each code that was touched, ascending, and forgets them.
    template <class Use>
    void drain(const Use& use) {
        for (std::uint64_t word = 0; word < words_.size(); ++word) {
            std::uint64_t rest = std::exchange(words_[word], 0);
            for (; rest != 0; rest &= rest - 1) use(static_cast<std::uint8_t>(64 * word + static_cast<std::uint64_t>(std::countr_zero(rest))));
        }
    }

private:
    std::array<std::uint64_t, n_codes / 64> words_{};
};

// A row that was drawn for a tree, `count` times, and its class.
struct CountedRow {
    std::uint32_t row;
    std::uint16_t count;
    std::uint16_t label;
};

// The same for two classes: its count, and in the upper half its count in the second class.
struct PairRow {
    std::uint32_t row;
    std::uint32_t both;
};

// Different rows of each cell, where leaves must hold more than one; else nothing is counted.
template <bool counting>
class RowCounts {
public:
    void add(std::uint8_t code) {
        if constexpr (counting) ++rows_[code];
    }
    std::uint32_t take(std::uint8_t code) {
        if constexpr (counting) return std::exchange(rows_[code], 0u);
        return 0;
    }
    bool any(std::uint8_t code) const requires counting { return rows_[code] > 0; }

private:
    std::array<std::uint32_t, counting ? n_codes : 0> rows_{};
};

// Two classes, whole counts. All and the second class's in the halves of a word, so that a row costs one addition, and so
// does a cell. Both cells with `Sums` give those of the codes up to each one that occurs, ascending, in arrays on which the
// compiler can work on several at once.
template <class Word, bool counting>
class PairCells {
public:
    using Row = PairRow;
    static constexpr std::uint64_t max_weight = sizeof(Word) == 4 ? 0xFFFF : 0x7FFFFFFF;
    explicit PairCells(std::int64_t) {}

    struct Sums {
        std::array<Word, n_codes> both;
        std::array<std::uint32_t, counting ? n_codes : 0> rows;
        std::array<std::uint8_t, n_codes> code;
        std::size_t n;

        double weight(std::size_t i) const { return static_cast<std::int32_t>(both[i] & ((Word{1} << half) - 1)); }
        double second(std::size_t i) const { return static_cast<std::int32_t>(both[i] >> half); }
        double n_rows([[maybe_unused]] std::size_t i) const {
            if constexpr (counting) return rows[i];
            return 0;
        }
    };

    void add(std::uint8_t code, const Row& row) {
        counts_[code] += (row.both & 0xFFFF) | static_cast<Word>(row.both >> 16) << half;
        rows_.add(code);
    }
    bool holds(std::uint8_t code) const { return counts_[code] != 0; }
    // Moves a cell's content into a group; returns the number of its rows, if they are counted.
    double take(std::uint8_t code, double* group) {
        const Word both = std::exchange(counts_[code], 0);
        const Word second = both >> half, all = both & ((Word{1} << half) - 1);
        group[0] += static_cast<double>(all - second);
        group[1] += static_cast<double>(second);
        return rows_.take(code);
    }
    // Takes the cells below `end`. Sums of empty ones are written over by the next, without a look at which they are.
    void take_all(int end, Sums& sums) {
        Running at;
        for (int code = 0; code < end; ++code) append(static_cast<std::uint8_t>(code), at, sums);
        std::fill(counts_.begin(), counts_.begin() + end, 0);
        sums.n = at.n;
    }
    void take_touched(TouchedCodes& touched, Sums& sums) {
        Running at;
        touched.drain([&](std::uint8_t code) {
            append(code, at, sums);
            counts_[code] = 0;
        });
        sums.n = at.n;
    }

private:
    static constexpr int half = 4 * sizeof(Word);
    struct Running {
        Word both = 0;
        std::uint32_t rows = 0;
        std::size_t n = 0;
    };
    void append(std::uint8_t code, Running& at, Sums& sums) {
        at.both += counts_[code];
        sums.both[at.n] = at.both;
        sums.code[at.n] = code;
        if constexpr (counting) sums.rows[at.n] = at.rows += rows_.take(code);
        at.n += counts_[code] != 0;
    }

    std::array<Word, n_codes> counts_{};
    RowCounts<counting> rows_;
};

// Any number of classes, whole counts.
template <bool counting>
class CountCells {
public:
    using Row = CountedRow;
    explicit CountCells(std::int64_t n_classes)
        : n_(static_cast<std::size_t>(n_classes)), cells_(n_codes * n_, 0) {}

    void add(std::uint8_t code, const Row& row) {
        cells_[code * n_ + row.label] += row.count;
        rows_.add(code);
    }
    bool holds(std::uint8_t code) const {
        const auto cell = cells_.begin() + static_cast<std::ptrdiff_t>(code * n_);
        return std::any_of(cell, cell + static_cast<std::ptrdiff_t>(n_), [](std::uint32_t count) { return count > 0; });
    }
    double take(std::uint8_t code, double* group) {
        for (std::size_t k = 0; k < n_; ++k) group[k] += std::exchange(cells_[code * n_ + k], 0u);
        return rows_.take(code);
    }

private:
    std::size_t n_;
    std::vector<std::uint32_t> cells_;
    RowCounts<counting> rows_;
};

// Real targets, whole counts.
class SumCells {
public:
    struct Row {
        std::uint32_t row;
        std::uint32_t count;
        double target;
    };
    static constexpr std::uint64_t max_weight = 0x7FFFFFFF;
    explicit SumCells(std::int64_t) {}

    struct Sums {
        std::array<double, n_codes> sum;
        std::array<std::int32_t, n_codes> count;
        std::array<std::uint32_t, n_codes> rows;
        std::array<std::uint8_t, n_codes> code;
        std::size_t n;

        double weight(std::size_t i) const { return count[i]; }
        double second(std::size_t i) const { return sum[i]; }
        double n_rows(std::size_t i) const { return rows[i]; }
    };

    void add(std::uint8_t code, const Row& row) {
        cells_[code].sum += row.count * row.target;
        cells_[code].count += row.count;
        ++cells_[code].rows;
    }
    bool holds(std::uint8_t code) const { return cells_[code].rows != 0; }
    double take(std::uint8_t code, double* group) {
        const Cell cell = std::exchange(cells_[code], {});
        group[0] += cell.count;
        group[1] += cell.sum;
        return cell.rows;
    }
    void take_all(int end, Sums& sums) {
        Cell sum;
        std::size_t n = 0;
        for (int code = 0; code < end; ++code) append(static_cast<std::uint8_t>(code), sum, n, sums);
        sums.n = n;
    }
    void take_touched(TouchedCodes& touched, Sums& sums) {
        Cell sum;
        std::size_t n = 0;
        touched.drain([&](std::uint8_t code) { append(code, sum, n, sums); });
        sums.n = n;
    }

private:
    struct Cell {
        double sum = 0;
        std::uint32_t count = 0;
        std::uint32_t rows = 0;
    };
    void append(std::uint8_t code, Cell& sum, std::size_t& n, Sums& sums) {
        const Cell cell = std::exchange(cells_[code], {});
        sums.sum[n] = sum.sum += cell.sum;
        sums.count[n] = static_cast<std::int32_t>(sum.count += cell.count);
        sums.rows[n] = sum.rows += cell.rows;
        sums.code[n] = code;
        n += cell.rows != 0;
    }

    std::array<Cell, n_codes> cells_{};
};

// Any weights, any target.
template <class Criterion>
class WeightCells {
public:
    struct Row {
        std::uint32_t row;
        Instance<typename Criterion::Target> instance;
    };
    explicit WeightCells(std::int64_t n_classes)
        : n_(static_cast<std::size_t>(Criterion(n_classes, 0).size())), cells_(n_codes * n_, 0.0) {}

    void add(std::uint8_t code, const Row& row) {
        Criterion::add(cells_.data() + code * n_, row.instance);
        rows_.add(code);
    }
    bool holds(std::uint8_t code) const { return rows_.any(code); }
    double take(std::uint8_t code, double* group) {
        for (std::size_t k = 0; k < n_; ++k) group[k] += std::exchange(cells_[code * n_ + k], 0.0);
        return rows_.take(code);
    }

private:
    std::size_t n_;
    std::vector<double> cells_;
    RowCounts<true> rows_;
};

}  // namespace hedgerow
