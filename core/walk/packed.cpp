#include "walk/packed.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "forest/splits.hpp"
#include "walk/tree_spread.hpp"

namespace hedgerow::walk {

using forest::child_if_missing;
using forest::child_of_code;
using forest::Kind;
using forest::Missing;
using forest::n_children;
using forest::n_codes;
using forest::Node;

namespace {

constexpr std::int64_t most_16_bits = 0xFFFF;
constexpr std::size_t most_runs = 64;  // of a subset; the slots of a multiway split are no more than its children

// How a threshold reads missing values.
Reading number_reading(Missing policy) {
    switch (policy) {
        case Missing::spread:
            return Reading::stay;
        case Missing::first_child:
            return Reading::first;
        case Missing::last_child:
        case Missing::own_branch:
            return Reading::last;
    }
    return Reading::last;
}

unsigned bit_of(Reading reading) { return 1u << static_cast<unsigned>(reading); }

// The readings of the thresholds of each feature, as bits.
std::vector<unsigned> number_readings(const Forest& forest, std::int64_t first_node, std::int64_t last_node) {
    std::vector<unsigned> readings(static_cast<std::size_t>(forest.n_features), 0);
    for (std::int64_t node = first_node; node < last_node; ++node)
        if (!forest.is_leaf(node) && forest.is_threshold(node))
            readings[static_cast<std::size_t>(forest.nodes[node].feature)] |=
                bit_of(number_reading(forest.missing_of(node)));
    return readings;
}

bool reads_both_ways(unsigned readings) {
    const unsigned both = bit_of(Reading::first) | bit_of(Reading::last);
    return (readings & both) == both;
}

bool any_spreads(const Forest& forest, std::int64_t first_node, std::int64_t last_node) {
    if (forest.missing == nullptr) return true;
    for (std::int64_t node = first_node; node < last_node; ++node)
        if (!forest.is_leaf(node) && forest.missing[node] == Missing::spread) return true;
    return false;
}

// How a one-against-rest split reads missing values; Reading::code if they have a branch of their own.
Reading category_reading(Missing policy) {
    switch (policy) {
        case Missing::spread:
            return Reading::one_stay;
        case Missing::first_child:
            return Reading::one_first;
        case Missing::last_child:
            return Reading::one_last;
        case Missing::own_branch:
            return Reading::code;
    }
    return Reading::code;
}

KeyColumns::Category category_of(const Forest& forest, std::int64_t node) {
    return {forest.nodes[node].feature, category_reading(forest.missing_of(node)),
            static_cast<std::int64_t>(forest.nodes[node].threshold)};
}

// Categories that get a column of their own, ascending. If there are more than `most`, features with the most
// categories have none.
std::vector<KeyColumns::Category> categories_of(const Forest& forest, std::int64_t first_node, std::int64_t last_node,
                                                std::size_t most) {
    std::vector<KeyColumns::Category> found;
    if (forest.only_thresholds) return found;
    for (std::int64_t node = first_node; node < last_node; ++node)
        if (!forest.is_leaf(node) && forest.kind[node] == Kind::one_against_rest &&
            forest.missing_of(node) != Missing::own_branch)
            found.push_back(category_of(forest, node));
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());

    std::vector<std::size_t> n_of_feature(static_cast<std::size_t>(forest.n_features), 0);
    for (const auto& category : found) ++n_of_feature[static_cast<std::size_t>(category.feature)];
    std::size_t n = found.size();
    while (n > most) {
        const auto largest = std::max_element(n_of_feature.begin(), n_of_feature.end());
        n -= *largest;
        *largest = 0;
    }
    std::erase_if(found, [&](const KeyColumns::Category& category) {
        return n_of_feature[static_cast<std::size_t>(category.feature)] == 0;
    });
    return found;
}

}  // namespace

// Lays out one tree after the other, level by level: the top of a tree, which every row visits, is in few cache lines.
class Packer {
public:
    Packer(const Forest& forest, PackedForest& packed, std::vector<unsigned> readings)
        : forest_(forest), packed_(packed), readings_(std::move(readings)) {}

    void append(std::int64_t tree) {
        root_ = forest_.tree_start[tree];
        start_ = size();
        packed_.slot_start_.push_back(start_);
        pending_.clear();
        far_.clear();
        add_slots(1);
        pending_.push_back({0, root_});
        std::size_t next = 0, next_far = 0;
        while (next < pending_.size() || next_far < far_.size()) {
            if (next < pending_.size()) {
                const Pending one = pending_[next++];
                place(one.slot, one.node);
            } else {
                place_children(far_[next_far++]);
            }
        }
    }

private:
    // A node that is to be placed in a slot.
    struct Pending {
        std::int64_t slot, node;
    };
    // Keys up to `key` (the last run: all others) take a branch; no_child: the row is spread.
    struct Run {
        std::uint32_t key;
        std::int64_t child;
    };

    std::int64_t size() const { return static_cast<std::int64_t>(packed_.slots_.size()); }
    PackedNode& slot_at(std::int64_t slot) { return packed_.slots_[static_cast<std::size_t>(start_ + slot)]; }
    std::int32_t& place_of(std::int64_t slot) { return packed_.places_[static_cast<std::size_t>(start_ + slot)]; }

    std::int64_t add_slots(std::int64_t n) {
        const std::int64_t first = size() - start_;
        packed_.slots_.resize(static_cast<std::size_t>(size() + n), {stop_key, 0, 0});
        packed_.places_.resize(packed_.slots_.size());
        return first;
    }

    void place(std::int64_t slot, std::int64_t node) {
        std::int32_t& place = packed_.slot_of_[static_cast<std::size_t>(node - packed_.first_node_)];
        place_of(slot) = forest_.is_leaf(node) ? forest_.nodes[node].first_child : inner_place(node, false);
        if (place >= 0) return copy(place, slot);
        place = static_cast<std::int32_t>(slot);
        if (forest_.is_leaf(node)) return;
        if (forest_.is_threshold(node) && place_threshold(slot, node)) return;
        if (forest_.kind[node] == Kind::one_against_rest && place_category(slot, node)) return;
        const bool found = find_runs(node);
        // All comparisons of a node lie between its slot and the first slot that is free.
        const std::int64_t farthest = size() - start_ - slot + 2 * static_cast<std::int64_t>(runs_.size());
        if (!found || column_ > most_16_bits) return place_children(node);
        if (farthest > most_16_bits) return far_.push_back(node);
        compare(slot, node, 0, runs_.size());
        place_others(node);
    }

    // Children that no run leads to: parts of rows that are spread begin there, and rows that stay are sent there.
    void place_others(std::int64_t node) {
        has_run_.assign(static_cast<std::size_t>(n_children(forest_, node)), 0);
        for (const Run& run : runs_)
            if (run.child != no_child) has_run_[static_cast<std::size_t>(run.child)] = 1;
        for (std::size_t child = 0; child < has_run_.size(); ++child)
            if (!has_run_[child]) pending_.push_back({add_slots(1), child_of(node, static_cast<std::int64_t>(child))});
    }

    // The usual case at once: two runs. False if there is more to it.
    bool place_threshold(std::int64_t slot, std::int64_t node) {
        const forest::Node& test = forest_.nodes[node];
        return forest_.missing_of(node) != Missing::own_branch &&
               place_pair(slot, node, number_column(node), threshold_key(test.threshold));
    }

    // A category with a column of its own.
    bool place_category(std::int64_t slot, std::int64_t node) {
        const std::int64_t column = packed_.columns_.category_column(category_of(forest_, node));
        return column != 0 && place_pair(slot, node, column, key_of_one_node);
    }

    bool place_pair(std::int64_t slot, std::int64_t node, std::int64_t column, std::uint32_t key) {
        const std::int64_t pair = size() - start_;
        if (column > most_16_bits || pair - slot > most_16_bits) return false;
        add_slots(2);
        slot_at(slot) = {key, static_cast<std::uint16_t>(column), static_cast<std::uint16_t>(pair - slot)};
        place_of(slot) =
            inner_place(node, forest_.missing_of(node) == Missing::spread);  // a row that stays lacks a value
        pending_.push_back({pair, child_of(node, 0)});
        pending_.push_back({pair + 1, child_of(node, 1)});
        return true;
    }

    // Children of a node that stops walks.
    void place_children(std::int64_t node) {
        const std::int64_t n = n_children(forest_, node);
        const std::int64_t first = add_slots(n);
        for (std::int64_t child = 0; child < n; ++child) pending_.push_back({first + child, child_of(node, child)});
    }

    // The node of a slot once more; if its children are too far away, walks stop here.
    void copy(std::int64_t from, std::int64_t to) {
        PackedNode node = slot_at(from);
        const std::int64_t to_child = from + node.to_child - to;
        if (node.key == stop_key || to_child > most_16_bits) return;
        node.to_child = static_cast<std::uint16_t>(to_child);
        slot_at(to) = node;
        place_of(to) = place_of(from);
    }

    // Binary search for a row's run among first .. last - 1.
    void compare(std::int64_t slot, std::int64_t node, std::size_t first, std::size_t last) {
        if (last - first == 1) {
            const bool spread = runs_[first].child == no_child;
            place_of(slot) = inner_place(node, spread);
            if (!spread) pending_.push_back({slot, child_of(node, runs_[first].child)});
            return;
        }
        place_of(slot) = inner_place(node, false);
        const std::size_t middle = (first + last) / 2;
        const std::int64_t pair = add_slots(2);
        slot_at(slot) = {runs_[middle - 1].key, static_cast<std::uint16_t>(column_),
                         static_cast<std::uint16_t>(pair - slot)};
        compare(pair, node, first, middle);
        compare(pair + 1, node, middle, last);
    }

    // Sets `runs_` and `column_`; false if keys can't decide.
    bool find_runs(std::int64_t node) {
        const Kind kind = forest_.kind[node];
        runs_.clear();
        column_ = 0;
        if (kind == Kind::oblique) return false;
        const Node& test = forest_.nodes[node];
        if (kind == Kind::threshold) {
            runs_.push_back({threshold_key(test.threshold), 0});
            runs_.push_back({last_key - 1, 1});
            if (forest_.missing_of(node) == Missing::own_branch) runs_.push_back({stop_key, 2});
            column_ = number_column(node);
            return true;
        }
        const std::int64_t if_missing = child_if_missing(forest_, node);
        const std::int64_t n =
            kind == Kind::one_against_rest ? static_cast<std::int64_t>(test.threshold) + 1 : n_codes(forest_, node);
        if (n > most_codes) return false;
        if (kind == Kind::one_against_rest) {
            if (n > 1) add_run(code_key(n - 2), 1);
            add_run(code_key(n - 1), 0);
        } else {
            for (std::int64_t code = 0; code < n; ++code) {
                const std::int64_t child = child_of_code(forest_, node, code);
                add_run(code_key(code), child == no_child ? if_missing : child);
            }
        }
        // Codes and other numbers that the node does not know; then missing values.
        add_run(last_key - 2, kind == Kind::one_against_rest ? 1 : if_missing);
        add_run(last_key, if_missing);
        if (kind == Kind::subset && runs_.size() > most_runs) return false;
        column_ = packed_.columns_.code_column(test.feature, n);
        return true;
    }

    std::int64_t number_column(std::int64_t node) {
        const std::int32_t feature = forest_.nodes[node].feature;
        const Reading reading = number_reading(forest_.missing_of(node));
        const bool has_column = (readings_[static_cast<std::size_t>(feature)] & bit_of(reading)) != 0;
        return packed_.columns_.column(feature, has_column ? reading : Reading::last);
    }

    // Extends the last run, or begins one; `key` is the largest of the row keys in it.
    void add_run(std::uint32_t key, std::int64_t child) {
        if (!runs_.empty() && runs_.back().child == child)
            runs_.back().key = key + 1;
        else
            runs_.push_back({key + 1, child});
    }

    std::int64_t child_of(std::int64_t node, std::int64_t child) const {
        return root_ + forest_.nodes[node].first_child + child;
    }
    // Of a slot that is no leaf: whether rows that stop there are spread, or the split is to be evaluated.
    std::int32_t inner_place(std::int64_t node, bool spread) const {
        return ~static_cast<std::int32_t>(2 * (node - root_) + spread);
    }

    const Forest& forest_;
    PackedForest& packed_;
    std::vector<unsigned> readings_;  // of numbers, by feature: bits
    std::int64_t root_ = 0, start_ = 0;
    std::vector<Pending> pending_;
    std::vector<std::int64_t> far_;  // nodes with children out of the reach of 16 bits: these are placed afterwards
    std::vector<Run> runs_;
    std::vector<std::uint8_t> has_run_;  // by child
    std::int64_t column_ = 0;
};

PackedForest::PackedForest(const Forest& forest, std::int64_t first_tree, std::int64_t last_tree, RowsHave rows_have,
                           std::int64_t most_category_columns)
    : first_tree_(first_tree),
      last_tree_(last_tree),
      first_node_(forest.tree_start[first_tree]),
      spreads_(any_spreads(forest, first_node_, forest.tree_start[last_tree])),
      // A key costs a quarter of what it saves in each tree: two for each tree pay.
      columns_(forest.n_features,
               categories_of(forest, first_node_, forest.tree_start[last_tree],
                             static_cast<std::size_t>(std::min(most_category_columns, 2 * (last_tree - first_tree))))) {
    const auto n_nodes = static_cast<std::size_t>(forest.tree_start[last_tree] - first_node_);
    slots_.reserve(n_nodes);
    places_.reserve(n_nodes);
    slot_of_.assign(n_nodes, -1);
    std::vector<unsigned> readings = number_readings(forest, first_node_, forest.tree_start[last_tree]);
    if (rows_have == RowsHave::all_values)
        for (unsigned& of_feature : readings)
            if (reads_both_ways(of_feature)) of_feature &= ~bit_of(Reading::first);
    // Those of a feature side by side.
    for (std::size_t feature = 0; feature < readings.size(); ++feature)
        for (const Reading reading : {Reading::stay, Reading::first, Reading::last})
            if (readings[feature] & bit_of(reading)) columns_.column(static_cast<std::int32_t>(feature), reading);
    Packer packer(forest, *this, std::move(readings));
    for (std::int64_t tree = first_tree; tree < last_tree; ++tree) packer.append(tree);
}

bool sends_both_ways(const Forest& forest) {
    if (forest.missing == nullptr) return false;
    const auto readings = number_readings(forest, 0, forest.tree_start[forest.n_trees]);
    return std::any_of(readings.begin(), readings.end(), reads_both_ways);
}

void PackedForest::find_shares(const Forest& forest) const {
    shares_.get_or([&] {
        const std::int64_t end_node = forest.tree_start[last_tree_];
        std::vector<ChildShare> shares(static_cast<std::size_t>(end_node - first_node_), {0.0, 0});
        for (std::int64_t tree = first_tree_; tree < last_tree_; ++tree) {
            const std::int64_t root = forest.tree_start[tree];
            for (std::int64_t node = root; node < forest.tree_start[tree + 1]; ++node) {
                if (forest.is_leaf(node)) continue;
                const std::int64_t end = root + forest.nodes[node].first_child + n_children(forest, node);
                for (std::int64_t child = root + forest.nodes[node].first_child; child < end; ++child)
                    shares[static_cast<std::size_t>(child - first_node_)].n_after = end - 1 - child;
                for_each_part(forest, root, node, 1.0, [&](std::int64_t child, double share) {
                    shares[static_cast<std::size_t>(child - first_node_)].share = share;
                });
            }
        }
        return shares;
    });
}

std::int64_t slot_of_child(const Forest& forest, const PackedTree& tree, const KeyedRows& rows, std::int32_t place,
                           const std::uint32_t* keys) {
    const std::int64_t node = node_of_place(place);
    const std::int64_t child = child_number(forest, tree.root + node, rows.row(keys));
    return child == no_child ? no_child : tree.slot_of[forest.nodes[tree.root + node].first_child + child];
}

}  // namespace hedgerow::walk
