"""Soft walks: a row is in every leaf of a tree with the probability that its latent values are there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import soft_fold, soft_nodes, soft_spread
from hedgerow.forest.forest import Forest
from hedgerow.walk.leaf_table import LeafTable
from hedgerow.walk.walks import empty_fold, n_threads

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["SoftForestWalk", "SoftNodes"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

_NUMBERS_AT_ONCE = 1 << 22  # of rows that are read together: 32 MiB


@dataclass(frozen=True, eq=False)
class SoftNodes:
    """Where the nodes of a forest find their probabilities among the numbers of a row, as the core reads it.

    Parameters
    ----------
    nodes : int array
        Where each node finds its probabilities.
    categories : int array
        Where each nominal column's probabilities begin.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.forest import build_forest, leaf, threshold
    >>> from hedgerow.walk import SoftNodes
    >>> forest = build_forest([threshold(0, 2.0, leaf([3, 1]), leaf([0, 4]))], n_features=1)
    >>> SoftNodes.of(forest, np.array([0, 1]), np.array([2.0]), np.zeros(1, np.uint8)).width
    1
    """

    nodes: Ints
    categories: Ints
    width: int
    """Numbers of a row."""

    @classmethod
    def of(cls, forest: Forest, start: NDArray[np.int64], thresholds: Floats, nominal: NDArray[np.uint8]) -> SoftNodes:
        """For numbers that are P(U_j ≤ t | x) of the `thresholds` of column j from `start[j]` on, or of categories.

        Parameters
        ----------
        forest : Forest
            The trees.
        start : array of shape (n_features + 1,)
            First number of each column.
        thresholds : array
            Thresholds of the columns, ascending.
        nominal : array of shape (n_features,)
            1 for nominal columns.

        Returns
        -------
        SoftNodes
            The nodes.
        """
        return cls(*soft_nodes(forest.core, start, thresholds, nominal), int(start[-1]))


@dataclass(frozen=True, eq=False)
class SoftForestWalk:
    """Soft walk of any number of trees, in the core.

    At each node the probability of a row divides. Where less than `tolerance`/16 would take a branch, it joins the
    other one, as long as no more than `tolerance` of the row has been moved in the tree. Probabilities still add up to
    1, and a weighted mean over the leaves of a tree is off by at most `tolerance` times the range of their values.

    Parameters
    ----------
    forest : Forest
        The trees.
    nodes : SoftNodes
        Where each node finds its probabilities.
    tolerance : float
        Weights below it are left out.
    n_jobs : int or None
        Number of threads; None is 1, -1 all cores.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow import MeasuredForestRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(100, 1))
    >>> forest = MeasuredForestRegressor(sigma=0.1, n_estimators=5, random_state=0).fit(X, X[:, 0] > 0.5)
    >>> forest.apply([[0.2], [0.8]]).shape  # the most probable leaf in each tree
    (2, 5)
    """

    forest: Forest
    nodes: SoftNodes
    read: Callable[[Floats], Floats]
    """Numbers of rows, (n, nodes.width)."""
    tolerance: float
    n_jobs: int | None

    def route(self, rows: Floats) -> Ints:
        """Most probable leaf of each row in each tree; the first of equals.

        Parameters
        ----------
        rows : array of shape (n_samples, n_features)
            Rows, converted.

        Returns
        -------
        int32 ndarray of shape (n_samples, n_trees)
            Numbers of leaves, within their tree.
        """
        leaves = np.empty((len(rows), self.forest.n_trees), dtype=np.int32)
        for first, block in self.blocks(rows):
            reached = self._spread(block)
            for tree, (start, end) in enumerate(pairwise(self.forest.leaf_start)):
                leaves[first : first + len(block), tree] = reached[:, start:end].toarray().argmax(axis=1)
        return leaves

    def spread(self, rows: Floats) -> csr_array:
        """Weights of the leaves that each row reaches, sparse (n_samples, n_leaves).

        Parameters
        ----------
        rows : array of shape (n_samples, n_features)
            Converted rows.

        Returns
        -------
        csr_array of shape (n_samples, n_leaves)
            Weights; those of a row add up to 1 in each tree.
        """
        from scipy.sparse import csr_array, vstack

        parts = [self._spread(block) for _, block in self.blocks(rows)]
        return csr_array(vstack(parts)) if len(parts) != 1 else parts[0]

    def _spread(self, block: Floats) -> csr_array:
        from scipy.sparse import csr_array

        row_start, leaves, shares = soft_spread(
            self.forest.core, self.nodes.nodes, self.nodes.categories, self.read(block), self.tolerance, self._threads
        )
        return csr_array((shares, leaves, row_start), shape=(len(block), self.forest.n_leaves))

    def fold(
        self,
        rows: Floats,
        tables: Sequence[LeafTable],
        tree_weights: Floats | None = None,
        *,
        per_tree: Sequence[bool] | None = None,
        skip: NDArray[np.uint8] | None = None,
    ) -> list[Floats]:
        """As :func:`hedgerow.walk.fold`.

        Parameters
        ----------
        rows : array of shape (n_samples, n_features)
            Rows, converted.
        tables : sequence of LeafTable
            Tables that are folded in the same walk.
        tree_weights : array of shape (n_trees,) or None, default=None
            Weight of each tree; None weighs all alike.
        per_tree : sequence of bool or None, default=None
            Tables that are not folded but returned for each tree.
        skip : uint8 array of shape (n_trees, ceil(n_samples / 8)), or None, default=None
            Bit mask of the rows that each tree leaves out.

        Returns
        -------
        list of ndarray
            An array of shape (n_samples, m) for each table, or (n_samples, n_trees, m) where `per_tree` is set.
        """
        kept = list(per_tree or [False] * len(tables))
        outs = [
            empty_fold(table, len(rows), self.forest.n_trees if apart else None)
            for table, apart in zip(tables, kept, strict=True)
        ]
        for first, block in self.blocks(rows):
            part = slice(first, first + len(block))
            soft_fold(
                self.forest.core,
                self.nodes.nodes,
                self.nodes.categories,
                self.read(block),
                self.tolerance,
                [table.core for table in tables],
                [out[part] for out in outs],
                tree_weights,
                None if skip is None else np.ascontiguousarray(skip[:, first // 8 : -(-part.stop // 8)]),
                self._threads,
            )
        return outs

    def blocks(self, rows: Floats) -> Iterator[tuple[int, Floats]]:
        """Rows that are read together, and the number of the first; multiples of 8, so that bit masks can be cut.

        Parameters
        ----------
        rows : array of shape (n_samples, n_features)
            Rows, converted.

        Yields
        ------
        tuple of int and ndarray
            Number of the first row, and numbers of the rows, an array of shape (n_block, width).
        """
        step = max(8, _NUMBERS_AT_ONCE // max(self.nodes.width, 1) // 8 * 8)
        for first in range(0, max(len(rows), 1), step):
            yield first, rows[first : first + step]

    @property
    def _threads(self) -> int:
        return n_threads(self.n_jobs)
