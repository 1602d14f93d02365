// Writes random trees to their forest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "base/prefetch.hpp"
#include "data/distinct_rows.hpp"
#include "forest/concatenate.hpp"
#include "grow/random/task.hpp"

namespace hedgerow::grow::random {

using base::prefetch;
using data::DistinctRows;
using forest::append;
using forest::append_starts;
using forest::GrownTree;
using forest::Kind;
using forest::leaf_feature;
using forest::no_payload;
using forest::Node;

inline constexpr std::uint32_t not_numbered = 0xFFFFFFFF;

// Leaves of one tree that hold several rows, and their class counts.
struct LeavesOfSeveral {
    std::vector<std::uint32_t> leaves;
    std::vector<double> counts;
};

// Writes a grown tree to its forest. Where every row counts once, leaves store the number of their counts, of which
// millions are equal, instead of the counts: for one row its label, for several what `number_counts` finds.
template <class Rank>
class RandomWriter {
public:
    RandomWriter(const RandomTask<Rank>& task, const RawTree& raw) : task_(task), raw_(raw) {}

    // `use(column, n)` for every array that has something for each node or leaf, `n` for what was grown last.
    template <class Use>
    void for_each_column(GrownTree& trees, const Use& use) const {
        use(trees.nodes, std::size_t{raw_.n_nodes});
        use(trees.kind, std::size_t{raw_.n_nodes});
        if (task_.each_counts_once) {
            use(trees.count_of, std::size_t{n_leaves()});
        } else {
            use(trees.leaf_values, n_counts());
            use(trees.weight, std::size_t{raw_.n_nodes});
        }
        if (!task_.only_numbers) use(trees.payload, std::size_t{raw_.n_nodes});
    }

    // Where it is written.
    struct Room {
        Node* nodes;
        std::uint8_t* kinds;
        std::uint32_t* count_of;  // this, or
        double* counts;           // these two
        double* weights;
        std::int32_t* payloads;
        std::uint32_t first_payload;
    };

    // At the end of `forest`, by columns that are longer now.
    Room make_room(GrownForest& forest) const {
        GrownTree& trees = forest.trees;
        for_each_column(trees, [](auto& column, std::size_t n) { column.resize(column.size() + n); });
        const auto last = [](auto& column, std::size_t n) {
            return column.empty() ? nullptr : column.data() + column.size() - n;
        };
        const Room room{last(trees.nodes, raw_.n_nodes),
                        last(trees.kind, raw_.n_nodes),
                        last(trees.count_of, n_leaves()),
                        last(trees.leaf_values, n_counts()),
                        last(trees.weight, raw_.n_nodes),
                        last(trees.payload, raw_.n_nodes),
                        static_cast<std::uint32_t>(trees.payload_start.size()) - 1};
        append_starts(trees.payload_start, raw_.payload_start);
        append(trees.payload_codes, raw_.payload_codes);
        forest.tree_start.push_back(forest.tree_start.back() + raw_.n_nodes);
        forest.leaf_start.push_back(forest.leaf_start.back() + n_leaves());
        return room;
    }

    // Leaves of several rows are collected for `take_several`.
    void write(const Room& room) {
        if (task_.each_counts_once) {
            write_nodes<true>(room);
        } else {
            std::fill_n(room.counts, n_counts(), 0.0);
            write_nodes<false>(room);
            sum_weights(room.weights);
        }
        if (!task_.only_numbers) write_payloads(room.kinds, room.payloads, room.first_payload);
    }

    LeavesOfSeveral take_several() { return std::move(several_); }

private:
    std::uint32_t n_leaves() const { return raw_.n_nodes - raw_.n_splits; }
    std::size_t n_counts() const { return std::size_t{n_leaves()} * static_cast<std::size_t>(task_.data.n_classes); }

    // Every second node is a leaf, in no order: a branch would be mispredicted. So a count number is always written,
    // and overwritten if the node is no leaf (the last one is). Kinds are bytes, which may alias anything: what is read
    // is kept in locals, or it would be read again.
    template <bool once>
    void write_nodes(const Room& room) {
        Node* const nodes = room.nodes;
        std::uint8_t* const kinds = room.kinds;
        std::uint32_t* const count_of = room.count_of;
        double* counts = room.counts;
        const RawNode* const raw = raw_.nodes.get();
        const std::uint32_t* const marks = raw_.marks.data();
        const Thresholds* const thresholds = task_.thresholds.data() + 1;
        const auto n_classes = static_cast<std::size_t>(task_.data.n_classes);
        const std::size_t n_nodes = raw_.n_nodes, ahead = 40;
        std::int32_t leaf = 0;
        for (std::size_t i = 0; i < n_nodes; ++i) {
            const RawNode& later = raw[std::min(i + ahead, n_nodes - 1)];
            prefetch(&thresholds[later.feature].at(later.answer));
            const RawNode node = raw[i];
            const bool is_leaf = node.feature == leaf_feature;
            nodes[i] = {thresholds[node.feature][node.answer], node.feature,
                        is_leaf ? leaf : static_cast<std::int32_t>(node.at)};
            kinds[i] = static_cast<std::uint8_t>(is_leaf ? Kind::leaf : Kind::threshold);
            if constexpr (once) {
                count_of[leaf] = marks[is_leaf ? node.at : 0];
                if (is_leaf & (node.n_rows > 1)) [[unlikely]] {
                    count_of[leaf] = not_numbered;
                    count_several(static_cast<std::uint32_t>(leaf), marks + node.at, node.n_rows);
                }
            } else {
                for (std::uint32_t row = 0; row < (is_leaf ? node.n_rows : 0); ++row)
                    count(marks[node.at + row], counts);
                counts += is_leaf ? n_classes : 0;
            }
            leaf += is_leaf;
        }
    }

    void count_several(std::uint32_t leaf, const std::uint32_t* labels, std::uint32_t n_rows) {
        several_.leaves.push_back(leaf);
        several_.counts.resize(several_.counts.size() + static_cast<std::size_t>(task_.data.n_classes), 0.0);
        double* const counts = several_.counts.data() + several_.counts.size() - task_.data.n_classes;
        for (std::uint32_t row = 0; row < n_rows; ++row) counts[labels[row]] += 1;
    }

    // A row with a missing value is counted later, in all leaves that it may reach.
    void count(std::uint32_t row, double* counts) const {
        if (task_.ranked.complete[row]) counts[task_.data.labels[row]] += task_.data.weight[row];
    }

    // Leaves: the weights of their rows, in order. Inner nodes: the sum of their children, which come after them.
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
        return 1 +
               *std::max_element(codes + raw_.payload_start[node.answer], codes + raw_.payload_start[node.answer + 1]);
    }

    const RandomTask<Rank>& task_;
    const RawTree& raw_;
    LeavesOfSeveral several_;
};

// 1 for each label of a leaf of one row. As a rule all have been seen soon.
inline std::vector<std::uint8_t> labels_in_use(const Bulk<std::uint32_t>& numbers, std::size_t n_classes) {
    std::vector<std::uint8_t> seen(n_classes, 0);
    std::size_t n_unseen = n_classes;
    for (auto number = numbers.begin(); number != numbers.end() && n_unseen > 0; ++number) {
        if (*number == not_numbered || seen[*number]) continue;
        seen[*number] = 1;
        --n_unseen;
    }
    return seen;
}

// Replaces labels by count numbers. Counts of one row of a class come first, in the order of classes; then those of
// several rows, in the order of occurrence.
inline void number_counts(GrownForest& forest, const std::vector<LeavesOfSeveral>& several, std::size_t n_classes) {
    Bulk<std::uint32_t>& count_of = forest.trees.count_of;
    DistinctRows distinct(n_classes);
    const std::vector<std::uint8_t> alone = labels_in_use(count_of, n_classes);
    std::vector<std::uint32_t> number_of(n_classes);
    std::vector<double> one_row(n_classes, 0.0);
    for (std::size_t label = 0; label < n_classes; ++label) {
        if (!alone[label]) continue;
        one_row[label] = 1;
        number_of[label] = distinct.number(one_row.data());
        one_row[label] = 0;
    }
    if (distinct.size() < n_classes)
        for (std::uint32_t& number : count_of)
            if (number != not_numbered) number = number_of[number];
    for (std::size_t tree = 0; tree < several.size(); ++tree)
        for (std::size_t i = 0; i < several[tree].leaves.size(); ++i)
            count_of[static_cast<std::size_t>(forest.leaf_start[tree]) + several[tree].leaves[i]] =
                distinct.number(several[tree].counts.data() + i * n_classes);
    forest.distinct_counts = distinct.rows();
}

}  // namespace hedgerow::grow::random
