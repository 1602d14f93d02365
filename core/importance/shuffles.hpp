// Permutations of the rows that a tree is asked about.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "base/random.hpp"

namespace hedgerow::importance {

using base::Path;

// Draws of a permutation, of which there are as many as rows: SplitMix64, without the division of base::Draws.
class ShortDraws {
public:
    explicit ShortDraws(Path address) : state_(address.key()) {}

    // Uniform in 0 .. n-1, without bias (Lemire: Fast random integer generation in an interval, 2019).
    std::uint32_t below(std::uint32_t n) {
        std::uint64_t product = std::uint64_t{word()} * n;
        if (static_cast<std::uint32_t>(product) < n) {
            const std::uint32_t excess = (0 - n) % n;
            while (static_cast<std::uint32_t>(product) < excess) product = std::uint64_t{word()} * n;
        }
        return static_cast<std::uint32_t>(product >> 32);
    }

private:
    std::uint32_t word() { return static_cast<std::uint32_t>(base::mix(state_ += base::golden_gamma) >> 32); }

    std::uint64_t state_;
};

// Rows 0 .. n_rows - 1, shuffled among all of them, or within cells.
class Shuffles {
public:
    Shuffles(std::size_t n_rows, Path tree) : tree_(tree), every_row_(n_rows) {
        std::iota(every_row_.begin(), every_row_.end(), std::uint32_t{0});
    }

    // The row whose values each row gets; the same in every call.
    const std::uint32_t* among_all(std::int64_t repeat) {
        const auto at = static_cast<std::size_t>(repeat);
        if (donors_.size() <= at) donors_.resize(at + 1);
        if (donors_[at].empty()) shuffle(repeat, every_row_, [](std::size_t) { return 0; }, donors_[at]);
        return donors_[at].data();
    }
    // `order`: rows of the same cell one after the other; `cell`: of each row.
    const std::uint32_t* within_cells(std::int64_t repeat, const std::vector<std::uint32_t>& order,
                                      const std::vector<std::uint64_t>& cell) {
        shuffle(repeat, order, [&](std::size_t i) { return cell[order[i]]; }, donors_in_cells_);
        return donors_in_cells_.data();
    }

private:
    // Fisher and Yates's shuffle within each cell.
    template <class CellAt>
    void shuffle(std::int64_t repeat, const std::vector<std::uint32_t>& order, const CellAt& cell_at,
                 std::vector<std::uint32_t>& donors) {
        ShortDraws draws(tree_.child(static_cast<std::uint64_t>(repeat)));
        shuffled_ = order;
        for (std::size_t begin = 0; begin < order.size();) {
            std::size_t end = begin + 1;
            while (end < order.size() && cell_at(end) == cell_at(begin)) ++end;
            for (std::size_t i = end - begin; i > 1; --i)
                std::swap(shuffled_[begin + i - 1], shuffled_[begin + draws.below(static_cast<std::uint32_t>(i))]);
            begin = end;
        }
        donors.resize(order.size());
        for (std::size_t i = 0; i < order.size(); ++i) donors[order[i]] = shuffled_[i];
    }

    Path tree_;
    std::vector<std::uint32_t> every_row_, shuffled_, donors_in_cells_;
    std::vector<std::vector<std::uint32_t>> donors_;  // of each repeat
};

}  // namespace hedgerow::importance
