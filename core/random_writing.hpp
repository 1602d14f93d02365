// Random trees as part of a forest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "concatenate.hpp"
#include "prefetch.hpp"
#include "random_task.hpp"

namespace hedgerow {

// Writes a tree that has grown to its forest.
template <class Rank>
class RandomWriter {
public:
    RandomWriter(const RandomTask<Rank>& task, const RawTree& raw) : task_(task), raw_(raw) {}

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
        const auto write = task_.each_counts_once ? &RandomWriter::write_nodes<true> : &RandomWriter::write_nodes<false>;
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
    const RawTree& raw_;
};

}  // namespace hedgerow
