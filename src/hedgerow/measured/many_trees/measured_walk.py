"""Walk of rows measured with error down any number of soft trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hedgerow._lazy import lazy
from hedgerow.forest.forest import Forest
from hedgerow.measured.errors.correlations import no_pairs
from hedgerow.measured.laws.column_laws import ColumnLaw
from hedgerow.measured.laws.joint_law import JointLaw, JointRows
from hedgerow.measured.many_trees.latent import Landmarks
from hedgerow.walk import LeafTable, PointNodes, PointWalk, SoftForestWalk, SoftNodes, latin_strata
from hedgerow.walk.leaf_table import apply_links, fold_trees

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["ManySoftTrees", "MeasuredWalk"]

Floats = NDArray[np.float64]

N_PARTS = 64
"""Of the mixture that a row with correlated errors is"""
_ROWS_AT_ONCE = 128


@dataclass(frozen=True, eq=False)
class ManySoftTrees:
    """A forest prepared for rows of these laws."""

    forest: Forest
    landmarks: Landmarks
    nodes: SoftNodes
    pairs: NDArray[np.intp] = field(default_factory=no_pairs)
    """Pairs of columns whose errors may be correlated, (m, 2)"""

    @classmethod
    def of(cls, forest: Forest, laws: Sequence[ColumnLaw], pairs: NDArray[np.intp] | None = None) -> ManySoftTrees:
        """Prepare once; a walk of one row takes less time."""
        marks = Landmarks.of_forest(forest, laws)
        nodes = SoftNodes.of(forest, marks.start, marks.flat, marks.nominal)
        return cls(forest, marks, nodes, no_pairs() if pairs is None else pairs)

    @lazy
    def joint(self) -> JointLaw:
        """Law of the latent values of a row."""
        return JointLaw(self.landmarks.laws, vars(self).get("pairs", no_pairs()))

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
            return MeasuredWalk(exact, errors, self.joint)
        strata = latin_strata(self.forest.n_trees, n_points, self._n_columns)
        return MeasuredWalk(PointWalk(exact, self.points, strata, self._read_coarsely), errors, self.joint)

    @classmethod
    def walk_of_rows(cls, forest: Forest, given: JointRows, tolerance: float, n_jobs: int | None) -> MeasuredWalk:
        """Walk of rows with their errors, down all regions of a forest."""
        trees = cls.of(forest, given.joint.laws, given.joint.pairs)
        return trees.walk(lambda rows: given.cells, tolerance, n_jobs)

    def variance_at_points(
        self, rows: Floats, cells: Floats, table: LeafTable, n_jobs: int | None, n_points: int = 64
    ) -> Floats:
        """Variance of the fold of a table of one column over where the latent values of each row may be, (n,).

        Over points of a Latin hypercube, which are the same for all trees.
        """
        exact, n_parts = self._by_regions(0.0, n_jobs), 1
        if self.joint.is_correlated(cells):
            n_points, n_parts = -(-n_points // N_PARTS), N_PARTS
            rows, cells = self.joint.mixture(rows, cells, n_parts)
        wide = np.hstack([rows, cells])
        answers = np.empty((n_points, len(rows)))
        for point, strata in enumerate(latin_strata(1, n_points, self._n_columns)[0]):
            same = np.tile(strata, (self.forest.n_trees, 1, 1))
            answers[point] = PointWalk(exact, self.points, same, self._read_coarsely).fold(wide, [table])[0][:, 0]
        variance: Floats = answers.reshape(n_points, -1, n_parts).var(axis=(0, 2))
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
    """Soft walk of rows and their errors, which the walk within reads side by side.

    A row whose errors are correlated is a mixture of rows whose errors are not: the walk within answers these, and
    what they reach is averaged.
    """

    inner: SoftForestWalk | PointWalk
    errors: Callable[[Floats], Floats]
    joint: JointLaw

    @property
    def forest(self) -> Forest:
        """The trees."""
        return self.inner.forest

    def route(self, rows: Floats) -> NDArray[np.int32]:
        cells = self.errors(rows)
        if not self.joint.is_correlated(cells):
            return self.inner.route(np.hstack([rows, cells]))
        leaves = np.empty((len(rows), self.forest.n_trees), dtype=np.int32)
        for part, reached in self._mixed_spread(rows, cells):
            for tree, (start, end) in enumerate(pairwise(self.forest.leaf_start)):
                leaves[part, tree] = reached[:, start:end].toarray().argmax(axis=1)
        return leaves

    def spread(self, rows: Floats) -> csr_array:
        cells = self.errors(rows)
        if not self.joint.is_correlated(cells):
            return self.inner.spread(np.hstack([rows, cells]))
        from scipy.sparse import csr_array, vstack

        return csr_array(vstack([reached for _, reached in self._mixed_spread(rows, cells)]))

    def fold(
        self,
        rows: Floats,
        tables: Sequence[LeafTable],
        tree_weights: Floats | None = None,
        *,
        per_tree: Sequence[bool] | None = None,
        skip: NDArray[np.uint8] | None = None,
    ) -> list[Floats]:
        cells = self.errors(rows)
        if not self.joint.is_correlated(cells):
            wide = np.hstack([rows, cells])
            return self.inner.fold(wide, tables, tree_weights, per_tree=per_tree, skip=skip)
        kept = list(per_tree or [False] * len(tables))
        linear = [table.adds_up and not table.links.any() for table in tables]
        sums = [one if plain else LeafTable.of(one.of_each_leaf) for one, plain in zip(tables, linear, strict=True)]
        apart = [keep or not plain for keep, plain in zip(kept, linear, strict=True)]
        blocks: list[list[Floats]] = []
        for part, wide in self._mixtures(rows, cells):
            left_out = None if skip is None else _repeat_bits(skip, part, N_PARTS)
            folded = self.inner.fold(wide, sums, tree_weights, per_tree=apart, skip=left_out)
            blocks.append([one.reshape(-1, N_PARTS, *one.shape[1:]).mean(axis=1) for one in folded])
        means = [np.concatenate(parts) for parts in zip(*blocks, strict=True)]
        return [
            mean if plain else _link_and_fold(mean, table, tree_weights, keep)
            for mean, table, plain, keep in zip(means, tables, linear, kept, strict=True)
        ]

    def with_errors(self, cells: Floats) -> MeasuredWalk:
        """Walk of rows whose errors are `cells`, (n, n_features) or more."""
        return replace(self, errors=lambda rows: cells)

    def _mixtures(self, rows: Floats, cells: Floats) -> Iterator[tuple[slice, Floats]]:
        """Blocks of rows, and the parts that they are mixtures of with their errors."""
        for first in range(0, max(len(rows), 1), _ROWS_AT_ONCE):
            part = slice(first, min(first + _ROWS_AT_ONCE, len(rows)))
            yield part, np.hstack(self.joint.mixture(rows[part], cells[part], N_PARTS))

    def _mixed_spread(self, rows: Floats, cells: Floats) -> Iterator[tuple[slice, csr_array]]:
        from scipy.sparse import csr_array

        for part, wide in self._mixtures(rows, cells):
            n = part.stop - part.start
            of_row = np.repeat(np.arange(n), N_PARTS)
            mean = csr_array((np.full(len(of_row), 1.0 / N_PARTS), (of_row, np.arange(len(of_row)))))
            yield part, csr_array(mean @ self.inner.spread(wide))


def _repeat_bits(mask: NDArray[np.uint8], part: slice, times: int) -> NDArray[np.uint8]:
    """Bit mask, (n_trees, bytes), of some of the rows, each as often."""
    bits = np.unpackbits(mask, axis=1, bitorder="little")[:, part]
    return np.packbits(np.repeat(bits, times, axis=1), axis=1, bitorder="little")


def _link_and_fold(means: Floats, table: LeafTable, tree_weights: Floats | None, per_tree: bool) -> Floats:
    """Links of weighted means of trees, (n, n_trees, m), folded over the trees unless they are kept apart.

    `means` are times the weight of their tree, which only sums take.
    """
    weights = np.ones(means.shape[1]) if tree_weights is None else tree_weights
    used = weights != 0
    weights = weights[used][np.newaxis, :, np.newaxis]
    linked = apply_links((means[:, used] / weights).reshape(-1, means.shape[2]), table.links)
    linked = linked.reshape(len(means), -1, means.shape[2])
    weighted = np.where(table.ops == 0, weights * linked, linked)
    if not per_tree:
        return fold_trees(weighted, table.ops)
    found = np.zeros_like(means)
    found[:, used] = weighted
    return found
