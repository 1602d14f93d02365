// One function per folder of the core: each adds its bindings to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace hedgerow::bindings {

void bind_base(nanobind::module_& m);
void bind_binned(nanobind::module_& m);
void bind_boundary(nanobind::module_& m);
void bind_counterfactual(nanobind::module_& m);
void bind_contributions(nanobind::module_& m);
void bind_data(nanobind::module_& m);
void bind_forest(nanobind::module_& m);
void bind_grow(nanobind::module_& m);
void bind_importance(nanobind::module_& m);
void bind_measured(nanobind::module_& m);
void bind_proximity(nanobind::module_& m);
void bind_prune(nanobind::module_& m);
void bind_soft_trees(nanobind::module_& m);
void bind_walk(nanobind::module_& m);

}  // namespace hedgerow::bindings
