"""Points instead of regions: the mean of a forest over a few of the values that a row may have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import point_fold, point_nodes
from hedgerow.forest.forest import Forest
from hedgerow.walk.leaf_table import LeafTable
from hedgerow.walk.soft import SoftForestWalk, SoftNodes
from hedgerow.walk.walks import empty_fold, n_threads

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["MOST_POINTS", "PointNodes", "PointWalk", "latin_strata"]

Floats = NDArray[np.float64]
Bytes = NDArray[np.uint8]

_STRATA = 256  # of the core
MOST_POINTS = _STRATA
"""Points of a tree that can be in different strata of each column."""
_SEED = 20_18


def latin_strata(n_trees: int, n_points: int, n_columns: int) -> Bytes:
    """Stratum of each point in each column, (n_trees, n_points, n_columns): Latin hypercubes.

    In each column the points of a tree are in different n_points-ths of the law, and those of all trees in different
    parts of these, paired at random with those of other columns (McKay, Beckman and Conover, A comparison of three
    methods for selecting values of input variables, 1979). The same for every row.

    Parameters
    ----------
    n_trees, n_points, n_columns : int
        Numbers of trees, of points in each, and of columns.

    Returns
    -------
    uint8 ndarray of shape (n_trees, n_points, n_columns)
        Numbers of quantiles, from 0 to 255.

    Examples
    --------
    >>> from hedgerow.walk import latin_strata
    >>> strata = latin_strata(n_trees=1, n_points=4, n_columns=2)
    >>> sorted((strata[0, :, 0] // 64).tolist())  # one point in each quarter
    [0, 1, 2, 3]
    """
    random = np.random.RandomState(_SEED)  # its stream never changes
    part = random.random_sample((n_trees, n_columns, n_points)).argsort(axis=2)
    within = random.random_sample((n_points, n_columns, n_trees)).argsort(axis=2)
    inside = np.take_along_axis(within.transpose(2, 1, 0), part, axis=2)
    place = (part + (inside + 0.5) / n_trees) / n_points
    return np.ascontiguousarray((place * _STRATA).astype(np.uint8).transpose(0, 2, 1))


@dataclass(frozen=True, eq=False)
class PointNodes:
    """Nodes of a forest, and the numbers of rows that they split, as the core reads them for points.

    Parameters
    ----------
    nodes : int32 array
        Where each node finds its number in a point.
    sides : uint8 array
        Which children the categories of nominal splits take.
    start : int64 array of shape (n_features + 1,)
        First number of each column.
    nominal : uint8 array of shape (n_features,)
        1 for nominal columns.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow import MeasuredForestRegressor
    >>> X = np.linspace(0, 1, 50).reshape(-1, 1)
    >>> forest = MeasuredForestRegressor(sigma=0.1, n_estimators=2, n_points=4, random_state=0).fit(X, X[:, 0])
    >>> forest.predict([[0.5]]).shape  # reads such nodes
    (1,)
    """

    nodes: NDArray[np.int32]
    sides: Bytes
    start: NDArray[np.int64]
    nominal: Bytes

    @classmethod
    def of(cls, forest: Forest, soft: SoftNodes, start: NDArray[np.int64], nominal: Bytes) -> PointNodes:
        """For the same numbers as :meth:`SoftNodes.of`.

        Parameters
        ----------
        forest : Forest
            The trees.
        soft : SoftNodes
            Their nodes in soft walks.
        start : array of shape (n_features + 1,)
            First number of each column.
        nominal : array of shape (n_features,)
            1 for nominal columns.

        Returns
        -------
        PointNodes
            The nodes.
        """
        return cls(*point_nodes(forest.core, soft.nodes, soft.categories, start, nominal), start, nominal)


@dataclass(frozen=True, eq=False)
class PointWalk:
    """Soft walk whose sums over trees are means over points; all else is that of the walk `exact`.

    The law of each column is read at 256 equally likely quantiles, so that a probability is off by less than
    1/512 + 0.001. With that, the answer is that of `exact` but for an error with mean 0 over Latin hypercubes. For
    trees of one hypercube each its standard deviation is at most s/√(t·(p − 1)), with t trees, p points in each and s
    the root mean square over the trees of the standard deviation of a tree's values over where the row may be (Owen,
    Monte Carlo variance of scrambled net quadrature, 1997: p points of a Latin hypercube are at most as far off as
    p − 1 independent ones).

    Parameters
    ----------
    exact : SoftForestWalk
        Walk that answers everything but sums over trees.
    nodes : PointNodes
        Nodes of the forest, as the core reads them for points.
    strata : uint8 array of shape (n_trees, n_points, n_columns)
        Quantile of each point of each tree in each column that is split on.
    read : callable
        Numbers of rows, (n, width), off by less than 0.001.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow import MeasuredForestRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(100, 1))
    >>> exact = MeasuredForestRegressor(sigma=0.1, n_estimators=20, random_state=0).fit(X, 1.0 * (X[:, 0] > 0.5))
    >>> answer = exact.predict([[0.5]])[0]
    >>> bool(abs(exact.set_params(n_points=8).predict([[0.5]])[0] - answer) < 0.1)
    True
    """

    exact: SoftForestWalk
    nodes: PointNodes
    strata: Bytes
    """(n_trees, n_points, columns that are split on)"""
    read: Callable[[Floats], Floats]

    @property
    def forest(self) -> Forest:
        """The trees."""
        return self.exact.forest

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
        return self.exact.route(rows)

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
        return self.exact.spread(rows)

    def fold(
        self,
        rows: Floats,
        tables: Sequence[LeafTable],
        tree_weights: Floats | None = None,
        *,
        per_tree: Sequence[bool] | None = None,
        skip: NDArray[np.uint8] | None = None,
    ) -> list[Floats]:
        """As :meth:`SoftForestWalk.fold`; tables of sums without a link that are folded are means over points.

        Parameters
        ----------
        rows : array of shape (n_samples, n_features)
            Converted rows.
        tables : sequence of LeafTable
            Tables of the leaves, folded in one walk.
        tree_weights : array of shape (n_trees,) or None, default=None
            Weight of each tree; None weighs all alike.
        per_tree : sequence of bool or None, default=None
            Whether the answers of the trees are kept apart, for each table.
        skip : uint8 array of shape (n_trees, ceil(n_samples / 8)) or None, default=None
            Bit mask of the rows that each tree leaves out, as ``numpy.packbits(..., axis=1, bitorder="little")`` makes
            it.

        Returns
        -------
        list of ndarray
            An array of shape (n_samples, m) for each table, or (n_samples, n_trees, m) where `per_tree` is set.
        """
        kept = list(per_tree or [False] * len(tables))
        at_points = [
            skip is None and not apart and table.adds_up and not table.links.any()
            for table, apart in zip(tables, kept, strict=True)
        ]
        outs: list[Floats] = [np.empty(0)] * len(tables)
        for one in {*at_points}:
            which = [i for i, chosen in enumerate(at_points) if chosen == one]
            some = [tables[i] for i in which]
            apart = [kept[i] for i in which]
            folded = (
                self._sums(rows, some, tree_weights)
                if one
                else self.exact.fold(rows, some, tree_weights, per_tree=apart, skip=skip)
            )
            for i, out in zip(which, folded, strict=True):
                outs[i] = out
        return outs

    def _sums(self, rows: Floats, tables: list[LeafTable], tree_weights: Floats | None) -> list[Floats]:
        outs = [empty_fold(table, len(rows), None) for table in tables]
        for first, block in self.exact.blocks(rows):
            point_fold(
                self.forest.core,
                self.nodes.nodes,
                self.nodes.sides,
                self.nodes.start,
                self.nodes.nominal,
                self.read(block),
                self.strata,
                [table.core for table in tables],
                [out[first : first + len(block)] for out in outs],
                tree_weights,
                n_threads(self.exact.n_jobs),
            )
        return outs
