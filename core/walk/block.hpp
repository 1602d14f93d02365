// Blocks of rows: small enough to stay in the cache while all trees pass over them, and a thread's unit of work.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "base/parallel.hpp"
#include "data/rows.hpp"
#include "forest/forest.hpp"
#include "walk/lanes.hpp"
#include "walk/packed.hpp"

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
// So a block has at least as many rows as a tree has nodes: each node that was fetched is visited several times. Small
// trees stay in the cache, and then the rows should too; large blocks are bounded by a share of a third-level cache,
// and such that each thread has several.
inline std::int64_t rows_per_block(const Forest& forest, const Rows& rows, std::int64_t n_threads) {
    const std::int64_t small = 1 << 18, large = 1 << 23;  // bytes
    const std::int64_t row_bytes = 8 * std::max<std::int64_t>(rows.n_columns, 1);
    const std::int64_t nodes_per_tree = forest.tree_start[forest.n_trees] / std::max<std::int64_t>(forest.n_trees, 1);
    const std::int64_t wanted = std::clamp(nodes_per_tree, small / row_bytes, large / row_bytes);
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

// Packing pays where rows visit more nodes than there are, and read more values than they have.
inline std::optional<PackedForest> pack(const Forest& forest, const Rows& rows, std::int64_t first_tree,
                                        std::int64_t last_tree) {
    const std::int64_t n_trees = last_tree - first_tree;
    const std::int64_t n_nodes = forest.tree_start[last_tree] - forest.tree_start[first_tree];
    if (4 * rows.n_rows * n_trees < n_nodes || rows.n_columns > 8 * n_trees) return std::nullopt;
    return PackedForest::of(forest, first_tree, last_tree);
}

// One block of rows, to be walked down tree after tree.
class Block {
public:
    using List = std::vector<std::uint32_t>;  // rows of the block

    Block(const Forest& forest, const Rows& rows, const PackedForest* packed, std::int64_t first_row,
          std::int64_t n_rows)
        : forest_(forest),
          values_(rows[first_row]),
          n_columns_(rows.n_columns),
          packed_(packed),
          leaf_(static_cast<std::size_t>(n_rows)) {
        if (packed) {
            make_keys(n_rows);
        } else {
            complete_.resize(leaf_.size());
            std::iota(complete_.begin(), complete_.end(), 0u);
        }
    }

    // Calls add(list) for lists that together hold each row for which keep(row) is true, once its leaf is known.
    template <class Keep, class Add>
    void walk(std::int64_t tree, const Keep& keep, const Add& add) {
        for (const bool missing : {false, true}) {
            const List& all = missing ? with_missing_ : complete_;
            const List& list = keep.all() ? all : filtered(all, keep);
            if (list.empty()) continue;
            may_spread_ = !packed_ || missing;
            if (!may_spread_)
                walk_packed(tree, list);
            else
                run_lanes<n_row_lanes>(size(list), AnyRowsWalk{forest_, values_, n_columns_, forest_.tree_start[tree],
                                                               list.data(), leaf_.data()});
            add(list);
        }
    }

    // Of the tree walked last: the leaf number of a row, or `spreads`.
    std::int32_t leaf(std::uint32_t row) const { return leaf_[row]; }
    bool may_spread() const { return may_spread_; }  // whether any of the rows walked last can have been spread
    const double* row(std::uint32_t row) const { return values_ + row * n_columns_; }

private:
    static std::int64_t size(const List& list) { return static_cast<std::int64_t>(list.size()); }

    // Packed walks can't handle missing values: rows that have one are walked on the forest's own arrays.
    void make_keys(std::int64_t n_rows) {
        keys_.resize(static_cast<std::size_t>(n_rows * n_columns_));
        for (std::int64_t row = 0; row < n_rows; ++row) {
            bool missing = false;
            for (std::int64_t i = row * n_columns_; i < (row + 1) * n_columns_; ++i) {
                const double value = values_[i];
                keys_[static_cast<std::size_t>(i)] = row_key(value);
                missing |= std::isnan(value);
            }
            (missing ? with_missing_ : complete_).push_back(static_cast<std::uint32_t>(row));
        }
    }

    template <class Keep>
    const List& filtered(const List& list, const Keep& keep) {
        kept_.clear();
        std::copy_if(list.begin(), list.end(), std::back_inserter(kept_), keep);
        return kept_;
    }

    void walk_packed(std::int64_t tree, const List& list) {
        run_lanes<n_row_lanes>(
            size(list), PackedRowsWalk{packed_->tree(forest_, tree), packed_->leaf_numbers(forest_, tree),
                                       forest_.nodes + forest_.tree_start[tree], values_, keys_.data(), n_columns_,
                                       list.data(), leaf_.data()});
    }

    const Forest& forest_;
    const double* values_;
    std::int64_t n_columns_;
    const PackedForest* packed_;
    List complete_;  // without a missing value; all rows where nothing is packed
    List with_missing_, kept_;
    bool may_spread_ = true;
    std::vector<std::uint32_t> keys_;
    std::vector<std::int32_t> leaf_;
};

// Keeps every row of a block.
struct KeepAll {
    static bool all() { return true; }
    bool operator()(std::uint32_t) const { return true; }
};

}  // namespace hedgerow::walk
