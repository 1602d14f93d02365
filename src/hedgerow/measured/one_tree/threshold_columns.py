"""Numeric columns while a tree grows: candidate thresholds, and inner products with the columns that they would add.

Splitting region k at t adds the column c = √w·P_k·P(U_j ≤ t | U_j ∈ R_k^j, x) to the span. With v = √w times the
product of the region's other columns it is c = v·(F_t − F_low), where F_t is P(U_j ≤ t | x) and `low` the region's
lower bound. So products of all candidates with a vector are one matrix product with F, or cumulative sums where F is 0
or 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import squared_lengths
from hedgerow.measured.laws.column_laws import NumberLaw
from hedgerow.measured.regions import GrowingRegion

__all__ = [
    *("HardThresholds", "Moments", "MomentsRequest", "SoftThresholds", "ThresholdColumns", "Thresholds"),
    "candidate_thresholds",
]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_VALUES_AT_ONCE = 1 << 21  # of F, computed at a time
_VALUES_KEPT = 1 << 23  # of F, for one column: 64 MiB; a larger F is recomputed
_VALUES_IN_CACHE = 1 << 14  # of F, computed at a time where F is kept
_FEW_VECTORS = 4  # up to here single products are faster than packing F for a matrix product


@dataclass(frozen=True)
class Moments:
    """Inner products of candidate columns with themselves, with the basis and with the residuals."""

    norms: Floats
    """(m,)"""
    basis: Floats
    """(m, size of the basis)"""
    residuals: Floats
    """(m, n_outputs)"""


def candidate_thresholds(x: Floats, weight: Floats, at_most: int | None) -> Floats:
    """Midpoints of neighbouring values; if they are more than `at_most`, those nearest to evenly spaced quantiles."""
    distinct, of_row = np.unique(x[~np.isnan(x)], return_inverse=True)
    midpoints = 0.5 * distinct[:-1] + 0.5 * distinct[1:]
    # The midpoint of adjacent floats may round to the upper one, which would then go to the wrong side.
    midpoints = np.where(midpoints < distinct[1:], midpoints, distinct[:-1])
    if at_most is None or len(midpoints) <= at_most:
        return np.asarray(midpoints)
    below = np.bincount(of_row, weights=weight[~np.isnan(x)]).cumsum()
    wanted = below[-1] * np.arange(1, at_most + 1) / (at_most + 1)
    after = np.clip(np.searchsorted(below[:-1], wanted), 1, len(midpoints) - 1)
    nearest = np.where(wanted - below[after - 1] <= below[after] - wanted, after - 1, after)
    return np.asarray(midpoints[np.unique(nearest)])


class Thresholds(ABC):
    """Abstract: candidate thresholds `at` of a column, (m,), increasing. Positions -1 and m stand for −∞ and +∞."""

    at: Floats

    @abstractmethod
    def below(self, position: int) -> Floats:
        """F at one threshold, (n,)."""

    @abstractmethod
    def sums(self, vectors: Floats) -> Floats:
        """Fᵀ·vectors, (m, k) for vectors (n, k)."""

    @abstractmethod
    def moments(self, v: Floats, low: int, high: int, basis: Floats, residuals: Floats) -> Moments:
        """Moments of the columns v·(F_t − F_low) for thresholds between `low` and `high`; undefined for others."""

    def sums_between(self, vectors: Sequence[Floats], limits: Sequence[tuple[int, int]]) -> Floats:
        """(F − F_low)ᵀ·vector, (k, m), of k vectors with their own limits; undefined for thresholds beyond them."""
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
    """Thresholds of a column measured with error: F is anywhere in [0, 1]."""

    def __init__(self, law: NumberLaw, x: Floats, sigma: Floats, at: Floats) -> None:
        self.at = at
        self._law, self._x, self._sigma = law, x, sigma
        self._kept: Floats | None = None

    @property
    def is_small(self) -> bool:
        """Whether F is small enough to be kept."""
        return len(self._x) * len(self.at) <= _VALUES_KEPT

    def keep(self, below: Floats) -> None:
        """Fill `below`, (m, n), with F, and use it from now on."""
        step = max(1, _VALUES_IN_CACHE // max(len(self.at), 1))
        for first in range(0, len(self._x), step):
            rows = slice(first, first + step)
            below[:, rows] = self._law.below(self._x[rows], self._sigma[rows], self.at).T
        self._kept = below

    def _blocks(self, start: int, end: int) -> Iterator[tuple[slice, Floats]]:
        """F between two positions in blocks, (block, n)."""
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
    """Thresholds of an exact column: F is 0 or 1 except for missing values."""

    def __init__(self, law: NumberLaw, x: Floats, at: Floats) -> None:
        self.at = at
        self._missing = np.flatnonzero(np.isnan(x))
        order = np.argsort(x, kind="stable")  # NaN comes last
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


@dataclass(frozen=True, eq=False)
class MomentsRequest:
    """A region whose candidate columns need moments, and the vectors (n, any number) to take them with."""

    region: GrowingRegion
    basis: Floats
    residuals: Floats


class ThresholdColumns:
    """Thresholds of all numeric columns; candidates are numbered consecutively, column after column.

    Where regions do not bound a column, v = √w·P_k is the same for all such columns: one matrix product serves all
    their thresholds and all regions at once, at the cost of reading F. Columns that most regions bound are computed one
    by one.
    """

    def __init__(self, columns: Mapping[int, Thresholds], n_rows: int) -> None:
        self.columns = dict(columns)
        sizes = [len(column.at) for column in columns.values()]
        ends = np.cumsum([0, *sizes])
        self.parts = {j: slice(int(ends[i]), int(ends[i + 1])) for i, j in enumerate(columns)}
        """Candidates of each column."""
        self._feature = np.repeat(np.array(list(columns), dtype=np.intp), sizes)
        self._position = np.arange(ends[-1]) - np.repeat(ends[:-1], sizes)
        self._kept: dict[int, slice] = {}
        """Rows of each kept column in `_below`."""
        n_kept = sum(len(one.at) for one in columns.values() if isinstance(one, SoftThresholds) and one.is_small)
        self._below = np.empty((n_kept, n_rows))
        start = 0
        for j, one in columns.items():
            if isinstance(one, SoftThresholds) and one.is_small:
                self._kept[j] = slice(start, start + len(one.at))
                one.keep(self._below[self._kept[j]])
                start += len(one.at)

    def __len__(self) -> int:
        return len(self._feature)

    def locate(self, candidate: int) -> tuple[int, int]:
        """Column and position of a candidate."""
        return int(self._feature[candidate]), int(self._position[candidate])

    def inside(self, region: GrowingRegion) -> Bools:
        """Which candidates lie strictly between the bounds of a region."""
        within = np.ones(len(self), dtype=bool)
        for j, (low, high) in region.limits.items():
            position = self._position[self.parts[j]]
            within[self.parts[j]] = (position > low) & (position < high)
        return within

    def moments(self, root: Floats, wanted: Sequence[MomentsRequest]) -> list[Moments]:
        """Moments of all candidate columns of regions; `root` is √w of each row."""
        return self.moments_and_sums(root, wanted, [], root)[0]

    def moments_and_sums(
        self, root: Floats, wanted: Sequence[MomentsRequest], others: Sequence[GrowingRegion], direction: Floats
    ) -> tuple[list[Moments], Floats]:
        """Moments, and products of the candidate columns of other regions with a direction, (n_others, m)."""
        weighted = root * direction
        shared = self._shared(wanted, others)
        moments, sums = self._of_shared(shared, root, wanted, others, weighted)
        for j, column in self.columns.items():
            part, everything = self.parts[j], (-1, len(column.at))
            for one, found in zip(wanted, moments, strict=True):
                if j not in shared or j in one.region.factors:
                    limits = one.region.limits.get(j, everything)
                    of_column = column.moments(root * one.region.share_without(j), *limits, one.basis, one.residuals)
                    found.norms[part] = of_column.norms
                    found.basis[part], found.residuals[part] = of_column.basis, of_column.residuals
            own = [i for i, region in enumerate(others) if j not in shared or j in region.factors]
            if own:
                vectors = [others[i].share_without(j) * weighted for i in own]
                sums[own, part] = column.sums_between(vectors, [others[i].limits.get(j, everything) for i in own])
        return moments, sums

    def _shared(self, wanted: Sequence[MomentsRequest], others: Sequence[GrowingRegion]) -> list[int]:
        """Kept columns that are unbounded in the regions of at least half of all vectors."""
        n_vectors = [(region, 1) for region in others]
        n_vectors += [(one.region, one.basis.shape[1] + one.residuals.shape[1]) for one in wanted]
        half = sum(n for _, n in n_vectors) / 2
        return [j for j in self._kept if sum(n for region, n in n_vectors if j not in region.factors) >= half]

    def _of_shared(
        self,
        shared: Sequence[int],
        root: Floats,
        wanted: Sequence[MomentsRequest],
        others: Sequence[GrowingRegion],
        weighted: Floats,
    ) -> tuple[list[Moments], Floats]:
        """Moments and sums as if no region bounded a shared column; 0 for columns that are not shared."""
        widths = [some.shape[1] for one in wanted for some in (one.basis, one.residuals)]
        ends = np.cumsum([len(others), *widths])
        slices = [(slice(*ends[i : i + 2]), slice(*ends[i + 1 : i + 3])) for i in range(0, len(widths), 2)]
        products = np.zeros((ends[-1], len(self)))
        moments = [Moments(np.zeros(len(self)), products[first].T, products[second].T) for first, second in slices]
        if not shared:
            return moments, products[: len(others)]
        vectors, runs = np.empty((ends[-1], len(root))), self._runs(shared)
        for i, region in enumerate(others):
            np.multiply(weighted, region.share, out=vectors[i])
        for one, found, (first, second) in zip(wanted, moments, slices, strict=True):
            v = root * one.region.share
            np.multiply(one.basis.T, v, out=vectors[first])
            np.multiply(one.residuals.T, v, out=vectors[second])
            weight = v * v
            for part, kept in runs:
                squared_lengths(self._below[kept], None, weight, found.norms[part])
        for part, kept in runs:
            _multiply(vectors, self._below[kept], products[:, part])
        return moments, products[: len(others)]

    def _runs(self, shared: Sequence[int]) -> list[tuple[slice, slice]]:
        """Candidates and rows of `_below` of shared columns, adjacent columns merged."""
        runs: list[tuple[slice, slice]] = []
        for j in shared:
            part, kept = self.parts[j], self._kept[j]
            if runs and runs[-1][0].stop == part.start and runs[-1][1].stop == kept.start:
                before = runs.pop()
                part, kept = slice(before[0].start, part.stop), slice(before[1].start, kept.stop)
            runs.append((part, kept))
        return runs


def _multiply(vectors: Floats, below: Floats, out: Floats) -> None:
    """Write vectors·Fᵀ to `out`."""
    if len(vectors) > _FEW_VECTORS:
        out[:] = vectors @ below.T
    else:
        for vector, row in zip(vectors, out, strict=True):
            row[:] = below @ vector
