"""How good naive Bayes would be in nodes: its accuracy, five-fold cross-validated, by counts alone.

Kohavi, Scaling up the accuracy of naive-Bayes classifiers: a decision-tree hybrid, 1996: the data of a node are
discretised once, and what is known without a fold is what is known less what the fold adds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.naive_bayes.discretisation import slots_of
from hedgerow.naive_bayes.groups import Examples, Groups, weight_in
from hedgerow.naive_bayes.likelihoods import (
    Gaussian,
    Normals,
    Numeric,
    log_density,
    log_prior,
    log_shares,
    normals_of,
)

__all__ = ["N_FOLDS", "hits"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

N_FOLDS = 5
_OTHERS = 1.0 - np.eye(N_FOLDS)
_ROUNDING = 1e-9  # of logarithms: classes whose scores differ by less are equally likely


def hits(examples: Examples, groups: Groups, numeric: Numeric) -> Floats:
    """The weight of the rows of each group whose class naive Bayes finds when it has not seen their fold.

    Where several classes are equally likely, the right one among them counts as its share of them.
    """
    fold = groups.number() % N_FOLDS
    label = examples.labels[groups.row]
    cell = (groups.group * N_FOLDS + fold) * examples.n_classes + label
    shape = (groups.n_groups, N_FOLDS, examples.n_classes)
    scores = log_prior(_without_own(weight_in(cell, groups.weight, shape)))[groups.group, fold]
    normal = numeric.normal(examples.n_categories)
    if not normal.all():
        _add_slots(scores, examples, groups, fold, None if not normal.any() else ~normal)
    if isinstance(numeric, Gaussian):
        for column in np.flatnonzero(normal):
            x = examples.values[groups.row, column] / examples.scales[column]
            known = ~np.isnan(x)
            normals = normals_of(x[known], groups.weight[known], cell[known], shape)
            mean, deviation = _of_other_folds(normals).densities(numeric.smoothing)
            scores += log_density(x, mean[groups.group, fold], deviation[groups.group, fold])
    best = scores >= scores.max(axis=1, keepdims=True) - _ROUNDING
    right = best[np.arange(len(label)), label] / best.sum(axis=1)
    return weight_in(groups.group, groups.weight * right, (groups.n_groups,))


def _add_slots(
    scores: Floats, examples: Examples, groups: Groups, fold: Whole, columns: NDArray[np.bool_] | None
) -> None:
    """Add the logarithms of the shares of slots, of all columns or of the chosen ones."""
    entries = None if columns is None else columns[groups.entry_column]
    slots = slots_of(examples, groups, entries)
    chosen = np.arange(len(groups.entry_at)) if entries is None else np.flatnonzero(entries)
    # A column with one slot says nothing: most of those that are only noise.
    speaks = np.bincount(slots.pair)[slots.pair] > 1
    heard = speaks[slots.entry_slot]
    slot = (np.cumsum(speaks) - 1)[slots.entry_slot[heard]]
    at, column = groups.entry_at[chosen[heard]], groups.entry_column[chosen[heard]]
    n_slots, n_classes = int(speaks.sum()), examples.n_classes
    key = (slot * N_FOLDS + fold[at]) * n_classes + examples.labels[groups.row[at]]
    counts = weight_in(key, groups.weight[at], (n_slots, N_FOLDS, n_classes))
    logs = log_shares(_without_own(counts), slots.pair[speaks])
    # What is missing points behind the last slot, where zeros stand.
    table = np.concatenate([logs.reshape(-1, n_classes), np.zeros((N_FOLDS, n_classes))])
    slot_of = np.full((examples.n_features, len(groups.row)), n_slots)
    slot_of[column, at] = slot
    for one in np.unique(slots.pair[speaks] % examples.n_features):
        scores += table[slot_of[one] * N_FOLDS + fold]


def _without_own(counts: Floats) -> Floats:
    """(…, folds, classes): what the other folds hold."""
    others: Floats = np.maximum(counts.sum(axis=1, keepdims=True) - counts, 0.0)
    return others


def _of_other_folds(normals: Normals) -> Normals:
    """(groups, folds, classes): what the other folds have in common."""
    n = normals.n[:, np.newaxis] * _OTHERS[np.newaxis, :, :, np.newaxis]
    both = Normals(n, normals.mean[:, np.newaxis], normals.squares[:, np.newaxis] * (n > 0)).merged(2)
    return Normals(both.n[:, :, 0], both.mean[:, :, 0], both.squares[:, :, 0])
