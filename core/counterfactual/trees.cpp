#include "counterfactual/trees.hpp"

#include <algorithm>
#include <cmath>

#include "forest/splits.hpp"
#include "walk/tree_spread.hpp"

namespace hedgerow::counterfactual {

namespace {

// A row of which only the column of one split is looked at.
struct OneValue {
    double value;
    double operator[](std::int64_t) const { return value; }
};

}  // namespace

Trees::Trees(const Forest& forest, const Candidates& candidates, const Conditions& conditions)
    : forest_(forest), conditions_(conditions) {
    for (std::int64_t tree = 0; tree < forest.n_trees; ++tree) build(tree, candidates);
}

std::int32_t Trees::add_children(std::int32_t n) {
    const auto first = static_cast<std::int32_t>(nodes_.size());
    nodes_.resize(nodes_.size() + static_cast<std::size_t>(n));
    return first;
}

void Trees::build(std::int64_t tree, const Candidates& candidates) {
    const std::int64_t start = forest_.tree_start[tree];
    has_mixtures_.push_back(0);
    roots_.push_back(add_children(1));
    std::vector<Source> waiting{{start, roots_.back()}};
    std::vector<std::int64_t> taken;
    const auto mix = [&](std::int64_t source, std::int32_t place) {
        has_mixtures_.back() = 1;
        std::vector<std::int64_t> children;
        const auto table = static_cast<std::int32_t>(parts_.size());
        walk::for_each_part(forest_, start, source, 1.0, [&](std::int64_t child, double share) {
            children.push_back(child);
            parts_.push_back(share);
        });
        const auto n = static_cast<std::int32_t>(children.size());
        const std::int32_t first = add_children(n);
        nodes_[static_cast<std::size_t>(place)] = {mixture, -1, first, n, table};
        for (std::int32_t i = 0; i < n; ++i) waiting.push_back({children[static_cast<std::size_t>(i)], first + i});
    };
    while (!waiting.empty()) {
        auto [source, place] = waiting.back();
        waiting.pop_back();
        for (;;) {
            const forest::Node& test = forest_.nodes[source];
            if (forest_.is_leaf(source)) {
                const auto number = static_cast<std::int32_t>(forest_.leaf_start[tree] + test.first_child);
                nodes_[static_cast<std::size_t>(place)] = {leaf, -1, number, 0, 0};
                break;
            }
            const std::int64_t column = test.feature;
            const double* values = candidates.values + candidates.start[column];
            const std::int32_t n = candidates.count(column);
            taken.resize(static_cast<std::size_t>(n));
            std::transform(values, values + n, taken.begin(),
                           [&](double value) { return forest::child_number(forest_, source, OneValue{value}); });
            const std::int64_t first_child = start + test.first_child;
            if (std::all_of(taken.begin(), taken.end(), [&](std::int64_t child) { return child == taken[0]; })) {
                if (taken[0] == forest::no_child) {
                    mix(source, place);
                    break;
                }
                source = first_child + taken[0];
                continue;
            }
            std::vector<std::int64_t> distinct(taken);
            std::sort(distinct.begin(), distinct.end());
            distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
            const auto n_children = static_cast<std::int32_t>(distinct.size());
            const bool ordered =
                forest_.is_threshold(source) && n_children == 2 && std::is_sorted(taken.begin(), taken.end());
            Node node{static_cast<std::int32_t>(column), -1, add_children(n_children), n_children,
                      static_cast<std::int32_t>(codes_.size())};
            if (ordered) {
                node.cut =
                    static_cast<std::int32_t>(std::find(taken.begin(), taken.end(), distinct.back()) - taken.begin());
            } else {
                for (const std::int64_t child : taken)
                    codes_.push_back(static_cast<std::int32_t>(
                        std::lower_bound(distinct.begin(), distinct.end(), child) - distinct.begin()));
            }
            nodes_[static_cast<std::size_t>(place)] = node;
            for (std::int32_t i = 0; i < n_children; ++i) {
                const std::int64_t child = distinct[static_cast<std::size_t>(i)];
                if (child == forest::no_child)
                    mix(source, node.first_child + i);
                else
                    waiting.push_back({first_child + child, node.first_child + i});
            }
            break;
        }
    }
}

bool Trees::divides(const Node& node, std::int32_t lower, std::int32_t upper) const {
    if (node.cut >= 0) return lower < node.cut && node.cut <= upper;
    const std::int32_t* codes = codes_.data() + node.table;
    return std::any_of(codes + lower + 1, codes + upper + 1, [&](std::int32_t child) { return child != codes[lower]; });
}

bool Trees::add_bounds(std::int32_t node, const Box& box, double weight, Bounds& bounds) const {
    const auto n = static_cast<std::size_t>(conditions_.n);
    const double infinity = std::numeric_limits<double>::infinity();
    std::vector<double> least(n, infinity), most(n, -infinity);
    std::vector<std::int32_t> waiting{node};
    bool any = false;
    Bounds mixed;
    while (!waiting.empty()) {
        const Node& at = (*this)[waiting.back()];
        waiting.pop_back();
        const double *low = nullptr, *high = nullptr;
        if (at.column == leaf) {
            if (is_barred(at)) continue;
            low = high = entries(at);
        } else if (at.column == mixture) {
            const bool adds = conditions_.mixes;
            mixed.lower.assign(n, adds ? 0.0 : infinity);
            mixed.upper.assign(n, adds ? 0.0 : -infinity);
            Bounds part;
            bool all = true;
            for (std::int32_t i = 0; i < at.n_children && all; ++i) {
                part.lower.assign(n, 0.0);
                part.upper.assign(n, 0.0);
                all = add_bounds(at.first_child + i, box, 1.0, part);
                for (std::size_t q = 0; q < n; ++q) {
                    if (adds) {
                        mixed.lower[q] += this->part(at, i) * part.lower[q];
                        mixed.upper[q] += this->part(at, i) * part.upper[q];
                    } else {
                        mixed.lower[q] = std::min(mixed.lower[q], part.lower[q]);
                        mixed.upper[q] = std::max(mixed.upper[q], part.upper[q]);
                    }
                }
            }
            if (!all) continue;
            low = mixed.lower.data();
            high = mixed.upper.data();
        } else {
            const auto column = static_cast<std::size_t>(at.column);
            const std::int32_t lower = box.lower[column], upper = box.upper[column];
            if (at.cut >= 0) {
                if (upper >= at.cut) waiting.push_back(at.first_child + 1);
                if (lower < at.cut) waiting.push_back(at.first_child);
            } else {
                const std::int32_t* codes = codes_.data() + at.table;
                for (std::int32_t child = 0; child < at.n_children; ++child)
                    if (std::find(codes + lower, codes + upper + 1, child) != codes + upper + 1)
                        waiting.push_back(at.first_child + child);
            }
            continue;
        }
        any = true;
        for (std::size_t q = 0; q < n; ++q) {
            least[q] = std::min(least[q], low[q]);
            most[q] = std::max(most[q], high[q]);
        }
    }
    if (!any) return false;
    for (std::size_t q = 0; q < n; ++q) {
        bounds.lower[q] += weight * least[q];
        bounds.upper[q] += weight * most[q];
    }
    return true;
}

}  // namespace hedgerow::counterfactual
