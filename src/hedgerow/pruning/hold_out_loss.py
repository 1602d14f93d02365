"""What each node of a tree would lose, were it a leaf, on rows that the tree has not been grown from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import losses_as_leaves as core_losses
from hedgerow.data.training import Training
from hedgerow.forest.forest import Forest

__all__ = ["losses_as_leaves"]

Floats = NDArray[np.float64]


def losses_as_leaves(forest: Forest, rows: Training) -> Floats:
    """Sums of w·loss and of w·loss² over the rows that reach each node, (n_nodes, 2).

    The loss is 1 for a class that is not the most frequent one of the node's training rows, or the square of the
    distance from their mean. A row whose value is missing goes several ways in parts. A node without training rows
    answers as its parent.
    """
    truth = rows.labels if rows.targets is None else rows.targets
    assert truth is not None
    return core_losses(
        forest.core_with_weight,
        np.ascontiguousarray(rows.values),
        _answers(forest).astype(np.float64),
        truth.astype(np.float64),
        rows.sample_weight,
        rows.targets is not None,
    )


def _answers(forest: Forest) -> NDArray[np.generic]:
    """The most frequent class, or the mean, of each node."""
    if forest.leaf_counts is None:
        stats = forest.node_stats()
        answer, empty = stats[:, 1], stats[:, 0] <= 0
    else:
        counts = forest.node_counts()
        largest = counts.max(axis=1, keepdims=True)
        # The first of equals: counts that are sums of parts of rows are equal but for rounding.
        answer, empty = (counts >= largest * (1 - 1e-10)).argmax(axis=1), largest[:, 0] <= 0
    for node in np.flatnonzero(empty & (forest.parent >= 0)):  # parents come first
        answer[node] = answer[forest.parent[node]]
    return answer
