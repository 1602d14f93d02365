// Histograms of a node's rows over the codes of a column. Only cells that were touched are looked at and cleared, so
// that a node of ten rows costs ten cells and not 256: this replaces both a sort and a choice between the two.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "grow/binned/bins.hpp"
#include "grow/criteria.hpp"

namespace hedgerow {

class TouchedCodes {
public:
    void touch(std::uint8_t code) { words_[code / 64] |= std::uint64_t{1} << code % 64; }
    bool touched(std::uint8_t code) const { return words_[code / 64] >> code % 64 & 1; }

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

// Different rows of each cell, where leaves must hold more than one; else nothing is counted.
template <bool counting>
class RowCounts {
public:
    void add(std::uint8_t code) {
        if constexpr (counting) ++rows_[code];
    }
    double take(std::uint8_t code) {
        if constexpr (counting) return std::exchange(rows_[code], 0u);
        return 0;
    }

private:
    std::array<std::uint32_t, counting ? n_codes : 0> rows_{};
};

// Two classes: both counts in one word, so that a row costs one addition.
template <bool counting>
class PairCells {
public:
    using Row = CountedRow;
    explicit PairCells(std::int64_t) {}

    void add(std::uint8_t code, const Row& row) {
        cells_[code] += std::uint64_t{row.count} << 32 * row.label;
        rows_.add(code);
        touched_.touch(code);
    }
    // Moves a cell's content into a group; returns the number of its rows, if they are counted.
    double take(std::uint8_t code, double* group) {
        const std::uint64_t cell = std::exchange(cells_[code], 0);
        group[0] += static_cast<std::uint32_t>(cell);
        group[1] += static_cast<double>(cell >> 32);
        return rows_.take(code);
    }
    TouchedCodes& touched() { return touched_; }

private:
    std::array<std::uint64_t, n_codes> cells_{};
    RowCounts<counting> rows_;
    TouchedCodes touched_;
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
        touched_.touch(code);
    }
    double take(std::uint8_t code, double* group) {
        for (std::size_t k = 0; k < n_; ++k) group[k] += std::exchange(cells_[code * n_ + k], 0u);
        return rows_.take(code);
    }
    TouchedCodes& touched() { return touched_; }

private:
    std::size_t n_;
    std::vector<std::uint32_t> cells_;
    RowCounts<counting> rows_;
    TouchedCodes touched_;
};

// Real targets, whole counts.
class SumCells {
public:
    struct Row {
        std::uint32_t row;
        std::uint32_t count;
        double target;
    };
    explicit SumCells(std::int64_t) {}

    void add(std::uint8_t code, const Row& row) {
        cells_[code].sum += row.count * row.target;
        cells_[code].count += row.count;
        ++cells_[code].rows;
        touched_.touch(code);
    }
    double take(std::uint8_t code, double* group) {
        const Cell cell = std::exchange(cells_[code], {});
        group[0] += cell.count;
        group[1] += cell.sum;
        return cell.rows;
    }
    TouchedCodes& touched() { return touched_; }

private:
    struct Cell {
        double sum = 0;
        std::uint32_t count = 0;
        std::uint32_t rows = 0;
    };
    std::array<Cell, n_codes> cells_{};
    TouchedCodes touched_;
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
        touched_.touch(code);
    }
    double take(std::uint8_t code, double* group) {
        for (std::size_t k = 0; k < n_; ++k) group[k] += std::exchange(cells_[code * n_ + k], 0.0);
        return rows_.take(code);
    }
    TouchedCodes& touched() { return touched_; }

private:
    std::size_t n_;
    std::vector<double> cells_;
    RowCounts<true> rows_;
    TouchedCodes touched_;
};

}  // namespace hedgerow
