"""Removal of subtrees."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow._arrays import Floats
from hedgerow._core import collapse as collapse_nodes
from hedgerow._core import cut as cut_nodes
from hedgerow._core import ends_after_cut
from hedgerow.forest.forest import Forest

__all__ = ["collapse", "cut", "leaves_after_cut", "node_errors", "remade"]


def cut(forest: Forest, nodes: ArrayLike, values: Floats | None = None) -> Forest:
    """Turn nodes into leaves with the counts (regression: moments) of the leaves below them.

    `nodes` are indices into the forest's node arrays, or a mask. Leaves, and nodes below others that are cut, have no
    effect. `values` are the counts (moments) of all nodes, where they are known already.

    Parameters
    ----------
    forest : Forest
        The trees.
    nodes : array-like of int
        Numbers of the nodes that become leaves.
    values : array or None, default=None
        What the new leaves hold; None: the sums of the leaves below.

    Returns
    -------
    Forest
        The pruned forest; the same object if nothing is cut.

    Examples
    --------
    >>> from hedgerow.forest import build_forest, leaf, threshold
    >>> from hedgerow.pruning import cut
    >>> forest = build_forest([threshold(0, 2.0, leaf([9, 1]), leaf([5, 2]))], n_features=1)
    >>> cut(forest, [0]).leaf_counts
    array([[14.,  3.]])
    """
    marked = np.zeros(forest.n_nodes, dtype=np.uint8)
    given = np.asarray(nodes)
    if given.size:
        marked[given] = 1
    marked[forest.leaf_nodes] = 0
    if not marked.any():
        return forest
    if values is None:
        values = forest.node_stats() if forest.leaf_counts is None else forest.node_counts()
    return remade(forest, cut_nodes(forest.core_with_weight, marked, values))


def leaves_after_cut(forest: Forest, marked: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Node that the rows of each leaf end in, (n_leaves,), when the marked nodes are cut."""
    ends = ends_after_cut(forest.parent, marked.astype(np.uint8))
    return ends[forest.leaf_nodes]


def remade(forest: Forest, arrays: dict[str, Any]) -> Forest:
    """Forest of the arrays that the core has made of another by leaving out nodes."""
    name, width = ("leaf_stats", 3) if forest.leaf_counts is None else ("leaf_counts", forest.n_classes)
    leaf_values = arrays.pop("leaf_values").reshape(-1, width)
    return Forest.trusted(n_features=forest.n_features, **arrays, **{name: leaf_values})


def node_errors(counts: Floats) -> Floats:
    """Training errors of nodes with these class counts if they were leaves."""
    return counts.sum(axis=1) - counts.max(axis=1)


def collapse(forest: Forest) -> Forest:
    """Remove subtrees that save no training errors, from the root down (C4.5, as in Weka's J48).

    A node becomes a leaf if its leaves make at least as many training errors as it would, minus 0.001.

    Parameters
    ----------
    forest : Forest
        The trees.

    Returns
    -------
    Forest
        The pruned forest; the same object if nothing is removed.

    Examples
    --------
    >>> from hedgerow.forest import build_forest, leaf, threshold
    >>> from hedgerow.pruning import collapse
    >>> forest = build_forest([threshold(0, 2.0, leaf([9, 1]), leaf([5, 2]))], n_features=1)  # both say class 0
    >>> collapse(forest).n_leaves
    1
    """
    kept = collapse_nodes(forest.core_with_weight, forest.counts)
    return forest if kept is None else remade(forest, kept)
