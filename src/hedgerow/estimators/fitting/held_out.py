"""Folds of training rows in which a row of weight 2 counts as two equal rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow.data.training import Training
from hedgerow.pruning.training_rows import hash_positions, select_rows

__all__ = ["held_out_weights", "select", "weighted"]

_ROUNDING = 1e-6  # of a row's weight: sums of the same weights in another order are equal


def held_out_weights(training: Training, n_folds: int, seed: int) -> Floats:
    """Weight of each row in each fold, (n_folds, n_rows): all of it in one fold for a row that no other equals.

    Equal rows of a class are one row with the sum of their weights W. It has max(1, round(W)) units, which are dealt
    to the folds in turn, going through the rows of each class in the order of a hash of their content. So folds are
    stratified, rows that occur often are in all folds, and neither the order of the rows nor whether W is one weight or
    several has an influence.

    Example, one class, two folds: rows a, a, a, b in the order of the hash. Fold 0 gets the first and the third a,
    fold 1 the second and b.
    """
    assert training.labels is not None
    weight = training.sample_weight
    key = np.stack([training.labels.astype(np.float64), hash_positions(training, seed)], axis=1)
    groups, group = np.unique(key, axis=0, return_inverse=True)  # sorted by class, then by hash
    group = group.reshape(-1)
    total = np.bincount(group, weights=weight)
    units = np.maximum(1, np.floor(total + (0.5 + _ROUNDING))).astype(np.int64)
    end = np.cumsum(units)
    first = end - units
    before_class = first[np.searchsorted(groups[:, 0], groups[:, 0])]
    fold = np.arange(n_folds)[:, np.newaxis]
    # Numbers in first .. end - 1, counted from the class's first, that leave the remainder `fold`.
    dealt = (end - before_class - 1 - fold) // n_folds - (first - before_class - 1 - fold) // n_folds
    # A group's weight is a line that the folds cut into sections, and its rows into intervals.
    upto = np.cumsum(dealt * (total / units), axis=0)
    order = np.argsort(group, kind="stable")
    run = np.cumsum(weight[order])
    start_of_group = (run - weight[order])[np.searchsorted(group[order], np.arange(len(groups)))]
    stop = np.empty_like(weight)
    stop[order] = run - start_of_group[group[order]]
    below = np.concatenate([np.zeros((1, len(groups))), upto[:-1]])
    overlap = np.minimum(stop, upto[:, group]) - np.maximum(stop - weight, below[:, group])
    # All or nothing but for rounding: what a difference of nearly equal weights leaves is no weight.
    overlap = np.where(overlap > (1 - _ROUNDING) * weight, weight, overlap)
    return np.where(overlap > _ROUNDING * weight, overlap, 0.0)


def weighted(training: Training, weight: Floats) -> Training:
    """Return the rows with a positive weight, with these weights."""
    used = weight > 0
    return replace(select_rows(training, used), sample_weight=weight[used])


def select(X: Any, used: NDArray[np.bool_]) -> Any:
    """Return some rows of a dense table of any library."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame.filter(used.tolist()).to_native()
    if isinstance(X, list | tuple):
        return [row for row, taken in zip(X, used, strict=True) if taken]
    return X[used] if isinstance(X, np.ndarray) else np.asarray(X)[used]
