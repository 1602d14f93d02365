"""All numeric columns of a problem side by side, while a tree grows.

Where regions do not bound a column v = √w·P_k is the same for all such columns, so that one matrix product serves all
their thresholds, and all regions at once: what it costs is to read F. The columns that most regions bound are left out
of it, and reckoned one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import squared_lengths
from hedgerow.measured.regions import GrowingRegion
from hedgerow.measured.thresholds import Moments, SoftThresholds, Thresholds

__all__ = ["ThresholdColumns", "Wanted"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_FEW_VECTORS = 4  # are multiplied one by one in less time than F is put in order for a matrix product


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
        self._kept: dict[int, slice] = {}
        """Where F of a column is in the matrix of all that are kept."""
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
        """The same, and products of the candidate columns of other regions with a direction, (n_others, m)."""
        weighted = root * direction
        shared = self._shared(wanted, others)
        moments, sums = self._of_shared(shared, root, wanted, others, weighted)
        for j, column in self.columns.items():
            part, everything = self.parts[j], (-1, len(column.at))
            for one, found in zip(wanted, moments, strict=True):
                if j not in shared or j in one.region.factors:
                    limits = one.region.limits.get(j, everything)
                    of_column = column.moments(root * one.region.rest(j), *limits, one.basis, one.residuals)
                    found.norms[part] = of_column.norms
                    found.basis[part], found.residuals[part] = of_column.basis, of_column.residuals
            own = [i for i, region in enumerate(others) if j not in shared or j in region.factors]
            if own:
                vectors = [others[i].rest(j) * weighted for i in own]
                sums[own, part] = column.sums_between(vectors, [others[i].limits.get(j, everything) for i in own])
        return moments, sums

    def _shared(self, wanted: Sequence[Wanted], others: Sequence[GrowingRegion]) -> list[int]:
        """Columns that are kept, and that regions with at least half of all vectors do not bound."""
        n_vectors = [(region, 1) for region in others]
        n_vectors += [(one.region, one.basis.shape[1] + one.residuals.shape[1]) for one in wanted]
        half = sum(n for _, n in n_vectors) / 2
        return [j for j in self._kept if sum(n for region, n in n_vectors if j not in region.factors) >= half]

    def _of_shared(
        self,
        shared: Sequence[int],
        root: Floats,
        wanted: Sequence[Wanted],
        others: Sequence[GrowingRegion],
        weighted: Floats,
    ) -> tuple[list[Moments], Floats]:
        """As if no region bounded a column; 0 for columns that are not shared."""
        widths = [some.shape[1] for one in wanted for some in (one.basis, one.residuals)]
        ends = np.cumsum([len(others), *widths])
        places = [(slice(*ends[i : i + 2]), slice(*ends[i + 1 : i + 3])) for i in range(0, len(widths), 2)]
        products = np.zeros((ends[-1], len(self)))
        moments = [Moments(np.zeros(len(self)), products[first].T, products[second].T) for first, second in places]
        if not shared:
            return moments, products[: len(others)]
        vectors, runs = np.empty((ends[-1], len(root))), self._runs(shared)
        for i, region in enumerate(others):
            np.multiply(weighted, region.share, out=vectors[i])
        for one, found, (first, second) in zip(wanted, moments, places, strict=True):
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
        """Numbers of candidates, and where their F is kept, of columns that stand side by side."""
        runs: list[tuple[slice, slice]] = []
        for j in shared:
            part, kept = self.parts[j], self._kept[j]
            if runs and runs[-1][0].stop == part.start and runs[-1][1].stop == kept.start:
                before = runs.pop()
                part, kept = slice(before[0].start, part.stop), slice(before[1].start, kept.stop)
            runs.append((part, kept))
        return runs


def _multiply(vectors: Floats, below: Floats, out: Floats) -> None:
    """vectors·Fᵀ"""
    if len(vectors) > _FEW_VECTORS:
        out[:] = vectors @ below.T
    else:
        for vector, row in zip(vectors, out, strict=True):
            row[:] = below @ vector
