"""Hold-out loss of every node if it were a leaf."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow._core import losses_as_leaves
from hedgerow.data.training import Training
from hedgerow.forest.forest import Forest

__all__ = ["hold_out_losses"]


def hold_out_losses(forest: Forest, rows: Training) -> Floats:
    """Sums of w·loss and of w·loss² over the rows that reach each node, (n_nodes, 2).

    Classification: 0-1 loss of the node's majority class. Regression: squared error of its mean. A row with missing
    values is spread over the branches. A node without training rows predicts as its parent.
    """
    truth = rows.labels if rows.targets is None else rows.targets
    assert truth is not None
    return losses_as_leaves(
        forest.core_with_weight,
        np.ascontiguousarray(rows.values),
        _predictions(forest).astype(np.float64),
        truth.astype(np.float64),
        rows.sample_weight,
        rows.targets is not None,
    )


def _predictions(forest: Forest) -> NDArray[np.generic]:
    """Majority class, or mean, of each node."""
    if forest.leaf_counts is None:
        stats = forest.node_stats()
        prediction, empty = stats[:, 1], stats[:, 0] <= 0
    else:
        counts = forest.node_counts()
        largest = counts.max(axis=1, keepdims=True)
        # Ties go to the first class; sums of fractions of rows tie up to rounding.
        prediction, empty = (counts >= largest * (1 - 1e-10)).argmax(axis=1), largest[:, 0] <= 0
    for node in np.flatnonzero(empty & (forest.parent >= 0)):  # parents come first
        prediction[node] = prediction[forest.parent[node]]
    return prediction
