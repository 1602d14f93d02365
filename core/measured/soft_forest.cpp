#include "measured/soft_forest.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>

#include "forest/splits.hpp"

namespace hedgerow::measured {
namespace {

using forest::Forest;
using forest::Kind;

class Builder {
public:
    Builder(const Forest& forest, const std::int64_t* start, const double* thresholds, const std::uint8_t* nominal)
        : forest_(forest), start_(start), thresholds_(thresholds), nominal_(nominal) {
        const auto n_nodes = static_cast<std::size_t>(forest.tree_start[forest.n_trees]);
        made_.nodes.resize(n_nodes);
        parent_.assign(n_nodes, -1);
    }

    SoftNodes build() {
        for (std::int64_t tree = 0; tree < forest_.n_trees; ++tree) {
            const std::int64_t root = forest_.tree_start[tree];
            for (std::int64_t node = root; node < forest_.tree_start[tree + 1]; ++node) add(root, node);
        }
        return std::move(made_);
    }

private:
    void add(std::int64_t root, std::int64_t node) {
        SoftNode& made = made_.nodes[static_cast<std::size_t>(node)];
        made = {soft_leaf, -1, -1, 0};
        if (forest_.is_leaf(node)) return;
        const std::int64_t first = root + forest_.nodes[node].first_child;
        for (std::int64_t child = first; child < first + 2; ++child) parent_[static_cast<std::size_t>(child)] = node;
        const Kind kind = forest_.kind[node];
        const std::int32_t feature = forest_.nodes[node].feature;
        const bool by_category = kind == Kind::subset || kind == Kind::one_against_rest;
        if ((!by_category && kind != Kind::threshold) || by_category != (nominal_[feature] != 0))
            throw std::invalid_argument("a split that has no soft regions");
        if (by_category)
            add_categories(root, node, feature, made);
        else
            add_threshold(root, node, feature, made);
    }

    void add_threshold(std::int64_t root, std::int64_t node, std::int32_t feature, SoftNode& made) const {
        const double* begin = thresholds_ + start_[feature];
        const double* end = thresholds_ + start_[feature + 1];
        const double* at = std::lower_bound(begin, end, forest_.nodes[node].threshold);
        if (at == end || *at != forest_.nodes[node].threshold)
            throw std::invalid_argument("a threshold of the forest is missing");
        made.at = static_cast<std::int32_t>(at - thresholds_);
        // The nearest ancestors that bound the column are the tightest.
        for_each_ancestor(root, node, feature, [&](std::int64_t ancestor, std::int64_t child) {
            std::int32_t& bound = child == 0 ? made.high : made.low;
            if (bound < 0) bound = made_.nodes[static_cast<std::size_t>(ancestor)].at;
        });
    }

    void add_categories(std::int64_t root, std::int64_t node, std::int32_t feature, SoftNode& made) {
        std::vector<std::int32_t> rest;
        made.at = soft_nominal;
        made.low = size();
        const std::int64_t n_categories = start_[feature + 1] - start_[feature];
        for (std::int64_t code = 0; code < n_categories; ++code) {
            const OneCategory row{static_cast<double>(code)};
            bool inside = true;
            for_each_ancestor(root, node, feature, [&](std::int64_t ancestor, std::int64_t child) {
                inside = inside && (branch_of(forest_, ancestor, row) == 0) == (child == 0);
            });
            if (!inside) continue;
            const auto position = static_cast<std::int32_t>(start_[feature] + code);
            if (branch_of(forest_, node, row) == 0)
                made_.categories.push_back(position);
            else
                rest.push_back(position);
        }
        made.high = size();
        made_.categories.insert(made_.categories.end(), rest.begin(), rest.end());
        made.end = size();
    }

    // Calls use(ancestor, child taken) for the ancestors that split the same column, the nearest first.
    template <class Use>
    void for_each_ancestor(std::int64_t root, std::int64_t node, std::int32_t feature, const Use& use) const {
        while (node != root) {
            const std::int64_t ancestor = parent_[static_cast<std::size_t>(node)];
            if (forest_.nodes[ancestor].feature == feature)
                use(ancestor, node - root - forest_.nodes[ancestor].first_child);
            node = ancestor;
        }
    }

    std::int32_t size() const { return static_cast<std::int32_t>(made_.categories.size()); }

    const Forest& forest_;
    const std::int64_t* start_;
    const double* thresholds_;
    const std::uint8_t* nominal_;
    SoftNodes made_;
    std::vector<std::int64_t> parent_;
};

}  // namespace

SoftNodes soft_nodes(const Forest& forest, const std::int64_t* start, const double* thresholds,
                     const std::uint8_t* nominal) {
    return Builder(forest, start, thresholds, nominal).build();
}

}  // namespace hedgerow::measured
