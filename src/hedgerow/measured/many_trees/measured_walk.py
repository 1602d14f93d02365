"""Walk of rows measured with error down any number of soft trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hedgerow._lazy import lazy
from hedgerow.forest.forest import Forest
from hedgerow.measured.laws.column_laws import ColumnLaw
from hedgerow.measured.many_trees.latent import Landmarks
from hedgerow.walk import LeafTable, PointNodes, PointWalk, SoftForestWalk, SoftNodes, latin_strata

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["ManySoftTrees", "MeasuredWalk"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ManySoftTrees:
    """A forest prepared for rows of these laws."""

    forest: Forest
    landmarks: Landmarks
    nodes: SoftNodes

    @classmethod
    def of(cls, forest: Forest, laws: Sequence[ColumnLaw]) -> ManySoftTrees:
        """Prepare once; a walk of one row takes less time."""
        marks = Landmarks.of_forest(forest, laws)
        return cls(forest, marks, SoftNodes.of(forest, marks.start, marks.flat, marks.nominal))

    @lazy
    def points(self) -> PointNodes:
        """Nodes of walks of points."""
        return PointNodes.of(self.forest, self.nodes, self.landmarks.start, self.landmarks.nominal)

    def walk(
        self,
        errors: Callable[[Floats], Floats],
        tolerance: float,
        n_jobs: int | None,
        n_points: int | None = None,
    ) -> MeasuredWalk:
        """Walk rows whose errors have the sizes `errors` of rows, (n, n_features); by so many points, or by regions."""
        exact = self._by_regions(tolerance, n_jobs)
        if n_points is None:
            return MeasuredWalk(exact, errors)
        strata = latin_strata(self.forest.n_trees, n_points, self._n_columns)
        return MeasuredWalk(PointWalk(exact, self.points, strata, self._read_coarsely), errors)

    def variance_at_points(
        self, rows: Floats, cells: Floats, table: LeafTable, n_jobs: int | None, n_points: int = 64
    ) -> Floats:
        """Variance of the fold of a table of one column over where the latent values of each row may be, (n,).

        Over points of a Latin hypercube, which are the same for all trees.
        """
        exact, wide = self._by_regions(0.0, n_jobs), np.hstack([rows, cells])
        answers = np.empty((n_points, len(rows)))
        for point, strata in enumerate(latin_strata(1, n_points, self._n_columns)[0]):
            same = np.tile(strata, (self.forest.n_trees, 1, 1))
            answers[point] = PointWalk(exact, self.points, same, self._read_coarsely).fold(wide, [table])[0][:, 0]
        variance: Floats = answers.var(axis=0)
        return variance

    @property
    def _n_columns(self) -> int:
        """Number of columns that are split on."""
        return int((np.diff(self.landmarks.start) > 0).sum())

    def _by_regions(self, tolerance: float, n_jobs: int | None) -> SoftForestWalk:
        return SoftForestWalk(self.forest, self.nodes, self._read, tolerance, n_jobs)

    def _read(self, wide: Floats) -> Floats:
        """Numbers of rows and their errors, side by side."""
        n_features = self.forest.n_features
        return self.landmarks.read(wide[:, :n_features], wide[:, n_features:])

    def _read_coarsely(self, wide: Floats) -> Floats:
        n_features = self.forest.n_features
        return self.landmarks.read_coarsely(wide[:, :n_features], wide[:, n_features:])


@dataclass(frozen=True, eq=False)
class MeasuredWalk:
    """Soft walk of rows and their errors, which the walk within reads side by side."""

    inner: SoftForestWalk | PointWalk
    errors: Callable[[Floats], Floats]

    @property
    def forest(self) -> Forest:
        """The trees."""
        return self.inner.forest

    def route(self, rows: Floats) -> NDArray[np.int32]:
        return self.inner.route(self._wide(rows))

    def spread(self, rows: Floats) -> csr_array:
        return self.inner.spread(self._wide(rows))

    def fold(
        self,
        rows: Floats,
        tables: Sequence[LeafTable],
        tree_weights: Floats | None = None,
        *,
        per_tree: Sequence[bool] | None = None,
        skip: NDArray[np.uint8] | None = None,
    ) -> list[Floats]:
        return self.inner.fold(self._wide(rows), tables, tree_weights, per_tree=per_tree, skip=skip)

    def with_errors(self, cells: Floats) -> MeasuredWalk:
        """Walk of rows whose errors are `cells`, (n, n_features)."""
        return replace(self, errors=lambda rows: cells)

    def _wide(self, rows: Floats) -> Floats:
        return np.hstack([rows, self.errors(rows)])
