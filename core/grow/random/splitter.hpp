// Draws the split of one node of a random decision tree and partitions its rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/prefetch.hpp"
#include "base/random.hpp"
#include "forest/forest.hpp"
#include "grow/random/partition.hpp"
#include "grow/random/task.hpp"
#include "grow/tree_builder.hpp"

namespace hedgerow::grow::random {

using base::Draws;
using base::NodeDraws;
using base::prefetch;

// Below this many times min_samples_leaf rows, valid rows are counted before one is drawn.
inline constexpr std::uint32_t rows_to_try = 8;

// Subsets of fewer than rows_to_try rows, as bits: their size, and the rows in them followed by the others. A lookup
// has no chain of additions, each of which waits for the one before: a fit of 569 rows takes 9 % less time.
struct SmallSets {
    std::uint8_t order[1 << (rows_to_try - 1)][rows_to_try], size[1 << (rows_to_try - 1)];

    constexpr SmallSets() : order{}, size{} {
        for (std::uint32_t set = 0; set < 1 << (rows_to_try - 1); ++set) {
            std::uint8_t n = 0;
            for (const std::uint32_t member : {1u, 0u}) {
                for (std::uint8_t row = 0; row < rows_to_try; ++row)
                    if ((set >> row & 1) == member) order[set][n++] = row;
                if (member) size[set] = n;
            }
        }
    }
};
inline constexpr SmallSets small_sets;

// `Index` is a row of the table of ranks; the rows of a node are contiguous in `order`, ascending. Children go to
// `queue.push`.
template <class Rank, class Index, bool row_major, class Queue>
class Splitter {
public:
    Splitter(const RandomTask<Rank>& task, std::int64_t max_rows, RawTree& tree, Queue& queue)
        : order(static_cast<std::size_t>(max_rows) + ahead),
          task_(task),
          tree_(tree),
          queue_(queue),
          n_features_(static_cast<std::uint32_t>(task.data.n_features)),
          n_rows_(static_cast<std::uint32_t>(task.data.n_rows)),
          features_(n_features_),
          spare_(order.size()) {
        std::iota(features_.begin(), features_.end(), 0);
    }

    // Sets the table of ranks, the data row of each of its rows (null: the same), and the offset of its rows in the
    // tree's.
    void set_table(const Rank* cells, const std::uint32_t* rows, std::uint32_t base) {
        cells_ = cells;
        rows_ = rows;
        base_ = base;
    }

    // Leaves the node a leaf where no feature gives a valid split. The first one drawn nearly always does.
    void split(const OpenNode& open, NodeDraws draws) {
        const std::uint32_t feature = draws.below(n_features_);
        if (!split_on(open, draws, feature)) try_others(open, draws, feature);
    }

    // Two rows of plain data, leaves of one row: only the feature is drawn.
    void split_two(const OpenNode& open, NodeDraws draws) {
        const NodeDraws untouched = draws;
        const std::uint32_t feature = draws.below(n_features_);
        const Column ranks = column(feature);
        Index* rows = order.data() + open.begin;
        const Index row[2] = {rows[0], rows[1]};
        const Rank rank[2] = {ranks[row[0]], ranks[row[1]]};
        if (rank[0] == rank[1]) [[unlikely]]
            return split(open, untouched);
        const bool second = rank[1] < rank[0];
        rows[0] = row[second];
        rows[1] = row[!second];
        const std::uint32_t first = set_split(open, feature, data_row(row[second]), 2);
        add_node(first, open.begin, 1);
        add_node(first + 1, open.begin + 1, 1);
    }

    // Three rows and more, below rows_to_try: a number that the compiler knows.
    template <std::uint32_t n>
    void split_few(const OpenNode& open, NodeDraws draws) {
        const NodeDraws untouched = draws;
        const std::uint32_t feature = draws.below(n_features_);
        const Column ranks = column(feature);
        Index* rows = order.data() + open.begin;
        Index row[n];
        Rank rank[n], greatest = 0;
        for (std::uint32_t i = 0; i < n; ++i) {
            row[i] = rows[i];
            rank[i] = ranks[row[i]];
            greatest = std::max(greatest, rank[i]);
        }
        std::uint32_t valid = 0, left = 0;
        for (std::uint32_t i = 0; i < n; ++i) valid |= std::uint32_t{rank[i] < greatest} << i;
        if (valid == 0) [[unlikely]]
            return split(open, untouched);
        const std::uint32_t n_valid = small_sets.size[valid];
        const std::uint32_t at = small_sets.order[valid][draws.below(n_valid)];
        const Rank threshold = rank[at];
        for (std::uint32_t i = 0; i < n; ++i) left |= std::uint32_t{rank[i] <= threshold} << i;
        const std::uint32_t n_left = small_sets.size[left];
        if (!task_.ranked.exact[feature]) [[unlikely]] {
            std::uint32_t n_same = 0;
            for (std::uint32_t i = 0; i < n; ++i) n_same += rank[i] == threshold;
            if (n_same > 1 || n_valid < n - 1) return split(open, untouched);
        }
        for (std::uint32_t i = 0; i < n; ++i) rows[i] = row[small_sets.order[left][i]];
        add_small_children<n>(open, draws.path(), feature, data_row(row[at]), n_left);
    }

    std::vector<Index> order;

private:
    static constexpr std::uint32_t ahead = 24;  // prefetch distance, in rows

    template <std::uint32_t n>
    void add_small_children(const OpenNode& open, Path path, std::uint32_t feature, std::uint32_t answer,
                            std::uint32_t n_left) {
        const std::uint32_t first = set_split(open, feature, answer, 2);
        add_node(first, open.begin, n_left);
        add_node(first + 1, open.begin + n_left, n - n_left);
        if constexpr (n == 3) {
            // One of them has two rows, and the other is a leaf.
            const std::uint32_t pair = n_left == 1;
            queue_.push(path, pair, first + pair, open.begin + pair, 2, open.depth + 1);
        } else if constexpr (n > 3) {
            queue_.push(path, 0, first, open.begin, n_left, open.depth + 1);
            queue_.push(path, 1, first + 1, open.begin + n_left, n - n_left, open.depth + 1);
        }
    }

    // One column of the table.
    struct Column {
        const Rank* first;
        std::uint32_t stride;
        Rank operator[](Index row) const { return first[row_major ? std::size_t{row} * stride : row]; }
        void fetch_later([[maybe_unused]] const Index* row) const {
            if constexpr (!row_major) prefetch(&first[row[ahead]]);
        }
    };
    // The values behind it.
    struct Values {
        TableColumn values;
        const std::uint32_t* rows;
        double operator[](Index row) const { return values[row_major ? rows[row] : row]; }
    };
    // Whether a row's value is at most that of another: by rank; by value between equal ranks that are not `exact`.
    template <bool exact>
    struct AtMost {
        Column ranks;
        Values values;
        Index row;
        Rank rank;

        bool operator()(Index other) const {
            bool at_most = ranks[other] <= rank;
            if constexpr (!exact)
                if (ranks[other] == rank) [[unlikely]]
                    at_most = among_equals(other);
            return at_most;
        }
        bool among_equals(Index other) const { return other == row || values[other] <= values[row]; }
    };
    // Keys of the rows whose values are known.
    template <class Key>
    struct Keys {
        std::vector<Key> known, sorted;
    };
    Column column(std::uint32_t feature) const {
        return {cells_ + (row_major ? feature : std::size_t{feature} * n_rows_), n_features_};
    }
    Values values(std::uint32_t feature) const { return {task_.data.column(feature), rows_}; }
    std::uint32_t data_row(Index row) const { return row_major ? rows_[row] : row; }
    double weight(Index row) const { return task_.data.weight[data_row(row)]; }

    bool split_on(const OpenNode& open, NodeDraws& draws, std::uint32_t feature) {
        return task_.by_category(feature) ? split_by_category(open, draws.path(), feature)
                                          : split_by_threshold(open, draws, feature);
    }

    // Called when the first feature drawn gives no valid split.
    void try_others(const OpenNode& open, NodeDraws& draws, std::uint32_t first) {
        std::swap(features_[0], features_[first]);
        others_.assign(1, first);
        bool done = false;
        for (std::uint32_t i = 1; i < n_features_ && !done; ++i) {
            const std::uint32_t other = i + draws.below(n_features_ - i);
            std::swap(features_[i], features_[other]);
            others_.push_back(other);
            done = split_on(open, draws, features_[i]);
        }
        // Back in order, so that the next node's draws do not depend on this one's.
        for (std::size_t i = others_.size(); i-- > 0;) std::swap(features_[i], features_[others_[i]]);
    }

    // -- thresholds

    bool split_by_threshold(const OpenNode& open, NodeDraws& draws, std::uint32_t feature) {
        if (open.n_rows >= rows_to_try * task_.least) {
            const Index row = order[open.begin + draws.below(open.n_rows)];
            if (split_at(open, draws.path(), feature, row)) return true;
        }
        const std::optional<Index> row = ranks_tell_validity(open, feature)
                                             ? drawn_row(open, draws, feature, ranks_, column(feature))
                                             : drawn_row(open, draws, feature, values_, values(feature));
        return row && split_at(open, draws.path(), feature, *row);
    }

    // All but the greatest value are valid, if leaves may have one row: a row that alone has the greatest rank has that
    // value.
    bool ranks_tell_validity(const OpenNode& open, std::uint32_t feature) const {
        if (task_.ranked.exact[feature]) return true;
        const Column ranks = column(feature);
        std::uint32_t greatest = 0, n_greatest = 0;
        for (std::uint32_t i = open.begin; i < open.begin + open.n_rows; ++i) {
            const std::uint32_t rank = ranks[order[i]];
            if (rank == task_.ranked.missing || rank < greatest) continue;
            n_greatest = rank == greatest ? n_greatest + 1 : 1;
            greatest = rank;
        }
        return task_.least == 1 && n_greatest == 1;
    }

    // A valid one: its value is not below the least-th smallest, and below the least-th largest.
    template <class Key, class KeyOf>
    std::optional<Index> drawn_row(const OpenNode& open, NodeDraws& draws, std::uint32_t feature, Keys<Key>& keys,
                                   const KeyOf& key_of) {
        const Column ranks = column(feature);
        known_.clear();
        keys.known.clear();
        for (std::uint32_t i = open.begin; i < open.begin + open.n_rows; ++i) {
            if (ranks[order[i]] == task_.ranked.missing) continue;
            const Key key = key_of[order[i]];
            if (key != key) continue;  // became NaN after the column was ranked
            known_.push_back(order[i]);
            keys.known.push_back(key);
        }
        if (known_.size() < 2 * std::size_t{task_.least}) return std::nullopt;
        const auto [least, greatest] = std::minmax_element(keys.known.begin(), keys.known.end());
        Key low = *least, high = *greatest;
        if (task_.least > 1) {
            keys.sorted = keys.known;
            const auto smallest = keys.sorted.begin() + (task_.least - 1), largest = keys.sorted.end() - task_.least;
            std::nth_element(keys.sorted.begin(), smallest, keys.sorted.end());
            low = *smallest;
            std::nth_element(smallest, largest, keys.sorted.end());
            high = *largest;
        }
        const auto valid = [=](Key key) { return key >= low && key < high; };
        const auto n_valid = std::count_if(keys.known.begin(), keys.known.end(), valid);
        if (n_valid == 0) return std::nullopt;
        std::uint32_t drawn = draws.below(static_cast<std::uint32_t>(n_valid));
        std::size_t at = 0;
        while (!valid(keys.known[at]) || drawn-- > 0) ++at;
        return known_[at];
    }

    // Splits the node at the value of `row` if that is valid; returns whether it is.
    bool split_at(const OpenNode& open, Path path, std::uint32_t feature, Index row) {
        return task_.ranked.exact[feature] ? split_at<true>(open, path, feature, row)
                                           : split_at<false>(open, path, feature, row);
    }

    template <bool exact>
    bool split_at(const OpenNode& open, Path path, std::uint32_t feature, Index row) {
        const AtMost<exact> goes_left{column(feature), values(feature), row, column(feature)[row]};
        std::uint32_t n_left = 0;
        if (task_.ranked.has_missing[feature]) {
            n_left = split_with_missing(open, path, feature, row, goes_left);
        } else {
            if (task_.least > 1 && !large_enough(open, goes_left)) return false;
            n_left = partition(open, goes_left);
        }
        // Then nothing has moved. Values written while the tree grows may end here too: a branch without rows would let
        // the tree outgrow its memory.
        if (n_left == 0 || n_left == open.n_rows) return false;
        const std::uint32_t first = set_split(open, feature, data_row(row), 2);
        add_child(open, path, 0, first, open.begin, n_left);
        add_child(open, path, 1, first + 1, open.begin + n_left, open.n_rows - n_left);
        return true;
    }

    template <class GoesLeft>
    bool large_enough(const OpenNode& open, const GoesLeft& goes_left) const {
        std::uint32_t n_left = 0;
        for (std::uint32_t i = open.begin; i < open.begin + open.n_rows; ++i) n_left += goes_left(order[i]);
        return std::min(n_left, open.n_rows - n_left) >= task_.least;
    }

    // Number of rows that go left; 0 where the split is not valid.
    template <class GoesLeft>
    std::uint32_t split_with_missing(const OpenNode& open, Path path, std::uint32_t feature, Index row,
                                     const GoesLeft& goes_left) {
        const Column ranks = column(feature);
        const Rank missing = task_.ranked.missing;
        std::uint32_t n_children[2] = {0, 0};
        double weights[2] = {0, 0};
        for (std::uint32_t i = open.begin; i < open.begin + open.n_rows; ++i) {
            if (ranks[order[i]] == missing) continue;
            const bool left = goes_left(order[i]);
            ++n_children[!left];
            weights[!left] += weight(order[i]);
        }
        if (ranks[row] == missing || std::min(n_children[0], n_children[1]) < task_.least) return 0;
        const auto drawn_or_left = [&](Index other) {
            return ranks[other] == missing ? drawn_child(path, other, weights, 2) == 0 : goes_left(other);
        };
        return finish_partition(open, ranks, drawn_or_left, 0, 0);
    }

    // Drawn with the weights of the children as probabilities: in expectation the same as a fractional split.
    std::uint32_t drawn_child(Path path, Index row, const double* weights, std::uint32_t n) const {
        const double at = Draws(path.of_row(data_row(row))).real() * std::accumulate(weights, weights + n, 0.0);
        double sum = 0;
        for (std::uint32_t child = 0; child + 1 < n; ++child)
            if (at < (sum += weights[child])) return child;
        return n - 1;
    }

    // The number of rows that go left.
    template <bool exact>
    std::uint32_t partition(const OpenNode& open, const AtMost<exact>& goes_left) {
        std::uint32_t first = 0, n_left = 0;
#ifdef HEDGEROW_HAS_SHUFFLES
        if constexpr (sizeof(Rank) == 2) {
            if (shuffles_) {
                first = open.n_rows / 8 * 8;
                n_left = partition_eights<!exact>(order.data() + open.begin, spare_.data(), first, goes_left.ranks,
                                                  goes_left.rank,
                                                  [&](Index other) { return goes_left.among_equals(other); });
            }
        }
#endif
        return finish_partition(open, goes_left.ranks, goes_left, first, n_left);
    }
    template <class GoesLeft>
    std::uint32_t finish_partition(const OpenNode& open, const Column& ranks, const GoesLeft& goes_left,
                                   std::uint32_t first, std::uint32_t n_left) {
        Index* const rows = order.data() + open.begin;
        n_left = random::partition(rows, spare_.data(), first, open.n_rows, n_left, ranks, goes_left);
        std::copy_n(spare_.data(), open.n_rows - n_left, rows + n_left);
        return n_left;
    }

    // -- categories

    bool split_by_category(const OpenNode& open, Path path, std::uint32_t feature) {
        const auto n_codes = static_cast<std::size_t>(task_.data.n_categories[feature]);
        const Rank missing = task_.ranked.missing;
        const Column ranks = column(feature);
        const auto rank = [&](std::uint32_t i) { return ranks[order[open.begin + i]]; };
        if (n_of_.size() < n_codes) n_of_.resize(n_codes, 0);
        std::uint32_t n_large = 0;
        for (std::uint32_t i = 0; i < open.n_rows; ++i)
            if (rank(i) != missing) n_large += ++n_of_[rank(i)] == task_.least;
        if (n_large >= 2) {
            child_of_.assign(n_codes, -1);
            std::int32_t n_children = 0;
            for (std::size_t code = 0; code < n_codes; ++code)
                if (n_of_[code] > 0) child_of_[code] = n_children++;
            distribute(open, path, feature, static_cast<std::uint32_t>(n_children));
        }
        for (std::uint32_t i = 0; i < open.n_rows; ++i)
            if (rank(i) != missing) n_of_[rank(i)] = 0;
        return n_large >= 2;
    }

    // Moves the rows to their children by `child_of_`.
    void distribute(const OpenNode& open, Path path, std::uint32_t feature, std::uint32_t n_children) {
        const Index* rows = order.data() + open.begin;
        const Column ranks = column(feature);
        const auto child = [&](std::uint32_t i) -> std::int32_t {
            const Rank code = ranks[rows[i]];
            return code == task_.ranked.missing ? -1 : child_of_[code];
        };
        weights_.assign(n_children, 0.0);
        ends_.assign(n_children, 0);
        children_.resize(open.n_rows);
        for (std::uint32_t i = 0; i < open.n_rows; ++i)
            if (child(i) >= 0) weights_[static_cast<std::size_t>(child(i))] += weight(rows[i]);
        for (std::uint32_t i = 0; i < open.n_rows; ++i) {
            children_[i] = child(i) >= 0 ? static_cast<std::uint32_t>(child(i))
                                         : drawn_child(path, rows[i], weights_.data(), n_children);
            ++ends_[children_[i]];
        }
        const std::uint32_t first =
            set_split(open, feature, static_cast<std::uint32_t>(tree_.payload_start.size()) - 1, n_children);
        tree_.payload_codes.insert(tree_.payload_codes.end(), child_of_.begin(), child_of_.end());
        tree_.payload_start.push_back(static_cast<std::int64_t>(tree_.payload_codes.size()));
        std::uint32_t begin = 0;
        for (std::uint32_t c = 0; c < n_children; ++c) {
            const std::uint32_t n = std::exchange(ends_[c], begin);
            add_child(open, path, c, first + c, open.begin + begin, n);
            begin += n;
        }
        for (std::uint32_t i = 0; i < open.n_rows; ++i) spare_[ends_[children_[i]]++] = rows[i];
        std::copy(spare_.begin(), spare_.begin() + open.n_rows, order.begin() + open.begin);
    }

    // -- the tree

    // The number of the first child; they are added next.
    std::uint32_t set_split(const OpenNode& open, std::uint32_t feature, std::uint32_t answer,
                            std::uint32_t n_children) {
        const std::uint32_t first = tree_.n_nodes;
        tree_.n_nodes += n_children;
        ++tree_.n_splits;
        if (tree_.n_nodes > task_.options.max_nodes) [[unlikely]]
            throw_too_many_nodes(task_.options.max_nodes);
        RawNode& node = tree_.nodes[open.node];
        node.feature = static_cast<std::int32_t>(feature);
        node.at = first;
        node.answer = answer;
        return first;
    }

    void add_child(const OpenNode& open, Path path, std::uint32_t number, std::uint32_t node, std::uint32_t begin,
                   std::uint32_t n_rows) {
        add_node(node, begin, n_rows);
        queue_.push(path, number, node, begin, n_rows, open.depth + 1);
    }

    void add_node(std::uint32_t node, std::uint32_t begin, std::uint32_t n_rows) {
        tree_.nodes[node] = {n_rows, leaf_feature, base_ + begin, 0};
    }

    const RandomTask<Rank>& task_;
    RawTree& tree_;
    Queue& queue_;
    std::uint32_t n_features_, n_rows_;
    std::vector<std::uint32_t> features_;
    std::vector<std::uint32_t> others_;  // what each of the first features was exchanged with
    std::vector<Index> spare_;
#ifdef HEDGEROW_HAS_SHUFFLES
    bool shuffles_ = can_shuffle();
#endif
    const Rank* cells_ = nullptr;
    const std::uint32_t* rows_ = nullptr;
    std::uint32_t base_ = 0;
    std::vector<Index> known_;
    Keys<Rank> ranks_;
    Keys<double> values_;
    std::vector<std::uint32_t> n_of_;      // rows of each category; zero between splits
    std::vector<std::int32_t> child_of_;   // of each category
    std::vector<std::uint32_t> children_;  // of each row
    std::vector<std::uint32_t> ends_;      // of each child's rows, while they are moved
    std::vector<double> weights_;
};

}  // namespace hedgerow::grow::random
