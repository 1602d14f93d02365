"""Metrics: the scale of each column in distances to the boundary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from hedgerow._arrays import Floats
from hedgerow._params import check_number, choose
from hedgerow._registry import register
from hedgerow.data.table import Schema
from hedgerow.forest.counts import as_numbers

__all__ = ["Metric", "MinMax", "Own", "Standard", "check_scale", "metric"]


class Metric(Protocol):
    """Compute the scale of each column from the training rows; distances are Euclidean in x/scale."""

    def scale(self, rows: Floats, weight: Floats, schema: Schema) -> Floats: ...


@dataclass(frozen=True)
class Standard:
    """The standard deviation of each column, y = (x − mean)/s (equation 3 of the paper), without Bessel's correction.

    Ordinal columns count by rank. A change of category has length `nominal_weight`. Constant columns have the scale 1,
    and missing values are ignored.

    Parameters
    ----------
    nominal_weight : float, default=1.0
        Distance between two categories of a nominal column.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from hedgerow import BoundaryClassifier
    >>> from hedgerow.boundary import Standard
    >>> model = BoundaryClassifier(metric=Standard(), bandwidth=0.1).fit(X, y)
    >>> model.bandwidth_.shape
    (3,)
    """

    nominal_weight: float = 1.0

    def __post_init__(self) -> None:
        check_number("Standard: nominal_weight", self.nominal_weight)

    def scale(self, rows: Floats, weight: Floats, schema: Schema) -> Floats:
        """Scale of each column, by which differences are divided.

        Parameters
        ----------
        rows : array of shape (n_rows, n_features)
            Training rows.
        weight : array of shape (n_rows,)
            Their weights.
        schema : Schema
            Kinds of the columns.

        Returns
        -------
        ndarray of shape (n_features,)
            Positive number for each column.
        """
        return _scales(rows, weight, schema, self.nominal_weight, _deviation)


@dataclass(frozen=True)
class MinMax:
    """The range of each column, y = (x − min)/(max − min) (equation 3 of the paper).

    Ordinal columns count by rank. A change of category has length `nominal_weight`. Constant columns have the scale 1,
    and missing values are ignored.

    Parameters
    ----------
    nominal_weight : float, default=1.0
        Distance between two categories of a nominal column.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from hedgerow import BoundaryClassifier
    >>> from hedgerow.boundary import MinMax
    >>> model = BoundaryClassifier(metric=MinMax(), bandwidth=0.1).fit(X, y)
    >>> model.bandwidth_.shape
    (3,)
    """

    nominal_weight: float = 1.0

    def __post_init__(self) -> None:
        check_number("MinMax: nominal_weight", self.nominal_weight)

    def scale(self, rows: Floats, weight: Floats, schema: Schema) -> Floats:
        """Scale of each column, by which differences are divided.

        Parameters
        ----------
        rows : array of shape (n_rows, n_features)
            Training rows.
        weight : array of shape (n_rows,)
            Their weights.
        schema : Schema
            Kinds of the columns.

        Returns
        -------
        ndarray of shape (n_features,)
            Positive number for each column.
        """
        return _scales(rows, weight, schema, self.nominal_weight, lambda half, z, w: 2 * half)


@dataclass(frozen=True, eq=False)
class Own:
    """Given scales, in the order of the columns or by name."""

    given: Any

    def scale(self, rows: Floats, weight: Floats, schema: Schema) -> Floats:
        given = self.given
        if isinstance(given, Mapping):
            if odd := sorted(map(str, set(given) ^ set(schema.names))):
                raise ValueError(
                    f"metric names other columns than X has: {', '.join(odd[:5])}; give one scale for each of "
                    f"{', '.join(schema.names[:10])}"
                )
            given = [given[name] for name in schema.names]
        return check_scale("metric", given, schema.n_features, schema.names)


def _scales(rows: Floats, weight: Floats, schema: Schema, nominal_weight: float, size: Any) -> Floats:
    scale = np.ones(schema.n_features)
    for j in range(schema.n_features):
        known = ~np.isnan(rows[:, j])
        if schema.n_categories[j] > 0:
            scale[j] = 1 / nominal_weight
        elif known.any() and (half := _half_range(rows[known, j])) > 0:
            # Rescaled to [-1, 1], so that squares neither overflow nor underflow.
            z = (rows[known, j] - rows[known, j].min()) / half - 1 if np.isfinite(2 * half) else rows[known, j] / half
            scale[j] = size(half, z, weight[known])
    return np.clip(scale, np.finfo(float).tiny, np.finfo(float).max)


def _half_range(values: Floats) -> float:
    return float(values.max() / 2 - values.min() / 2)


def _deviation(half: float, z: Floats, weight: Floats) -> float:
    mean = np.average(z, weights=weight)
    return half * float(np.sqrt(np.average((z - mean) ** 2, weights=weight)))


def check_scale(name: str, given: Any, n_features: int, names: Any = None) -> Floats:
    """Return one positive number per column, or raise an error that names the wrong one."""
    scale = as_numbers(name, given)
    if scale.shape != (n_features,):
        raise ValueError(f"{name} has shape {scale.shape}, must have one number for each of {n_features} columns")
    bad = ~(np.isfinite(scale) & (scale > 0))
    if bad.any():
        j = int(np.argmax(bad))
        column = f" (column {names[j]!r})" if names is not None else ""
        raise ValueError(
            f"{name}[{j}]{column} is {scale[j]}, must be a positive number: what one step is in that column"
        )
    return np.ascontiguousarray(scale)


for _strategy in (Standard, MinMax):
    register(_strategy, name=f"hedgerow.boundary.{_strategy.__name__}")
_ALIASES: dict[str, Metric] = {"standard": Standard(), "minmax": MinMax()}


def metric(given: Any) -> Metric:
    """Return the metric for the parameter `metric`: an alias, an instance, or a scale per column."""
    if isinstance(given, str) or given is None or isinstance(given, Standard | MinMax):
        return choose("metric", given, _ALIASES, (Standard, MinMax))
    return Own(given)
