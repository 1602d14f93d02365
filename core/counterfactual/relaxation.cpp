#include "counterfactual/relaxation.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace hedgerow::counterfactual {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int most_steps = 60;

// The number that is nearest to the column's own.
std::int32_t nearest_choice(std::int32_t home, std::int32_t lower, std::int32_t upper) {
    return std::clamp(home, lower, upper);
}

}  // namespace

Relaxation::Relaxation(const Trees& trees, const Candidates& candidates)
    : trees_(trees), candidates_(candidates), share_(static_cast<std::size_t>(candidates.n_columns), 0.0) {
    start_.push_back(0);
    std::vector<char> splits(share_.size());
    for (std::int64_t tree = 0; tree < trees.size(); ++tree) {
        if (!trees.has_mixtures(tree)) {
            const auto first = intervals_.size();
            add_tree(trees.root(tree));
            std::fill(splits.begin(), splits.end(), 0);
            for (auto i = first; i < intervals_.size(); ++i) splits[static_cast<std::size_t>(intervals_[i].column)] = 1;
            for (std::size_t column = 0; column < splits.size(); ++column) share_[column] += splits[column];
        }
        start_.push_back(static_cast<std::int64_t>(leaves_.size()));
    }
    for (double& share : share_) share = share > 0 ? 1 / share : 0;
}

void Relaxation::add_tree(std::int32_t root) {
    struct Place {
        std::int32_t node;
        std::vector<Interval> path;
    };
    std::vector<Place> waiting{{root, {}}};
    while (!waiting.empty()) {
        Place place = std::move(waiting.back());
        waiting.pop_back();
        const Trees::Node& node = trees_[place.node];
        if (node.column == Trees::leaf) {
            if (trees_.is_barred(node)) continue;
            const auto first = static_cast<std::int64_t>(intervals_.size());
            intervals_.insert(intervals_.end(), place.path.begin(), place.path.end());
            leaves_.push_back({trees_.entries(node), first, static_cast<std::int64_t>(intervals_.size())});
            continue;
        }
        const std::int32_t n = candidates_.count(node.column);
        for (std::int32_t child = 0; child < node.n_children; ++child) {
            Interval interval{node.column, -1, -1, infinity};
            if (node.cut >= 0) {
                interval = {node.column, child == 0 ? 0 : node.cut, child == 0 ? node.cut - 1 : n - 1, 0};
            } else {
                for (std::int32_t choice = 0; choice < n; ++choice)
                    if (trees_.child_of(node, choice) == child)
                        interval.cost = std::min(interval.cost, candidates_.cost(node.column, choice));
            }
            std::vector<Interval> path = place.path;
            const auto same = std::find_if(path.begin(), path.end(), [&](const Interval& other) {
                return other.column == node.column && (other.lower < 0) == (interval.lower < 0);
            });
            if (same == path.end()) {
                path.push_back(interval);
            } else if (interval.lower < 0) {
                same->cost = std::max(same->cost, interval.cost);
            } else {
                same->lower = std::max(same->lower, interval.lower);
                same->upper = std::min(same->upper, interval.upper);
            }
            waiting.push_back({node.first_child + child, std::move(path)});
        }
    }
}

double Relaxation::added_cost(const Leaf& leaf, const Box& box) const {
    double sum = 0;
    for (std::int64_t i = leaf.first; i < leaf.last; ++i) {
        const Interval& interval = intervals_[static_cast<std::size_t>(i)];
        const auto column = static_cast<std::size_t>(interval.column);
        const std::int32_t home = candidates_.home[column];
        const double base =
            candidates_.cost(interval.column, nearest_choice(home, box.lower[column], box.upper[column]));
        if (interval.lower < 0) {
            sum += share_[column] * std::max(interval.cost - base, 0.0);
            continue;
        }
        const std::int32_t lower = std::max(interval.lower, box.lower[column]);
        const std::int32_t upper = std::min(interval.upper, box.upper[column]);
        if (lower > upper) return infinity;
        if (lower > home || upper < home)
            sum += share_[column] * (candidates_.cost(interval.column, nearest_choice(home, lower, upper)) - base);
    }
    return sum;
}

Relaxation::Line Relaxation::at(double lambda) const {
    Line line{-lambda * constant_, -constant_};
    for (std::size_t tree = 0; tree + 1 < reached_.size(); ++tree) {
        if (reached_[tree] == reached_[tree + 1]) continue;
        double least = infinity, entry = 0;
        for (std::int64_t i = reached_[tree]; i < reached_[tree + 1]; ++i) {
            const auto leaf = static_cast<std::size_t>(i);
            const double value = costs_[leaf] - lambda * entries_[leaf];
            if (value < least || (value == least && entries_[leaf] > entry)) {
                least = value;
                entry = entries_[leaf];
            }
        }
        line.value += least;
        line.slope -= entry;
    }
    return line;
}

double Relaxation::bound(const Box& box, double base, std::int64_t condition, double offset, double& lambda) {
    const auto q = static_cast<std::size_t>(condition);
    costs_.clear();
    entries_.clear();
    reached_.assign(1, 0);
    constant_ = offset;
    Bounds whole;
    for (std::int64_t tree = 0; tree < trees_.size(); ++tree) {
        if (trees_.has_mixtures(tree)) {
            whole.lower.assign(static_cast<std::size_t>(trees_.n_conditions()), 0.0);
            whole.upper.assign(static_cast<std::size_t>(trees_.n_conditions()), 0.0);
            if (!trees_.add_bounds(trees_.root(tree), box, 1.0, whole)) return infinity;
            constant_ += whole.upper[q];
        } else {
            const auto first = costs_.size();
            for (std::int64_t i = start_[static_cast<std::size_t>(tree)];
                 i < start_[static_cast<std::size_t>(tree) + 1]; ++i) {
                const Leaf& leaf = leaves_[static_cast<std::size_t>(i)];
                const double cost = added_cost(leaf, box);
                if (cost == infinity) continue;
                costs_.push_back(cost);
                entries_.push_back(leaf.entries[q]);
            }
            if (costs_.size() == first) return infinity;
        }
        reached_.push_back(static_cast<std::int64_t>(costs_.size()));
    }
    // Slopes fall from left to right: find a λ at each side of the peak, and go where their lines meet.
    double best = 0, left = 0, right = lambda > 0 ? lambda : 1.0;
    Line of_left = at(0), of_right = at(right);
    if (of_left.slope <= 0) return base;
    for (int step = 0; of_right.slope > 0; ++step) {
        best = std::max(best, of_right.value);
        if (step == most_steps) return infinity;
        left = right;
        of_left = of_right;
        of_right = at(right *= 4);
    }
    best = std::max({best, of_left.value, of_right.value});
    lambda = right;
    for (int step = 0; step < most_steps; ++step) {
        const double meet = (of_right.value - of_left.value + of_left.slope * left - of_right.slope * right) /
                            (of_left.slope - of_right.slope);
        if (!(meet > left && meet < right)) break;
        const Line line = at(meet);
        lambda = meet;
        best = std::max(best, line.value);
        const double ceiling = of_left.value + of_left.slope * (meet - left);
        if (line.value >= ceiling - 1e-9 * (1 + ceiling)) break;
        if (line.slope > 0) {
            left = meet;
            of_left = line;
        } else {
            right = meet;
            of_right = line;
        }
    }
    return base + best;
}

}  // namespace hedgerow::counterfactual
