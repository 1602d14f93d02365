// One random decision tree: large nodes divide an index of rows; from some size on a node's rows are copied side by side,
// and all that is below it grows in the cache.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

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

    BlockQueue(const RandomTask<Rank>& task, std::int64_t max_rows) : task_(task) {
        for (std::size_t size = 1; size <= many; ++size)
            open_[size].resize(static_cast<std::size_t>(max_rows) / (size < many ? size : 1) + 1, {Path(0), 0, 0, 0, 0, 0});
    }

    void clear() { n_.fill(0); }
    void push(const OpenNode& open) {
        const std::uint32_t size = task_.plain ? std::min(open.n_rows, many) : many;
        open_[size][n_[size]] = open;
        n_[size] += task_.may_split(open.n_rows, open.depth);
    }
    std::uint32_t n_open(std::uint32_t size) const { return n_[size]; }
    const OpenNode& at(std::uint32_t size, std::uint32_t i) const { return open_[size][i]; }

private:
    const RandomTask<Rank>& task_;
    std::array<std::vector<OpenNode>, many + 1> open_;
    std::array<std::uint32_t, many + 1> n_{};
};

// Rows that fit the cache, with all nodes below one.
template <class Rank>
class RandomBlock {
public:
    RandomBlock(const RandomTask<Rank>& task, std::int64_t max_rows, RawTree& tree)
        : task_(task), queue_(task, max_rows), splitter_(task, max_rows, tree, queue_) {}

    // `rows` of the data; in the order of leaves afterwards.
    void grow(OpenNode open, std::uint32_t* rows) {
        const auto n_features = static_cast<std::size_t>(task_.data.n_features);
        const auto n_rows = static_cast<std::size_t>(open.n_rows);
        const bool all = static_cast<std::int64_t>(open.n_rows) == task_.data.n_rows;
        if (!all) {
            cells_.resize(n_rows * n_features);
            for (std::size_t i = 0; i < n_rows; ++i)
                std::copy_n(task_.ranked.rows.data() + rows[i] * n_features, n_features, cells_.data() + i * n_features);
        }
        splitter_.set_table(all ? task_.ranked.rows.data() : cells_.data(), rows, open.begin);
        std::iota(splitter_.order.begin(), splitter_.order.begin() + open.n_rows, std::uint16_t{0});
        open.begin = 0;
        queue_.clear();
        queue_.push(open);
        for (std::uint32_t i = 0; i < queue_.n_open(queue_.many); ++i) splitter_.split(queue_.at(queue_.many, i));
        split_few<BlockQueue<Rank>::many - 1>();
        row_.resize(n_rows);
        for (std::size_t i = 0; i < n_rows; ++i) row_[i] = rows[splitter_.order[i]];
        std::copy(row_.begin(), row_.end(), rows);
    }

private:
    // Children have fewer rows than their parent: once the larger nodes are done, all of a size are known.
    template <std::uint32_t size>
    void split_few() {
        for (std::uint32_t i = 0; i < queue_.n_open(size); ++i) splitter_.template split_few<size>(queue_.at(size, i));
        if constexpr (size > 2) split_few<size - 1>();
    }

    const RandomTask<Rank>& task_;
    BlockQueue<Rank> queue_;
    Splitter<Rank, std::uint16_t, true, BlockQueue<Rank>> splitter_;
    std::vector<Rank> cells_;
    std::vector<std::uint32_t> row_;
};

template <class Rank>
class RandomTree {
public:
    explicit RandomTree(const RandomTask<Rank>& task)
        : task_(task),
          block_rows_(rows_per_block(task.data)),
          raw_{std::make_unique_for_overwrite<RawNode[]>(most_nodes(task)), 0, {0}, {}},
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
        raw_.payload_start.resize(1);
        raw_.payload_codes.clear();
        queue_.large.clear();
        queue_.blocks.clear();
        queue_.push({Path(task_.options.seed), static_cast<std::uint32_t>(tree), 0, 0, n_rows, 0});
        for (std::size_t i = 0; i < queue_.large.size(); ++i) {
            if (cancelled) throw Stopped{};
            const OpenNode open = queue_.large[i];
            if (task_.may_split(open.n_rows, open.depth)) splitter_.split(open);
        }
        for (const OpenNode& open : queue_.blocks) {
            if (cancelled) throw Stopped{};
            block_.grow(open, splitter_.order.data() + open.begin);
        }
    }

    // Adds what was grown last to the end of `out`, whose trees are those of one forest.
    void append_to(GrownForest& forest) const {
        GrownTree& out = forest.trees;
        const std::size_t first_node = out.nodes.size(), n_nodes = raw_.n_nodes;
        const std::int64_t first_leaf = forest.leaf_start.back();
        const auto first_payload = static_cast<std::int32_t>(out.payload_start.size()) - 1;
        std::int32_t n_leaves = 0;
        for (std::size_t i = 0; i < n_nodes; ++i) {
            const RawNode& node = raw_.nodes[i];
            if (node.feature == leaf_feature) {
                out.nodes.push_back({no_threshold, leaf_feature, n_leaves++});
                append_leaf(node, out);
            } else {
                append_question(node, first_payload, out);
            }
        }
        out.missing.insert(out.missing.end(), n_nodes, static_cast<std::uint8_t>(Missing::spread));
        if (!task_.unit_weights) sum_weights(out.weight.data() + first_node);
        const std::int64_t first_code = out.payload_start.back();
        for (std::size_t i = 1; i < raw_.payload_start.size(); ++i)
            out.payload_start.push_back(first_code + raw_.payload_start[i]);
        out.payload_codes.insert(out.payload_codes.end(), raw_.payload_codes.begin(), raw_.payload_codes.end());
        forest.tree_start.push_back(static_cast<std::int64_t>(out.nodes.size()));
        forest.leaf_start.push_back(first_leaf + n_leaves);
    }

private:
    // Children of large nodes, level by level; those that fit a block wait until there are no more large ones.
    struct TopQueue {
        std::int64_t block_rows = 0;
        std::vector<OpenNode> large, blocks;
        void push(const OpenNode& open) { (open.n_rows > block_rows ? large : blocks).push_back(open); }
    };

    static constexpr double no_threshold = std::numeric_limits<double>::quiet_NaN();

    static std::size_t most_nodes(const RandomTask<Rank>& task) {
        return static_cast<std::size_t>(std::min(2 * task.data.n_rows, task.options.max_nodes));
    }

    static std::int64_t rows_per_block(const TrainingData& data) {
        const std::int64_t cache = 1 << 17;  // bytes, of a core's second-level cache
        return std::clamp<std::int64_t>(cache / (static_cast<std::int64_t>(sizeof(Rank)) * data.n_features), 64, 2048);
    }

    void append_question(const RawNode& node, std::int32_t first_payload, GrownTree& out) const {
        const bool multiway = task_.by_category(node.feature);
        const auto answer = static_cast<std::int32_t>(node.answer);
        const double threshold =
            multiway ? no_threshold : task_.ranked.values[static_cast<std::size_t>(node.feature)][node.answer];
        out.nodes.push_back({threshold, node.feature, static_cast<std::int32_t>(node.at)});
        out.kind.push_back(static_cast<std::uint8_t>(multiway ? Kind::multiway : Kind::threshold));
        out.payload.push_back(multiway ? first_payload + answer : -1);
        out.weight.push_back(node.n_rows);
    }

    void append_leaf(const RawNode& node, GrownTree& out) const {
        const TrainingData& data = task_.data;
        const std::size_t first = out.leaf_values.size();
        double weight = 0;
        out.leaf_values.resize(first + static_cast<std::size_t>(data.n_classes), 0.0);
        for (std::uint32_t i = node.at; i < node.at + node.n_rows; ++i) {
            const std::uint32_t row = splitter_.order[i];
            weight += data.weight[row];
            if (task_.ranked.complete[row])
                out.leaf_values[first + static_cast<std::size_t>(data.labels[row])] += data.weight[row];
        }
        out.kind.push_back(static_cast<std::uint8_t>(Kind::leaf));
        out.payload.push_back(-1);
        out.weight.push_back(weight);
    }

    // Of nodes with a question: the sum of their children's, which come after them.
    void sum_weights(double* weight) const {
        for (std::size_t i = raw_.n_nodes; i-- > 0;) {
            const RawNode& node = raw_.nodes[i];
            if (node.feature == leaf_feature) continue;
            const double* children = weight + node.at;
            weight[i] = std::accumulate(children, children + n_children(node), 0.0);
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
