// The part of a forest that candidates of a row can reach, and sums over it.
#pragma once

#include <cstdint>
#include <vector>

#include "counterfactual/problem.hpp"

namespace hedgerow::counterfactual {

// Candidates from lower to upper of each column, both included.
struct Box {
    Choices lower, upper;
};

// Least and largest sum over the trees, per condition.
struct Bounds {
    std::vector<double> lower, upper;
};

// Trees without splits that all candidates take alike.
class Trees {
public:
    static constexpr std::int32_t leaf = -1, mixture = -2;

    struct Node {
        std::int32_t column;       // or leaf, mixture
        std::int32_t cut;          // candidates below it take the first child; -1: by `table`
        std::int32_t first_child;  // children are neighbours; in a leaf its number in the forest
        std::int32_t n_children;
        std::int32_t table;  // where `codes` has the child of each candidate, or `parts` the weight of each child
    };

    Trees(const Forest& forest, const Candidates& candidates, const Conditions& conditions);

    std::int64_t size() const { return static_cast<std::int64_t>(roots_.size()); }
    std::int64_t n_conditions() const { return conditions_.n; }
    const Node& operator[](std::int32_t node) const { return nodes_[static_cast<std::size_t>(node)]; }
    std::int32_t root(std::int64_t tree) const { return roots_[static_cast<std::size_t>(tree)]; }
    bool has_mixtures(std::int64_t tree) const { return has_mixtures_[static_cast<std::size_t>(tree)] != 0; }
    double part(const Node& node, std::int32_t child) const {
        return parts_[static_cast<std::size_t>(node.table + child)];
    }
    const double* entries(const Node& node) const { return conditions_.table + node.first_child * conditions_.n; }
    bool is_barred(const Node& node) const { return conditions_.barred && conditions_.barred[node.first_child]; }

    std::int32_t child_of(const Node& node, std::int32_t choice) const {
        return node.cut >= 0 ? choice >= node.cut : codes_[static_cast<std::size_t>(node.table + choice)];
    }
    // Whether the candidates from lower to upper take different children.
    bool divides(const Node& node, std::int32_t lower, std::int32_t upper) const;

    // Adds the least and the largest entries below a node that a box reaches; false: it reaches barred leaves alone.
    bool add_bounds(std::int32_t node, const Box& box, double weight, Bounds& bounds) const;

private:
    struct Source {
        std::int64_t node;
        std::int32_t place;
    };
    void build(std::int64_t tree, const Candidates& candidates);
    std::int32_t add_children(std::int32_t n);

    const Forest& forest_;
    const Conditions conditions_;
    std::vector<Node> nodes_;
    std::vector<std::int32_t> roots_, codes_;
    std::vector<double> parts_;
    std::vector<char> has_mixtures_;
};

}  // namespace hedgerow::counterfactual
