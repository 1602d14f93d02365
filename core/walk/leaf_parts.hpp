// Parts of a block's rows in the leaves of one tree: those of rows that were spread, leaf by leaf.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace hedgerow::walk {

inline constexpr std::size_t most_marks = 32;

// A part in eight bytes: the row, and a mark for each node of its path that spread it. A row without marks is whole.
using MarkedRow = std::uint64_t;
inline std::uint32_t row_of(MarkedRow part) { return static_cast<std::uint32_t>(part); }
inline std::uint32_t marks_of(MarkedRow part) { return static_cast<std::uint32_t>(part >> 32); }

// What each mark multiplies the weight of a part by, on one path from the root.
class Fractions {
public:
    Fractions() { by_mark_.fill(1.0); }
    void set(std::size_t mark, double fraction) { by_mark_[mark] = fraction; }
    void set(std::span<const double> first) { std::copy(first.begin(), first.end(), by_mark_.begin()); }
    std::span<const double> first(std::size_t n_marks) const { return {by_mark_.data(), n_marks}; }

    double weight(std::uint32_t marks) const {
        double weight = 1.0;
        const auto multiply = [&] {
            weight *= by_mark_[static_cast<std::size_t>(std::countr_zero(marks))];
            marks &= marks - 1;
        };
        multiply();  // few parts have more than three marks: no branch decides whether there is a second or a third
        multiply();
        multiply();
        while (marks != 0) multiply();
        return weight;
    }

private:
    std::array<double, most_marks + 1> by_mark_;  // the last: of no mark
};

class LeafParts {
public:
    void clear() {
        lists_.clear();
        fractions_.clear();
        n_parts_ = 0;
    }

    // Adds the parts among some marked rows, all in one leaf; calls whole(row) for the others. `fractions`: by mark.
    template <class Whole>
    void add(std::int32_t leaf, std::span<const MarkedRow> rows, std::span<const double> fractions,
             const Whole& whole) {
        if (n_parts_ + rows.size() > parts_.size()) parts_.resize(2 * (n_parts_ + rows.size()));
        MarkedRow* const parts = parts_.data() + n_parts_;
        std::size_t n = 0;
        for (const MarkedRow row : rows) {
            if (marks_of(row) == 0)
                whole(row_of(row));
            else
                parts[n++] = row;
        }
        if (n == 0) return;
        lists_.push_back({leaf, none, n_parts_, n_parts_ + n, fractions_.size(), fractions.size()});
        fractions_.insert(fractions_.end(), fractions.begin(), fractions.end());
        n_parts_ += n;
    }
    void add(std::int32_t leaf, std::uint32_t row, double weight) {
        const MarkedRow part = MarkedRow{1} << 32 | row;
        add(leaf, {&part, 1}, {&weight, 1}, [](std::uint32_t) {});
    }

    // Calls use_of(leaf)(row, weight) for each part: leaves ascend, so that those of each row do. Weights are above 0.
    template <class UseOf>
    void for_each(const UseOf& use_of) {
        std::int32_t n_leaves = 0;
        for (const List& list : lists_) n_leaves = std::max(n_leaves, list.leaf + 1);
        first_of_leaf_.assign(static_cast<std::size_t>(n_leaves), none);
        for (std::size_t i = 0; i < lists_.size(); ++i)
            lists_[i].next =
                std::exchange(first_of_leaf_[static_cast<std::size_t>(lists_[i].leaf)], static_cast<std::int32_t>(i));
        for (std::int32_t leaf = 0; leaf < n_leaves; ++leaf) {
            const auto use = use_of(leaf);
            for (std::int32_t i = first_of_leaf_[static_cast<std::size_t>(leaf)]; i != none;) {
                const List& list = lists_[static_cast<std::size_t>(i)];
                on_path_.set({fractions_.data() + list.first_fraction, list.n_fractions});
                for (std::size_t part = list.first; part < list.last; ++part) {
                    const double weight = on_path_.weight(marks_of(parts_[part]));
                    if (weight > 0) [[likely]]
                        use(row_of(parts_[part]), weight);
                }
                i = list.next;
            }
        }
    }

    // Groups the parts by row, before `of_row`. `n_rows`: of the block.
    void group(std::size_t n_rows) {
        start_.assign(n_rows + 2, 0);  // of a row at row + 2 while counting, at row + 1 while filling
        for_each([&](std::int32_t) { return [&](std::uint32_t row, double) { ++start_[row + 2]; }; });
        std::partial_sum(start_.begin(), start_.end(), start_.begin());
        reached_.resize(n_parts_);
        for_each([&](std::int32_t leaf) {
            return [&, leaf](std::uint32_t row, double weight) { reached_[start_[row + 1]++] = {leaf, weight}; };
        });
    }
    // Leaves ascending, with their weights.
    std::span<const std::pair<std::int32_t, double>> of_row(std::size_t row) const {
        return {reached_.data() + start_[row], reached_.data() + start_[row + 1]};
    }

private:
    static constexpr std::int32_t none = -1;
    struct List {
        std::int32_t leaf, next;  // another list of the same leaf
        std::size_t first, last;
        std::size_t first_fraction, n_fractions;
    };
    std::vector<List> lists_;
    std::vector<double> fractions_;
    std::vector<std::int32_t> first_of_leaf_;
    Fractions on_path_;
    std::vector<MarkedRow> parts_;
    std::size_t n_parts_ = 0;
    std::vector<std::size_t> start_;  // per row of the block, and one past
    std::vector<std::pair<std::int32_t, double>> reached_;
};

}  // namespace hedgerow::walk
