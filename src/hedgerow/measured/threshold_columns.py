"""All numeric columns of a problem side by side, while a tree grows.

A region bounds few of them. For all others v = √w·P_k is the same, so that one matrix product serves all their
thresholds, and several regions at once: what it costs is to read F.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from hedgerow.measured.regions import GrowingRegion
from hedgerow.measured.thresholds import Moments, SoftThresholds, Thresholds

__all__ = ["ThresholdColumns"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_VALUES_STACKED = 1 << 25  # of all columns: 256 MiB, and as much for squares


class ThresholdColumns:
    """Candidates are numbered through, column after column."""

    def __init__(self, columns: Mapping[int, Thresholds]) -> None:
        self.columns = dict(columns)
        sizes = [len(column.at) for column in columns.values()]
        ends = np.cumsum([0, *sizes])
        self._parts = {j: slice(ends[i], ends[i + 1]) for i, j in enumerate(columns)}
        self._feature = np.repeat(np.array(list(columns), dtype=np.intp), sizes)
        self._position = np.arange(ends[-1]) - np.repeat(ends[:-1], sizes)
        self._stacked, self._stack, self._squares = self._stacks()

    def _stacks(self) -> tuple[list[int], Floats, Floats]:
        """The columns whose F is kept, in one matrix, which they share from now on; and its squares."""
        kept = {j: one for j, one in self.columns.items() if isinstance(one, SoftThresholds) and one.kept is not None}
        pairs = [one.kept for one in kept.values() if one.kept is not None]
        if not pairs or sum(below.size for below, _ in pairs) > _VALUES_STACKED:
            return [], np.empty((0, 0)), np.empty((0, 0))
        stack, squares = (np.concatenate([pair[i] for pair in pairs], axis=1) for i in (0, 1))
        start = 0
        for one in kept.values():
            end = start + len(one.at)
            one.kept = stack[:, start:end], squares[:, start:end]
            start = end
        return list(kept), stack, squares

    def __len__(self) -> int:
        return len(self._feature)

    def place(self, candidate: int) -> tuple[int, int]:
        """Column and position of a candidate."""
        return int(self._feature[candidate]), int(self._position[candidate])

    def inside(self, region: GrowingRegion) -> Bools:
        """Which candidates are between the bounds of a region."""
        within = np.ones(len(self), dtype=bool)
        for j, (low, high) in region.limits.items():
            position = self._position[self._parts[j]]
            within[self._parts[j]] = (position > low) & (position < high)
        return within

    def moments(
        self, regions: Sequence[GrowingRegion], root: Floats, basis: Floats, residuals: Floats
    ) -> list[Moments]:
        """Of all candidate columns of each region; `root` has √w of each row."""
        everywhere = self._stacked_moments(regions, root, basis, residuals)
        for region, found in zip(regions, everywhere, strict=True):
            for j, column in self.columns.items():
                if j in region.factors or j not in self._stacked:
                    low, high = region.limits.get(j, (-1, len(column.at)))
                    of_column = column.moments(root * region.rest(j), low, high, basis, residuals)
                    part = self._parts[j]
                    found.norms[part] = of_column.norms
                    found.basis[part], found.residuals[part] = of_column.basis, of_column.residuals
        return everywhere

    def _stacked_moments(
        self, regions: Sequence[GrowingRegion], root: Floats, basis: Floats, residuals: Floats
    ) -> list[Moments]:
        """As if no column were bounded; 0 for columns that are not in the stack."""
        n_basis, width = basis.shape[1], basis.shape[1] + residuals.shape[1]
        norms, products = np.zeros((len(self), len(regions))), np.zeros((len(self), len(regions) * width))
        if self._stacked:
            at = np.flatnonzero(np.isin(self._feature, self._stacked))
            columns = [(root * region.share)[:, np.newaxis] for region in regions]
            vectors = [column * other for column in columns for other in (basis, residuals)]
            products[at] = self._stack.T @ np.concatenate(vectors, axis=1)
            norms[at] = self._squares.T @ np.concatenate(columns, axis=1) ** 2
        return [
            Moments(norms[:, i].copy(), of_region[:, :n_basis], of_region[:, n_basis:])
            for i, of_region in enumerate(np.split(products, len(regions), axis=1))
        ]

    def sums(self, regions: Sequence[GrowingRegion], weighted: Floats) -> Floats:
        """Products of all candidate columns of some regions with one vector, (n_candidates, n_regions)."""
        result = np.zeros((len(self), len(regions)))
        if self._stacked:
            at = np.flatnonzero(np.isin(self._feature, self._stacked))
            result[at] = self._stack.T @ np.stack([region.share * weighted for region in regions], axis=1)
        for j, column in self.columns.items():
            own = [i for i, region in enumerate(regions) if j in region.factors or j not in self._stacked]
            if own:
                vectors = np.stack([regions[i].rest(j) * weighted for i in own], axis=1)
                low = np.array([regions[i].limits.get(j, (-1, 0))[0] for i in own])
                result[self._parts[j], own] = column.sums_from(vectors, low)
        return result
