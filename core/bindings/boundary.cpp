// Distances to decision boundaries, and sums of kernels.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "bindings/arrays.hpp"
#include "bindings/bind.hpp"
#include "boundary/distance.hpp"
#include "boundary/kernel_shares.hpp"

namespace hedgerow::bindings {

using namespace nb::literals;

namespace {

void require_one_tree(const forest::Forest& forest, const In<std::int64_t>& parent, const In<std::int32_t>& labels) {
    if (forest.n_trees != 1 || static_cast<std::int64_t>(parent.size()) != forest.tree_start[1] ||
        static_cast<std::int64_t>(labels.size()) != forest.leaf_start[1])
        throw std::invalid_argument(
            "distances are those of one tree, with a parent for each node and a label for each leaf");
}

std::tuple<Array<std::uint64_t>, Array<std::uint8_t>> wall_plan(const ForestArrays& forest_arrays,
                                                                const In<std::int64_t>& parent,
                                                                const In<std::int32_t>& labels,
                                                                const In<std::int32_t>& n_categories,
                                                                std::int64_t n_classes) {
    const forest::Forest forest = view(forest_arrays);
    require_one_tree(forest, parent, labels);
    if (static_cast<std::int64_t>(n_categories.size()) != forest.n_features)
        throw std::invalid_argument("n_categories needs a number for each feature");
    std::vector<std::uint64_t> classes;
    std::vector<std::uint8_t> open;
    {
        const ReleasedGil release;
        classes = boundary::classes_below(forest, parent.data(), labels.data(), n_classes);
        open = boundary::open_nodes(forest, parent.data(), n_categories.data(), poll_signals);
    }
    return {to_array(std::move(classes)), to_array(std::move(open))};
}

// parent, leaf_nodes, labels, classes, open: in the order of boundary::Walls
using WallArrays =
    std::tuple<In<std::int64_t>, In<std::int64_t>, In<std::int32_t>, In<std::uint64_t>, In<std::uint8_t>>;

void wall_distance(const ForestArrays& forest_arrays, const WallArrays& wall_arrays, std::int64_t n_classes,
                   const In<double, 2>& X, const In<std::int64_t>& rows, const In<std::int32_t>& leaves,
                   const In<double>& scale, std::int64_t target, const Array<double, 2>& distance,
                   const Array<std::int32_t, 2>& leaf, const Array<std::int32_t, 2>& separator,
                   const Array<std::int64_t>& n_leaves, std::int64_t n_threads) {
    require_width(forest_arrays, X);
    const forest::Forest forest = view(forest_arrays);
    const auto& [parent, leaf_nodes, labels, classes, open] = wall_arrays;
    require_one_tree(forest, parent, labels);
    const std::size_t n_parts = rows.size();
    const auto n_columns = static_cast<std::size_t>(target == boundary::every_class ? n_classes : 1);
    const bool fits = leaves.size() == n_parts && n_leaves.size() == n_parts && scale.size() == X.shape(1) &&
                      distance.shape(0) == n_parts && leaf.shape(0) == n_parts && separator.shape(0) == n_parts &&
                      distance.shape(1) == n_columns && leaf.shape(1) == n_columns && separator.shape(1) == n_columns &&
                      target < n_classes && open.size() == parent.size() && leaf_nodes.size() == labels.size() &&
                      classes.size() == parent.size() * static_cast<std::size_t>(boundary::n_words(n_classes));
    if (!fits) throw std::invalid_argument("parts of rows, walls or output of the wrong shape");
    const boundary::Walls walls{forest,         parent.data(), leaf_nodes.data(), labels.data(),
                                classes.data(), open.data(),   n_classes};
    const boundary::RowParts parts{rows.data(), leaves.data(), static_cast<std::int64_t>(n_parts)};
    const boundary::WallDistances out{distance.data(), leaf.data(), separator.data(), n_leaves.data()};
    const data::Rows values = view(X);
    const ReleasedGil release;
    boundary::wall_distance(walls, values, parts, scale.data(), target, out, n_threads, poll_signals);
}

void kernel_shares(boundary::Kernel kernel, const In<std::int64_t>& start, const In<double, 2>& points,
                   const In<double, 2>& weights, const In<double, 2>& bandwidth, const In<double, 2>& at,
                   const In<std::int64_t>& groups, const std::optional<In<std::int64_t>>& left_out, double tolerance,
                   const Array<double>& out, std::int64_t n_threads) {
    const std::size_t n_queries = at.shape(0), n_dims = points.shape(1);
    const bool fits = start.size() == bandwidth.shape(0) + 1 && weights.shape(0) == points.shape(0) &&
                      weights.shape(1) == 2 && bandwidth.shape(1) == n_dims && at.shape(1) == n_dims &&
                      groups.size() == n_queries && out.size() == n_queries && (n_dims == 1 || n_dims == 2) &&
                      (!left_out || left_out->size() == n_queries);
    if (!fits) throw std::invalid_argument("kernel sample, query points or output of the wrong shape");
    const boundary::KernelSample sample{start.data(),
                                        points.data(),
                                        weights.data(),
                                        bandwidth.data(),
                                        static_cast<std::int64_t>(bandwidth.shape(0)),
                                        static_cast<std::int64_t>(n_dims)};
    const boundary::KernelQueries queries{at.data(), groups.data(), left_out ? left_out->data() : nullptr,
                                          static_cast<std::int64_t>(n_queries)};
    const ReleasedGil release;
    boundary::kernel_shares(kernel, sample, queries, tolerance, out.data(), n_threads, poll_signals);
}

}  // namespace

void bind_boundary(nb::module_& m) {
    m.def("wall_plan", &wall_plan, "forest"_a.noconvert(), "parent"_a.noconvert(), "labels"_a.noconvert(),
          "n_categories"_a.noconvert(), "n_classes"_a,
          "Classes below each node, and whether any value leads to it; see hedgerow.boundary.");
    m.def("wall_distance", &wall_distance, "forest"_a.noconvert(), "walls"_a.noconvert(), "n_classes"_a,
          "X"_a.noconvert(), "rows"_a.noconvert(), "leaves"_a.noconvert(), "scale"_a.noconvert(), "target"_a,
          "distance"_a.noconvert(), "leaf"_a.noconvert(), "separator"_a.noconvert(), "n_leaves"_a.noconvert(),
          "n_threads"_a, "Distances of parts of rows to the leaves of each class; see hedgerow.boundary.");
    nb::enum_<boundary::Kernel>(m, "Kernel")
        .value("gaussian", boundary::Kernel::gaussian)
        .value("box", boundary::Kernel::box)
        .value("epanechnikov", boundary::Kernel::epanechnikov);
    m.def("kernel_shares", &kernel_shares, "kernel"_a, "start"_a.noconvert(), "points"_a.noconvert(),
          "weights"_a.noconvert(), "bandwidth"_a.noconvert(), "at"_a.noconvert(), "groups"_a.noconvert(),
          "left_out"_a.noconvert().none(), "tolerance"_a, "out"_a.noconvert(), "n_threads"_a,
          "Share of a class among the training rows around query points; see hedgerow.boundary.");
}

}  // namespace hedgerow::bindings
