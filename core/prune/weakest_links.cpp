#include "prune/weakest_links.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>

#include "forest/structure.hpp"

namespace hedgerow::prune {

using forest::node_sums;

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

// Minimum of numbers that change one by one: each inner node of a binary tree holds the smaller of two.
class Tournament {
public:
    explicit Tournament(std::size_t n) : n_(std::bit_ceil(n)), least_(2 * n_, never) {}

    void set(std::size_t i, double value) {
        least_[n_ + i] = value;
        for (i = (n_ + i) / 2; i > 0; i /= 2) {
            const double less = std::min(least_[2 * i], least_[2 * i + 1]);
            if (least_[i] == less) return;
            least_[i] = less;
        }
    }
    double least() const { return least_[1]; }
    std::size_t where() const {  // the first of equals
        std::size_t i = 1;
        while (i < n_) i = 2 * i + (least_[2 * i] != least_[i]);
        return i - n_;
    }

private:
    std::size_t n_;
    std::vector<double> least_;
};

class LinkPruner {
public:
    LinkPruner(const std::int64_t* parent, std::int64_t n_nodes, const double* values, std::int64_t n_columns)
        : parent_(parent),
          values_(values),
          n_columns_(n_columns),
          first_child_(static_cast<std::size_t>(n_nodes), -1),
          n_children_(static_cast<std::size_t>(n_nodes), 0),
          n_leaves_(static_cast<std::size_t>(n_nodes), 0),
          below_(static_cast<std::size_t>(n_nodes * n_columns), 0.0),
          alphas_(static_cast<std::size_t>(n_nodes)) {
        for (std::int64_t node = n_nodes - 1; node > 0; --node) {
            first_child_[at(parent[node])] = node;
            ++n_children_[at(parent[node])];
        }
        for (std::int64_t node = n_nodes - 1; node >= 0; --node) {
            if (n_children_[at(node)] == 0) {
                n_leaves_[at(node)] = 1;
                std::copy_n(values + node * n_columns, n_columns, below(node));
            }
            if (node > 0) n_leaves_[at(parent[node])] += n_leaves_[at(node)];
        }
        node_sums(parent, n_nodes, n_columns, below_.data());
        for (std::int64_t node = 0; node < n_nodes; ++node) alphas_.set(at(node), alpha(node));
    }

    WeakestLinks operator()() {
        WeakestLinks links;
        links.totals.assign(below(0), below(0) + n_columns_);
        while (alphas_.least() < never) {
            const auto node = static_cast<std::int64_t>(alphas_.where());
            links.nodes.push_back(node);
            links.alphas.push_back(alphas_.least());
            make_leaf(node);
            links.totals.insert(links.totals.end(), below(0), below(0) + n_columns_);
        }
        return links;
    }

private:
    static std::size_t at(std::int64_t node) { return static_cast<std::size_t>(node); }
    double* below(std::int64_t node) { return below_.data() + node * n_columns_; }

    double alpha(std::int64_t node) {
        if (n_leaves_[at(node)] < 2) return never;
        return (values_[node * n_columns_] - below(node)[0]) / static_cast<double>(n_leaves_[at(node)] - 1);
    }

    void make_leaf(std::int64_t node) {
        drop_below(node);
        const std::int64_t n_fewer = n_leaves_[at(node)] - 1;
        std::vector<double> more(values_ + node * n_columns_, values_ + (node + 1) * n_columns_);
        for (std::int64_t c = 0; c < n_columns_; ++c) more[at(c)] -= below(node)[c];
        for (std::int64_t up = node; up >= 0; up = parent_[up]) {
            for (std::int64_t c = 0; c < n_columns_; ++c) below(up)[c] += more[at(c)];
            n_leaves_[at(up)] -= n_fewer;
            alphas_.set(at(up), alpha(up));
        }
    }

    void drop_below(std::int64_t node) {
        stack_.assign(1, node);
        while (!stack_.empty()) {
            const std::int64_t next = stack_.back();
            stack_.pop_back();
            alphas_.set(at(next), never);
            for (std::int64_t i = 0; i < n_children_[at(next)]; ++i) stack_.push_back(first_child_[at(next)] + i);
            n_children_[at(next)] = 0;
        }
    }

    const std::int64_t* parent_;
    const double* values_;
    std::int64_t n_columns_;
    std::vector<std::int64_t> first_child_, n_children_, n_leaves_;  // of the tree that is left
    std::vector<double> below_;                                      // sums over the leaves below each node
    Tournament alphas_;
    std::vector<std::int64_t> stack_;
};

}  // namespace

WeakestLinks weakest_links(const std::int64_t* parent, std::int64_t n_nodes, const double* values,
                           std::int64_t n_columns) {
    return LinkPruner(parent, n_nodes, values, n_columns)();
}

}  // namespace hedgerow::prune
