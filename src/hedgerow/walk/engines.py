"""Engines that map rows to leaves: a walk down a forest, or soft membership of several regions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.forest.forest import Forest
from hedgerow.walk.leaf_table import LeafTable, apply_links
from hedgerow.walk.walks import fold, route, spread

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["ForestWalk", "HardWalk", "SoftWalk", "Walk", "weighted_sums"]

Floats = NDArray[np.float64]


class Walk(Protocol):
    """Engine that :func:`hedgerow.walk.ask` and the estimators use; see :mod:`hedgerow.walk`."""

    @property
    def forest(self) -> Forest:
        """The trees."""

    def route(self, rows: Floats) -> NDArray[np.int32]:
        """Leaf of each row in each tree, (n, n_trees).

        Parameters
        ----------
        rows : array of shape (n_samples, n_features)
            Rows, converted.
        """

    def spread(self, rows: Floats) -> csr_array:
        """Weight with which each row reaches each leaf, (n, n_leaves).

        Parameters
        ----------
        rows : array of shape (n_samples, n_features)
            Rows, converted.
        """

    def fold(
        self,
        rows: Floats,
        tables: Sequence[LeafTable],
        tree_weights: Floats | None = None,
        *,
        per_tree: Sequence[bool] | None = None,
    ) -> list[Floats]:
        """Each table folded over the trees, (n, m), or `per_tree`, (n, n_trees, m).

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
        """


class HardWalk:
    """Abstract: a row takes one branch of each node, or all by their weights where its value is missing."""

    forest: Forest


@dataclass(frozen=True)
class ForestWalk(HardWalk):
    """Hard walk of rows down the trees, in the core.

    Parameters
    ----------
    forest : Forest
        The trees.
    n_jobs : int or None
        Threads; None is one, -1 all processors.
    """

    forest: Forest
    n_jobs: int | None

    def route(self, rows: Floats) -> NDArray[np.int32]:
        """Leaf that each row reaches in each tree, (n_samples, n_trees).

        Parameters
        ----------
        rows : array of shape (n_samples, n_features)
            Converted rows.
        """
        return route(self.forest, rows, n_jobs=self.n_jobs)

    def spread(self, rows: Floats) -> csr_array:
        """Weights of the leaves that each row reaches, sparse (n_samples, n_leaves).

        Parameters
        ----------
        rows : array of shape (n_samples, n_features)
            Converted rows.
        """
        return spread(self.forest, rows, n_jobs=self.n_jobs)

    def fold(
        self,
        rows: Floats,
        tables: Sequence[LeafTable],
        tree_weights: Floats | None = None,
        *,
        per_tree: Sequence[bool] | None = None,
    ) -> list[Floats]:
        """Fold the tables of the leaves that each row reaches over the trees.

        Parameters
        ----------
        rows : array of shape (n_samples, n_features)
            Converted rows.
        tables : sequence of LeafTable
            Tables of the leaves, folded in one walk.
        tree_weights : array of shape (n_trees,) or None
            Weight of each tree; None weighs all alike.
        per_tree : bool
            Whether the answers of the trees are kept apart.
        """
        return fold(self.forest, rows, tables, tree_weights=tree_weights, per_tree=per_tree, n_jobs=self.n_jobs)


@dataclass(frozen=True)
class SoftWalk:
    """Soft walk of one tree: each row is in every leaf, with weights `membership`, (n, n_leaves).

    Parameters
    ----------
    forest : Forest
        The trees.
    membership : Callable[[array], array]
        Function from rows to the weight of each leaf.
    """

    forest: Forest
    membership: Callable[[Floats], Floats]

    def route(self, rows: Floats) -> NDArray[np.int32]:
        """Leaf that each row reaches in each tree, (n_samples, n_trees).

        Parameters
        ----------
        rows : array of shape (n_samples, n_features)
            Converted rows.
        """
        leaves: NDArray[np.int32] = self.membership(rows).argmax(axis=1).astype(np.int32)
        return leaves[:, np.newaxis]

    def spread(self, rows: Floats) -> csr_array:
        """Weights of the leaves that each row reaches, sparse (n_samples, n_leaves).

        Parameters
        ----------
        rows : array of shape (n_samples, n_features)
            Converted rows.
        """
        from scipy.sparse import csr_array

        return csr_array(self.membership(rows))

    def fold(
        self,
        rows: Floats,
        tables: Sequence[LeafTable],
        tree_weights: Floats | None = None,
        *,
        per_tree: Sequence[bool] | None = None,
    ) -> list[Floats]:
        """Fold the tables of the leaves that each row reaches over the trees.

        Parameters
        ----------
        rows : array of shape (n_samples, n_features)
            Converted rows.
        tables : sequence of LeafTable
            Tables of the leaves, folded in one walk.
        tree_weights : array of shape (n_trees,) or None
            Weight of each tree; None weighs all alike.
        per_tree : bool
            Whether the answers of the trees are kept apart.
        """
        shares = self.membership(rows)
        weight = 1.0 if tree_weights is None else float(tree_weights[0])
        folded = []
        for table, kept in zip(tables, per_tree or [False] * len(tables), strict=True):
            mean = apply_links(weighted_sums(shares, table.of_each_leaf), table.links)
            total = np.where(table.ops == 0, weight * mean, mean)
            folded.append(total[:, np.newaxis] if kept else total)
        return folded


def weighted_sums(weights: Floats, values: Floats) -> Floats:
    """Weighted sum of the rows of `values` for each row of weights: (n, k) and (k, m) give (n, m).

    Terms are added in the order of k. BLAS picks an order by the shape of both matrices, so that the last bits of a
    row's answer would depend on the number of rows beside it.

    Parameters
    ----------
    weights : array of shape (n, k)
        Weights.
    values : array of shape (k, m)
        Rows.
    """
    sums = np.zeros((len(weights), values.shape[1]))
    for weight, row in zip(weights.T, values, strict=True):
        sums += weight[:, np.newaxis] * row
    return sums
