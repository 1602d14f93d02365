#include "counterfactual/descent.hpp"

#include <algorithm>
#include <limits>

namespace hedgerow::counterfactual {

namespace {

constexpr int most_rounds = 4;
constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

Descent::Descent(const Trees& trees, const Candidates& candidates, const std::vector<double>& offset,
                 const std::vector<double>& needed, std::int64_t n_changes)
    : trees_(trees),
      candidates_(candidates),
      offset_(offset),
      needed_(needed),
      n_changes_(n_changes),
      sums_(offset.size()),
      added_(static_cast<std::size_t>(candidates.start[candidates.n_columns]) * offset.size()) {}

std::optional<Choices> Descent::operator()(const Choices& from, const Box& box) {
    Choices best = from;
    if (!reach(best, box)) return std::nullopt;
    shrink(best, box);
    // Without one of the changed columns another way may be shorter.
    for (int round = 0; round < most_rounds; ++round) {
        std::optional<Choices> better;
        for (std::int64_t column = 0; column < candidates_.n_columns; ++column) {
            const auto j = static_cast<std::size_t>(column);
            const std::int32_t home = candidates_.home[column];
            if (best[j] == home || box.lower[j] > home || box.upper[j] < home) continue;
            Choices other = best;
            other[j] = home;
            Box rest = box;
            rest.lower[j] = rest.upper[j] = home;
            if (!reach(other, rest)) continue;
            shrink(other, rest);
            if (distance(other) < distance(better ? *better : best)) better = other;
        }
        if (!better) break;
        best = *better;
    }
    return best;
}

double Descent::distance(const Choices& choices) const {
    double sum = 0;
    for (std::int64_t column = 0; column < candidates_.n_columns; ++column)
        sum += candidates_.cost(column, choices[static_cast<std::size_t>(column)]);
    return sum;
}

std::int64_t Descent::changed(const Choices& choices) const {
    std::int64_t n = 0;
    for (std::size_t j = 0; j < choices.size(); ++j) n += choices[j] != candidates_.home[j];
    return n;
}

double Descent::missing(const double* added) const {
    double sum = 0;
    for (std::size_t q = 0; q < sums_.size(); ++q) {
        const double shortfall = needed_[q] - sums_[q] - (added ? added[q] : 0.0);
        if (shortfall > needed_[q] / 4) sum += shortfall;  // less is rounding
    }
    return sum;
}

bool Descent::reach(Choices& choices, const Box& box) {
    for (std::size_t step = 0; step < 4 * choices.size(); ++step) {  // rounding could make it go in circles
        profile(choices, box);
        const double now = missing(nullptr);
        if (now == 0) return true;
        const bool full = changed(choices) >= n_changes_;
        std::size_t column = 0, last_column = 0;
        std::int32_t choice = -1, last_choice = -1;
        double best = 0, least = infinity;  // gain for its cost; cost of a change that is enough
        for (std::size_t j = 0; j < choices.size(); ++j) {
            if (full && choices[j] == candidates_.home[j]) continue;
            const auto number = static_cast<std::int64_t>(j);
            for (std::int32_t i = box.lower[j]; i <= box.upper[j]; ++i) {
                if (i == choices[j]) continue;
                const double left = missing(of(number, i));
                if (!(left < now)) continue;
                const double cost = std::max(candidates_.cost(number, i) - candidates_.cost(number, choices[j]), 1e-12);
                if (left == 0 && cost < least) {
                    least = cost;
                    last_column = j;
                    last_choice = i;
                }
                if ((now - left) / cost > best) {
                    best = (now - left) / cost;
                    column = j;
                    choice = i;
                }
            }
        }
        if (choice < 0) return false;
        if (least <= 1.5 * now / best) {
            choices[last_column] = last_choice;
        } else {
            choices[column] = choice;
        }
    }
    return false;
}

void Descent::shrink(Choices& choices, const Box& box) {
    for (bool shorter = true; shorter;) {
        shorter = false;
        profile(choices, box);
        double most = 1e-12;
        std::size_t column = 0;
        std::int32_t choice = 0;
        for (std::size_t j = 0; j < choices.size(); ++j) {
            if (choices[j] == candidates_.home[j]) continue;
            const auto number = static_cast<std::int64_t>(j);
            for (std::int32_t i = box.lower[j]; i <= box.upper[j]; ++i) {
                const double saved = candidates_.cost(number, choices[j]) - candidates_.cost(number, i);
                if (saved > most && missing(of(number, i)) == 0) {
                    most = saved;
                    column = j;
                    choice = i;
                    shorter = true;
                }
            }
        }
        if (shorter) choices[column] = choice;
    }
}

void Descent::profile(const Choices& choices, const Box& box) {
    choices_ = &choices;
    box_ = &box;
    std::fill(added_.begin(), added_.end(), 0.0);
    for (std::int64_t q = 0; q < trees_.n_conditions(); ++q) {
        double sum = offset_[static_cast<std::size_t>(q)];
        for (std::int64_t tree = 0; tree < trees_.size(); ++tree) sum += walk(trees_.root(tree), 1.0, q);
        sums_[static_cast<std::size_t>(q)] = sum;
    }
    // Until here `added_` has what changes from a candidate to the next.
    const std::int64_t n = trees_.n_conditions();
    for (std::int64_t column = 0; column < candidates_.n_columns; ++column)
        for (std::int32_t i = 1; i < candidates_.count(column); ++i)
            for (std::int64_t q = 0; q < n; ++q) of(column, i)[q] += of(column, i - 1)[q];
}

// What the row adds to a sum below a node; notes what it would add with another candidate of one column.
double Descent::walk(std::int32_t place, double weight, std::int64_t condition) {
    const Trees::Node& node = trees_[place];
    if (node.column == Trees::leaf) return weight * trees_.entries(node)[condition];
    if (node.column == Trees::mixture) {
        double sum = 0;
        for (std::int32_t i = 0; i < node.n_children; ++i)
            sum += walk(node.first_child + i, weight * trees_.part(node, i), condition);
        return sum;
    }
    const auto j = static_cast<std::size_t>(node.column);
    const std::int32_t own = trees_.child_of(node, (*choices_)[j]);
    const double value = walk(node.first_child + own, weight, condition);
    const std::int32_t upper = box_->upper[j];
    for (std::int32_t i = box_->lower[j]; i <= upper;) {
        const std::int32_t child = trees_.child_of(node, i);
        std::int32_t end = i + 1;
        if (node.cut >= 0) {
            end = child == 0 ? std::min(node.cut, upper + 1) : upper + 1;
        } else {
            while (end <= upper && trees_.child_of(node, end) == child) ++end;
        }
        if (child != own) {
            deviate(node.first_child + child, weight, condition, node.column, i, end);
            of(node.column, i)[condition] -= value;
            if (end < candidates_.count(node.column)) of(node.column, end)[condition] += value;
        }
        i = end;
    }
    return value;
}

// Adds what the candidates first .. last - 1 of a column give below a node, all other columns as they are.
void Descent::deviate(std::int32_t place, double weight, std::int64_t condition, std::int32_t column,
                      std::int32_t first, std::int32_t last) {
    const Trees::Node& node = trees_[place];
    if (node.column == Trees::leaf) {
        const double value = weight * trees_.entries(node)[condition];
        of(column, first)[condition] += value;
        if (last < candidates_.count(column)) of(column, last)[condition] -= value;
        return;
    }
    if (node.column == Trees::mixture) {
        for (std::int32_t i = 0; i < node.n_children; ++i)
            deviate(node.first_child + i, weight * trees_.part(node, i), condition, column, first, last);
        return;
    }
    if (node.column != column) {
        const std::int32_t own = trees_.child_of(node, (*choices_)[static_cast<std::size_t>(node.column)]);
        return deviate(node.first_child + own, weight, condition, column, first, last);
    }
    for (std::int32_t i = first; i < last;) {
        const std::int32_t child = trees_.child_of(node, i);
        std::int32_t end = i + 1;
        while (end < last && trees_.child_of(node, end) == child) ++end;
        deviate(node.first_child + child, weight, condition, column, i, end);
        i = end;
    }
}

}  // namespace hedgerow::counterfactual
