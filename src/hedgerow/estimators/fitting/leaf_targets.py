"""Training targets in the leaves of a regression tree, rounded: what pictures draw as histograms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from hedgerow.forest.forest import Forest
from hedgerow.walk import spread
from hedgerow.walk.quantiles import LeafSamples

__all__ = ["round_leaf_targets"]

Floats = NDArray[np.float64]

_STEPS = 100  # in the range of the targets


def round_leaf_targets(forest: Forest, rows: Floats, weight: Floats, targets: Floats) -> LeafSamples:
    """Targets of the rows that reach each leaf of a tree, rounded to a hundredth of their range.

    Parameters
    ----------
    forest : Forest
        The tree.
    rows : array of shape (n_samples, n_features)
        Training rows.
    weight : array of shape (n_samples,)
        Their weights.
    targets : array of shape (n_samples,)
        Their targets.
    """
    low, high = float(targets.min()), float(targets.max())
    step = high / _STEPS - low / _STEPS
    number = np.rint((targets - low) / step) if step > 0 else np.zeros(len(targets))
    _, first, rank = np.unique(number, return_index=True, return_inverse=True)
    values = np.unique(targets[first])  # a target for each number: distinct, and within the range
    reached = spread(forest, np.ascontiguousarray(rows)).tocoo()
    row, leaf = reached.coords
    held = coo_array((reached.data * weight[row], (leaf, rank[row])), shape=(forest.n_leaves, len(values))).tocsr()
    held.sum_duplicates()
    if (empty := np.flatnonzero(held.sum(axis=1) <= 0)).size:  # a branch that no training row took: its answer
        nearest = np.abs(values - forest.stats[empty, 1:2]).argmin(axis=1)
        held = (held + coo_array((np.ones(len(empty)), (empty, nearest)), shape=held.shape)).tocsr()
    held.eliminate_zeros()
    held.sort_indices()
    start = held.indptr.astype(np.int64)
    shares = held.data / np.repeat(np.add.reduceat(held.data, start[:-1]), np.diff(start))
    return LeafSamples(start, held.indices.astype(np.int32), shares, values)
