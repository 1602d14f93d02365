#include "importance/permutation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "base/random.hpp"
#include "forest/splits.hpp"
#include "walk/lanes.hpp"
#include "walk/tree_spread.hpp"

namespace hedgerow::importance {

using base::Cancelled;
using base::parallel_for;
using base::Path;
using walk::TreeSpread;

namespace {

using Reached = std::vector<TreeSpread::Reached>;
using Marks = std::vector<std::uint8_t>;

constexpr std::int64_t none = -1;
constexpr int n_lanes = 8;

// A row, some columns of which have the values of another.
struct MixedRow {
    const double* own;
    const double* donor;
    const std::uint8_t* exchanged;

    double operator[](std::int64_t column) const { return exchanged[column] ? donor[column] : own[column]; }
};

// The same with one column.
struct OneExchanged {
    const double* own;
    double value;
    std::int64_t exchanged;

    double operator[](std::int64_t column) const { return column == exchanged ? value : own[column]; }
};

bool tests(const Forest& forest, std::int64_t node, const Marks& columns) {
    if (forest.is_leaf(node)) return false;
    if (forest.nodes[node].feature >= 0) return columns[static_cast<std::size_t>(forest.nodes[node].feature)];
    const std::int64_t payload = forest.payload[node];
    return std::any_of(forest.payload_codes + forest.payload_start[payload],
                       forest.payload_codes + forest.payload_start[payload + 1],
                       [&](std::int32_t column) { return columns[static_cast<std::size_t>(column)]; });
}

Marks mark(const ColumnLists& lists, std::int64_t list, std::int64_t n_features) {
    Marks columns(static_cast<std::size_t>(n_features), 0);
    for (std::int64_t i = lists.start[list]; i < lists.start[list + 1]; ++i)
        columns[static_cast<std::size_t>(lists.columns[i])] = 1;
    return columns;
}

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

// One tree, asked about the rows that it has not seen.
class TreeAsked {
public:
    TreeAsked(const Forest& forest, std::int64_t tree, const Rows& rows, const Answers& answers, const Truth& truth,
              const std::uint8_t* seen, Loss loss)
        : forest_(forest),
          tree_(tree),
          root_(forest.tree_start[tree]),
          n_nodes_(forest.tree_start[tree + 1] - root_),
          rows_(rows),
          answers_(answers),
          truth_(truth),
          loss_(loss),
          answer_(static_cast<std::size_t>(answers.n_outputs)),
          without_(answer_.size()),
          mixed_(static_cast<std::size_t>(rows.n_columns)) {
        for (std::int64_t row = 0; row < rows.n_rows; ++row)
            if (truth.weight[row] > 0 && (seen == nullptr || !(seen[row / 8] >> row % 8 & 1))) unseen_.push_back(row);
        leaf_.resize(unseen_.size());
        plain_.resize(unseen_.size());
        own_.resize(unseen_.size());
        precompute_leaves();
        for (std::size_t i = 0; i < unseen_.size(); ++i) {
            const double* row = rows[unseen_[i]];
            leaf_[i] = leaf_of(row);
            if (leaf_[i] == none)
                own_[i] = spread_(forest, tree, row);
            else if (answers.leaf_weight != nullptr)
                own_[i] = {{static_cast<std::int32_t>(leaf_number(leaf_[i])), 1.0}};
            plain_[i] = leaf_[i] == none ? loss_of(i, own_[i]) : loss_of(i, leaf_[i]);
            weight_ += truth.weight[unseen_[i]];
            sum_ += truth.weight[unseen_[i]] * plain_[i];
        }
        parent_.assign(static_cast<std::size_t>(n_nodes_), none);
        for (std::int64_t node = 0; node < n_nodes_; ++node)
            if (!forest.is_leaf(root_ + node))
                for (std::int64_t child = 0; child < n_children(forest, root_ + node); ++child)
                    parent_[static_cast<std::size_t>(forest.nodes[root_ + node].first_child + child)] = node;
    }

    double weight() const { return weight_; }
    double plain() const { return sum_ / weight_; }

    double permuted(const Marks& unit, const Marks& given, const PermutationOptions& options, Path tree,
                    const Cancelled& cancelled) {
        const std::int64_t n_columns = std::count(unit.begin(), unit.end(), 1);
        const std::int64_t column = std::find(unit.begin(), unit.end(), 1) - unit.begin();
        if (!find_first_tests(unit)) return plain();
        bound_leaves(column, n_columns == 1 && forest_.only_thresholds);
        divide_into_cells(given, options.least_share);
        values_.resize(unseen_.size());
        for (std::size_t i = 0; i < unseen_.size(); ++i) values_[i] = rows_[unseen_[i]][column];
        double total = 0;
        for (std::int64_t repeat = 0; repeat < options.n_repeats && !cancelled; ++repeat) {
            donor_ = donors(tree, repeat);
            find_moved(n_columns == 1);
            const auto n_jobs = static_cast<std::int64_t>(moved_.size());
            if (n_columns == 1)
                walk::run_lanes<n_lanes>(n_jobs, Walks<OneExchanged>{*this, nullptr, column});
            else
                walk::run_lanes<n_lanes>(n_jobs, Walks<MixedRow>{*this, unit.data(), column});
            double gain = 0;
            for (std::size_t job = 0; job < moved_.size(); ++job) {
                const std::size_t i = moving_[moved_[job]];
                if (reached_[job] != leaf_[i] || leaf_[i] == none)
                    gain += truth_.weight[unseen_[i]] * (loss_of_job(job, unit) - plain_[i]);
            }
            total += (sum_ + gain) / weight_;
        }
        return total / static_cast<double>(options.n_repeats);
    }

private:
    std::int64_t leaf_number(std::int64_t node) const { return forest_.nodes[node].first_child; }

    // The next node of a row, or none where it is spread.
    template <class Row>
    std::int64_t next(std::int64_t node, const Row& row) const {
        const forest::Node& test = forest_.nodes[node];
        if (forest_.is_threshold(node)) {
            const double x = row[test.feature];
            if (!std::isnan(x)) return root_ + test.first_child + (x > test.threshold);
        }
        const std::int64_t child = forest::child_number(forest_, node, row);
        return child == forest::no_child ? none : root_ + test.first_child + child;
    }

    // The leaf that a row reaches, or none where it is spread.
    std::int64_t leaf_of(const double* row) const {
        std::int64_t node = root_;
        while (node != none && !forest_.is_leaf(node)) node = next(node, row);
        return node;
    }

    // Rows with the values of their donors, interleaved, each from the first node that tests what is exchanged.
    template <class Row>
    struct Walks {
        struct Lane {
            std::int64_t node;
            Row row;
        };
        static constexpr int burst = 1;
        TreeAsked& asked;
        const std::uint8_t* exchanged;
        std::int64_t column;

        Lane start(std::int64_t job) const {
            const std::size_t moving = asked.moved_[static_cast<std::size_t>(job)];
            return {asked.start_[moving], asked.row_of(asked.moving_[moving], *this)};
        }
        void advance(Lane& lane) const {
            if (!arrived(lane)) lane.node = asked.next(lane.node, lane.row);
        }
        bool arrived(const Lane& lane) const { return lane.node == none || asked.forest_.is_leaf(lane.node); }
        bool arrive(std::int64_t job, const Lane& lane) const {
            asked.reached_[static_cast<std::size_t>(job)] = lane.node;
            return true;
        }
    };
    MixedRow row_of(std::size_t i, const Walks<MixedRow>& walks) const {
        return {rows_[unseen_[i]], rows_[unseen_[donor_[i]]], walks.exchanged};
    }
    OneExchanged row_of(std::size_t i, const Walks<OneExchanged>& walks) const {
        return {rows_[unseen_[i]], values_[donor_[i]], walks.column};
    }

    // For each row that comes to a test of the column, the interval of its values that do not leave the row's leaf.
    void bound_leaves(std::int64_t column, bool has_interval) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        low_.assign(moving_.size(), infinity);  // no value stays
        high_.assign(moving_.size(), -infinity);
        if (!has_interval) return;
        node_low_.assign(static_cast<std::size_t>(n_nodes_), -infinity);
        node_high_.assign(static_cast<std::size_t>(n_nodes_), infinity);
        for (std::int64_t node = 0; node < n_nodes_; ++node) {
            if (forest_.is_leaf(root_ + node)) continue;
            const forest::Node& test = forest_.nodes[root_ + node];
            const double low = node_low_[static_cast<std::size_t>(node)];
            const double high = node_high_[static_cast<std::size_t>(node)];
            const bool is_of_column = test.feature == column;
            const auto first = static_cast<std::size_t>(test.first_child);
            node_low_[first] = low;
            node_high_[first] = is_of_column ? std::min(high, test.threshold) : high;
            node_low_[first + 1] = is_of_column ? std::max(low, test.threshold) : low;
            node_high_[first + 1] = high;
        }
        for (std::size_t moving = 0; moving < moving_.size(); ++moving) {
            const std::size_t i = moving_[moving];
            if (leaf_[i] == none || std::isnan(rows_[unseen_[i]][column])) continue;
            low_[moving] = node_low_[static_cast<std::size_t>(leaf_[i] - root_)];
            high_[moving] = node_high_[static_cast<std::size_t>(leaf_[i] - root_)];
        }
    }

    // The rows that may leave their leaf.
    void find_moved(bool one_column) {
        moved_.clear();
        for (std::size_t moving = 0; moving < moving_.size(); ++moving) {
            const double value = one_column ? values_[donor_[moving_[moving]]] : 0;
            if (!(one_column && low_[moving] < value && value <= high_[moving])) moved_.push_back(moving);
        }
        reached_.resize(moved_.size());
    }

    // For each node the topmost one on its path that tests a column of the unit, and the rows that come to such a node;
    // false where none does.
    bool find_first_tests(const Marks& unit) {
        first_test_.assign(static_cast<std::size_t>(n_nodes_), none);
        bool any = false;
        for (std::int64_t node = 0; node < n_nodes_; ++node) {  // children come after their parents
            const auto at = static_cast<std::size_t>(node);
            if (parent_[at] != none) first_test_[at] = first_test_[static_cast<std::size_t>(parent_[at])];
            if (first_test_[at] == none && tests(forest_, root_ + node, unit)) {
                first_test_[at] = node;
                any = true;
            }
        }
        moving_.clear();
        start_.clear();
        for (std::size_t i = 0; any && i < unseen_.size(); ++i) {
            const std::int64_t first = leaf_[i] == none ? 0 : first_test_[static_cast<std::size_t>(leaf_[i] - root_)];
            if (first == none) continue;  // its path tests nothing that is exchanged
            moving_.push_back(i);
            start_.push_back(root_ + first);
        }
        return !moving_.empty();
    }

    // Losses of the classes in each leaf, where no row is left out.
    void precompute_leaves() {
        if (answers_.leaf_weight != nullptr || loss_ >= Loss::squared) return;
        for (const std::int64_t row : unseen_) class_.push_back(static_cast<std::size_t>(truth_.values[row]));
        const std::int64_t n = answers_.n_outputs;
        for (std::int64_t leaf = forest_.leaf_start[tree_]; leaf < forest_.leaf_start[tree_ + 1]; ++leaf)
            for (std::int64_t c = 0; c < n; ++c)
                of_leaf_.push_back(loss(static_cast<double>(c), answers_.values + leaf * n));
    }

    void divide_into_cells(const Marks& given, double least_share) {
        order_.resize(unseen_.size());
        std::iota(order_.begin(), order_.end(), std::uint32_t{0});
        cell_.assign(unseen_.size(), 0);
        has_cells_ = false;
        if (std::find(given.begin(), given.end(), 1) == given.end()) return;
        for (std::int64_t node = root_; node < root_ + n_nodes_; ++node) {
            if (!tests(forest_, node, given) || forest_.weight[node] < least_share * forest_.weight[root_]) continue;
            has_cells_ = true;
            for (std::size_t i = 0; i < unseen_.size(); ++i) {
                const auto branch = forest::branch_of(forest_, node, rows_[unseen_[i]]);
                cell_[i] = base::mix(cell_[i] + (static_cast<std::uint64_t>(branch + 2)) * base::golden_gamma);
            }
        }
        if (has_cells_)
            std::stable_sort(order_.begin(), order_.end(),
                             [&](std::uint32_t a, std::uint32_t b) { return cell_[a] < cell_[b]; });
    }

    // The row whose values each row gets; the same for all units without cells.
    const std::uint32_t* donors(Path tree, std::int64_t repeat) {
        const auto at = static_cast<std::size_t>(repeat);
        if (has_cells_) return permute(tree, repeat, donors_in_cells_);
        if (donors_.size() <= at) donors_.resize(at + 1);
        return donors_[at].empty() ? permute(tree, repeat, donors_[at]) : donors_[at].data();
    }

    // Fisher and Yates's shuffle within each cell.
    const std::uint32_t* permute(Path tree, std::int64_t repeat, std::vector<std::uint32_t>& donors) {
        ShortDraws draws(tree.child(static_cast<std::uint64_t>(repeat)));
        donors.resize(unseen_.size());
        shuffled_ = order_;
        for (std::size_t begin = 0; begin < order_.size();) {
            std::size_t end = begin + 1;
            while (end < order_.size() && cell_[order_[end]] == cell_[order_[begin]]) ++end;
            for (std::size_t i = end - begin; i > 1; --i)
                std::swap(shuffled_[begin + i - 1], shuffled_[begin + draws.below(static_cast<std::uint32_t>(i))]);
            begin = end;
        }
        for (std::size_t i = 0; i < order_.size(); ++i) donors[order_[i]] = shuffled_[i];
        return donors.data();
    }

    double loss_of_job(std::size_t job, const Marks& unit) {
        const std::size_t i = moving_[moved_[job]];
        if (reached_[job] != none) return loss_of(i, reached_[job]);
        const MixedRow row{rows_[unseen_[i]], rows_[unseen_[donor_[i]]], unit.data()};
        for (std::size_t column = 0; column < mixed_.size(); ++column)
            mixed_[column] = row[static_cast<std::int64_t>(column)];
        return loss_of(i, spread_(forest_, tree_, mixed_.data()));
    }

    double loss_of(std::size_t i, std::int64_t leaf) {
        if (!of_leaf_.empty())
            return of_leaf_[static_cast<std::size_t>(leaf_number(leaf) * answers_.n_outputs) + class_[i]];
        return loss(truth_.values[unseen_[i]], leaf_answer(i, static_cast<std::int32_t>(leaf_number(leaf))));
    }

    double loss_of(std::size_t i, const Reached& reached) {
        std::fill(answer_.begin(), answer_.end(), 0.0);
        for (const auto& [leaf, share] : reached) {
            const double* values = leaf_answer(i, leaf);
            for (std::size_t c = 0; c < answer_.size(); ++c) answer_[c] += share * values[c];
        }
        return loss(truth_.values[unseen_[i]], answer_.data());
    }

    // Of a leaf to a row: without the row itself, if it was counted there.
    const double* leaf_answer(std::size_t i, std::int32_t leaf) {
        const std::int64_t at = forest_.leaf_start[tree_] + leaf;
        const double* values = answers_.values + at * answers_.n_outputs;
        if (answers_.leaf_weight == nullptr) return values;
        const auto own =
            std::find_if(own_[i].begin(), own_[i].end(), [&](const auto& one) { return one.first == leaf; });
        if (own == own_[i].end()) return values;
        const double counted = own->second * truth_.weight[unseen_[i]], total = answers_.leaf_weight[at];
        if (!(total - counted > 1e-9 * total)) return answers_.empty;
        for (std::size_t c = 0; c < without_.size(); ++c) {
            const bool is_own = static_cast<double>(c) == truth_.values[unseen_[i]];
            without_[c] = std::max(0.0, (values[c] * total - (is_own ? counted : 0.0)) / (total - counted));
        }
        return without_.data();
    }

    double loss(double truth, const double* answer) const {
        const std::int64_t n = answers_.n_outputs;
        const auto code = static_cast<std::int64_t>(truth);
        switch (loss_) {
            case Loss::zero_one:
                return std::max_element(answer, answer + n) - answer == code ? 0.0 : 1.0;
            case Loss::log:
                return -std::log(std::max(answer[code], std::numeric_limits<double>::epsilon()));
            case Loss::brier: {
                double sum = 0;
                for (std::int64_t c = 0; c < n; ++c) sum += (answer[c] - (c == code)) * (answer[c] - (c == code));
                return sum;
            }
            case Loss::squared:
                return (answer[0] - truth) * (answer[0] - truth);
            default:
                return std::abs(answer[0] - truth);
        }
    }

    const Forest& forest_;
    std::int64_t tree_, root_, n_nodes_;
    const Rows& rows_;
    const Answers& answers_;
    const Truth& truth_;
    Loss loss_;
    double weight_ = 0, sum_ = 0;
    TreeSpread spread_;
    std::vector<double> answer_, without_, mixed_;
    std::vector<std::int64_t> parent_, first_test_;
    // per row that the tree has not seen
    std::vector<std::int64_t> unseen_, leaf_;
    std::vector<double> plain_;
    std::vector<Reached> own_;  // the leaves that it reaches, where it is spread or left out
    std::vector<std::uint64_t> cell_;
    std::vector<std::uint32_t> order_, shuffled_, donors_in_cells_;
    std::vector<std::vector<std::uint32_t>> donors_;  // of each repeat, where there are no cells
    const std::uint32_t* donor_ = nullptr;
    bool has_cells_ = false;
    std::vector<std::size_t> class_;
    // per row whose path tests what is exchanged
    std::vector<std::size_t> moving_;
    std::vector<std::int64_t> start_;
    std::vector<double> low_, high_;
    std::vector<std::size_t> moved_;     // positions among these, of rows that may leave their leaf
    std::vector<std::int64_t> reached_;  // by those
    std::vector<double> values_;         // of the column that is exchanged, per row not seen
    std::vector<double> node_low_, node_high_;
    std::vector<double> of_leaf_;  // leaf × class
};

}  // namespace

void permutation_losses(const Forest& forest, const Rows& rows, const Answers& answers, const Truth& truth,
                        const std::uint8_t* seen, const ColumnLists& units, const ColumnLists& given,
                        const PermutationOptions& options, const Losses& out, const Poll& poll) {
    std::vector<Marks> of_unit, of_given;
    for (std::int64_t unit = 0; unit < units.n_lists; ++unit) {
        of_unit.push_back(mark(units, unit, forest.n_features));
        of_given.push_back(mark(given, unit, forest.n_features));
    }
    const std::int64_t mask_bytes = (rows.n_rows + 7) / 8;
    parallel_for(
        forest.n_trees, options.n_threads,
        [&](std::int64_t tree, const Cancelled& cancelled) {
            TreeAsked asked(forest, tree, rows, answers, truth, seen == nullptr ? nullptr : seen + tree * mask_bytes,
                            options.loss);
            out.weight[tree] = asked.weight();
            if (!(asked.weight() > 0)) return;
            out.plain[tree] = asked.plain();
            const Path address = Path(options.seed).child(static_cast<std::uint64_t>(tree));
            for (std::size_t unit = 0; unit < of_unit.size() && !cancelled; ++unit)
                out.permuted[tree * units.n_lists + static_cast<std::int64_t>(unit)] =
                    asked.permuted(of_unit[unit], of_given[unit], options, address, cancelled);
        },
        poll);
}

}  // namespace hedgerow::importance
