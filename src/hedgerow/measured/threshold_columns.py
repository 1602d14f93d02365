"""All numeric columns of a problem side by side, while a tree grows.

A region bounds few of them. For all others v = √w·P_k is the same, so that one matrix product serves all their
thresholds, and all regions at once: what it costs is to read F.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.measured.regions import GrowingRegion
from hedgerow.measured.thresholds import Moments, SoftThresholds, Thresholds

__all__ = ["ThresholdColumns", "Wanted"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_FEW_VECTORS = 4  # so few are multiplied one by one in less time than it takes to put F in order for a matrix product


@dataclass(frozen=True, eq=False)
class Wanted:
    """The candidate columns of a region, and what their moments are taken with: (n, any number) each."""

    region: GrowingRegion
    basis: Floats
    residuals: Floats


class ThresholdColumns:
    """Candidates are numbered through, column after column."""

    def __init__(self, columns: Mapping[int, Thresholds], n_rows: int) -> None:
        self.columns = dict(columns)
        sizes = [len(column.at) for column in columns.values()]
        ends = np.cumsum([0, *sizes])
        self.parts = {j: slice(int(ends[i]), int(ends[i + 1])) for i, j in enumerate(columns)}
        """Which candidates are a column's."""
        self._feature = np.repeat(np.array(list(columns), dtype=np.intp), sizes)
        self._position = np.arange(ends[-1]) - np.repeat(ends[:-1], sizes)
        kept = {j: one for j, one in columns.items() if isinstance(one, SoftThresholds) and one.is_small}
        self._kept = frozenset(kept)
        self._at = np.flatnonzero(np.isin(self._feature, list(kept)))
        self._below, self._squares = np.empty((2, len(self._at), n_rows))
        start = 0
        for one in kept.values():
            part = slice(start, start + len(one.at))
            one.keep(self._below[part], self._squares[part])
            start = part.stop

    def __len__(self) -> int:
        return len(self._feature)

    def place(self, candidate: int) -> tuple[int, int]:
        """Column and position of a candidate."""
        return int(self._feature[candidate]), int(self._position[candidate])

    def inside(self, region: GrowingRegion) -> Bools:
        """Which candidates are between the bounds of a region."""
        within = np.ones(len(self), dtype=bool)
        for j, (low, high) in region.limits.items():
            position = self._position[self.parts[j]]
            within[self.parts[j]] = (position > low) & (position < high)
        return within

    def moments(self, root: Floats, wanted: Sequence[Wanted]) -> list[Moments]:
        """Of all candidate columns of regions; `root` has √w of each row."""
        return self.moments_and_sums(root, wanted, [], root)[0]

    def moments_and_sums(
        self, root: Floats, wanted: Sequence[Wanted], others: Sequence[GrowingRegion], direction: Floats
    ) -> tuple[list[Moments], Floats]:
        """The same, and products of the candidate columns of other regions with a direction, (m, n_others)."""
        weighted = root * direction
        moments, sums = self._unbounded(root, wanted, others, weighted)
        for j, column in self.columns.items():
            part, everything = self.parts[j], (-1, len(column.at))
            for one, found in zip(wanted, moments, strict=True):
                if self._is_own(j, one.region):
                    limits = one.region.limits.get(j, everything)
                    of_column = column.moments(root * one.region.rest(j), *limits, one.basis, one.residuals)
                    found.norms[part] = of_column.norms
                    found.basis[part], found.residuals[part] = of_column.basis, of_column.residuals
            own = [i for i, region in enumerate(others) if self._is_own(j, region)]
            if own:
                vectors = np.stack([others[i].rest(j) * weighted for i in own]).T
                sums[part, own] = column.sums_between(vectors, [others[i].limits.get(j, everything) for i in own])
        return moments, sums

    def _is_own(self, feature: int, region: GrowingRegion) -> bool:
        """Whether a column is not one of many that are alike."""
        return feature in region.factors or feature not in self._kept

    def _unbounded(
        self, root: Floats, wanted: Sequence[Wanted], others: Sequence[GrowingRegion], weighted: Floats
    ) -> tuple[list[Moments], Floats]:
        """As if no region bounded any column; 0 for columns that are not kept."""
        widths = [some.shape[1] for one in wanted for some in (one.basis, one.residuals)]
        ends = np.cumsum([len(others), *widths])
        vectors = np.empty((ends[-1], len(root)))
        for i, region in enumerate(others):
            np.multiply(weighted, region.share, out=vectors[i])
        moments = []
        products = np.zeros((len(self), len(vectors)))
        for i, one in enumerate(wanted):
            start, middle, end = ends[2 * i : 2 * i + 3]
            v = root * one.region.share
            np.multiply(one.basis.T, v, out=vectors[start:middle])
            np.multiply(one.residuals.T, v, out=vectors[middle:end])
            norms = np.zeros(len(self))
            norms[self._at] = self._squares @ (v * v)
            moments.append(Moments(norms, products[:, start:middle], products[:, middle:end]))
        if len(self._at) and len(vectors):
            products[self._at] = self._times_below(vectors)
        return moments, products[:, : len(others)]

    def _times_below(self, vectors: Floats) -> Floats:
        """F·vectorsᵀ of all columns that are kept."""
        if len(vectors) > _FEW_VECTORS:
            return self._below @ vectors.T
        return np.stack([self._below @ vector for vector in vectors], axis=1)
