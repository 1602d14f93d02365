#include "boundary/distance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "forest/splits.hpp"

namespace hedgerow::boundary {

using base::Cancelled;
using base::parallel_for;
using data::code_of;
using data::no_code;
using forest::Kind;
using forest::Missing;
using forest::no_child;
using forest::Node;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int32_t none = -1;
constexpr std::int64_t parts_per_task = 256;

bool is_nominal(Kind kind) { return kind == Kind::one_against_rest || kind == Kind::subset || kind == Kind::multiway; }

// --- Which values lead to a node -----------------------------------------------------------------------------

// Number of codes that a subset or multiway split has a child for.
std::int64_t n_listed(const Forest& forest, std::int64_t node) {
    const std::int64_t p = forest.payload[node];
    const std::int64_t n = forest.payload_start[p + 1] - forest.payload_start[p];
    return forest.kind[node] == Kind::subset ? 32 * n : n;
}

// Calls use(ancestor, child) for the splits on the parent's column on the path to a node, nearest first, until it
// returns false.
template <class Use>
void for_each_above(const Forest& forest, const std::int64_t* parent, std::int64_t node, const Use& use) {
    const std::int32_t feature = forest.nodes[parent[node]].feature;
    for (std::int64_t at = node; parent[at] >= 0; at = parent[at]) {
        const std::int64_t up = parent[at];
        if (forest.nodes[up].feature == feature && !use(up, at - forest.nodes[up].first_child)) return;
    }
}

bool is_own_branch(const Forest& forest, std::int64_t node, std::int64_t child) {
    return forest.missing_of(node) == Missing::own_branch && child == n_children(forest, node) - 1;
}

bool any_number(const Forest& forest, const std::int64_t* parent, std::int64_t node) {
    double lower = -infinity, upper = infinity;
    for_each_above(forest, parent, node, [&](std::int64_t up, std::int64_t child) {
        if (forest.kind[up] != Kind::threshold || is_own_branch(forest, up, child)) return true;
        double& bound = child == 0 ? upper : lower;
        bound = child == 0 ? std::min(bound, forest.nodes[up].threshold) : std::max(bound, forest.nodes[up].threshold);
        return true;
    });
    return lower < upper;
}

// Categories that lead to nodes. A one-against-rest split may name any code, so the codes below the largest one are too
// many to try: a split that leads to its first child leaves one code, a list leaves those in it, and k splits that lead
// to "the rest" exclude k codes, so that one of the first k + 1 is left.
class CodeSearch {
public:
    CodeSearch(const Forest& forest, const std::int64_t* parent) : forest_(forest), parent_(parent) {}

    // Whether any code below `n_codes` leads to the node; 0: any code at all.
    bool any(std::int64_t node, std::int64_t n_codes) {
        double only = none_yet;
        std::int64_t n_tried = 1;
        std::int64_t limit = n_codes > 0 ? n_codes : std::numeric_limits<std::int64_t>::max();
        for_each_split(node, [&](std::int64_t up, std::int64_t child) {
            if (forest_.kind[up] != Kind::one_against_rest)
                limit = std::min(limit, n_listed(forest_, up)), n_tried = limit;
            else if (child == 0)
                only = forest_.nodes[up].threshold;
            else
                ++n_tried;
        });
        if (only != none_yet) return only < static_cast<double>(limit) && leads(node, only);
        return any_below(node, std::min(n_tried, limit));
    }

private:
    static constexpr double none_yet = -1;

    // Calls use(split, child) for the nominal splits on the column that the node's parent splits.
    template <class Use>
    void for_each_split(std::int64_t node, const Use& use) const {
        for_each_above(forest_, parent_, node, [&](std::int64_t up, std::int64_t child) {
            if (is_nominal(forest_.kind[up]) && !is_own_branch(forest_, up, child)) use(up, child);
            return true;
        });
    }

    bool leads(std::int64_t node, double code) const {
        bool all = true;
        for_each_split(node, [&](std::int64_t up, std::int64_t child) {
            const bool single = forest_.kind[up] == Kind::one_against_rest;
            all &= single ? (code == forest_.nodes[up].threshold) == (child == 0)
                          : category_child(forest_, up, code) == child;
        });
        return all;
    }

    bool any_below(std::int64_t node, std::int64_t n_tried) {
        left_.assign(static_cast<std::size_t>(n_tried), 1);
        for_each_split(node, [&](std::int64_t up, std::int64_t child) {
            if (forest_.kind[up] == Kind::one_against_rest) {
                const std::int64_t code = code_of(forest_.nodes[up].threshold, n_tried);
                if (code != no_code) left_[static_cast<std::size_t>(code)] = 0;
                return;
            }
            for (std::size_t code = 0; code < left_.size(); ++code)
                left_[code] &= category_child(forest_, up, static_cast<double>(code)) == child;
        });
        return std::find(left_.begin(), left_.end(), 1) != left_.end();
    }

    const Forest& forest_;
    const std::int64_t* parent_;
    std::vector<std::uint8_t> left_;  // per code that is tried
};

// --- One part's search ---------------------------------------------------------------------------------------

// Best-first search: nodes are taken in the order of their distance, so the first leaf of a class is its nearest, and
// nothing farther is expanded. A node's distance is that of the least moves that lead to it.
class Search {
public:
    Search(const Walls& walls, const double* scale)
        : walls_(walls),
          forest_(walls.forest),
          scale_(scale),
          wanted_(static_cast<std::size_t>(n_words(walls.n_classes))) {}

    struct Found {
        double squared = infinity;
        std::int32_t leaf = none;
        std::int32_t separator = none;
    };

    // Calls found(label, Found) for the nearest leaf of each wanted class, nearest first, until none is left or it
    // returns false. Returns the number of leaves whose distance was computed.
    template <class Use>
    std::int64_t operator()(const double* row, std::int64_t own_leaf, const Use& found) {
        row_ = row;
        own_leaf_ = own_leaf;
        knows_own_path_ = false;
        n_leaves_ = 0;
        waiting_.clear();
        moves_.clear();
        SearchEntry at{0.0, 0, none};
        bool has_entry = is_wanted(0);
        while (has_entry) {
            if (forest_.is_leaf(at.node)) {
                if (!waiting_.empty() && later(at, waiting_.front())) {  // not its turn yet
                    wait(at);
                } else if (take(at, found)) {
                    break;
                }
                has_entry = next(at);
            } else {
                has_entry = expand(at) || next(at);
            }
        }
        for (const std::int64_t node : own_path_) own_child_[static_cast<std::size_t>(node)] = none;
        own_path_.clear();
        return n_leaves_;
    }

    void want_none() { std::fill(wanted_.begin(), wanted_.end(), 0); }
    void want(std::int64_t label) { word(label) |= bit(label); }
    void want_not(std::int64_t label) { word(label) &= ~bit(label); }

private:
    struct SearchEntry {
        double squared;
        std::int32_t node;
        std::int32_t move;  // the last of those that lead here
    };

    // A value that had to change: a number to `to`, or a category to any that the splits below ask for.
    struct Move {
        std::int32_t feature;
        std::int32_t before;
        std::int32_t node;
        bool nominal;
        double to;
        double length;
    };

    // Heap order: nearest first, and of equals the first in the tree, so that ties end with the first leaf.
    static bool later(const SearchEntry& a, const SearchEntry& b) {
        return a.squared != b.squared ? a.squared > b.squared : a.node > b.node;
    }

    static std::uint64_t bit(std::int64_t label) { return std::uint64_t{1} << (label % 64); }
    std::uint64_t& word(std::int64_t label) { return wanted_[static_cast<std::size_t>(label / 64)]; }

    bool is_wanted(std::int64_t node) const {
        const std::uint64_t* below = walls_.classes + node * static_cast<std::int64_t>(wanted_.size());
        for (std::size_t i = 0; i < wanted_.size(); ++i)
            if (below[i] & wanted_[i]) return true;
        return false;
    }

    void wait(const SearchEntry& entry) {
        waiting_.push_back(entry);
        std::push_heap(waiting_.begin(), waiting_.end(), later);
    }

    bool next(SearchEntry& entry) {
        while (!waiting_.empty()) {
            std::pop_heap(waiting_.begin(), waiting_.end(), later);
            entry = waiting_.back();
            waiting_.pop_back();
            if (is_wanted(entry.node)) return true;  // its classes may have been found since
        }
        return false;
    }

    template <class Use>
    bool take(const SearchEntry& at, const Use& found) {
        const std::int32_t leaf = forest_.nodes[at.node].first_child;
        const std::int32_t label = walls_.labels[leaf];
        want_not(label);
        const bool goes_on = found(label, Found{at.squared, leaf, farthest(at.move)});
        return !goes_on || std::all_of(wanted_.begin(), wanted_.end(), [](std::uint64_t word) { return word == 0; });
    }

    // The split that moved the row farthest; of equals the one on the first column.
    std::int32_t farthest(std::int32_t move) const {
        std::int32_t best = none, node = none;
        for (; move != none; move = moves_[static_cast<std::size_t>(move)].before) {
            const Move& one = moves_[static_cast<std::size_t>(move)];
            const Move* other = best == none ? nullptr : &moves_[static_cast<std::size_t>(best)];
            if (!other || one.length > other->length || (one.length == other->length && one.feature < other->feature)) {
                best = move;
                node = one.node;
            }
        }
        return node;
    }

    const Move* moved(std::int32_t move, std::int32_t feature, bool nominal) const {
        for (; move != none; move = moves_[static_cast<std::size_t>(move)].before) {
            const Move& one = moves_[static_cast<std::size_t>(move)];
            if (one.feature == feature && one.nominal == nominal) return &one;
        }
        return nullptr;
    }

    // Queues the children of an inner node. A wanted child that is as near as the node becomes `at` at once; else the
    // result is false.
    bool expand(SearchEntry& at) {
        const SearchEntry from = at;
        const std::int64_t node = from.node;
        const std::int64_t answered = branch_of(forest_, node, row_);
        if (answered == no_child) return stay(at, node);
        return is_nominal(forest_.kind[node]) ? change(at, from, answered) : move(at, from);
    }

    bool move(SearchEntry& at, const SearchEntry& from) {
        const Node& test = forest_.nodes[from.node];
        const double value = row_[test.feature];
        const Move* before = moved(from.move, test.feature, false);
        const double position = before ? before->to : value;
        const std::int32_t near = position <= test.threshold ? 0 : 1;
        const std::int32_t far = test.first_child + 1 - near;
        if (walls_.open[far] && is_wanted(far)) {
            const double length = std::abs(value - test.threshold) / scale_[test.feature];
            const double old = before ? before->length : 0.0;
            const double more = length > old ? (length - old) * (length + old) : 0.0;  // of the squares
            push(far, from.squared + more, {test.feature, from.move, from.node, false, test.threshold, length});
        }
        return go(at, test.first_child + near, walls_.open[test.first_child + near]);
    }

    // A category that has been changed already may be any: `open` holds which ones are possible.
    bool change(SearchEntry& at, const SearchEntry& from, std::int64_t answered) {
        const Node& test = forest_.nodes[from.node];
        const bool free = moved(from.move, test.feature, true) != nullptr;
        const std::int64_t n = n_children(forest_, from.node) - (forest_.missing_of(from.node) == Missing::own_branch);
        const double length = 1.0 / scale_[test.feature];
        for (std::int64_t number = 0; number < n; ++number) {
            const auto child = static_cast<std::int32_t>(test.first_child + number);
            if ((number == answered && !free) || !walls_.open[child] || !is_wanted(child)) continue;
            if (free)
                wait_at(child, from.squared, from.move);
            else
                push(child, from.squared + length * length, {test.feature, from.move, from.node, true, 0.0, length});
        }
        return !free && go(at, static_cast<std::int32_t>(test.first_child + answered), true);
    }

    // No value: on the path to the part's own leaf one branch is taken, elsewhere those of the policy.
    bool stay(SearchEntry& at, std::int64_t node) {
        const std::int32_t first = forest_.nodes[node].first_child;
        const std::int32_t own = own_child(node);
        if (own != none) return go(at, own, true);
        const std::int64_t number = child_number(forest_, node, row_);
        if (number != no_child) return go(at, static_cast<std::int32_t>(first + number), true);
        const std::int64_t n = n_children(forest_, node);
        for (std::int64_t child = first; child < first + n; ++child)
            if (is_wanted(child)) wait_at(static_cast<std::int32_t>(child), at.squared, at.move);
        return false;
    }

    bool go(SearchEntry& at, std::int32_t child, bool open) {
        if (!open || !is_wanted(child)) return false;
        n_leaves_ += forest_.is_leaf(child);
        at.node = child;
        return true;
    }

    void push(std::int32_t child, double squared, const Move& move) {
        moves_.push_back(move);
        wait_at(child, squared, static_cast<std::int32_t>(moves_.size()) - 1);
    }

    void wait_at(std::int32_t child, double squared, std::int32_t move) {
        n_leaves_ += forest_.is_leaf(child);
        wait({squared, child, move});
    }

    // The child of a node on the path to the part's own leaf. Needed for missing values only, so computed on demand.
    std::int32_t own_child(std::int64_t node) {
        if (!knows_own_path_) {
            knows_own_path_ = true;
            own_child_.resize(static_cast<std::size_t>(forest_.tree_start[1]), none);
            for (std::int64_t at = walls_.leaf_nodes[own_leaf_]; walls_.parent[at] >= 0; at = walls_.parent[at]) {
                own_child_[static_cast<std::size_t>(walls_.parent[at])] = static_cast<std::int32_t>(at);
                own_path_.push_back(walls_.parent[at]);
            }
        }
        return own_child_[static_cast<std::size_t>(node)];
    }

    const Walls& walls_;
    const Forest& forest_;
    const double* scale_;
    const double* row_ = nullptr;
    std::int64_t own_leaf_ = 0;
    std::int64_t n_leaves_ = 0;
    bool knows_own_path_ = false;
    std::vector<std::uint64_t> wanted_;
    std::vector<SearchEntry> waiting_;
    std::vector<Move> moves_;
    std::vector<std::int32_t> own_child_;
    std::vector<std::int64_t> own_path_;
};

// All classes in one search: the nearest leaf of another class is also the own class's distance.
void every_distance(const Walls& walls, Search& search, const double* row, std::int64_t own_leaf,
                    const WallDistances& out, std::int64_t part) {
    const std::int64_t own = walls.labels[own_leaf];
    const std::int64_t first = part * walls.n_classes;
    for (std::int64_t c = 0; c < walls.n_classes; ++c) {
        out.distance[first + c] = c == own ? -infinity : infinity;
        out.leaf[first + c] = out.separator[first + c] = none;
        search.want(c);
    }
    search.want_not(own);
    const auto set = [&](std::int64_t c, double distance, const Search::Found& found) {
        out.distance[first + c] = distance;
        out.leaf[first + c] = found.leaf;
        out.separator[first + c] = found.separator;
    };
    out.n_leaves[part] = search(row, own_leaf, [&](std::int64_t label, const Search::Found& found) {
        const double distance = std::sqrt(found.squared);
        if (out.leaf[first + own] == none) set(own, -distance, found);
        set(label, distance, found);
        return true;
    });
    search.want_none();
}

void one_distance(const Walls& walls, Search& search, const double* row, std::int64_t own_leaf, std::int64_t target,
                  const WallDistances& out, std::int64_t part) {
    const bool inside = walls.labels[own_leaf] == target;
    if (inside) {
        for (std::int64_t c = 0; c < walls.n_classes; ++c) search.want(c);
        search.want_not(target);
    } else {
        search.want(target);
    }
    Search::Found nearest;
    out.n_leaves[part] = search(row, own_leaf, [&](std::int64_t, const Search::Found& found) {
        nearest = found;
        return false;
    });
    search.want_none();
    const double distance = std::sqrt(nearest.squared);
    out.distance[part] = inside ? -distance : distance;
    out.leaf[part] = nearest.leaf;
    out.separator[part] = nearest.separator;
}

}  // namespace

std::vector<std::uint64_t> classes_below(const Forest& forest, const std::int64_t* parent, const std::int32_t* labels,
                                         std::int64_t n_classes) {
    const std::int64_t n_nodes = forest.tree_start[1], words = n_words(n_classes);
    std::vector<std::uint64_t> below(static_cast<std::size_t>(n_nodes * words), 0);
    for (std::int64_t node = n_nodes - 1; node >= 0; --node) {
        std::uint64_t* own = below.data() + node * words;
        if (forest.is_leaf(node)) {
            const std::int32_t label = labels[forest.nodes[node].first_child];
            own[label / 64] |= std::uint64_t{1} << (label % 64);
        }
        if (parent[node] < 0) continue;
        for (std::int64_t i = 0; i < words; ++i) below[static_cast<std::size_t>(parent[node] * words + i)] |= own[i];
    }
    return below;
}

std::vector<std::uint8_t> open_nodes(const Forest& forest, const std::int64_t* parent, const std::int32_t* n_categories,
                                     const Poll& poll) {
    const std::int64_t n_nodes = forest.tree_start[1];
    CodeSearch codes(forest, parent);
    std::vector<std::uint8_t> open(static_cast<std::size_t>(n_nodes), 1);
    for (std::int64_t node = 1; node < n_nodes; ++node) {
        if (node % 256 == 0) poll();
        const std::int64_t up = parent[node];
        if (is_own_branch(forest, up, node - forest.nodes[up].first_child)) {
            open[static_cast<std::size_t>(node)] = 0;
        } else if (is_nominal(forest.kind[up])) {
            open[static_cast<std::size_t>(node)] = codes.any(node, n_categories[forest.nodes[up].feature]);
        } else if (forest.kind[up] == Kind::threshold) {
            open[static_cast<std::size_t>(node)] = any_number(forest, parent, node);
        }
    }
    return open;
}

void wall_distance(const Walls& walls, const Rows& rows, const RowParts& parts, const double* scale,
                   std::int64_t target, const WallDistances& out, std::int64_t n_threads, const Poll& poll) {
    const std::int64_t n_tasks = (parts.n_parts + parts_per_task - 1) / parts_per_task;
    parallel_for(
        n_tasks, n_tasks <= 1 ? 0 : n_threads,
        [&](std::int64_t task, const Cancelled& cancelled) {
            Search search(walls, scale);
            const std::int64_t end = std::min(parts.n_parts, (task + 1) * parts_per_task);
            for (std::int64_t part = task * parts_per_task; part < end && !cancelled; ++part) {
                const double* row = rows[parts.rows[part]];
                const std::int64_t leaf = parts.leaves[part];
                if (target == every_class)
                    every_distance(walls, search, row, leaf, out, part);
                else
                    one_distance(walls, search, row, leaf, target, out, part);
            }
        },
        poll);
}

}  // namespace hedgerow::boundary
