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
    """Engine that :func:`hedgerow.walk.ask` and the estimators use; see :mod:`hedgerow.walk`.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.forest import build_forest, leaf, threshold
    >>> from hedgerow.walk import ForestWalk
    >>> walk = ForestWalk(build_forest([threshold(0, 2.0, leaf([3, 1]), leaf([0, 4]))], n_features=1), n_jobs=None)
    >>> walk.route(np.array([[1.0], [9.0]])).tolist()
    [[0], [1]]
    """

    @property
    def forest(self) -> Forest:
        """The trees."""

    def route(self, rows: Floats) -> NDArray[np.int32]:
        """Leaf of each row in each tree, (n, n_trees).

        Parameters
        ----------
        rows : array of shape (n_samples, n_features)
            Rows, converted.

        Returns
        -------
        int32 ndarray of shape (n_samples, n_trees)
            Numbers of leaves, within their tree.
        """

    def spread(self, rows: Floats) -> csr_array:
        """Weight with which each row reaches each leaf, (n, n_leaves).

        Parameters
        ----------
        rows : array of shape (n_samples, n_features)
            Rows, converted.

        Returns
        -------
        csr_array of shape (n_samples, n_leaves)
            Weights; those of a row add up to 1 in each tree.
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

        Returns
        -------
        list of ndarray
            An array of shape (n_samples, m) for each table, or (n_samples, n_trees, m) where `per_tree` is set.
        """


class HardWalk:
    """Abstract: a row takes one branch of each node, or all by their weights where its value is missing.

    Examples
    --------
    >>> from hedgerow.forest import build_forest, leaf
    >>> from hedgerow.walk import ForestWalk, HardWalk
    >>> isinstance(ForestWalk(build_forest([leaf([3, 1])], n_features=1), None), HardWalk)
    True
    """

    forest: Forest


@dataclass(frozen=True)
class ForestWalk(HardWalk):
    """Hard walk of rows down the trees, in the core.

    Parameters
    ----------
    forest : Forest
        The trees.
    n_jobs : int or None
        Number of threads; None is 1, -1 all cores.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.forest import build_forest, leaf, threshold
    >>> from hedgerow.walk import ForestWalk
    >>> walk = ForestWalk(build_forest([threshold(0, 2.0, leaf([3, 1]), leaf([0, 4]))], n_features=1), n_jobs=2)
    >>> walk.spread(np.array([[np.nan]])).toarray()
    array([[0.5, 0.5]])
    """

    forest: Forest
    n_jobs: int | None

    def route(self, rows: Floats) -> NDArray[np.int32]:
        """Leaf that each row reaches in each tree, (n_samples, n_trees).

        Parameters
        ----------
        rows : array of shape (n_samples, n_features)
            Converted rows.

        Returns
        -------
        int32 ndarray of shape (n_samples, n_trees)
            Numbers of leaves, within their tree.
        """
        return route(self.forest, rows, n_jobs=self.n_jobs)

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
        tree_weights : array of shape (n_trees,) or None, default=None
            Weight of each tree; None weighs all alike.
        per_tree : sequence of bool or None, default=None
            For each table whether the answers of the trees are kept apart; None keeps none apart.

        Returns
        -------
        list of ndarray
            An array of shape (n_samples, m) for each table, or (n_samples, n_trees, m) where `per_tree` is set.
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

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.forest import build_forest, leaf, threshold
    >>> from hedgerow.walk import LeafTable, SoftWalk
    >>> forest = build_forest([threshold(0, 2.0, leaf([4, 0]), leaf([0, 4]))], n_features=1)
    >>> walk = SoftWalk(forest, lambda rows: np.array([[0.7, 0.3]] * len(rows)))
    >>> walk.fold(np.array([[1.9]]), [LeafTable.of([[1.0, 0.0], [0.0, 1.0]])])
    [array([[0.7, 0.3]])]
    """

    forest: Forest
    membership: Callable[[Floats], Floats]

    def route(self, rows: Floats) -> NDArray[np.int32]:
        """Leaf that each row reaches in each tree, (n_samples, n_trees).

        Parameters
        ----------
        rows : array of shape (n_samples, n_features)
            Converted rows.

        Returns
        -------
        int32 ndarray of shape (n_samples, n_trees)
            Numbers of leaves, within their tree.
        """
        leaves: NDArray[np.int32] = self.membership(rows).argmax(axis=1).astype(np.int32)
        return leaves[:, np.newaxis]

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
        tree_weights : array of shape (n_trees,) or None, default=None
            Weight of each tree; None weighs all alike.
        per_tree : sequence of bool or None, default=None
            For each table whether the answers of the trees are kept apart; None keeps none apart.

        Returns
        -------
        list of ndarray
            An array of shape (n_samples, m) for each table, or (n_samples, n_trees, m) where `per_tree` is set.
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

    Returns
    -------
    ndarray of shape (n, m)
        Sums.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.walk import weighted_sums
    >>> weighted_sums(np.array([[0.5, 0.5]]), np.array([[1.0, 10.0], [3.0, 30.0]]))
    array([[ 2., 20.]])
    """
    sums = np.zeros((len(weights), values.shape[1]))
    for weight, row in zip(weights.T, values, strict=True):
        sums += weight[:, np.newaxis] * row
    return sums
