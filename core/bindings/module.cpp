// The module `hedgerow._core`.
#include "bindings/bind.hpp"

NB_MODULE(_core, m) {
    // A daemon thread that is parked at exit (gil.hpp) keeps its arguments: not a leak worth a warning to users.
    nanobind::set_leak_warnings(false);
    m.doc() = "The compiled core: free functions over arrays that hedgerow has checked.";
    using namespace hedgerow::bindings;
    bind_forest(m);  // first: others take its ForestArrays
    bind_walk(m);
    bind_boundary(m);
    bind_contributions(m);
    bind_grow(m);
    bind_binned(m);
    bind_proximity(m);
    bind_importance(m);
    bind_prune(m);
    bind_counterfactual(m);
    bind_data(m);
    bind_measured(m);
    bind_soft_trees(m);
    bind_base(m);
}
