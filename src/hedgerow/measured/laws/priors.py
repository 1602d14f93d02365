"""Priors: what is believed about U before x is read, and the laws of columns that are learned under them.

An informative prior attributes part of an extreme value to its error and shrinks it; "flat" takes it as it is.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._params import check_whole, choose
from hedgerow._registry import register
from hedgerow.data.columns import Kind
from hedgerow.data.table import Schema
from hedgerow.measured.errors.error_model import ErrorModel, Normal, error_model
from hedgerow.measured.errors.error_sizes import column_position
from hedgerow.measured.errors.misclassification import Misclassification, true_shares
from hedgerow.measured.laws.column_laws import (
    CategoryLaw,
    ColumnLaw,
    ExactLaw,
    FlatLaw,
    HistogramLaw,
    NormalLaw,
    NumberLaw,
)

__all__ = [
    *("FlatPrior", "KdePrior", "NormalPrior", "Prior", "prior"),
    *("deconvolve", "learn_laws", "read_error_models"),
]

Floats = NDArray[np.float64]

_MAX_POINTS = 1024  # distinct values kept for the law of a missing value
_STEPS = 40
_KERNEL = np.array([1.0, 2.0, 1.0]) / 4
_MOST_ROWS = 2048  # more rows would hardly change the estimate


class Prior(ABC):
    """Abstract strategy that learns the law of a column.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.measured import Normal, NormalPrior
    >>> law = NormalPrior().learn(np.array([1.0, 2.0, 6.0]), np.full(3, 0.5), np.ones(3), Normal(), "weight")
    >>> type(law).__name__
    'NormalLaw'
    """

    @abstractmethod
    def learn(self, x: Floats, sigma: Floats, weight: Floats, error: ErrorModel, name: str) -> NumberLaw:
        """Law of a column from its known values, (n,) with n ≥ 1, their errors and weights; `name` is for warnings.

        Parameters
        ----------
        x : array of shape (n,)
            Known values of the column.
        sigma : array of shape (n,)
            Standard deviation of the error of each.
        weight : array of shape (n,)
            Weight of each.
        error : ErrorModel
            Law of the errors.
        name : str
            Name of the column, for warnings.

        Returns
        -------
        NumberLaw
            Law of the latent values.
        """


def empirical(x: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Increasing values, at most `_MAX_POINTS`, and the weighted fraction of rows at or below each."""
    points, of_row = np.unique(x, return_inverse=True)
    reached = np.bincount(of_row, weights=weight).cumsum()
    reached /= reached[-1]
    if len(points) > _MAX_POINTS:
        kept = np.unique(np.searchsorted(reached, np.arange(1, _MAX_POINTS + 1) / _MAX_POINTS - 1e-12))
        points, reached = points[kept], reached[kept]
    return points, reached


@dataclass(frozen=True)
class NormalPrior(Prior):
    """U ~ N(m, v) with m the mean of X and v = max(var X − mean σ², 0).

    Examples
    --------
    >>> from hedgerow import MeasuredTreeRegressor
    >>> from hedgerow.measured import NormalPrior
    >>> tree = MeasuredTreeRegressor(0.5, prior=NormalPrior()).fit([[1.0], [2.0], [3.0], [4.0]], [1, 1, 5, 5])
    >>> tree.predict([[2.0]]).shape
    (1,)
    """

    def learn(self, x: Floats, sigma: Floats, weight: Floats, error: ErrorModel, name: str) -> NumberLaw:
        mean = float(np.average(x, weights=weight))
        with np.errstate(over="ignore"):
            spread = float(np.average((x - mean) ** 2, weights=weight))
            noise = float(np.average(sigma**2, weights=weight))
        if 0 < spread < noise:
            warnings.warn(
                f"column {name!r} has a variance of {spread:.3g}, less than the {noise:.3g} of its errors: nothing is "
                'left for what was measured, and the column tells nothing. Give it a smaller sigma, or prior="flat"',
                stacklevel=7,
            )
        return NormalLaw(error, mean, max(spread - noise, 0.0))


@dataclass(frozen=True)
class FlatPrior(Prior):
    """Flat prior: U given x has the error's distribution around x.

    Examples
    --------
    >>> from hedgerow import MeasuredTreeRegressor
    >>> from hedgerow.measured import FlatPrior
    >>> tree = MeasuredTreeRegressor(0.5, prior=FlatPrior()).fit([[1.0], [2.0], [3.0], [4.0]], [1, 1, 5, 5])
    >>> tree.predict([[2.0]]).shape
    (1,)
    """

    def learn(self, x: Floats, sigma: Floats, weight: Floats, error: ErrorModel, name: str) -> NumberLaw:
        return FlatLaw(error, *empirical(x, weight))


@dataclass(frozen=True)
class KdePrior(Prior):
    """U has any distribution: that of X with the errors removed by deconvolution.

    Estimated on `bins` bins by :func:`deconvolve`, which smooths like a kernel.

    Parameters
    ----------
    bins : int, default=128
        Cells of the density.

    Examples
    --------
    >>> from hedgerow import MeasuredTreeRegressor
    >>> from hedgerow.measured import KdePrior
    >>> tree = MeasuredTreeRegressor(0.5, prior=KdePrior()).fit([[1.0], [2.0], [3.0], [4.0]], [1, 1, 5, 5])
    >>> tree.predict([[2.0]]).shape
    (1,)
    """

    bins: int = 128

    def __post_init__(self) -> None:
        check_whole("KdePrior: bins", self.bins, 8, 4096)

    def learn(self, x: Floats, sigma: Floats, weight: Floats, error: ErrorModel, name: str) -> NumberLaw:
        edges, shares = deconvolve(x, sigma, weight, error, self.bins)
        return HistogramLaw(error, edges, shares)


_ALIASES: dict[str, Prior] = {"normal": NormalPrior(), "flat": FlatPrior(), "kde": KdePrior()}
for _prior in (NormalPrior, FlatPrior, KdePrior):
    register(_prior, name=f"hedgerow.measured.{_prior.__name__}")


def prior(given: Any) -> Prior:
    """Prior for an alias or an instance."""
    chosen: Prior = choose("prior", given, _ALIASES, (Prior,))
    return chosen


# --- Laws of all columns --------------------------------------------------------------------------------------


def read_error_models(given: Any, schema: Schema) -> list[ErrorModel | Misclassification]:
    """Read the parameter `error_model`: a model for each column; normal for those that a mapping leaves out."""
    if not isinstance(given, Mapping):
        return [error_model(given)] * schema.n_features
    models: list[ErrorModel | Misclassification] = [Normal()] * schema.n_features
    for key, model in given.items():
        j = column_position("error_model", key, schema)
        if isinstance(model, Misclassification) and schema.columns[j].kind != Kind.NOMINAL:
            raise ValueError(
                f"error_model of column {schema.names[j]!r} is a Misclassification, and it is "
                f"{schema.columns[j].kind}: only nominal columns are misclassified; name it in categorical_features"
            )
        models[j] = model if isinstance(model, Misclassification) else error_model(model)
    return models


def learn_laws(
    values: Floats,
    schema: Schema,
    sigma: Floats,
    weight: Floats,
    models: list[ErrorModel | Misclassification],
    prior: Prior,
) -> tuple[ColumnLaw, ...]:
    """Law of each column of `values`, (n, n_features), with the standard deviations `sigma` of the same shape."""
    laws: list[ColumnLaw] = []
    for j, (column, model) in enumerate(zip(schema.columns, models, strict=True)):
        if column.kind == Kind.NOMINAL:
            wrong = model.matrix(column.categories, column.name) if isinstance(model, Misclassification) else None
            laws.append(_category_law(values[:, j], len(column.categories), weight, wrong))
        else:
            assert isinstance(model, ErrorModel)
            laws.append(_number_law(values[:, j], sigma[:, j], weight, model, prior, column.name))
    return tuple(laws)


def _number_law(x: Floats, sigma: Floats, weight: Floats, error: ErrorModel, prior: Prior, name: str) -> NumberLaw:
    known = ~np.isnan(x)
    if not known.any():  # an empty column is never split
        x, sigma, weight, known = np.zeros(1), np.zeros(1), np.ones(1), np.ones(1, dtype=bool)
    x, sigma, weight = x[known], sigma[known], weight[known]
    law = prior.learn(x, sigma, weight, error, name)
    return law if sigma.any() else ExactLaw(error, *empirical(x, weight), law)


def _category_law(codes: Floats, n_categories: int, weight: Floats, matrix: Floats | None) -> CategoryLaw:
    """Law of a nominal column; `matrix` is P(recorded | true), None for an exact one."""
    known = ~np.isnan(codes)
    if known.any():
        counts = np.bincount(codes[known].astype(np.intp), weights=weight[known], minlength=n_categories)
        shares = counts / counts.sum()
    else:
        shares = np.full(n_categories, 1 / max(n_categories, 1))
    if matrix is None:
        return CategoryLaw(shares)
    true = true_shares(shares, matrix)
    joint = (true[:, np.newaxis] * matrix).T
    total = joint.sum(axis=1, keepdims=True)
    return CategoryLaw(true, np.where(total > 0, joint / np.where(total > 0, total, 1.0), np.eye(n_categories)))


# --- Deconvolution --------------------------------------------------------------------------------------------


def deconvolve(x: Floats, sigma: Floats, weight: Floats, error: ErrorModel, n_bins: int) -> tuple[Floats, Floats]:
    """Edges of bins over the range of x, and the probability of U in each; for values, errors and weights (n,).

    Maximum likelihood by expectation-maximisation, with a little smoothing after each step (Silverman, Jones, Wilson
    and Nychka, A smoothed EM approach to indirect estimation problems, 1990). Unlike a quotient of Fourier transforms,
    the result is never negative, and errors may have any model and a different size in each row.
    """
    x, sigma, weight = _thin(x, sigma, weight)
    edges = _edges(x, n_bins)
    n_bins = len(edges) - 1
    likelihood = _likelihood(x, sigma, edges, error)
    weight = weight / weight.sum()
    shares = np.full(n_bins, 1 / n_bins)
    for _ in range(_STEPS):
        shares = shares * (likelihood.T @ (weight / (likelihood @ shares)))
        padded = np.concatenate([shares[:1], shares, shares[-1:]])
        shares = np.convolve(padded, _KERNEL, mode="valid")
        shares /= shares.sum()
    return edges, shares


def _thin(x: Floats, sigma: Floats, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """At most `_MOST_ROWS` rows, evenly spaced in sorted order, so that the order of rows does not matter."""
    order = np.lexsort((weight, sigma, x))
    if len(x) > _MOST_ROWS:
        order = order[np.linspace(0, len(x) - 1, _MOST_ROWS).round().astype(np.intp)]
    return x[order], sigma[order], weight[order]


def _edges(x: Floats, n_bins: int) -> Floats:
    low, high = float(x.min()), float(x.max())
    if not high > low:  # one value: a narrow bin around it
        around = 1e-9 * max(abs(low), 1.0)
        return np.array([low - around, low + around])
    edges: Floats = np.unique(np.linspace(low, high, n_bins + 1))
    return edges


def _likelihood(x: Floats, sigma: Floats, edges: Floats, error: ErrorModel) -> Floats:
    """Likelihood of each x for U in each bin, (n, n_bins), up to a factor per row."""
    inside = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, len(edges) - 2)
    likelihood = np.zeros((len(x), len(edges) - 1))
    likelihood[np.arange(len(x)), inside] = 1.0
    measured = np.flatnonzero(sigma > 0)
    at, of = x[measured, np.newaxis], sigma[measured, np.newaxis]
    masses = error.mass((edges[:-1] - at) / of, (edges[1:] - at) / of) / np.diff(edges)
    peaks = masses.max(axis=1, keepdims=True)
    likelihood[measured] = np.where(peaks > 0, masses / np.where(peaks > 0, peaks, 1.0), likelihood[measured])
    return likelihood
