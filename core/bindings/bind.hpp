// What each file of bindings adds to the module.
#pragma once

#include <nanobind/nanobind.h>

void bind_walking(nanobind::module_& m);
void bind_boundary(nanobind::module_& m);
void bind_growing(nanobind::module_& m);
void bind_rearranging(nanobind::module_& m);
void bind_checking(nanobind::module_& m);
void bind_columns(nanobind::module_& m);
void bind_measured(nanobind::module_& m);
void bind_drawing(nanobind::module_& m);
