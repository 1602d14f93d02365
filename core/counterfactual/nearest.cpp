#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <queue>
#include <set>
#include <utility>

#include "counterfactual/descent.hpp"
#include "counterfactual/problem.hpp"
#include "counterfactual/relaxation.hpp"
#include "counterfactual/trees.hpp"

namespace hedgerow::counterfactual {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double rounding = 1e-11;  // of sums over trees, as a part of the largest that they can be
constexpr double slip = 1e-9;       // of distances, as a part of them
constexpr std::int64_t nodes_between_polls = 64;

// A box is its parent's with one column narrowed.
struct Open {
    std::int64_t parent;
    std::int32_t column, lower, upper;
    double lambda;
    std::int32_t branch_column, branch_cut;  // where it is divided
};

class Search {
public:
    Search(const Forest& forest, const Candidates& candidates, const Conditions& conditions, const Limits& limits,
           const Accept& accept, const Poll& poll)
        : candidates_(candidates),
          conditions_(conditions),
          limits_(limits),
          accept_(accept),
          poll_(poll),
          trees_(forest, candidates, conditions),
          relaxation_(trees_, candidates),
          offset_(conditions.offset, conditions.offset + conditions.n),
          slack_(slacks()),
          needed_(slack_),
          descent_(trees_, candidates, offset_, needed_, limits.n_changes) {
        for (double& needed : needed_) needed *= 2;
    }

    Found run() {
        const auto start = std::chrono::steady_clock::now();
        Box box = root();
        add({-1, 0, 0, candidates_.count(0) - 1, 1.0, 0, 0}, box);
        improve(candidates_.home, box);
        while (!queue_.empty()) {
            const auto [lower, id] = queue_.top();
            if (hopeless(lower)) break;
            const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
            if (found_.n_nodes >= limits_.n_nodes || seconds > limits_.seconds) {
                found_.bound = std::min(lower, found_.distance);
                return std::move(found_);
            }
            queue_.pop();
            if (found_.n_nodes++ % nodes_between_polls == 0) poll_();
            divide(id);
        }
        found_.bound = found_.distance;
        return std::move(found_);
    }

private:
    // Greatest rounding error of each sum.
    std::vector<double> slacks() const {
        Bounds bounds{std::vector<double>(offset_.size(), 0.0), std::vector<double>(offset_.size(), 0.0)};
        std::vector<double> largest(offset_.size(), 0.0);
        const Box box = root();
        for (std::size_t q = 0; q < offset_.size(); ++q) largest[q] = std::abs(offset_[q]);
        for (std::int64_t tree = 0; tree < trees_.size(); ++tree) {
            std::fill(bounds.lower.begin(), bounds.lower.end(), 0.0);
            std::fill(bounds.upper.begin(), bounds.upper.end(), 0.0);
            trees_.add_bounds(trees_.root(tree), box, 1.0, bounds);
            for (std::size_t q = 0; q < offset_.size(); ++q)
                largest[q] += std::max(std::abs(bounds.lower[q]), std::abs(bounds.upper[q]));
        }
        for (double& value : largest) value *= rounding;
        return largest;
    }

    Box root() const {
        Box box;
        for (std::int64_t column = 0; column < candidates_.n_columns; ++column) {
            box.lower.push_back(0);
            box.upper.push_back(candidates_.count(column) - 1);
        }
        return box;
    }

    bool hopeless(double lower) const {
        if (found_.choices.empty()) return lower == infinity;
        return lower >= found_.distance - slip * (1 + found_.distance);
    }

    // The box of a node; false: more columns change than may.
    bool unfold(std::int64_t id, Box& box) const {
        box = root();
        for (; id >= 0; id = open_[static_cast<std::size_t>(id)].parent) {
            const Open& open = open_[static_cast<std::size_t>(id)];
            const auto column = static_cast<std::size_t>(open.column);
            box.lower[column] = std::max(box.lower[column], open.lower);
            box.upper[column] = std::min(box.upper[column], open.upper);
        }
        std::int64_t n_changed = 0;
        for (std::size_t j = 0; j < box.lower.size(); ++j)
            n_changed += box.lower[j] > candidates_.home[j] || box.upper[j] < candidates_.home[j];
        if (n_changed < limits_.n_changes) return true;
        for (std::size_t j = 0; j < box.lower.size(); ++j) {
            const std::int32_t home = candidates_.home[j];
            if (box.lower[j] <= home && home <= box.upper[j]) box.lower[j] = box.upper[j] = home;
        }
        return n_changed == limits_.n_changes;
    }

    void divide(std::int64_t id) {
        const Open open = open_[static_cast<std::size_t>(id)];
        Box box;
        unfold(id, box);
        const auto column = static_cast<std::size_t>(open.branch_column);
        const std::int32_t lower = box.lower[column], upper = box.upper[column];
        if (std::has_single_bit(static_cast<std::uint64_t>(found_.n_nodes))) improve(nearest(box).lower, box);
        const std::pair<std::int32_t, std::int32_t> halves[] = {{lower, open.branch_cut - 1}, {open.branch_cut, upper}};
        for (const auto& [low, high] : halves) add({id, open.branch_column, low, high, open.lambda, 0, 0}, box);
    }

    // The point of a box that is nearest to the row.
    Box nearest(const Box& box) const {
        Box point = box;
        for (std::size_t j = 0; j < box.lower.size(); ++j)
            point.lower[j] = point.upper[j] = std::clamp(candidates_.home[j], box.lower[j], box.upper[j]);
        return point;
    }

    double distance(const Choices& choices) const {
        double sum = 0;
        for (std::int64_t column = 0; column < candidates_.n_columns; ++column)
            sum += candidates_.cost(column, choices[static_cast<std::size_t>(column)]);
        return sum;
    }

    void improve(const std::int32_t* from, const Box& box) {
        improve(Choices(from, from + candidates_.n_columns), box);
    }

    void improve(const Choices& from, const Box& box) {
        const auto found = descent_(from, box);
        if (found) take(*found);
    }

    // Takes a row for the nearest so far if it is, and if the model accepts it.
    bool take(const Choices& choices) {
        const double there = distance(choices);
        if (!(there < found_.distance) || refused_.contains(choices)) return false;
        if (!accept_(choices)) {
            refused_.insert(choices);
            return false;
        }
        found_.distance = there;
        found_.choices = choices;
        return true;
    }

    // Looks into a box, and keeps it if it may hold an accepted row that is nearer than the one found.
    void add(Open open, Box& box) {
        const auto id = static_cast<std::int64_t>(open_.size());
        open_.push_back(open);
        if (!unfold(id, box)) return drop();
        const Box point = nearest(box);
        const double base = distance(point.lower);
        if (hopeless(base)) return drop();
        const std::size_t n = offset_.size();
        Bounds of_box{offset_, offset_}, of_point{offset_, offset_};
        Bounds tree_box, tree_point;
        double best_gain = -1;
        bool barred = false;
        std::vector<Bounds> boxes(static_cast<std::size_t>(trees_.size())), points(boxes.size());
        for (std::int64_t tree = 0; tree < trees_.size(); ++tree) {
            const auto t = static_cast<std::size_t>(tree);
            boxes[t].lower.assign(n, 0.0);
            boxes[t].upper.assign(n, 0.0);
            points[t] = boxes[t];
            if (!trees_.add_bounds(trees_.root(tree), box, 1.0, boxes[t])) return drop();
            barred |= !trees_.add_bounds(trees_.root(tree), point, 1.0, points[t]);
            for (std::size_t q = 0; q < n; ++q) {
                of_box.upper[q] += boxes[t].upper[q];
                of_point.lower[q] += points[t].lower[q];
                of_point.upper[q] += points[t].upper[q];
            }
        }
        std::size_t worst = 0;
        bool possible = !barred;
        for (std::size_t q = 0; q < n; ++q) {
            if (of_box.upper[q] < -slack_[q]) return drop();
            possible &= of_point.upper[q] >= -slack_[q];
            if (of_point.upper[q] < of_point.upper[worst]) worst = q;
        }
        if (possible && take(point.lower)) return drop();
        // Branch where the point's leaf is furthest from the best that the tree has in the box.
        for (std::int64_t tree = 0; tree < trees_.size(); ++tree) {
            const auto t = static_cast<std::size_t>(tree);
            std::int32_t column = 0, cut = 0;
            if (!find_split(trees_.root(tree), box, point, column, cut)) continue;
            double gain = 0;
            for (std::size_t q = 0; q < n; ++q)
                if (of_point.upper[q] < slack_[q]) gain += boxes[t].upper[q] - points[t].upper[q];
            if (gain > best_gain) {
                best_gain = gain;
                open_.back().branch_column = column;
                open_.back().branch_cut = cut;
            }
        }
        if (best_gain < 0) return drop();  // the whole box is as its nearest point
        const double lower = relaxation_.bound(box, base, static_cast<std::int64_t>(worst),
                                               offset_[worst] + slack_[worst], open_.back().lambda);
        if (hopeless(lower)) return drop();
        queue_.push({lower, id});
    }

    void drop() { open_.pop_back(); }

    // The first split on the path of a point that divides the box.
    bool find_split(std::int32_t place, const Box& box, const Box& point, std::int32_t& column,
                    std::int32_t& cut) const {
        for (;;) {
            const Trees::Node& node = trees_[place];
            if (node.column == Trees::leaf) return false;
            if (node.column == Trees::mixture) {
                for (std::int32_t i = 0; i < node.n_children; ++i)
                    if (find_split(node.first_child + i, box, point, column, cut)) return true;
                return false;
            }
            const auto j = static_cast<std::size_t>(node.column);
            if (trees_.divides(node, box.lower[j], box.upper[j])) {
                column = node.column;
                cut = node.cut >= 0 ? node.cut : box.lower[j] + 1;
                return true;
            }
            place = node.first_child + trees_.child_of(node, point.lower[j]);
        }
    }

    struct Entry {
        double lower;
        std::int64_t id;
        bool operator<(const Entry& other) const {  // the largest comes first
            return lower != other.lower ? lower > other.lower : id < other.id;
        }
    };

    const Candidates candidates_;
    const Conditions conditions_;
    const Limits limits_;
    const Accept& accept_;
    const Poll& poll_;
    const Trees trees_;
    Relaxation relaxation_;
    const std::vector<double> offset_, slack_;
    std::vector<double> needed_;
    Descent descent_;
    std::vector<Open> open_;
    std::priority_queue<Entry> queue_;
    std::set<Choices> refused_;  // by the model
    Found found_;
};

}  // namespace

Found nearest(const Forest& forest, const Candidates& candidates, const Conditions& conditions, const Limits& limits,
              const Accept& accept, const Poll& poll) {
    return Search(forest, candidates, conditions, limits, accept, poll).run();
}

}  // namespace hedgerow::counterfactual
