"""Importance of the columns of a grown forest."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow._criteria import criterion_named, impurity_named
from hedgerow.forest.forest import Forest
from hedgerow.forest.kinds import NodeKind
from hedgerow.forest.splits import Split

__all__ = ["Impurity", "features_on_paths", "impurity_importances", "impurity_of", "weighted_impurity"]

Impurity: TypeAlias = str
"""Name of an impurity of :mod:`hedgerow._criteria`, or "squared_error"."""


def impurity_of(criterion: str) -> Impurity:
    """Impurity that a criterion of classification lowers; gain ratio lowers entropy too."""
    return criterion_named(criterion).impurity


def features_on_paths(forest: Forest) -> NDArray[np.bool_]:
    """Whether the path to each leaf tests each feature, (n_leaves, n_features)."""
    tested = np.zeros((forest.n_nodes, forest.n_features), dtype=bool)  # on the path to a node and by its own split
    inner = np.flatnonzero(forest.feature >= 0)
    tested[inner, forest.feature[inner]] = True
    for node in np.flatnonzero(forest.kind == NodeKind.OBLIQUE):
        tested[node, Split(forest, int(node)).features] = True
    depths = forest.node_depths()
    for depth in range(1, int(depths.max(initial=0)) + 1):
        level = np.flatnonzero(depths == depth)
        tested[level] |= tested[forest.parent[level]]
    return tested[forest.leaf_nodes]


def impurity_importances(
    forest: Forest, impurity: Impurity, deviation: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Share of each feature in the decrease of impurity, averaged over trees, (n_features,).

    A split's decrease is the weighted impurity of its node less that of its children. That of an oblique split is
    shared by its columns in proportion to |weight| · `deviation`, (n_features,): equally where that is None.
    """
    weighted = weighted_impurity(forest, impurity)
    decrease = weighted.copy()
    children = forest.parent >= 0
    np.subtract.at(decrease, forest.parent[children], weighted[children])
    tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.tree_start))
    inner = forest.feature >= 0
    importance = np.zeros((forest.n_trees, forest.n_features))
    np.add.at(importance, (tree[inner], forest.feature[inner]), np.maximum(decrease[inner], 0.0))
    oblique = np.flatnonzero(forest.kind == NodeKind.OBLIQUE)
    for node, gain in zip(oblique.tolist(), np.maximum(decrease[oblique], 0.0).tolist(), strict=True):
        split = Split(forest, node)
        pull = np.ones(len(split.features)) if deviation is None else np.abs(split.weights) * deviation[split.features]
        total = float(pull.sum())
        if total > 0:
            importance[tree[node], split.features] += gain * (pull / total)
    totals = importance.sum(axis=1, keepdims=True)
    shares: NDArray[np.float64] = importance / np.where(totals > 0, totals, 1.0)
    mean: NDArray[np.float64] = shares.mean(axis=0)
    whole = float(mean.sum())
    return mean / whole if whole > 0 else mean


def weighted_impurity(forest: Forest, impurity: Impurity) -> NDArray[np.float64]:
    """Impurity of each node times its weight."""
    if impurity == "squared_error":
        return forest.node_stats()[:, 2]
    counts = forest.node_counts()
    total: NDArray[np.float64] = counts.sum(axis=1)
    share = counts / np.where(total > 0, total, 1.0)[:, np.newaxis]
    return total * impurity_named(impurity)(share)
