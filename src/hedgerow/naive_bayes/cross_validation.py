"""Five-fold cross-validated accuracy of naive Bayes in nodes, from counts alone.

Kohavi, Scaling up the accuracy of naive-Bayes classifiers: a decision-tree hybrid, 1996: the rows of a node are
discretised once, and the counts without a fold are all counts minus those of the fold.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats, Whole
from hedgerow.naive_bayes.discretisation import discretise
from hedgerow.naive_bayes.groups import Examples, Groups, sum_weights
from hedgerow.naive_bayes.likelihoods import (
    Gaussian,
    Normals,
    Numeric,
    fit_normals,
    log_density,
    log_prior,
    log_shares,
)

__all__ = ["N_FOLDS", "hits"]

N_FOLDS = 5
_OTHERS = 1.0 - np.eye(N_FOLDS)
_ROUNDING = 1e-9  # classes whose log scores differ by less tie


def hits(examples: Examples, groups: Groups, numeric: Numeric) -> Floats:
    """Weight of the rows in each group that naive Bayes classifies correctly when trained on the other folds.

    A row whose class ties with others counts as its share of the tie.
    """
    fold = groups.positions() % N_FOLDS
    label = examples.labels[groups.row]
    cell = (groups.group * N_FOLDS + fold) * examples.n_classes + label
    shape = (groups.n_groups, N_FOLDS, examples.n_classes)
    scores = log_prior(_leave_out(sum_weights(cell, groups.weight, shape)))[groups.group, fold]
    normal = numeric.normal(examples.n_categories)
    if not normal.all():
        _add_slots(scores, examples, groups, fold, None if not normal.any() else ~normal)
    if isinstance(numeric, Gaussian):
        for column in np.flatnonzero(normal):
            x = examples.values[groups.row, column] / examples.scales[column]
            known = ~np.isnan(x)
            normals = fit_normals(x[known], groups.weight[known], cell[known], shape)
            mean, deviation = _leave_out_normals(normals).densities(numeric.smoothing)
            scores += log_density(x, mean[groups.group, fold], deviation[groups.group, fold])
    best = scores >= scores.max(axis=1, keepdims=True) - _ROUNDING
    right = best[np.arange(len(label)), label] / best.sum(axis=1)
    return sum_weights(groups.group, groups.weight * right, (groups.n_groups,))


def _add_slots(
    scores: Floats, examples: Examples, groups: Groups, fold: Whole, columns: NDArray[np.bool_] | None
) -> None:
    """Add the log-likelihoods of the slots, of all columns or of the chosen ones."""
    entries = None if columns is None else columns[groups.entry_column]
    slots = discretise(examples, groups, entries)
    chosen = np.arange(len(groups.entry_at)) if entries is None else np.flatnonzero(entries)
    # A column with a single slot is uninformative; most noise columns are discretised so.
    informative = np.bincount(slots.pair)[slots.pair] > 1
    used = informative[slots.entry_slot]
    slot = (np.cumsum(informative) - 1)[slots.entry_slot[used]]
    at, column = groups.entry_at[chosen[used]], groups.entry_column[chosen[used]]
    n_slots, n_classes = int(informative.sum()), examples.n_classes
    key = (slot * N_FOLDS + fold[at]) * n_classes + examples.labels[groups.row[at]]
    counts = sum_weights(key, groups.weight[at], (n_slots, N_FOLDS, n_classes))
    logs = log_shares(_leave_out(counts), slots.pair[informative])
    # Missing values point past the last slot, at zeros.
    table = np.concatenate([logs.reshape(-1, n_classes), np.zeros((N_FOLDS, n_classes))])
    slot_of = np.full((examples.n_features, len(groups.row)), n_slots)
    slot_of[column, at] = slot
    for one in np.unique(slots.pair[informative] % examples.n_features):
        scores += table[slot_of[one] * N_FOLDS + fold]


def _leave_out(counts: Floats) -> Floats:
    """Counts of the other folds, (…, folds, classes)."""
    return np.maximum(counts.sum(axis=1, keepdims=True) - counts, 0.0)


def _leave_out_normals(normals: Normals) -> Normals:
    """Pooled moments of the other folds, (groups, folds, classes)."""
    n = normals.n[:, np.newaxis] * _OTHERS[np.newaxis, :, :, np.newaxis]
    pooled = Normals(n, normals.mean[:, np.newaxis], normals.squares[:, np.newaxis] * (n > 0)).pool(2)
    return Normals(pooled.n[:, :, 0], pooled.mean[:, :, 0], pooled.squares[:, :, 0])
