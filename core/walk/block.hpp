// Blocks of rows: small enough to stay in the cache while all trees pass over them, and a thread's unit of work.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/parallel.hpp"
#include "data/rows.hpp"
#include "forest/forest.hpp"
#include "walk/lanes.hpp"
#include "walk/leaf_parts.hpp"
#include "walk/packed.hpp"
#include "walk/packed_lanes.hpp"
#include "walk/packed_spread.hpp"
#include "walk/packing.hpp"
#include "walk/tree_spread.hpp"

namespace hedgerow::walk {

using base::Cancelled;
using base::max_threads;
using base::parallel_for;
using base::Poll;
using data::Rows;

inline constexpr int n_row_lanes = 8;
inline constexpr int n_tree_lanes = 8;

// Starting a thread costs about as much as this many walks of a row down a tree.
inline constexpr std::int64_t serial_walks = 1 << 14;

// A tree is read into the cache once for each block, at random, and the rows of a block once for each tree, in order.
// So a block has at least as many rows as a tree has nodes: each node that was fetched is visited several times; where
// rows are spread, which divides lists of rows at nodes, four times as many. Small trees stay in the cache, and then
// the rows should too; large blocks are bounded by a share of a third-level cache, and such that each thread has
// several.
inline std::int64_t rows_per_block(const Forest& forest, const PackedForest* packed, const Rows& rows,
                                   std::int64_t n_threads) {
    const std::int64_t small = 1 << 18, large = 1 << 23;  // bytes
    const std::int64_t row_bytes = 8 * std::max<std::int64_t>(rows.n_columns, 1);
    const std::int64_t nodes_per_tree = forest.tree_start[forest.n_trees] / std::max<std::int64_t>(forest.n_trees, 1);
    const double* const end_of_sample = rows[std::min<std::int64_t>(rows.n_rows, 256)];
    const bool divides =
        packed && packed->spreads() && std::any_of(rows.values, end_of_sample, [](double x) { return std::isnan(x); });
    const std::int64_t wanted = std::clamp((divides ? 4 : 1) * nodes_per_tree, small / row_bytes, large / row_bytes);
    const std::int64_t per_thread = rows.n_rows / (4 * std::clamp<std::int64_t>(n_threads, 1, max_threads()));
    return std::max<std::int64_t>(n_threads > 1 ? std::min(wanted, per_thread) : wanted, 64);
}

// Calls body(first_row, n_rows_in_block, cancelled) for every block of `size` rows.
template <class Body>
void for_each_block(const Rows& rows, std::int64_t size, std::int64_t n_trees, std::int64_t n_threads, const Body& body,
                    const Poll& poll) {
    const bool serial = rows.n_rows * n_trees < serial_walks;
    parallel_for((rows.n_rows + size - 1) / size, serial ? 0 : n_threads,
                 [&](std::int64_t block, const Cancelled& cancelled) {
                     const std::int64_t first = block * size;
                     body(first, std::min(size, rows.n_rows - first), cancelled);
                 },
                 poll);
}

// One block of rows, to be walked down tree after tree.
class Block {
public:
    using List = std::vector<std::uint32_t>;  // rows of the block

    Block(const Forest& forest, const Rows& rows, const PackedForest* packed, std::int64_t first_row,
          std::int64_t n_rows)
        : forest_(forest),
          packed_(packed),
          rows_{rows[first_row], rows.n_columns, nullptr, packed ? packed->columns().n_columns() : 0},
          leaf_(static_cast<std::size_t>(n_rows)) {
        all_.resize(leaf_.size());
        std::iota(all_.begin(), all_.end(), 0u);
        if (packed) make_keys(n_rows);
    }

    // Walks the rows for which keep(row) is true; returns them, ascending.
    template <class Keep>
    const List& walk(std::int64_t tree, const Keep& keep) {
        const List& list = filtered(all_, keep, kept_);
        if (!packed_) {
            walk_unpacked(tree, list);
        } else if (staying_.empty()) {
            walk_packed<false>(tree, list);
        } else {
            walk_packed<false>(tree, filtered(plain_, keep, some_));
            walk_packed<true>(tree, filtered(staying_, keep, some_));
        }
        return list;
    }

    // As `walk`, and finds the parts of rows that are spread.
    template <class Keep>
    const List& walk_with_parts(std::int64_t tree, const Keep& keep) {
        const List& list = filtered(all_, keep, kept_);
        parts_.clear();
        divided_.clear();
        if (!packed_) {
            walk_unpacked(tree, list);
            find_unpacked_parts(tree, list);
        } else if (staying_.empty()) {
            walk_packed<false>(tree, list);
            if (spreads_known_values()) add_spread_rows(list);
        } else {
            const List& plain = filtered(plain_, keep, some_);
            walk_packed<false>(tree, plain);
            if (spreads_known_values()) add_spread_rows(plain);
            const List& staying = filtered(staying_, keep, some_);
            if (divides_at_once_) {
                divided_.insert(divided_.end(), staying.begin(), staying.end());
            } else {
                walk_packed<true>(tree, staying);
                add_spread_rows(staying);
            }
        }
        if (packed_ && !divided_.empty()) divide(tree);
        return list;
    }

    // Of the tree walked last: the leaf number of a row, or `spreads`.
    std::int32_t leaf(std::uint32_t row) const { return leaf_[row]; }
    // After `walk_with_parts`: the rows that were spread, and their parts.
    const List& spread_rows() const { return divided_; }
    LeafParts& parts() { return parts_; }
    std::int64_t n_rows() const { return size(all_); }
    const double* row(std::uint32_t row) const { return rows_.values + row * rows_.n_features; }
    std::int64_t n_exact() const { return n_exact_; }  // splits of packed walks that keys did not decide, so far

private:
    // Categories that a node does not know, and values of oblique splits.
    bool spreads_known_values() const { return packed_->spreads() && !forest_.only_thresholds; }

    static std::int64_t size(const List& list) { return static_cast<std::int64_t>(list.size()); }

    void make_keys(std::int64_t n_rows) {
        keys_.resize(static_cast<std::size_t>(n_rows * rows_.n_columns));
        rows_.keys = keys_.data();
        for (std::int64_t row = 0; row < n_rows; ++row) {
            const bool stays =
                packed_->columns().fill(static_cast<std::uint32_t>(row), rows_.values + row * rows_.n_features,
                                        keys_.data() + row * rows_.n_columns);
            (stays ? staying_ : plain_).push_back(static_cast<std::uint32_t>(row));
        }
    }

    template <class Keep>
    static const List& filtered(const List& list, const Keep& keep, List& kept) {
        if (keep.all()) return list;
        kept.clear();
        std::copy_if(list.begin(), list.end(), std::back_inserter(kept), keep);
        return kept;
    }

    template <bool stays>
    void walk_packed(std::int64_t tree, const List& list) {
        run_lanes<n_row_lanes>(
            size(list), PackedRowsWalk<stays>{
                            {forest_, packed_->tree(forest_, tree), rows_}, list.data(), leaf_.data(), &n_exact_});
    }

    void walk_unpacked(std::int64_t tree, const List& list) {
        run_lanes<n_row_lanes>(size(list), AnyRowsWalk{forest_, rows_.values, rows_.n_features,
                                                       forest_.tree_start[tree], list.data(), leaf_.data()});
    }

    void add_spread_rows(const List& list) {
        std::copy_if(list.begin(), list.end(), std::back_inserter(divided_),
                     [&](std::uint32_t row) { return leaf_[row] == spreads; });
    }

    void find_unpacked_parts(std::int64_t tree, const List& list) {
        add_spread_rows(list);
        for (const std::uint32_t row : divided_)
            for (const auto& [leaf, weight] : spread_row_(forest_, tree, this->row(row))) parts_.add(leaf, row, weight);
    }

    // Most rows with missing values are spread by most trees, or few are by any: then it pays to walk them first.
    void divide(std::int64_t tree) {
        divide_.find(forest_, packed_->tree(forest_, tree), rows_, divided_, all_.size(), leaf_.data(), parts_);
        const std::size_t n_walked = divides_at_once_ ? divided_.size() : staying_.size();
        std::erase_if(divided_, [&](std::uint32_t row) { return leaf_[row] != spreads; });
        divides_at_once_ = 3 * divided_.size() > n_walked;
    }

    const Forest& forest_;
    const PackedForest* packed_;
    KeyedRows rows_;
    List all_;
    List plain_, staying_;  // packed: rows without and with missing values that nodes spread
    List kept_, some_;
    List divided_;  // rows that may be spread; after the walk those that are
    bool divides_at_once_ = true;
    std::int64_t n_exact_ = 0;
    std::vector<std::uint32_t> keys_;
    std::vector<std::int32_t> leaf_;
    LeafParts parts_;
    PackedSpread divide_;
    TreeSpread spread_row_;
};

// Keeps every row of a block.
struct KeepAll {
    static bool all() { return true; }
    bool operator()(std::uint32_t) const { return true; }
};

}  // namespace hedgerow::walk
