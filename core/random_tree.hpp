// One random decision tree: large nodes divide an index of rows; from some size on a node's rows are copied side by side,
// and all that is below it grows in the cache.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "concatenate.hpp"
#include "parallel.hpp"
#include "random_split.hpp"

namespace hedgerow {

// Nodes of a block that wait for their question, those with few rows by their number: work on many nodes of one size has
// no branch that depends on the size, which would be guessed wrong at nearly every node. Half of all questions are about
// two or three rows.
template <class Rank>
class BlockQueue {
public:
    static constexpr std::uint32_t many = rows_to_try;  // the size of all nodes with this many rows and more

    BlockQueue(const RandomTask<Rank>& task, std::int64_t max_rows, const RawTree& tree) : task_(task), tree_(tree) {
        for (std::size_t size = 1; size <= many; ++size)
            open_[size].resize(static_cast<std::size_t>(max_rows) / (size < many ? size : 1) + 1, {Path(0), 0, 0, 0, 0});
    }

    // Nodes are told by their number after `first_node`, depths from `depth` on.
    void clear(std::uint32_t first_node, std::uint32_t depth) {
        n_.fill(0);
        first_node_ = first_node;
        depth_ = depth;
    }
    // Written in any case, and kept if it may be split: a branch would be guessed wrong.
    void push(Path parent, std::uint32_t number, std::uint32_t node, std::uint32_t begin, std::uint32_t n_rows,
              std::uint32_t depth) {
        const std::uint32_t size = task_.plain ? std::min(n_rows, many) : many;
        open_[size][n_[size]] = {parent, static_cast<std::uint16_t>(number), static_cast<std::uint16_t>(node - first_node_),
                                 static_cast<std::uint16_t>(begin), static_cast<std::uint16_t>(depth - depth_)};
        n_[size] += task_.may_split(n_rows, depth);
    }

    // `work(open, place)` for all nodes of a size, also those that it adds. Places of some nodes are hashed together: one
    // does not wait for another.
    template <class Work>
    void for_each(std::uint32_t size, const Work& work) {
        constexpr std::uint32_t some = 8;
        std::array<Place, some> places;
        for (std::uint32_t first = 0; first < n_[size];) {
            const std::uint32_t n = std::min(n_[size] - first, some);
            const Waiting* waiting = open_[size].data() + first;
            for (std::uint32_t i = 0; i < n; ++i) places[i] = Place(waiting[i].parent, waiting[i].number);
            for (std::uint32_t i = 0; i < n; ++i) {
                const std::uint32_t node = first_node_ + waiting[i].node;
                work(OpenNode{waiting[i].parent, waiting[i].number, node, waiting[i].begin,
                              size < many ? size : tree_.nodes[node].n_rows, depth_ + waiting[i].depth},
                     places[i]);
            }
            first += n;
        }
    }

private:
    struct Waiting {
        Path parent;
        std::uint16_t number, node, begin, depth;
    };

    const RandomTask<Rank>& task_;
    const RawTree& tree_;
    std::array<std::vector<Waiting>, many + 1> open_;
    std::array<std::uint32_t, many + 1> n_{};
    std::uint32_t first_node_ = 0, depth_ = 0;
};

// Rows that fit the cache, with all nodes below one.
template <class Rank>
class RandomBlock {
public:
    RandomBlock(const RandomTask<Rank>& task, std::int64_t max_rows, RawTree& tree)
        : task_(task), tree_(tree), queue_(task, max_rows, tree), splitter_(task, max_rows, tree, queue_) {}

    // `rows` of the data, ascending.
    void grow(OpenNode open, const std::uint32_t* rows) {
        const auto n_features = static_cast<std::size_t>(task_.data.n_features);
        const auto n_rows = static_cast<std::size_t>(open.n_rows);
        const bool all = static_cast<std::int64_t>(open.n_rows) == task_.data.n_rows;
        if (!all) {
            cells_.resize(n_rows * n_features);
            constexpr std::size_t line = 64 / sizeof(Rank);  // of the cache
            const Rank* all_cells = task_.ranked.rows.data();
            for (std::size_t i = 0; i < n_rows; ++i) {
                const Rank* const later = all_cells + rows[std::min(i + 8, n_rows - 1)] * n_features;
                for (std::size_t at = 0; at < n_features; at += line) prefetch(later + at);
                prefetch(later + n_features - 1);
                std::copy_n(all_cells + rows[i] * n_features, n_features, cells_.data() + i * n_features);
            }
        }
        marks_.resize(n_rows);
        for (std::size_t i = 0; i < n_rows; ++i) marks_[i] = task_.marks[rows[i]];
        const std::uint32_t base = std::exchange(open.begin, 0);
        splitter_.set_table(all ? task_.ranked.rows.data() : cells_.data(), rows, base);
        std::iota(splitter_.order.begin(), splitter_.order.begin() + open.n_rows, std::uint16_t{0});
        queue_.clear(tree_.n_nodes, open.depth);
        if (task_.may_split(open.n_rows, open.depth)) splitter_.split(open, Place(open.parent, open.number));
        queue_.for_each(queue_.many, [this](const OpenNode& node, const Place& place) { splitter_.split(node, place); });
        split_few<BlockQueue<Rank>::many - 1>();
        for (std::size_t i = 0; i < n_rows; ++i) tree_.marks[base + i] = marks_[splitter_.order[i]];
    }

private:
    // Children have fewer rows than their parent: once the larger nodes are done, all of a size are known.
    template <std::uint32_t size>
    void split_few() {
        queue_.for_each(size, [this](const OpenNode& node, const Place& place) {
            if constexpr (size == 2)
                splitter_.split_two(node, place);
            else
                splitter_.template split_few<size>(node, place);
        });
        if constexpr (size > 2) split_few<size - 1>();
    }

    const RandomTask<Rank>& task_;
    RawTree& tree_;
    BlockQueue<Rank> queue_;
    Splitter<Rank, std::uint16_t, true, BlockQueue<Rank>> splitter_;
    std::vector<Rank> cells_;
    std::vector<std::uint32_t> marks_;
};

template <class Rank>
class RandomTree {
public:
    explicit RandomTree(const RandomTask<Rank>& task)
        : task_(task),
          block_rows_(rows_per_block(task.data)),
          raw_{std::make_unique_for_overwrite<RawNode[]>(most_nodes(task)), 0, 0, task.marks, {0}, {}},
          block_(task, block_rows_, raw_),
          splitter_(task, task.data.n_rows, raw_, queue_) {
        queue_.block_rows = block_rows_;
    }

    void grow(std::int64_t tree, const Cancelled& cancelled) {
        const auto n_rows = static_cast<std::uint32_t>(task_.data.n_rows);
        std::iota(splitter_.order.begin(), splitter_.order.end(), 0u);
        splitter_.set_table(task_.ranked.columns.data(), nullptr, 0);
        raw_.nodes[0] = {n_rows, leaf_feature, 0, 0};
        raw_.n_nodes = 1;
        raw_.n_questions = 0;
        raw_.payload_start.resize(1);
        raw_.payload_codes.clear();
        queue_.large.clear();
        queue_.blocks.clear();
        queue_.push(Path(task_.options.seed), static_cast<std::uint32_t>(tree), 0, 0, n_rows, 0);
        for (std::size_t i = 0; i < queue_.large.size(); ++i) {
            if (cancelled) throw Stopped{};
            const OpenNode open = queue_.large[i];
            if (task_.may_split(open.n_rows, open.depth)) splitter_.split(open, Place(open.parent, open.number));
            if (raw_.nodes[open.node].feature == leaf_feature) keep_rows(open);
        }
        for (const OpenNode& open : queue_.blocks) {
            if (cancelled) throw Stopped{};
            block_.grow(open, splitter_.order.data() + open.begin);
        }
    }

    // `use(column, n)` for every array that has something for each node or leaf, `n` for what was grown last.
    template <class Use>
    void for_each_column(GrownTree& trees, const Use& use) const {
        use(trees.nodes, std::size_t{raw_.n_nodes});
        use(trees.kind, std::size_t{raw_.n_nodes});
        use(trees.leaf_values, n_counts());
        if (!task_.each_counts_once) use(trees.weight, std::size_t{raw_.n_nodes});
        if (!task_.only_numbers) use(trees.payload, std::size_t{raw_.n_nodes});
    }

    // Where it is written.
    struct Room {
        Node* nodes;
        std::uint8_t* kinds;
        double* counts;
        double* weights;
        std::int32_t* payloads;
        std::uint32_t first_payload;
    };

    // At the end of `forest`, by columns that are longer now.
    Room make_room(GrownForest& forest) const {
        GrownTree& trees = forest.trees;
        for_each_column(trees, [](auto& column, std::size_t n) { column.resize(column.size() + n); });
        const Room room{trees.nodes.data() + trees.nodes.size() - raw_.n_nodes,
                        trees.kind.data() + trees.kind.size() - raw_.n_nodes,
                        trees.leaf_values.data() + trees.leaf_values.size() - n_counts(),
                        task_.each_counts_once ? nullptr : trees.weight.data() + trees.weight.size() - raw_.n_nodes,
                        task_.only_numbers ? nullptr : trees.payload.data() + trees.payload.size() - raw_.n_nodes,
                        static_cast<std::uint32_t>(trees.payload_start.size()) - 1};
        append_starts(trees.payload_start, raw_.payload_start);
        append(trees.payload_codes, raw_.payload_codes);
        forest.tree_start.push_back(forest.tree_start.back() + raw_.n_nodes);
        forest.leaf_start.push_back(forest.leaf_start.back() + n_leaves());
        return room;
    }

    void write(const Room& room) const {
        std::fill_n(room.counts, n_counts(), 0.0);
        const auto write = task_.each_counts_once ? &RandomTree::write_nodes<true> : &RandomTree::write_nodes<false>;
        (this->*write)(room.nodes, room.kinds, room.counts);
        if (!task_.each_counts_once) sum_weights(room.weights);
        if (!task_.only_numbers) write_payloads(room.kinds, room.payloads, room.first_payload);
    }

private:
    std::uint32_t n_leaves() const { return raw_.n_nodes - raw_.n_questions; }
    std::size_t n_counts() const { return std::size_t{n_leaves()} * static_cast<std::size_t>(task_.data.n_classes); }

    // Every second node is a leaf, in no order: its first row is counted in any case, as nothing where there is none. That
    // count is written, not added to, so that nothing waits for what was there. Kinds are bytes, which may be part of
    // anything: what is read stands in variables, or it would be read again.
    template <bool once>
    void write_nodes(Node* nodes, std::uint8_t* kinds, double* counts) const {
        const RawNode* const raw = raw_.nodes.get();
        const std::uint32_t* const marks = raw_.marks.data();
        const Thresholds* const thresholds = task_.thresholds.data() + 1;
        const auto n_classes = static_cast<std::size_t>(task_.data.n_classes);
        const std::size_t n_nodes = raw_.n_nodes, ahead = 40;
        std::int32_t leaf = 0;
        for (std::size_t i = 0; i < n_nodes; ++i) {
            const RawNode& later = raw[std::min(i + ahead, n_nodes - 1)];
            prefetch(&thresholds[later.feature][later.answer]);
            const RawNode node = raw[i];
            const bool is_leaf = node.feature == leaf_feature;
            nodes[i] = {thresholds[node.feature][node.answer], node.feature, is_leaf ? leaf : static_cast<std::int32_t>(node.at)};
            kinds[i] = static_cast<std::uint8_t>(is_leaf ? Kind::leaf : Kind::threshold);
            if constexpr (once) counts[marks[is_leaf ? node.at : 0] * is_leaf] = is_leaf;
            for (std::uint32_t row = once; row < (is_leaf ? node.n_rows : 0); ++row) count(marks[node.at + row], counts);
            counts += is_leaf ? n_classes : 0;
            leaf += is_leaf;
        }
    }

    // Children of large nodes, level by level; those that fit a block wait until there are no more large ones.
    struct TopQueue {
        std::int64_t block_rows = 0;
        std::vector<OpenNode> large, blocks;
        void push(Path parent, std::uint32_t number, std::uint32_t node, std::uint32_t begin, std::uint32_t n_rows,
                  std::uint32_t depth) {
            (n_rows > block_rows ? large : blocks).push_back({parent, number, node, begin, n_rows, depth});
        }
    };

    static std::size_t most_nodes(const RandomTask<Rank>& task) {
        return static_cast<std::size_t>(std::min(2 * task.data.n_rows, task.options.max_nodes));
    }

    static std::int64_t rows_per_block(const TrainingData& data) {
        const std::int64_t cache = 1 << 18;  // bytes, of a core's second-level cache
        const std::int64_t bytes = static_cast<std::int64_t>(sizeof(Rank)) * data.n_features;
        return std::min(std::clamp<std::int64_t>(cache / bytes, 64, 4096), data.n_rows);
    }

    // A leaf of many rows.
    void keep_rows(const OpenNode& open) {
        for (std::uint32_t i = open.begin; i < open.begin + open.n_rows; ++i)
            raw_.marks[i] = task_.marks[splitter_.order[i]];
    }

    // A row with a missing value is counted later, in all leaves that it may reach.
    void count(std::uint32_t mark, double* counts) const {
        if (task_.each_counts_once)
            counts[mark] += 1;
        else if (task_.ranked.complete[mark])
            counts[task_.data.labels[mark]] += task_.data.weight[mark];
    }

    // Rows in order in leaves; with a question the children's, which come after.
    void sum_weights(double* weight) const {
        for (std::size_t i = raw_.n_nodes; i-- > 0;) {
            const RawNode& node = raw_.nodes[i];
            weight[i] = 0;
            if (node.feature == leaf_feature)
                for (std::uint32_t at = node.at; at < node.at + node.n_rows; ++at)
                    weight[i] += task_.data.weight[raw_.marks[at]];
            else
                weight[i] = std::accumulate(weight + node.at, weight + node.at + n_children(node), 0.0);
        }
    }

    // `first` is the tree's first in the forest.
    void write_payloads(std::uint8_t* kinds, std::int32_t* payloads, std::uint32_t first) const {
        std::fill_n(payloads, raw_.n_nodes, no_payload);
        for (std::size_t i = 0; i < raw_.n_nodes; ++i) {
            const RawNode& node = raw_.nodes[i];
            if (node.feature == leaf_feature || !task_.by_category(node.feature)) continue;
            kinds[i] = static_cast<std::uint8_t>(Kind::multiway);
            payloads[i] = static_cast<std::int32_t>(first + node.answer);
        }
    }

    std::int64_t n_children(const RawNode& node) const {
        if (!task_.by_category(node.feature)) return 2;
        const std::int32_t* codes = raw_.payload_codes.data();
        return 1 + *std::max_element(codes + raw_.payload_start[node.answer], codes + raw_.payload_start[node.answer + 1]);
    }

    const RandomTask<Rank>& task_;
    std::int64_t block_rows_;
    RawTree raw_;
    RandomBlock<Rank> block_;
    TopQueue queue_;
    Splitter<Rank, std::uint32_t, false, TopQueue> splitter_;
};

}  // namespace hedgerow
