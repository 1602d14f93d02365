"""What is known about the latent value U of a column: given X = x, and where x is missing.

A law answers P(U ≤ t | X = x), for all rows and thresholds at once. An error of size 0 means that U = x, whatever the
prior; a missing value follows the law of U itself. :mod:`hedgerow.measured.priors` learns laws from data.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._rebuild import reduce_to_constructor
from hedgerow._registry import register
from hedgerow.measured.errors import ErrorModel
from hedgerow.measured.normal import normal_cdf
from hedgerow.measured.posteriors import normal_posterior

__all__ = ["CategoryLaw", "ColumnLaw", "ExactLaw", "FlatLaw", "HistogramLaw", "NormalLaw", "NumberLaw"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NumberLaw(ABC):
    """Abstract: a column of numbers, and the law of the errors with which they were measured."""

    error: ErrorModel

    __reduce__ = reduce_to_constructor

    @abstractmethod
    def of_missing(self, at: Floats) -> Floats:
        """P(U ≤ at), (m,)."""

    @abstractmethod
    def of_measured(self, x: Floats, sigma: Floats, at: Floats) -> Floats:
        """P(U ≤ at | X = x), (n, m), for errors of size sigma > 0."""

    def below(self, x: Floats, sigma: Floats, at: Floats) -> Floats:
        """P(U ≤ at | X = x), (n, m), for x and sigma (n,) and rising thresholds `at` (m,); NaN in x is missing."""
        missing = np.isnan(x)
        measured = ~missing & (sigma > 0)
        if measured.all():
            return self.of_measured(x, sigma, at)
        result = (x[:, np.newaxis] <= at).astype(np.float64)
        if missing.any():
            result[missing] = self.of_missing(at)
        if measured.any():
            result[measured] = self.of_measured(x[measured], sigma[measured], at)
        return result


@dataclass(frozen=True, eq=False)
class NormalLaw(NumberLaw):
    """U ~ N(mean, variance)."""

    mean: float
    variance: float

    def __post_init__(self) -> None:
        if not isinstance(self.error, ErrorModel) or not np.isfinite(self.mean) or not self.variance >= 0:
            raise ValueError("a normal law needs a model of the error, a finite mean and a variance")

    def of_missing(self, at: Floats) -> Floats:
        if self.variance == 0:
            return (self.mean <= at).astype(np.float64)
        return normal_cdf((at - self.mean) / np.sqrt(self.variance))

    def of_measured(self, x: Floats, sigma: Floats, at: Floats) -> Floats:
        return normal_posterior(self.error, self.mean, self.variance, x, sigma, at)


@dataclass(frozen=True, eq=False)
class _ObservedLaw(NumberLaw):
    """Abstract: where x is missing, U is as x is elsewhere.

    `places` rise, `reached` is the share of training rows at or below each.
    """

    places: Floats
    reached: Floats

    def __post_init__(self) -> None:
        _check_error(self.error)
        _check_rising("places", self.places)
        _check_rising("reached", self.reached)
        if self.places.shape != self.reached.shape or not 0 < self.reached[0] <= self.reached[-1] <= 1 + 1e-9:
            raise ValueError("reached must have a share for each of places")

    def of_missing(self, at: Floats) -> Floats:
        shares = np.concatenate([[0.0], self.reached])
        below: Floats = shares[np.searchsorted(self.places, at, side="right")]
        return below


@dataclass(frozen=True, eq=False)
class FlatLaw(_ObservedLaw):
    """Nothing is known about U but x: it has the error's law around x."""

    def of_measured(self, x: Floats, sigma: Floats, at: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return self.error.cdf((at[:, np.newaxis] - x) / sigma).T


@dataclass(frozen=True, eq=False)
class ExactLaw(_ObservedLaw):
    """A column that was exact in training, so that its law was seen; `otherwise` is for rows that come with errors."""

    otherwise: NumberLaw

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.otherwise, NumberLaw):
            raise ValueError("otherwise must be a law of numbers")

    def of_measured(self, x: Floats, sigma: Floats, at: Floats) -> Floats:
        return self.otherwise.of_measured(x, sigma, at)


@dataclass(frozen=True, eq=False)
class HistogramLaw(NumberLaw):
    """U has a density that is constant between `edges`: `shares` add up to 1.

    So P(U ≤ t | x) needs no more than the error's distribution function between the edges, whatever its law: with ρ_g
    the density in bin g and M_g(t) the error's mass from its left edge to t, it is Σ ρ_g M_g(t) / Σ ρ_g M_g(∞).
    """

    edges: Floats
    shares: Floats

    def __post_init__(self) -> None:
        _check_error(self.error)
        _check_rising("edges", self.edges)
        if not isinstance(self.shares, np.ndarray) or self.shares.shape != (len(self.edges) - 1,):
            raise ValueError("shares must have one number between two edges")
        if not (np.isfinite(self.shares) & (self.shares >= 0)).all() or not abs(self.shares.sum() - 1) < 1e-9:
            raise ValueError("shares must not be negative, and add up to 1")

    def of_missing(self, at: Floats) -> Floats:
        reached = np.concatenate([[0.0], self.shares.cumsum()])
        below: Floats = np.interp(at, self.edges, reached / reached[-1])
        return below

    def of_measured(self, x: Floats, sigma: Floats, at: Floats) -> Floats:
        result = np.empty((len(x), len(at)))
        step = max(1, (1 << 20) // (len(self.edges) + len(at)))
        for first in range(0, len(x), step):
            rows = slice(first, first + step)
            result[rows] = self._of_some(x[rows, np.newaxis], sigma[rows, np.newaxis], at)
        return result

    def _of_some(self, x: Floats, sigma: Floats, at: Floats) -> Floats:
        edges = self.edges
        density = self.shares / np.diff(edges)
        masses = density * self.error.mass((edges[:-1] - x) / sigma, (edges[1:] - x) / sigma)
        cumulated = np.concatenate([np.zeros((len(x), 1)), masses.cumsum(axis=1)], axis=1)
        bin_ = np.clip(np.searchsorted(edges, at, side="right") - 1, 0, len(density) - 1)
        end = np.clip(at, edges[bin_], edges[bin_ + 1])
        part = density[bin_] * self.error.mass((edges[bin_] - x) / sigma, (end - x) / sigma)
        below = cumulated[:, bin_] + np.minimum(part, masses[:, bin_])
        total = cumulated[:, -1:]
        # Too far from every bin for any mass: U is where the nearest bin with a share is.
        nearest = np.clip(x, *edges[[0, -1]])
        return np.where(total > 0, np.clip(below / np.where(total > 0, total, 1.0), 0.0, 1.0), nearest <= at)


@dataclass(frozen=True, eq=False)
class CategoryLaw:
    """A nominal column: known, or missing and then of each category with its share of the training rows."""

    shares: Floats

    def __post_init__(self) -> None:
        if not isinstance(self.shares, np.ndarray) or self.shares.ndim != 1 or self.shares.dtype != np.float64:
            raise ValueError("shares must be a 1-D float64 array")
        if not (np.isfinite(self.shares) & (self.shares >= 0)).all():
            raise ValueError("shares must be finite and not negative")
        if len(self.shares) and not abs(self.shares.sum() - 1) < 1e-9:
            raise ValueError("shares must add up to 1")

    __reduce__ = reduce_to_constructor

    def within(self, codes: Floats, members: NDArray[np.bool_]) -> Floats:
        """P(U is one of the members | code), (n, k), for sets of categories (k, n_categories); NaN is missing."""
        known = ~np.isnan(codes)
        result = np.empty((len(codes), len(members)))
        result[known] = members.T[codes[known].astype(np.intp)]
        result[~known] = members @ self.shares
        return result


ColumnLaw = NumberLaw | CategoryLaw


def _check_error(error: Any) -> None:
    if not isinstance(error, ErrorModel):
        raise ValueError("a law of numbers needs a model of their errors")


def _check_rising(name: str, values: Any) -> None:
    if not isinstance(values, np.ndarray) or values.dtype != np.float64 or values.ndim != 1 or len(values) < 1:
        raise ValueError(f"{name} must be a 1-D float64 array")
    if not np.isfinite(values).all() or not (values[1:] > values[:-1]).all():
        raise ValueError(f"{name} must be finite and rise")


for _law in (NormalLaw, FlatLaw, ExactLaw, HistogramLaw, CategoryLaw):
    register(_law, name=f"hedgerow.measured.{_law.__name__}")
