#include "measured/point_walk.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include "forest/splits.hpp"
#include "walk/block.hpp"
#include "walk/lanes.hpp"

namespace hedgerow::measured {
namespace {

using base::Cancelled;
using data::Rows;
using walk::FoldOptions;
using walk::LeafTable;

using Code = std::uint16_t;
constexpr std::int64_t most_codes = 1 << 16;
constexpr std::int64_t n_together = 32;  // rows whose codes of one stratum are a line of the cache

// Codes of a block of rows at all strata of all columns; those of a stratum are next to each other.
//
// A threshold or category k takes the strata up to its end, so that the code at a stratum is the number of ends at or
// before it: ends are counted by stratum, and the counts added up for many rows at once.
class Codes {
public:
    Codes(const PointForest& forest, const Rows& below, std::int64_t first_row, std::int64_t n_rows)
        : n_rows_(n_rows), codes_(forest.nominal.size() * static_cast<std::size_t>(n_strata * n_rows)) {
        for (std::size_t column = 0; column < forest.nominal.size(); ++column)
            for (std::int64_t begin = 0; begin < n_rows; begin += n_together) {
                const std::int64_t n = std::min(n_together, n_rows - begin);
                std::fill(ends_.begin(), ends_.end(), Code{0});
                for (std::int64_t row = 0; row < n; ++row) {
                    const double* numbers = below[first_row + begin + row];
                    const double *first = numbers + forest.start[column], *last = numbers + forest.start[column + 1];
                    if (forest.nominal[column])
                        count_shares(first, last, row);
                    else
                        for (; first != last; ++first) count(strata_up_to(*first), row);
                }
                add_up(column, begin, n);
            }
    }

    const Code* of(std::size_t column, std::int64_t stratum) const { return codes_.data() + place(column, stratum); }

private:
    std::size_t place(std::size_t column, std::int64_t stratum) const {
        return (column * static_cast<std::size_t>(n_strata) + static_cast<std::size_t>(stratum)) *
               static_cast<std::size_t>(n_rows_);
    }

    // Strata whose middle is at most a probability.
    static std::int64_t strata_up_to(double probability) {
        if (!(probability > 0)) return 0;
        return static_cast<std::int64_t>(std::min(probability, 1.0) * n_strata + 0.5);
    }

    void count(std::int64_t end, std::int64_t row) { ++ends_[static_cast<std::size_t>(end * n_together + row)]; }

    // What rounding leaves over is of the last category that is possible.
    void count_shares(const double* first, const double* last, std::int64_t row) {
        const double* possible = last;
        while (possible != first && !(possible[-1] > 0)) --possible;
        double reached = 0;
        for (; first < possible - 1; ++first) count(strata_up_to(reached += *first), row);
    }

    void add_up(std::size_t column, std::int64_t begin, std::int64_t n) {
        std::array<Code, n_together> reached{};
        for (std::int64_t stratum = 0; stratum < n_strata; ++stratum) {
            const Code* ends = ends_.data() + stratum * n_together;
            for (std::size_t row = 0; row < n_together; ++row)
                reached[row] = static_cast<Code>(reached[row] + ends[row]);
            std::copy_n(reached.begin(), n, codes_.data() + place(column, stratum) + begin);
        }
    }

    std::int64_t n_rows_;
    std::vector<Code> codes_;
    std::array<Code, (n_strata + 1) * n_together> ends_;  // by stratum after the end; rows next to each other
};

// One point of every row of a block down one tree.
template <bool any_nominal>
struct PointsWalk {
    struct Lane {
        std::int32_t node;
        std::uint32_t row;
    };
    static constexpr int burst = 4;
    const PointNode* nodes;  // of the tree
    const std::uint8_t* sides;
    const Code* const* codes;  // per column
    std::int32_t* reached;     // per row

    Lane start(std::int64_t job) const { return {0, static_cast<std::uint32_t>(job)}; }
    void advance(Lane& lane) const {
        const PointNode& node = nodes[lane.node];
        const std::int32_t code = codes[node.column][lane.row];
        if constexpr (any_nominal)
            if (node.position < 0) {
                lane.node = node.first + sides[code - 1 - node.position];
                return;
            }
        lane.node = node.first + static_cast<std::int32_t>(code > node.position);
    }
    bool arrived(const Lane& lane) const { return nodes[lane.node].position == stays; }
    bool arrive(std::int64_t job, const Lane& lane) const {
        reached[job] = lane.node;
        return true;
    }
};

std::int64_t rows_per_block(const PointForest& forest, const Rows& below, std::int64_t n_threads) {
    const std::int64_t row_bytes = n_strata * 2 * std::max<std::int64_t>(std::ssize(forest.nominal), 1);
    const std::int64_t per_thread = below.n_rows / (4 * std::clamp<std::int64_t>(n_threads, 1, base::max_threads()));
    const std::int64_t wanted =
        std::min((std::int64_t{1} << 22) / row_bytes, n_threads > 1 ? per_thread : below.n_rows);
    return std::clamp<std::int64_t>(wanted / n_together * n_together, n_together, 1024);
}

// Adds the values of the leaves that a block's points have reached.
void add(const LeafTable& table, const forest::Node* nodes, std::int64_t first_leaf,
         const std::vector<std::int32_t>& reached, std::vector<double>& sums) {
    const auto width = static_cast<std::size_t>(table.n_columns);
    for (std::size_t row = 0; row < reached.size(); ++row) {
        const std::int64_t leaf = first_leaf + nodes[reached[row]].first_child;
        const double* values = table.values + (table.row_of ? table.row_of[leaf] : leaf) * table.n_columns;
        double* sum = sums.data() + row * width;
        for (std::size_t c = 0; c < width; ++c) sum[c] += values[c];
    }
}

class BlockFold {
public:
    BlockFold(const PointForest& forest, const Rows& below, const Points& points, std::int64_t first_row,
              std::int64_t n_rows)
        : forest_(forest), points_(points), codes_(forest, below, first_row, n_rows), at_(forest.nominal.size()) {
        reached_.resize(static_cast<std::size_t>(n_rows));
        any_nominal_ = std::find(forest.nominal.begin(), forest.nominal.end(), true) != forest.nominal.end();
    }

    void operator()(std::int64_t tree, double tree_weight, const std::vector<LeafTable>& tables,
                    std::int64_t first_row) {
        sums_.resize(tables.size());
        for (std::size_t i = 0; i < tables.size(); ++i)
            sums_[i].assign(reached_.size() * static_cast<std::size_t>(tables[i].n_columns), 0.0);
        const std::int64_t root = forest_.forest.tree_start[tree];
        for (std::int64_t point = 0; point < points_.n_points; ++point) {
            walk(root, points_.strata + (tree * points_.n_points + point) * std::ssize(at_));
            for (std::size_t i = 0; i < tables.size(); ++i)
                add(tables[i], forest_.forest.nodes + root, forest_.forest.leaf_start[tree], reached_, sums_[i]);
        }
        for (std::size_t i = 0; i < tables.size(); ++i) finish(tables[i], sums_[i], tree_weight, first_row);
    }

private:
    void walk(std::int64_t root, const std::uint8_t* strata) {
        for (std::size_t column = 0; column < at_.size(); ++column) at_[column] = codes_.of(column, strata[column]);
        const auto n = static_cast<std::int64_t>(reached_.size());
        if (at_.empty())  // no tree has a split
            std::fill(reached_.begin(), reached_.end(), 0);
        else if (any_nominal_)
            walk::run_lanes<walk::n_row_lanes>(
                n, PointsWalk<true>{forest_.nodes + root, forest_.sides, at_.data(), reached_.data()});
        else
            walk::run_lanes<walk::n_row_lanes>(
                n, PointsWalk<false>{forest_.nodes + root, forest_.sides, at_.data(), reached_.data()});
    }

    void finish(const LeafTable& table, const std::vector<double>& sums, double tree_weight,
                std::int64_t first_row) const {
        const auto width = static_cast<std::size_t>(table.n_columns);
        const double n_points = static_cast<double>(points_.n_points);
        for (std::size_t row = 0; row < reached_.size(); ++row) {
            double* out = table.out + (first_row + static_cast<std::int64_t>(row)) * table.row_stride;
            for (std::size_t c = 0; c < width; ++c) out[c] += tree_weight * (sums[row * width + c] / n_points);
        }
    }

    const PointForest& forest_;
    const Points& points_;
    Codes codes_;
    bool any_nominal_ = false;
    std::vector<const Code*> at_;  // of the strata of a point, per column
    std::vector<std::int32_t> reached_;
    std::vector<std::vector<double>> sums_;
};

}  // namespace

PointNodes point_nodes(const SoftForest& forest, const std::int64_t* start, const std::uint8_t* nominal) {
    std::vector<std::int32_t> column_of;  // among those that are split on
    std::int32_t n_columns = 0;
    for (std::int64_t j = 0; j < forest.forest.n_features; ++j) {
        if (start[j + 1] - start[j] >= most_codes) throw std::invalid_argument("too many thresholds of one column");
        column_of.push_back(start[j + 1] > start[j] ? n_columns++ : -1);
    }
    PointNodes made;
    for (std::int64_t tree = 0; tree < forest.forest.n_trees; ++tree)
        for (std::int64_t root = forest.forest.tree_start[tree], node = root; node < forest.forest.tree_start[tree + 1];
             ++node) {
            const SoftNode& soft = forest.nodes[node];
            const forest::Node& plain = forest.forest.nodes[node];
            if (soft.at == soft_leaf) {
                made.nodes.push_back({static_cast<std::int32_t>(node - root), 0, stays});
                continue;
            }
            PointNode one{plain.first_child, column_of[static_cast<std::size_t>(plain.feature)], 0};
            if (nominal[plain.feature]) {
                one.position = -1 - static_cast<std::int32_t>(made.sides.size());
                for (std::int64_t code = 0; code < start[plain.feature + 1] - start[plain.feature]; ++code) {
                    const OneCategory row{static_cast<double>(code)};
                    made.sides.push_back(branch_of(forest.forest, node, row) == 0 ? 0 : 1);
                }
            } else {
                one.position = static_cast<std::int32_t>(soft.at - start[plain.feature]);
            }
            made.nodes.push_back(one);
        }
    return made;
}

void point_fold(const PointForest& forest, const Rows& below, const Points& points,
                const std::vector<LeafTable>& tables, const FoldOptions& options, const Poll& poll) {
    walk::for_each_block(
        below, rows_per_block(forest, below, options.n_threads), points.n_points * forest.forest.n_trees,
        options.n_threads,
        [&](std::int64_t first_row, std::int64_t n_rows, const Cancelled& cancelled) {
            BlockFold fold(forest, below, points, first_row, n_rows);
            for (std::int64_t tree = 0; tree < forest.forest.n_trees && !cancelled; ++tree) {
                const double tree_weight = options.tree_weights ? options.tree_weights[tree] : 1.0;
                if (tree_weight != 0) fold(tree, tree_weight, tables, first_row);
            }
        },
        poll);
}

}  // namespace hedgerow::measured
