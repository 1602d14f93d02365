#include "importance/permutation.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "base/hash.hpp"
#include "base/random.hpp"
#include "forest/splits.hpp"
#include "importance/exchanged_walks.hpp"
#include "importance/leaf_losses.hpp"
#include "importance/shuffles.hpp"
#include "walk/lanes.hpp"
#include "walk/packed_lanes.hpp"
#include "walk/tree_spread.hpp"

namespace hedgerow::importance {

using base::Cancelled;
using base::parallel_for;
using walk::KeyColumns;
using walk::PackedForest;
using walk::TreeSpread;

namespace {

using Leaves = LeafLosses::Leaves;
using Marks = std::vector<std::uint8_t>;

constexpr std::int32_t none = -1;
constexpr double infinity = std::numeric_limits<double>::infinity();

// Keys of all rows, where the forest is packed.
struct Keys {
    const PackedForest* packed;  // null: it is not
    std::vector<std::uint32_t> values;
    bool may_stay = false;  // at a node that spreads rows without a value

    Keys(const PackedForest* of, const Rows& rows, std::int64_t n_threads, const Poll& poll) : packed(of) {
        if (packed == nullptr) return;
        constexpr std::int64_t block = 1 << 12;
        const std::int64_t n_columns = packed->columns().n_columns();
        values.resize(static_cast<std::size_t>(rows.n_rows * n_columns));
        std::atomic<bool> any{false};
        parallel_for((rows.n_rows + block - 1) / block, n_threads,
                     [&](std::int64_t number, const Cancelled&) {
                         const std::int64_t end = std::min(rows.n_rows, (number + 1) * block);
                         for (std::int64_t row = number * block; row < end; ++row)
                             if (packed->columns().fill(static_cast<std::uint32_t>(row), rows[row],
                                                        values.data() + row * n_columns))
                                 any = true;
                     },
                     poll);
        may_stay = any;
    }
};

// Columns that are exchanged together, and those within whose splits rows exchange values.
struct Unit {
    Marks columns, given;
    std::int64_t first;      // of the columns
    bool is_single;          // the only one
    KeyColumns::Range keys;  // that stand for it in packed trees, if they are side by side
    bool has_given;
};

Marks mark(const ColumnLists& lists, std::int64_t list, std::int64_t n_features) {
    Marks columns(static_cast<std::size_t>(n_features), 0);
    for (std::int64_t i = lists.start[list]; i < lists.start[list + 1]; ++i)
        columns[static_cast<std::size_t>(lists.columns[i])] = 1;
    return columns;
}

std::vector<Unit> read_units(const ColumnLists& lists, const ColumnLists& given, const Forest& forest,
                             const PackedForest* packed) {
    std::vector<Unit> units;
    for (std::int64_t list = 0; list < lists.n_lists; ++list) {
        Unit unit{mark(lists, list, forest.n_features), mark(given, list, forest.n_features), 0, false, {0, 0}, false};
        unit.first = std::find(unit.columns.begin(), unit.columns.end(), 1) - unit.columns.begin();
        unit.is_single = std::count(unit.columns.begin(), unit.columns.end(), 1) == 1;
        if (packed && unit.is_single) unit.keys = packed->columns().columns_of(static_cast<std::int32_t>(unit.first));
        unit.has_given = std::find(unit.given.begin(), unit.given.end(), 1) != unit.given.end();
        units.push_back(std::move(unit));
    }
    return units;
}

bool tests(const Forest& forest, std::int64_t node, const Marks& columns) {
    if (forest.is_leaf(node)) return false;
    if (forest.nodes[node].feature >= 0) return columns[static_cast<std::size_t>(forest.nodes[node].feature)];
    const std::int64_t payload = forest.payload[node];
    return std::any_of(forest.payload_codes + forest.payload_start[payload],
                       forest.payload_codes + forest.payload_start[payload + 1],
                       [&](std::int32_t column) { return columns[static_cast<std::size_t>(column)]; });
}

// One tree, asked about the rows that it has not seen, which are numbered anew. Nodes are relative to the root.
class TreeAsked {
public:
    TreeAsked(const Forest& forest, std::int64_t tree, const Rows& rows, const Keys& keys, const Answers& answers,
              const Truth& truth, const std::uint8_t* seen, const PermutationOptions& options)
        : forest_(forest),
          tree_(tree),
          root_(forest.tree_start[tree]),
          n_nodes_(static_cast<std::int32_t>(forest.tree_start[tree + 1] - root_)),
          rows_(rows),
          packed_(keys.packed),
          may_stay_(keys.may_stay),
          truth_(truth),
          options_(options),
          losses_(forest, tree, answers, truth, options.loss),
          row_of_(find_unseen(rows, truth, seen)),
          shuffles_(row_of_.size(), Path(options.seed).child(static_cast<std::uint64_t>(tree))) {
        if (packed_) gather_keys(keys);
        find_parents();
        find_leaves();
        own_.resize(n_rows());
        mixed_.resize(static_cast<std::size_t>(rows.n_columns));
        for (std::size_t i = 0; i < n_rows(); ++i) {
            const double* const row = rows[row_of_[i]];
            if (leaf_[i] == is_spread)
                own_[i] = spread_(forest, tree, row);
            else if (answers.leaf_weight != nullptr)
                own_[i] = {{leaf_[i], 1.0}};
            plain_.push_back(leaf_[i] == is_spread ? losses_(row_of_[i], own_[i], own_[i])
                                                   : losses_(row_of_[i], leaf_[i], own_[i]));
            weight_ += truth.weight[row_of_[i]];
            sum_ += truth.weight[row_of_[i]] * plain_[i];
        }
    }

    double weight() const { return weight_; }
    double plain() const { return sum_ / weight_; }

    double permuted(const Unit& unit, const Cancelled& cancelled) {
        if (!find_moving(unit)) return plain();
        bound_leaves(unit);
        const bool in_cells = divide_into_cells(unit);
        double total = 0;
        for (std::int64_t repeat = 0; repeat < options_.n_repeats && !cancelled; ++repeat) {
            find_jobs(in_cells ? shuffles_.within_cells(repeat, order_, cell_) : shuffles_.among_all(repeat));
            run_jobs(unit);
            total += (sum_ + gain(unit)) / weight_;
        }
        return total / static_cast<double>(options_.n_repeats);
    }

private:
    // A row whose path tests what is exchanged, the first node that does, and the interval of values of the column that
    // leave it in its leaf.
    struct Moving {
        double low, high;
        std::uint32_t row;
        std::int32_t start;
    };

    std::size_t n_rows() const { return row_of_.size(); }

    static std::vector<std::int64_t> find_unseen(const Rows& rows, const Truth& truth, const std::uint8_t* seen) {
        std::vector<std::int64_t> unseen;
        for (std::int64_t row = 0; row < rows.n_rows; ++row)
            if (truth.weight[row] > 0 && (seen == nullptr || !(seen[row / 8] >> row % 8 & 1))) unseen.push_back(row);
        return unseen;
    }

    void gather_keys(const Keys& keys) {
        const std::int64_t n_columns = packed_->columns().n_columns();
        keys_.reserve(n_rows() * static_cast<std::size_t>(n_columns));
        for (const std::int64_t row : row_of_) {
            const auto first = keys.values.begin() + row * n_columns;
            keys_.insert(keys_.end(), first, first + n_columns);
        }
    }
    walk::KeyedRows keyed_rows() const {
        return {rows_.values, rows_.n_columns, keys_.data(), packed_->columns().n_columns()};
    }

    void find_parents() {
        parent_.assign(static_cast<std::size_t>(n_nodes_), none);
        node_of_leaf_.resize(static_cast<std::size_t>(forest_.leaf_start[tree_ + 1] - forest_.leaf_start[tree_]));
        for (std::int32_t node = 0; node < n_nodes_; ++node) {
            const std::int32_t first = forest_.nodes[root_ + node].first_child;
            if (forest_.is_leaf(root_ + node))
                node_of_leaf_[static_cast<std::size_t>(first)] = node;
            else
                std::fill_n(parent_.begin() + first, n_children(forest_, root_ + node), node);
        }
    }

    // The leaf of each row, or is_spread: walks in which rows keep their values.
    void find_leaves() {
        leaf_.resize(n_rows());
        if (packed_) {
            std::vector<std::uint32_t> all(n_rows());
            std::iota(all.begin(), all.end(), std::uint32_t{0});
            std::int64_t n_exact = 0;
            const auto run = [&]<bool stays>() {
                walk::run_lanes<n_lanes>(
                    static_cast<std::int64_t>(n_rows()),
                    walk::PackedRowsWalk<stays>{
                        {forest_, packed_->tree(forest_, tree_), keyed_rows()}, all.data(), leaf_.data(), &n_exact});
            };
            return may_stay_ ? run.template operator()<true>() : run.template operator()<false>();
        }
        jobs_.clear();
        for (std::size_t i = 0; i < n_rows(); ++i)
            jobs_.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i), 0});
        run_mixed(Marks(static_cast<std::size_t>(rows_.n_columns), 0), leaf_.data());
    }

    // Walks `jobs_`.
    void run_jobs(const Unit& unit) {
        reached_.resize(jobs_.size());
        if (unit.keys.n == 0) return run_mixed(unit.columns, reached_.data());
        const auto run = [&]<bool stays>() {
            walk::run_lanes<n_lanes>(
                static_cast<std::int64_t>(jobs_.size()),
                PackedExchange<stays>{forest_, packed_->tree(forest_, tree_), keyed_rows(), unit.columns.data(),
                                      static_cast<std::uint16_t>(unit.keys.first),
                                      static_cast<std::uint16_t>(unit.keys.n), jobs_.data(), reached_.data()});
        };
        return may_stay_ ? run.template operator()<true>() : run.template operator()<false>();
    }
    void run_mixed(const Marks& columns, std::int32_t* leaf) {
        walk::run_lanes<n_lanes>(static_cast<std::int64_t>(jobs_.size()),
                                 MixedWalk{forest_, rows_, row_of_.data(), root_, columns.data(), jobs_.data(), leaf});
    }

    // The rows that come to a node that tests a column of the unit; false where none does.
    bool find_moving(const Unit& unit) {
        first_test_.assign(static_cast<std::size_t>(n_nodes_), none);
        for (std::int32_t node = 0; node < n_nodes_; ++node) {  // children come after their parents
            const auto at = static_cast<std::size_t>(node);
            if (parent_[at] != none) first_test_[at] = first_test_[static_cast<std::size_t>(parent_[at])];
            if (first_test_[at] == none && tests(forest_, root_ + node, unit.columns)) first_test_[at] = node;
        }
        moving_.resize(n_rows());
        std::size_t n = 0;
        for (std::size_t i = 0; i < n_rows(); ++i) {
            const std::int32_t start = leaf_[i] == is_spread ? 0 : first_test_[static_cast<std::size_t>(node_of(i))];
            moving_[n] = {infinity, -infinity, static_cast<std::uint32_t>(i), start};
            n += start != none;
        }
        moving_.resize(n);
        return n > 0;
    }
    std::int32_t node_of(std::size_t i) const { return node_of_leaf_[static_cast<std::size_t>(leaf_[i])]; }

    // Sets the intervals of rows, where a single column is exchanged and all nodes have thresholds.
    void bound_leaves(const Unit& unit) {
        has_intervals_ = unit.is_single && forest_.only_thresholds;
        if (!has_intervals_) return;
        low_.assign(static_cast<std::size_t>(n_nodes_), -infinity);
        high_.assign(static_cast<std::size_t>(n_nodes_), infinity);
        for (std::int32_t node = 0; node < n_nodes_; ++node) {
            if (forest_.is_leaf(root_ + node)) continue;
            const forest::Node& test = forest_.nodes[root_ + node];
            const double low = low_[static_cast<std::size_t>(node)], high = high_[static_cast<std::size_t>(node)];
            const bool is_of_column = test.feature == unit.first;
            const auto first = static_cast<std::size_t>(test.first_child);
            low_[first] = low;
            high_[first] = is_of_column ? std::min(high, test.threshold) : high;
            low_[first + 1] = is_of_column ? std::max(low, test.threshold) : low;
            high_[first + 1] = high;
        }
        values_.resize(n_rows());
        for (std::size_t i = 0; i < n_rows(); ++i) values_[i] = rows_[row_of_[i]][unit.first];
        for (Moving& one : moving_) {
            if (leaf_[one.row] == is_spread || std::isnan(values_[one.row])) continue;
            one.low = low_[static_cast<std::size_t>(node_of(one.row))];
            one.high = high_[static_cast<std::size_t>(node_of(one.row))];
        }
    }

    // The rows that may leave their leaf with the values of their donors.
    void find_jobs(const std::uint32_t* donor) {
        jobs_.resize(moving_.size());
        std::size_t n = 0;
        for (const Moving& one : moving_) {  // no branch depends on the row: every third would be mispredicted
            jobs_[n] = {one.row, donor[one.row], one.start};
            const double value = has_intervals_ ? values_[donor[one.row]] : 0;
            n += !((one.low < value) & (value <= one.high));
        }
        jobs_.resize(n);
    }

    // What the loss of the rows grows by.
    double gain(const Unit& unit) {
        double sum = 0;
        for (std::size_t job = 0; job < jobs_.size(); ++job) {
            const std::size_t i = jobs_[job].row;
            if (reached_[job] == leaf_[i] && leaf_[i] != is_spread) continue;
            const double loss = reached_[job] == is_spread ? loss_of_spread(jobs_[job], unit)
                                                           : losses_(row_of_[i], reached_[job], own_[i]);
            sum += truth_.weight[row_of_[i]] * (loss - plain_[i]);
        }
        return sum;
    }
    double loss_of_spread(const Job& job, const Unit& unit) {
        const MixedRow row{rows_[row_of_[job.row]], rows_[row_of_[job.donor]], unit.columns.data()};
        for (std::size_t column = 0; column < mixed_.size(); ++column)
            mixed_[column] = row[static_cast<std::int64_t>(column)];
        return losses_(row_of_[job.row], spread_(forest_, tree_, mixed_.data()), own_[job.row]);
    }

    // Cells of rows that agree on the splits on the columns that are given; false where there is one cell.
    bool divide_into_cells(const Unit& unit) {
        bool any = false;
        cell_.assign(unit.has_given ? n_rows() : 0, 0);
        for (std::int64_t node = root_; unit.has_given && node < root_ + n_nodes_; ++node) {
            if (!tests(forest_, node, unit.given) ||
                forest_.weight[node] < options_.least_share * forest_.weight[root_])
                continue;
            any = true;
            for (std::size_t i = 0; i < n_rows(); ++i) {
                const auto branch = forest::branch_of(forest_, node, rows_[row_of_[i]]);
                cell_[i] = base::mix(cell_[i] + (static_cast<std::uint64_t>(branch + 2)) * base::golden_gamma);
            }
        }
        if (!any) return false;
        order_.resize(n_rows());
        std::iota(order_.begin(), order_.end(), std::uint32_t{0});
        std::stable_sort(order_.begin(), order_.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return cell_[a] < cell_[b]; });
        return true;
    }

    const Forest& forest_;
    std::int64_t tree_, root_;
    std::int32_t n_nodes_;
    const Rows& rows_;
    const PackedForest* packed_;
    bool may_stay_;
    const Truth& truth_;
    const PermutationOptions& options_;
    LeafLosses losses_;
    double weight_ = 0, sum_ = 0;
    TreeSpread spread_;
    std::vector<double> mixed_;
    // per node; per leaf
    std::vector<std::int32_t> parent_, first_test_, node_of_leaf_;
    std::vector<double> low_, high_;
    // per row that the tree has not seen
    std::vector<std::int64_t> row_of_;  // its number among all rows
    std::vector<std::uint32_t> keys_;
    std::vector<std::int32_t> leaf_;
    std::vector<double> plain_;   // its loss
    std::vector<Leaves> own_;     // the leaves that it reaches, where it is spread or left out
    std::vector<double> values_;  // of the column that is exchanged
    std::vector<std::uint64_t> cell_;
    std::vector<std::uint32_t> order_;
    Shuffles shuffles_;
    bool has_intervals_ = false;
    std::vector<Moving> moving_;
    std::vector<Job> jobs_;
    std::vector<std::int32_t> reached_;  // by each job
};

}  // namespace

void permutation_losses(const Forest& forest, walk::Packing& packing, const Rows& rows, const Answers& answers,
                        const Truth& truth, const std::uint8_t* seen, const ColumnLists& units,
                        const ColumnLists& given, const PermutationOptions& options, const Losses& out,
                        const Poll& poll) {
    const auto packed = packing.packed_for(forest, rows, 0, forest.n_trees);
    const std::vector<Unit> all = read_units(units, given, forest, packed.get());
    const Keys keys(packed.get(), rows, options.n_threads, poll);
    const std::int64_t mask_bytes = (rows.n_rows + 7) / 8;
    parallel_for(
        forest.n_trees, options.n_threads,
        [&](std::int64_t tree, const Cancelled& cancelled) {
            TreeAsked asked(forest, tree, rows, keys, answers, truth,
                            seen == nullptr ? nullptr : seen + tree * mask_bytes, options);
            out.weight[tree] = asked.weight();
            if (!(asked.weight() > 0)) return;
            out.plain[tree] = asked.plain();
            for (std::size_t unit = 0; unit < all.size() && !cancelled; ++unit)
                out.permuted[tree * units.n_lists + static_cast<std::int64_t>(unit)] =
                    asked.permuted(all[unit], cancelled);
        },
        poll);
}

}  // namespace hedgerow::importance
