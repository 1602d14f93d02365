"""Folds of training rows in which a row of weight 2 counts as two equal rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.training import Training
from hedgerow.pruning.training_rows import hash_positions, select_rows

__all__ = ["fold_shares", "weighted"]

Floats = NDArray[np.float64]


def fold_shares(training: Training, n_folds: int, seed: int) -> Floats:
    """Share of each row in each fold, (n_folds, n_rows); 0 or 1 for a row that no other equals.

    Equal rows of a class are one row with the sum of their weights W. It has max(1, round(W)) units, which are dealt
    to the folds in turn, going through the rows of each class in the order of a hash of their content. So folds are
    stratified, rows that occur often are in all folds, and neither the order of the rows nor whether W is one weight or
    several has an influence.

    Example, one class, two folds: rows a, a, a, b in the order of the hash. Fold 0 gets the first and the third a,
    fold 1 the second and b: each a has the shares ⅔ and ⅓, b has 0 and 1.
    """
    assert training.labels is not None
    key = np.stack([training.labels.astype(np.float64), hash_positions(training, seed)], axis=1)
    groups, group = np.unique(key, axis=0, return_inverse=True)  # sorted by class, then by hash
    group = group.reshape(-1)
    units = np.maximum(1, np.rint(np.bincount(group, weights=training.sample_weight))).astype(np.int64)
    end = np.cumsum(units)
    first = end - units
    start_of_class = np.searchsorted(groups[:, 0], groups[:, 0])
    first, end = first - first[start_of_class], end - first[start_of_class]
    fold = np.arange(n_folds)[:, np.newaxis]
    # Numbers in first .. end - 1 that leave the remainder `fold` when divided by n_folds.
    dealt = (end - 1 - fold) // n_folds - (first - 1 - fold) // n_folds
    shares: Floats = (dealt / units)[:, group]
    return shares


def weighted(training: Training, share: Floats) -> Training:
    """Return the rows with a positive share, and that share of their weights."""
    used = share > 0
    part = select_rows(training, used)
    return replace(part, sample_weight=part.sample_weight * share[used])
