// Histograms of a node's rows over the codes of a column. Only the cells that were touched are read and cleared: a node
// of ten rows costs ten cells, not 256, so small nodes need no sort instead.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "grow/binned/bins.hpp"
#include "grow/criteria.hpp"

namespace hedgerow::grow::binned {

class TouchedCodes {
public:
    void touch(std::uint8_t code) { words_[code / 64] |= std::uint64_t{1} << code % 64; }
    bool touched(std::uint8_t code) const { return words_[code / 64] >> code % 64 & 1; }

    // Calls use(code) for each touched code, ascending, and clears the set.
    template <class Use>
    void drain(const Use& use) {
        for (std::uint64_t word = 0; word < words_.size(); ++word) {
            std::uint64_t rest = std::exchange(words_[word], 0);
            for (; rest != 0; rest &= rest - 1)
                use(static_cast<std::uint8_t>(64 * word + static_cast<std::uint64_t>(std::countr_zero(rest))));
        }
    }

private:
    std::array<std::uint64_t, n_codes / 64> words_{};
};

// A row that was drawn `count` times for a tree, and its class.
struct CountedRow {
    std::uint32_t row;
    std::uint16_t count;
    std::uint16_t label;
};

// Number of distinct rows in each cell; counted only where leaves must hold more than one.
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

// Two classes: both counts share one word, so that a row costs one addition.
template <bool counting>
class PairHistogram {
public:
    using Row = CountedRow;
    explicit PairHistogram(std::int64_t) {}

    void add(std::uint8_t code, const Row& row) {
        cells_[code] += std::uint64_t{row.count} << 32 * row.label;
        rows_.add(code);
        touched_.touch(code);
    }
    // Adds a cell to a group and clears it; returns the number of its rows if they are counted.
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
class CountHistogram {
public:
    using Row = CountedRow;
    explicit CountHistogram(std::int64_t n_classes)
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
class SumHistogram {
public:
    struct Row {
        std::uint32_t row;
        std::uint32_t count;
        double target;
    };
    explicit SumHistogram(std::int64_t) {}

    void add(std::uint8_t code, const Row& row) {
        cells_[code].sum += row.count * row.target;
        cells_[code].count += row.count;
        ++cells_[code].rows;
        touched_.touch(code);
    }
    double take(std::uint8_t code, double* group) {
        const SumCell cell = std::exchange(cells_[code], {});
        group[0] += cell.count;
        group[1] += cell.sum;
        return cell.rows;
    }
    TouchedCodes& touched() { return touched_; }

private:
    struct SumCell {
        double sum = 0;
        std::uint32_t count = 0;
        std::uint32_t rows = 0;
    };
    std::array<SumCell, n_codes> cells_{};
    TouchedCodes touched_;
};

// Any weights, any target.
template <class Criterion>
class WeightHistogram {
public:
    struct Row {
        std::uint32_t row;
        Instance<typename Criterion::Target> instance;
    };
    explicit WeightHistogram(std::int64_t group_size)
        : n_(static_cast<std::size_t>(group_size)), cells_(n_codes * n_, 0.0) {}

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

// Adds the rows of a node to the histogram of a column.
template <class Histogram>
void add_rows(const std::uint8_t* codes, const typename Histogram::Row* rows, std::uint32_t n_rows,
              Histogram& histogram) {
    for (std::uint32_t i = 0; i < n_rows; ++i) histogram.add(codes[rows[i].row], rows[i]);
}

}  // namespace hedgerow::grow::binned
