#include <algorithm>
#include <span>
#include <vector>

#include "walk/block.hpp"
#include "walk/link.hpp"
#include "walk/tree_spread.hpp"
#include "walk/walk.hpp"

namespace hedgerow::walk {
namespace {

// Adds consecutive columns of linked values, all by the same op; a constant number of columns for narrow tables, which
// the compiler keeps in registers.
template <Op op, int n_constant>
struct AddSame {
    static void add(std::int64_t n_columns, const double* linked, double tree_weight, double* out) {
        const std::int64_t n = n_constant > 0 ? n_constant : n_columns;
        for (std::int64_t c = 0; c < n; ++c) {
            if constexpr (op == Op::sum) out[c] += tree_weight * linked[c];
            if constexpr (op == Op::min) out[c] = std::min(out[c], linked[c]);
            if constexpr (op == Op::max) out[c] = std::max(out[c], linked[c]);
        }
    }
};

template <Op op, class Use>
void with_columns(std::int64_t n_columns, const Use& use) {
    switch (n_columns) {
        case 1:
            return use(AddSame<op, 1>{});
        case 2:
            return use(AddSame<op, 2>{});
        case 3:
            return use(AddSame<op, 3>{});
        case 4:
            return use(AddSame<op, 4>{});
        case 5:
            return use(AddSame<op, 5>{});
        default:
            return use(AddSame<op, 0>{});
    }
}

// Calls use(Add{}, first, n) for each run of columns with the same op.
template <class Use>
void for_each_run(const LeafTable& table, const Use& use) {
    for (std::int64_t first = 0, last = 0; first < table.n_columns; first = last) {
        const Op op = table.ops[first];
        while (last < table.n_columns && table.ops[last] == op) ++last;
        const std::int64_t n = last - first;
        const auto use_run = [&](auto add) { use(add, first, n); };
        switch (op) {
            case Op::sum:
                with_columns<Op::sum>(n, use_run);
                break;
            case Op::min:
                with_columns<Op::min>(n, use_run);
                break;
            case Op::max:
                with_columns<Op::max>(n, use_run);
                break;
        }
    }
}

// Where the row of a leaf begins.
inline std::int64_t row_of(const LeafTable& table, std::int64_t leaf) {
    return (table.row_of ? table.row_of[leaf] : leaf) * table.n_columns;
}

// Calls use(linked, row_of) for the leaves of a tree: row_of(leaf) is a row of `linked`.
template <class Use>
void with_rows_of_tree(const LeafTable& table, std::int64_t first_leaf, const Use& use) {
    if (table.row_of)
        use(table.linked, [rows = table.row_of + first_leaf](std::int32_t leaf) { return std::int64_t{rows[leaf]}; });
    else
        use(table.linked + first_leaf * table.n_columns, [](std::int32_t leaf) { return std::int64_t{leaf}; });
}

// Adds the leaves that a walk has found to the outputs.
class Adder {
public:
    Adder(const Forest& forest, const Rows& rows, const std::vector<LeafTable>& tables, const FoldOptions& options)
        : forest_(forest), rows_(rows), tables_(tables), options_(options) {}

    double weight(std::int64_t tree) const { return options_.tree_weights ? options_.tree_weights[tree] : 1.0; }

    bool skipped(std::int64_t tree, std::int64_t row) const {
        if (!options_.skip) return false;
        return options_.skip[tree * ((rows_.n_rows + 7) / 8) + row / 8] >> (row % 8) & 1;
    }

    void add_list(std::int64_t tree, Block& block, const Block::List& list, std::int64_t first_row) {
        const double tree_weight = weight(tree);
        for (const LeafTable& table : tables_) {
            double* out = out_row(table, tree, first_row);
            const std::int64_t n_columns = table.n_columns, row_stride = table.row_stride;
            with_rows_of_tree(table, first_leaf(tree), [&](const double* linked, auto row_of) {
                for_each_run(table, [&, tree_weight, linked, out, n_columns, row_stride, row_of](
                                        auto add, std::int64_t first, std::int64_t n) {
                    for (const std::uint32_t row : list) {
                        const std::int32_t leaf = block.leaf(row);
                        if (leaf != spreads)
                            add.add(n, linked + row_of(leaf) * n_columns + first, tree_weight,
                                    out + row * row_stride + first);
                    }
                });
            });
        }
        if (!block.spread_rows().empty()) add_parts(tree, block, first_row);
        if (options_.n_used)
            for (const std::uint32_t row : list) count(first_row + row);
    }

    void add_one(std::int64_t tree, std::int64_t row, std::int32_t leaf) {
        if (leaf == spreads)
            add_spread(tree, row, spread_(forest_, tree, rows_[row]));
        else
            for (const LeafTable& table : tables_)
                AddAny::add(table, table.linked + row_of(table, first_leaf(tree) + leaf), weight(tree),
                            out_row(table, tree, row));
        count(row);
    }

private:
    // As `add_spread`, for all rows of a block that are spread.
    void add_parts(std::int64_t tree, Block& block, std::int64_t first_row) {
        for (const LeafTable& table : tables_) {
            const std::int64_t n_columns = table.n_columns;
            means_.assign(static_cast<std::size_t>(block.n_rows() * n_columns), 0.0);
            double* const means = means_.data();
            with_columns<Op::sum>(n_columns, [&](auto add) {
                block.parts().for_each([&](std::int32_t leaf) {
                    const double* const values = table.values + row_of(table, first_leaf(tree) + leaf);
                    return [=](std::uint32_t row, double part) {
                        add.add(n_columns, values, part, means + row * n_columns);
                    };
                });
            });
            for (const std::uint32_t row : block.spread_rows()) {
                double* const mean = means + row * n_columns;
                for (std::int64_t c = 0; c < n_columns; ++c) mean[c] = link(table.links[c], mean[c]);
                AddAny::add(table, mean, weight(tree), out_row(table, tree, first_row + row));
            }
        }
    }

    // The mean is formed before the link: averaging logarithms instead would turn a row with everything missing
    // into false certainty.
    void add_spread(std::int64_t tree, std::int64_t row, std::span<const TreeSpread::Reached> reached) {
        for (const LeafTable& table : tables_) {
            mean_.assign(static_cast<std::size_t>(table.n_columns), 0.0);
            for (const auto& [leaf, share] : reached) {
                const double* values = table.values + row_of(table, first_leaf(tree) + leaf);
                for (std::size_t c = 0; c < mean_.size(); ++c) mean_[c] += share * values[c];
            }
            for (std::size_t c = 0; c < mean_.size(); ++c) mean_[c] = link(table.links[c], mean_[c]);
            AddAny::add(table, mean_.data(), weight(tree), out_row(table, tree, row));
        }
    }

    std::int64_t first_leaf(std::int64_t tree) const {
        return forest_.leaf_start[tree] - forest_.leaf_start[options_.first_tree];
    }
    double* out_row(const LeafTable& table, std::int64_t tree, std::int64_t row) const {
        return table.out + row * table.row_stride + (tree - options_.first_tree) * table.tree_stride;
    }
    void count(std::int64_t row) const {
        if (options_.n_used) ++options_.n_used[row];
    }

    const Forest& forest_;
    const Rows& rows_;
    const std::vector<LeafTable>& tables_;
    const FoldOptions& options_;
    TreeSpread spread_;
    std::vector<double> mean_, means_;  // of a row, and of the rows of a block
};

struct KeepUnskipped {
    const Adder& adder;
    bool any_skipped;
    std::int64_t tree;
    std::int64_t first_row;
    bool all() const { return !any_skipped; }
    bool operator()(std::uint32_t row) const { return !adder.skipped(tree, first_row + row); }
};

// One row down all trees, on packed nodes.
void walk_packed_trees(const Forest& forest, const PackedForest& packed, const Rows& rows, std::int64_t row,
                       const FoldOptions& options, std::uint32_t* keys, std::int32_t* leaf) {
    const bool stays = packed.columns().fill(0, rows[row], keys);
    const KeyedRows keyed{rows[row], rows.n_columns, keys, packed.columns().n_columns()};
    const auto walk = [&](auto steps) { run_lanes<n_tree_lanes>(options.last_tree - options.first_tree, steps); };
    if (stays)
        walk(PackedTreesWalk<true>{forest, packed, keyed, options.first_tree, leaf});
    else
        walk(PackedTreesWalk<false>{forest, packed, keyed, options.first_tree, leaf});
}

// A few rows: interleave trees.
void fold_by_row(const Forest& forest, const PackedForest* packed, const Rows& rows, const FoldOptions& options,
                 Adder& adder) {
    const std::int64_t n_trees = options.last_tree - options.first_tree;
    std::vector<std::int32_t> leaf(static_cast<std::size_t>(n_trees));
    std::vector<std::uint32_t> keys(packed ? static_cast<std::size_t>(packed->columns().n_columns()) : 0);
    for (std::int64_t row = 0; row < rows.n_rows; ++row) {
        if (packed)
            walk_packed_trees(forest, *packed, rows, row, options, keys.data(), leaf.data());
        else
            run_lanes<n_tree_lanes>(n_trees, AnyTreesWalk{forest, rows[row], options.first_tree, leaf.data()});
        for (std::int64_t i = 0; i < n_trees; ++i) {
            const std::int64_t tree = options.first_tree + i;
            if (adder.weight(tree) != 0 && !adder.skipped(tree, row))
                adder.add_one(tree, row, leaf[static_cast<std::size_t>(i)]);
        }
    }
}

}  // namespace

void fold(const Forest& forest, Packing& packing, const Rows& rows, const std::vector<LeafTable>& tables,
          const FoldOptions& options, const Poll& poll) {
    const auto packed = packing.packed_for(forest, rows, options.first_tree, options.last_tree);
    if (rows.n_rows < n_row_lanes) {
        Adder adder(forest, rows, tables, options);
        return fold_by_row(forest, packed.get(), rows, options, adder);
    }
    for_each_block(
        rows, rows_per_block(forest, packed.get(), rows, options.n_threads), options.last_tree - options.first_tree,
        options.n_threads,
        [&](std::int64_t first_row, std::int64_t n_rows, const Cancelled& cancelled) {
            Adder adder(forest, rows, tables, options);
            Block block(forest, rows, packed.get(), first_row, n_rows);
            for (std::int64_t tree = options.first_tree; tree < options.last_tree && !cancelled; ++tree) {
                if (adder.weight(tree) == 0) continue;
                const KeepUnskipped keep{adder, options.skip != nullptr, tree, first_row};
                adder.add_list(tree, block, block.walk_with_parts(tree, keep), first_row);
            }
        },
        poll);
}

}  // namespace hedgerow::walk
