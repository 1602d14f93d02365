// One random decision tree. Large nodes partition an index of rows; below some size the rows of a node are copied
// together, and everything below it grows in the cache.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "grow/random/splitter.hpp"

namespace hedgerow::grow::random {

using base::Stopped;

// Queue of the nodes of a block, small ones by their number of rows: work on nodes of one size has no branch that
// depends on it, which would be mispredicted at nearly every node. Half of all splits are of two or three rows.
template <class Rank>
class BlockQueue {
public:
    static constexpr std::uint32_t many = rows_to_try;  // the size of all nodes with this many rows and more

    BlockQueue(const RandomTask<Rank>& task, std::int64_t max_rows, const RawTree& tree) : task_(task), tree_(tree) {
        for (std::size_t size = 1; size <= many; ++size)
            open_[size].resize(static_cast<std::size_t>(max_rows) / (size < many ? size : 1) + 1,
                               {Path(0), 0, 0, 0, 0});
    }

    // Nodes are stored relative to `first_node`, depths relative to `depth`.
    void clear(std::uint32_t first_node, std::uint32_t depth) {
        n_.fill(0);
        first_node_ = first_node;
        depth_ = depth;
    }
    // Always written, and kept if the node may be split: a branch would be mispredicted.
    void push(Path parent, std::uint32_t number, std::uint32_t node, std::uint32_t begin, std::uint32_t n_rows,
              std::uint32_t depth) {
        const std::uint32_t size = task_.plain ? std::min(n_rows, many) : many;
        open_[size][n_[size]] = {parent, static_cast<std::uint16_t>(number),
                                 static_cast<std::uint16_t>(node - first_node_), static_cast<std::uint16_t>(begin),
                                 static_cast<std::uint16_t>(depth - depth_)};
        n_[size] += task_.may_split(n_rows, depth);
    }

    // Calls work(open, draws) for all nodes of a size, those it adds included. Several nodes are hashed together, for
    // the pipeline.
    template <class Work>
    void for_each(std::uint32_t size, const Work& work) {
        constexpr std::uint32_t some = 8;
        std::array<NodeDraws, some> draws_of;
        for (std::uint32_t first = 0; first < n_[size];) {
            const std::uint32_t n = std::min(n_[size] - first, some);
            const QueuedNode* waiting = open_[size].data() + first;
            for (std::uint32_t i = 0; i < n; ++i) draws_of[i] = NodeDraws(waiting[i].parent, waiting[i].number);
            for (std::uint32_t i = 0; i < n; ++i) {
                const std::uint32_t node = first_node_ + waiting[i].node;
                work(OpenNode{waiting[i].parent, waiting[i].number, node, waiting[i].begin,
                              size < many ? size : tree_.nodes[node].n_rows, depth_ + waiting[i].depth},
                     draws_of[i]);
            }
            first += n;
        }
    }

private:
    struct QueuedNode {
        Path parent;
        std::uint16_t number, node, begin, depth;
    };

    const RandomTask<Rank>& task_;
    const RawTree& tree_;
    std::array<std::vector<QueuedNode>, many + 1> open_;
    std::array<std::uint32_t, many + 1> n_{};
    std::uint32_t first_node_ = 0, depth_ = 0;
};

// A subtree whose rows fit the cache.
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
        if (task_.may_split(open.n_rows, open.depth)) splitter_.split(open, NodeDraws(open.parent, open.number));
        queue_.for_each(queue_.many,
                        [this](const OpenNode& node, const NodeDraws& draws) { splitter_.split(node, draws); });
        split_few<BlockQueue<Rank>::many - 1>();
        for (std::size_t i = 0; i < n_rows; ++i) tree_.marks[base + i] = marks_[splitter_.order[i]];
    }

private:
    // Children have fewer rows than their parent: once the larger nodes are done, all of a size are known.
    template <std::uint32_t size>
    void split_few() {
        queue_.for_each(size, [this](const OpenNode& node, const NodeDraws& draws) {
            if constexpr (size == 2)
                splitter_.split_two(node, draws);
            else
                splitter_.template split_few<size>(node, draws);
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
        raw_.n_splits = 0;
        raw_.payload_start.resize(1);
        raw_.payload_codes.clear();
        queue_.large.clear();
        queue_.blocks.clear();
        queue_.push(Path(task_.options.seed), static_cast<std::uint32_t>(tree), 0, 0, n_rows, 0);
        for (std::size_t i = 0; i < queue_.large.size(); ++i) {
            if (cancelled) throw Stopped{};
            const OpenNode open = queue_.large[i];
            if (task_.may_split(open.n_rows, open.depth)) splitter_.split(open, NodeDraws(open.parent, open.number));
            if (raw_.nodes[open.node].feature == leaf_feature) keep_rows(open);
        }
        for (const OpenNode& open : queue_.blocks) {
            if (cancelled) throw Stopped{};
            block_.grow(open, splitter_.order.data() + open.begin);
        }
    }

    // The tree grown last.
    const RawTree& raw() const { return raw_; }

private:
    // Children of large nodes, level by level; those that fit a block wait until all large ones are split.
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

    const RandomTask<Rank>& task_;
    std::int64_t block_rows_;
    RawTree raw_;
    RandomBlock<Rank> block_;
    TopQueue queue_;
    Splitter<Rank, std::uint32_t, false, TopQueue> splitter_;
};

}  // namespace hedgerow::grow::random
