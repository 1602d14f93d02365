"""The laws of all columns of a table, learned in `fit`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.columns import Kind
from hedgerow.data.table import Schema
from hedgerow.measured.errors import ErrorModel, Normal, error_model
from hedgerow.measured.laws import CategoryLaw, ColumnLaw, ExactLaw, NumberLaw
from hedgerow.measured.priors import Prior, empirical
from hedgerow.measured.sizes import column_position

__all__ = ["learn_laws", "read_error_models"]

Floats = NDArray[np.float64]


def read_error_models(given: Any, schema: Schema) -> list[ErrorModel]:
    """The parameter `error_model`, for each column; those that a mapping leaves out have a normal error."""
    if not isinstance(given, Mapping):
        return [error_model(given)] * schema.n_features
    models: list[ErrorModel] = [Normal()] * schema.n_features
    for key, model in given.items():
        models[column_position("error_model", key, schema)] = error_model(model)
    return models


def learn_laws(
    values: Floats, schema: Schema, sigma: Floats, weight: Floats, models: list[ErrorModel], prior: Prior
) -> tuple[ColumnLaw, ...]:
    """A law for each column of `values`, (n, n_features), whose cells have errors of size `sigma` of that shape."""
    return tuple(
        _category_law(values[:, j], len(column.categories), weight)
        if column.kind == Kind.NOMINAL
        else _number_law(values[:, j], sigma[:, j], weight, models[j], prior, column.name)
        for j, column in enumerate(schema.columns)
    )


def _number_law(x: Floats, sigma: Floats, weight: Floats, error: ErrorModel, prior: Prior, name: str) -> NumberLaw:
    known = ~np.isnan(x)
    if not known.any():  # nothing can be asked of it
        x, sigma, weight, known = np.zeros(1), np.zeros(1), np.ones(1), np.ones(1, dtype=bool)
    x, sigma, weight = x[known], sigma[known], weight[known]
    law = prior.learn(x, sigma, weight, error, name)
    return law if sigma.any() else ExactLaw(error, *empirical(x, weight), law)


def _category_law(codes: Floats, n_categories: int, weight: Floats) -> CategoryLaw:
    known = ~np.isnan(codes)
    if not known.any():
        return CategoryLaw(np.full(n_categories, 1 / max(n_categories, 1)))
    counts = np.bincount(codes[known].astype(np.intp), weights=weight[known], minlength=n_categories)
    return CategoryLaw(counts / counts.sum())
