"""Numeric columns while a tree grows: candidate thresholds, and inner products with the columns that they would make.

Splitting region k at t adds the column c = √w·P_k·P(U_j ≤ t | U_j ∈ R_k^j, x) to the span. With v = √w times the
product of the region's other columns it is c = v·(F_t − F_low), where F_t is P(U_j ≤ t | x) and `low` the region's
lower bound. So products of all candidates with anything are one matrix product with F, or cumulative sums where F is 0
and 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import squared_lengths
from hedgerow.measured.laws import NumberLaw

__all__ = ["HardThresholds", "Moments", "SoftThresholds", "Thresholds", "candidate_thresholds"]

Floats = NDArray[np.float64]

_VALUES_AT_ONCE = 1 << 21  # of F, formed at a time
_VALUES_KEPT = 1 << 23  # of F, for one column: 64 MiB; what is larger is reckoned anew
_VALUES_IN_CACHE = 1 << 14  # of F, formed at a time where they are kept


@dataclass(frozen=True)
class Moments:
    """Inner products of candidate columns: with themselves, with the basis, and with the residuals."""

    norms: Floats
    """(m,)"""
    basis: Floats
    """(m, size of the basis)"""
    residuals: Floats
    """(m, n_outputs)"""


def candidate_thresholds(x: Floats, weight: Floats, at_most: int | None) -> Floats:
    """Midpoints of neighbouring values; if they are too many, those nearest to equally spaced quantiles of the rows."""
    places, of_row = np.unique(x[~np.isnan(x)], return_inverse=True)
    midpoints = 0.5 * places[:-1] + 0.5 * places[1:]
    # The midpoint of neighbouring floats may be the upper one, which would then be on the wrong side.
    midpoints = np.where(midpoints < places[1:], midpoints, places[:-1])
    if at_most is None or len(midpoints) <= at_most:
        return np.asarray(midpoints)
    below = np.bincount(of_row, weights=weight[~np.isnan(x)]).cumsum()
    wanted = below[-1] * np.arange(1, at_most + 1) / (at_most + 1)
    after = np.clip(np.searchsorted(below[:-1], wanted), 1, len(midpoints) - 1)
    nearest = np.where(wanted - below[after - 1] <= below[after] - wanted, after - 1, after)
    return np.asarray(midpoints[np.unique(nearest)])


class Thresholds(ABC):
    """A column's candidates, `at`, (m,), rising. Positions -1 and m stand for −∞ and +∞."""

    at: Floats

    @abstractmethod
    def below(self, position: int) -> Floats:
        """F at one threshold, (n,)."""

    @abstractmethod
    def sums(self, vectors: Floats) -> Floats:
        """Fᵀ·vectors, (m, k) for vectors (n, k)."""

    @abstractmethod
    def moments(self, v: Floats, low: int, high: int, basis: Floats, residuals: Floats) -> Moments:
        """Of the columns v·(F_t − F_low) for the thresholds between `low` and `high`; 0 or anything for others."""

    def sums_between(self, vectors: Sequence[Floats], limits: Sequence[tuple[int, int]]) -> Floats:
        """(F − F_low)ᵀ·vector, (k, m), of k vectors with bounds of their own; 0 or anything for thresholds beyond."""
        sums = self.sums(np.stack(vectors).T).T
        for of_vector, (low, _) in zip(sums, limits, strict=True):
            if low >= 0:
                of_vector -= of_vector[low]
        return sums

    def _end(self, position: int, n_rows: int) -> Floats | None:
        if position < 0:
            return np.zeros(n_rows)
        return np.ones(n_rows) if position == len(self.at) else None


class SoftThresholds(Thresholds):
    """Of a column measured with error: F anywhere between 0 and 1."""

    def __init__(self, law: NumberLaw, x: Floats, sigma: Floats, at: Floats) -> None:
        self.at = at
        self._law, self._x, self._sigma = law, x, sigma
        self._kept: Floats | None = None

    @property
    def is_small(self) -> bool:
        """Whether F may be kept."""
        return len(self._x) * len(self.at) <= _VALUES_KEPT

    def keep(self, below: Floats) -> None:
        """Fill this, (m, n), with F, and read it from now on."""
        step = max(1, _VALUES_IN_CACHE // max(len(self.at), 1))
        for first in range(0, len(self._x), step):
            rows = slice(first, first + step)
            below[:, rows] = self._law.below(self._x[rows], self._sigma[rows], self.at).T
        self._kept = below

    def _blocks(self, start: int, end: int) -> Iterator[tuple[slice, Floats]]:
        """F between two positions, (some, n), a part at a time."""
        if self._kept is not None:
            yield slice(start, end), self._kept[start:end]
            return
        step = max(1, _VALUES_AT_ONCE // max(len(self._x), 1))
        for first in range(start, end, step):
            part = slice(first, min(first + step, end))
            yield part, np.ascontiguousarray(self._law.below(self._x, self._sigma, self.at[part]).T)

    def below(self, position: int) -> Floats:
        end = self._end(position, len(self._x))
        if end is not None:
            return end
        if self._kept is not None:
            row: Floats = self._kept[position]
            return row
        return np.ascontiguousarray(self._law.below(self._x, self._sigma, self.at[position : position + 1])[:, 0])

    def sums(self, vectors: Floats) -> Floats:
        result = np.empty((len(self.at), vectors.shape[1]))
        for part, below in self._blocks(0, len(self.at)):
            result[part] = below @ vectors
        return result

    def sums_between(self, vectors: Sequence[Floats], limits: Sequence[tuple[int, int]]) -> Floats:
        if self._kept is None:
            return super().sums_between(vectors, limits)
        result = np.zeros((len(vectors), len(self.at)))
        for vector, (low, high), between in zip(vectors, limits, result, strict=True):
            sums = self._kept[max(low, 0) : high] @ vector
            between[low + 1 : high] = sums if low < 0 else sums[1:] - sums[0]
        return result

    def moments(self, v: Floats, low: int, high: int, basis: Floats, residuals: Floats) -> Moments:
        n_basis, width = basis.shape[1], basis.shape[1] + residuals.shape[1]
        norms, products = np.zeros(len(self.at)), np.zeros((width, len(self.at)))
        vectors, weight = np.empty((width, len(v))), v * v
        np.multiply(basis.T, v, out=vectors[:n_basis])
        np.multiply(residuals.T, v, out=vectors[n_basis:])
        start = None if low < 0 else self.below(low)
        for part, below in self._blocks(low + 1, high):
            products[:, part] = vectors @ below.T
            squared_lengths(below, start, weight, norms[part])
        if start is not None:
            products -= (vectors @ start)[:, np.newaxis]
        return Moments(norms, products[:n_basis].T, products[n_basis:].T)


class HardThresholds(Thresholds):
    """Of an exact column: F is 0 or 1, and only for missing values between."""

    def __init__(self, law: NumberLaw, x: Floats, at: Floats) -> None:
        self.at = at
        self._missing = np.flatnonzero(np.isnan(x))
        order = np.argsort(x, kind="stable")  # the missing last
        self._known = order[: len(x) - len(self._missing)]
        self._n_below = np.searchsorted(x[self._known], at, side="right")
        self._of_missing = law.of_missing(at)
        self._n_rows = len(x)

    def below(self, position: int) -> Floats:
        end = self._end(position, self._n_rows)
        if end is not None:
            return end
        result = np.zeros(self._n_rows)
        result[self._known[: self._n_below[position]]] = 1.0
        result[self._missing] = self._of_missing[position]
        return result

    def sums(self, vectors: Floats) -> Floats:
        return self._sums_known(vectors) + np.outer(self._of_missing, vectors[self._missing].sum(axis=0))

    def _sums_known(self, vectors: Floats) -> Floats:
        cumulated = np.zeros((len(self._known) + 1, vectors.shape[1]))
        np.cumsum(vectors[self._known], axis=0, out=cumulated[1:])
        return cumulated[self._n_below]

    def moments(self, v: Floats, low: int, high: int, basis: Floats, residuals: Floats) -> Moments:
        column = v[:, np.newaxis]
        sums = self.sums(np.concatenate([column * basis, column * residuals], axis=1))
        squares = column**2
        norms = self._sums_known(squares)[:, 0]
        of_missing = self._of_missing
        if low >= 0:
            sums, norms, of_missing = sums - sums[low], norms - norms[low], of_missing - of_missing[low]
        norms = norms + of_missing**2 * squares[self._missing].sum()
        return Moments(norms, sums[:, : basis.shape[1]], sums[:, basis.shape[1] :])
