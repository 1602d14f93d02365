// The rows of the nodes that are still to be split, in the order of every column.
//
// Presorted lists, stably partitioned: columns are sorted once for all trees, and a split moves each list once. A row
// whose value is missing at a split may go down several children as fractions; then the children get a new block, in
// which each fraction is an instance. So do small nodes of a large block, to stay in the cache.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "data/categories.hpp"
#include "grow/criteria.hpp"
#include "grow/sorting.hpp"

namespace hedgerow::grow::exact {

using data::CategoryRows;

// The columns of the training data, prepared once for all trees.
struct SortedData {
    std::vector<std::int32_t> list_of;  // per column: its number in `columns`, -1 for categories
    std::vector<SortedColumn> columns;  // those that are split by threshold
    CategoryRows categories;            // the others
};

struct ListEntry {
    std::uint32_t rank;  // of the value in its column
    std::uint32_t id;    // of the instance in its block
};

struct Range {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint32_t size() const { return end - begin; }
};

template <class Target>
struct SampleBlock {
    std::vector<Instance<Target>> instances;    // by id
    std::vector<std::uint32_t> rows;            // by id
    std::vector<double> fractions;              // by id; empty where every instance is a whole row
    std::vector<std::uint32_t> members;         // ids, a range for each node
    std::vector<std::vector<ListEntry>> lists;  // per threshold column: instances with a value, ascending

    double fraction(std::uint32_t id) const { return fractions.empty() ? 1.0 : fractions[id]; }
};

template <class Target>
struct NodeSamples {
    std::shared_ptr<SampleBlock<Target>> block;
    Range members;
    std::vector<Range> lists;
};

// The child of each instance by id, or `divided`: a fraction to every child.
struct Assignment {
    static constexpr std::int32_t divided = -1;
    std::vector<std::int32_t> child_of;
    std::vector<double> shares;      // per child, of an instance that is divided
    std::vector<std::uint8_t> live;  // per child: it may be split, so that its lists are needed
    bool any_divided = false;

    std::size_t n_children() const { return shares.size(); }
};

template <class Target>
class Distributor {
public:
    std::vector<NodeSamples<Target>> operator()(const NodeSamples<Target>& node, const Assignment& to) {
        const bool small = std::size_t{8} * node.members.size() < node.block->instances.size();
        return to.any_divided || small ? into_new_block(node, to) : in_place(node, to);
    }

private:
    using Samples = std::vector<NodeSamples<Target>>;

    Samples in_place(const NodeSamples<Target>& node, const Assignment& to) {
        Samples children(to.n_children(), {node.block, {}, std::vector<Range>(node.lists.size())});
        const auto child_of = [&](std::uint32_t id) { return to.child_of[id]; };
        const std::vector<std::uint8_t> all(to.n_children(), true);
        partition(node.block->members.data(), node.members, ids_, all, child_of,
                  [&](std::size_t c, Range range) { children[c].members = range; });
        for (std::size_t f = 0; f < node.lists.size(); ++f)
            partition(
                node.block->lists[f].data(), node.lists[f], entries_, to.live,
                [&](const ListEntry& entry) { return to.child_of[entry.id]; },
                [&](std::size_t c, Range range) { children[c].lists[f] = range; });
        return children;
    }

    // Stable. Instances of children that are not kept are dropped; ranges are consecutive from range.begin.
    template <class Item, class ChildOf, class Store>
    void partition(Item* items, Range range, std::vector<Item>& spare, const std::vector<std::uint8_t>& keep,
                   const ChildOf& child_of, const Store& store) {
        spare.resize(std::max<std::size_t>(spare.size(), range.size()));
        if (keep.size() == 2 && keep[0] && keep[1])
            partition_in_two(items, range, spare.data(), child_of, store);
        else if (std::find(keep.begin(), keep.end(), std::uint8_t{true}) != keep.end())
            partition_in_many(items, range, spare.data(), keep, child_of, store);
    }

    // Both sides are written for every item and only one cursor moves: no branch to mispredict.
    template <class Item, class ChildOf, class Store>
    void partition_in_two(Item* items, Range range, Item* spare, const ChildOf& child_of, const Store& store) {
        Item* left = items + range.begin;
        Item* right = spare;
        for (const Item* item = items + range.begin; item < items + range.end; ++item) {
            const Item copy = *item;
            const bool second = child_of(copy) != 0;
            *left = copy;
            *right = copy;
            left += !second;
            right += second;
        }
        std::copy(spare, right, left);
        const auto middle = static_cast<std::uint32_t>(left - items);
        store(0, Range{range.begin, middle});
        store(1, Range{middle, range.end});
    }

    template <class Item, class ChildOf, class Store>
    void partition_in_many(Item* items, Range range, Item* spare, const std::vector<std::uint8_t>& keep,
                           const ChildOf& child_of, const Store& store) {
        starts_.assign(keep.size() + 1, 0);
        for (std::uint32_t at = range.begin; at < range.end; ++at) {
            const auto c = static_cast<std::size_t>(child_of(items[at]));
            starts_[c + 1] += keep[c];
        }
        for (std::size_t c = 0; c < keep.size(); ++c) {
            starts_[c + 1] += starts_[c];
            store(c, Range{range.begin + starts_[c], range.begin + starts_[c + 1]});
        }
        const std::uint32_t n_kept = starts_.back();
        for (std::uint32_t at = range.begin; at < range.end; ++at) {
            const auto c = static_cast<std::size_t>(child_of(items[at]));
            if (keep[c]) spare[starts_[c]++] = items[at];
        }
        std::copy(spare, spare + n_kept, items + range.begin);
    }

    // Calls use(child, share) for every child that an instance goes to.
    template <class Use>
    static void for_each_child(const Assignment& to, std::uint32_t id, const Use& use) {
        const std::int32_t child = to.child_of[id];
        if (child != Assignment::divided) return use(static_cast<std::size_t>(child), 1.0);
        for (std::size_t c = 0; c < to.n_children(); ++c)
            if (to.shares[c] > 0) use(c, to.shares[c]);
    }

    Samples into_new_block(const NodeSamples<Target>& node, const Assignment& to) {
        auto block = std::make_shared<SampleBlock<Target>>();
        Samples children(to.n_children(), {block, {}, std::vector<Range>(node.lists.size())});
        renumber(node, to, *block, children);
        const SampleBlock<Target>& old = *node.block;
        const auto live = [&](std::size_t c) { return to.live[c]; };
        block->lists.resize(old.lists.size());
        for (std::size_t f = 0; f < old.lists.size(); ++f) {
            const ListEntry* entries = old.lists[f].data();
            const auto id_at = [&](std::uint32_t at) { return entries[at].id; };
            const std::uint32_t n = lay_out(node.lists[f], to, id_at, live,
                                            [&](std::size_t c, Range range) { children[c].lists[f] = range; });
            block->lists[f].resize(n);
            for (std::uint32_t at = node.lists[f].begin; at < node.lists[f].end; ++at)
                for_each_child(to, entries[at].id, [&](std::size_t c, double) {
                    if (to.live[c]) block->lists[f][starts_[c]++] = {entries[at].rank, new_id(to, entries[at].id, c)};
                });
        }
        return children;
    }

    // New ids run child by child, in the old order: in the new block position and id are the same.
    void renumber(const NodeSamples<Target>& node, const Assignment& to, SampleBlock<Target>& block,
                  Samples& children) {
        const SampleBlock<Target>& old = *node.block;
        const auto id_at = [&](std::uint32_t at) { return old.members[at]; };
        const std::uint32_t n = lay_out(
            node.members, to, id_at, [](std::size_t) { return true; },
            [&](std::size_t c, Range range) { children[c].members = range; });
        block.members.resize(n);
        std::iota(block.members.begin(), block.members.end(), 0u);
        block.instances.resize(n);
        block.rows.resize(n);
        if (to.any_divided || !old.fractions.empty()) block.fractions.resize(n);
        new_ids_.resize(std::max(new_ids_.size(), old.instances.size()));
        parts_.clear();
        for (std::uint32_t at = node.members.begin; at < node.members.end; ++at) {
            const std::uint32_t id = old.members[at];
            const bool divided = to.child_of[id] == Assignment::divided;
            if (divided) {
                new_ids_[id] = static_cast<std::uint32_t>(parts_.size());
                parts_.resize(parts_.size() + to.n_children());
            }
            for_each_child(to, id, [&](std::size_t c, double share) {
                const std::uint32_t next = starts_[c]++;
                (divided ? parts_[new_ids_[id] + c] : new_ids_[id]) = next;
                block.instances[next] = {old.instances[id].weight * share, old.instances[id].target};
                block.rows[next] = old.rows[id];
                if (!block.fractions.empty()) block.fractions[next] = old.fraction(id) * share;
            });
        }
    }

    std::uint32_t new_id(const Assignment& to, std::uint32_t id, std::size_t c) const {
        return to.child_of[id] == Assignment::divided ? parts_[new_ids_[id] + c] : new_ids_[id];
    }

    // Counts the instances of each child that is kept, stores the ranges, leaves their starts in starts_.
    template <class IdAt, class Keep, class Store>
    std::uint32_t lay_out(Range range, const Assignment& to, const IdAt& id_at, const Keep& keep, const Store& store) {
        starts_.assign(to.n_children() + 1, 0);
        for (std::uint32_t at = range.begin; at < range.end; ++at)
            for_each_child(to, id_at(at), [&](std::size_t c, double) { starts_[c + 1] += keep(c); });
        for (std::size_t c = 0; c < to.n_children(); ++c) {
            starts_[c + 1] += starts_[c];
            store(c, {starts_[c], starts_[c + 1]});
        }
        return starts_.back();
    }

    std::vector<std::uint32_t> ids_, starts_;
    std::vector<std::uint32_t> new_ids_;  // by old id; of an instance that is divided: where its parts_ begin
    std::vector<std::uint32_t> parts_;
    std::vector<ListEntry> entries_;
};

}  // namespace hedgerow::grow::exact
