"""Minimal depth: how close to the root of a tree a column is first split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hedgerow.forest.forest import Forest
from hedgerow.forest.kinds import NodeKind
from hedgerow.forest.splits import Split

__all__ = ["MinimalDepths", "minimal_depth"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MinimalDepths:
    """Depth of the first split on each column: the smaller, the more it matters.

    Parameters
    ----------
    names : tuple[str, ...]
        Names of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.inspection import MinimalDepths
    >>> found = MinimalDepths(("age", "sex"), np.array([[0.0, 1.0], [4.0, 3.0]]), threshold=2.0)
    >>> found.mean, found.selected
    (array([0.5, 3.5]), ('age',))
    """

    names: tuple[str, ...]
    depths: Floats
    """Minimal depth in each tree, (n_columns, n_trees); the depth of the tree where it does not split the column."""
    threshold: float
    """Mean minimal depth of a column that is worth no more than any other; above it a column hardly matters."""

    @property
    def mean(self) -> Floats:
        """Mean over the trees, (n_columns,)."""
        mean: Floats = self.depths.mean(axis=1)
        return mean

    @property
    def selected(self) -> tuple[str, ...]:
        """Columns whose mean minimal depth is below the threshold, the least first."""
        order = np.argsort(self.mean, kind="stable")
        return tuple(self.names[i] for i in order if self.mean[i] < self.threshold)


def minimal_depth(model: Any) -> MinimalDepths:
    """Minimal depth of every column (Ishwaran, Kogalur, Gorodeski, Minn, Lauer: High-dimensional variable selection for
    survival data, 2010, section 2).

    It needs no rows. The threshold is the mean over the trees of the expected minimal depth of a column that is split
    no more often than any other of p: with l_d nodes at depth d that are split and L_d above, it is first split at d
    with probability (1 - 1/p)^L_d · (1 - (1 - 1/p)^l_d), and otherwise gets the depth of the tree.

    Parameters
    ----------
    model : fitted estimator
        A tree or a forest of this package.

    Returns
    -------
    MinimalDepths
        Depths by column and tree, and the threshold.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not fitted.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import ForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> from hedgerow.inspection import minimal_depth
    >>> minimal_depth(ForestClassifier(random_state=0).fit(X, y)).selected
    ('petal length (cm)', 'petal width (cm)')
    """
    check_is_fitted(model)
    forest: Forest = model.forest_
    node, column = _tested(forest)
    depth = forest.node_depths()
    tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.tree_start))
    deepest = forest.depths.astype(np.float64)
    depths = np.tile(deepest, (forest.n_features, 1))
    np.minimum.at(depths, (column, tree[node]), depth[node])
    inner = np.flatnonzero(forest.kind != NodeKind.LEAF)
    thresholds = [
        _expected_depth(np.bincount(depth[inner[tree[inner] == one]]), deepest[one], forest.n_features)
        for one in range(forest.n_trees)
    ]
    return MinimalDepths(tuple(model.schema_.names), depths, float(np.mean(thresholds)))


def _tested(forest: Forest) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Nodes and the columns that they test; an oblique node once for each of its columns."""
    nodes = np.flatnonzero(forest.feature >= 0)
    pairs = [np.stack([nodes, forest.feature[nodes]])]
    for node in np.flatnonzero(forest.kind == NodeKind.OBLIQUE):
        columns = np.asarray(Split(forest, int(node)).features)
        pairs.append(np.stack([np.full(len(columns), node), columns]))
    node, column = np.concatenate(pairs, axis=1).astype(np.int64)
    return node, column


def _expected_depth(n_split: NDArray[np.int64], deepest: float, n_features: int) -> float:
    missed = (1.0 - 1.0 / n_features) ** np.concatenate([[0], np.cumsum(n_split)])  # by all splits above each depth
    first = missed[:-1] - missed[1:]
    return float((np.arange(len(first)) * first).sum() + deepest * missed[-1])
