"""Metrics as means over rows.

Each function returns a number for each row, and the metric is their weighted mean. Accuracy is the mean of 0 and 1. For
a metric that is no plain mean, such as the AUC, the number is the metric plus the row's influence on it (the first
order of what more weight on the row would change), which has mean 0. So the standard error of every metric, and of the
difference between two predictions of the same rows, is that of a mean. NaN: the row does not count for the metric. The
calibration error is no such mean; it has two numbers for each row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow.credal.utility import set_utilities
from hedgerow.metrics.probabilities import confidence_and_hit
from hedgerow.metrics.sets import U65, U80
from hedgerow.scoring.predictions import ClassPredictions, NumberPredictions

__all__ = [
    *("absolute_errors", "auc", "balanced_hits", "brier", "confidence_and_hits", "covered", "decided", "hits"),
    *("hits_where_decided", "in_set", "log_losses", "negative_hits", "positive_hits", "r2", "rmse"),
    *("u65", "u80", "widths"),
]

_LEAST = np.finfo(np.float64).eps  # as in scikit-learn; a probability of 0 for what happened would cost infinitely much


# --- Labels -------------------------------------------------------------------------------------------------


def hits(p: ClassPredictions, weight: Floats) -> Floats:
    """Whether the predicted class is the true one."""
    return (p.label == p.truth).astype(np.float64)


def positive_hits(p: ClassPredictions, weight: Floats) -> Floats:
    """Whether a row of the positive class is found."""
    return np.where(p.truth == p.positive, hits(p, weight), np.nan)


def negative_hits(p: ClassPredictions, weight: Floats) -> Floats:
    """Whether a row of the negative class is found."""
    return np.where(p.truth != p.positive, hits(p, weight), np.nan)


def balanced_hits(p: ClassPredictions, weight: Floats) -> Floats:
    """Balanced accuracy: the mean over classes that the rows have of the share of their rows that are found.

    Of K classes with recalls r and shares s of the weight: mean r + (hit − r_k)/(K·s_k) for a row of class k.
    """
    found, n_classes = hits(p, weight), len(p.classes)
    total = np.bincount(p.truth, weight, n_classes)
    present = total > 0
    total[~present] = 1.0
    recall = np.bincount(p.truth, weight * found, n_classes) / total
    share = total / weight.sum() * np.count_nonzero(present)
    return recall[present].mean() + ((found - recall[p.truth]) / share[p.truth])


# --- Probabilities ------------------------------------------------------------------------------------------


def auc(p: ClassPredictions, weight: Floats) -> Floats:
    """Area under the ROC curve of the positive class; of more classes the mean of each against the rest.

    Classes without a row are left out. NaN if the rows have one class only.
    """
    codes = [p.positive] if len(p.classes) == 2 else range(len(p.classes))
    n_rows = np.bincount(p.truth, minlength=len(p.classes))
    found = [_auc(p.truth == code, p.proba[:, code], weight) for code in codes if 0 < n_rows[code] < len(p.truth)]
    return np.mean(found, axis=0) if found else np.full(len(p.truth), np.nan)


def _auc(is_positive: NDArray[np.bool_], score: Floats, weight: Floats) -> Floats:
    """A + (v − A)·w/w_class, v the share of the other class that a row is on the right side of (ties count half).

    Its standard error is that of DeLong, DeLong and Clarke-Pearson (1988).
    """
    _, rank = np.unique(score, return_inverse=True)
    positive, negative = np.bincount(rank, weight * is_positive), np.bincount(rank, weight * ~is_positive)
    below = (np.cumsum(negative) - negative / 2) / negative.sum()
    above = 1 - (np.cumsum(positive) - positive / 2) / positive.sum()
    right_side = np.where(is_positive, below[rank], above[rank])
    area = np.average(right_side[is_positive], weights=weight[is_positive])
    own_class = np.where(is_positive, positive.sum(), negative.sum())
    return area + (right_side - area) * weight.sum() / own_class


def log_losses(p: ClassPredictions, weight: Floats) -> Floats:
    """−log p(true class), with p kept from 0."""
    return -np.log(np.clip(_of_truth(p), _LEAST, 1.0))


def brier(p: ClassPredictions, weight: Floats) -> Floats:
    """Squared error of the probabilities: of one of two classes, else summed over classes."""
    squares: Floats = (p.proba**2).sum(axis=1) - 2 * _of_truth(p) + 1
    return squares / 2 if len(p.classes) == 2 else squares


def confidence_and_hits(p: ClassPredictions, weight: Floats) -> Floats:
    """Largest probability, and whether it is that of the true class, (n, 2): for the calibration error."""
    return np.stack(confidence_and_hit(p.truth, p.proba), axis=1)


def _of_truth(p: ClassPredictions) -> Floats:
    return p.proba[np.arange(len(p.truth)), p.truth]


# --- Sets ---------------------------------------------------------------------------------------------------


def u65(p: ClassPredictions, weight: Floats) -> Floats:
    """Utility of sets with a reward of 0.65 for two classes."""
    return set_utilities(_has_truth(p), _sizes(p), U65)


def u80(p: ClassPredictions, weight: Floats) -> Floats:
    """Utility of sets with a reward of 0.80 for two classes."""
    return set_utilities(_has_truth(p), _sizes(p), U80)


def in_set(p: ClassPredictions, weight: Floats) -> Floats:
    """Whether the set holds the true class."""
    return _has_truth(p).astype(np.float64)


def decided(p: ClassPredictions, weight: Floats) -> Floats:
    """Whether the set has one class."""
    return (_sizes(p) == 1).astype(np.float64)


def hits_where_decided(p: ClassPredictions, weight: Floats) -> Floats:
    """Whether a set of one class holds the true one."""
    return np.where(_sizes(p) == 1, _has_truth(p), np.nan)


def _has_truth(p: ClassPredictions) -> NDArray[np.bool_]:
    assert p.sets is not None
    return p.sets[np.arange(len(p.truth)), p.truth]


def _sizes(p: ClassPredictions) -> NDArray[np.int64]:
    assert p.sets is not None
    return p.sets.sum(axis=1)


# --- Numbers ------------------------------------------------------------------------------------------------


def absolute_errors(p: NumberPredictions, weight: Floats) -> Floats:
    """Distance of prediction and truth."""
    return np.abs(p.truth - p.value)


def rmse(p: NumberPredictions, weight: Floats) -> Floats:
    """Root mean squared error r: r + (e² − r²)/(2r) for a row with error e."""
    squares = (p.truth - p.value) ** 2
    root = float(np.sqrt(np.average(squares, weights=weight)))
    return root + (squares - root**2) / (2 * root) if root > 0 else squares


def r2(p: NumberPredictions, weight: Floats) -> Floats:
    """1 − u, u the squared error e² over the squared distance d² to the mean: 1 − u − (e² − u·d²)/mean of d²."""
    if np.ptp(p.truth) == 0:
        return np.full(len(p.truth), np.nan)
    squares = (p.truth - p.value) ** 2
    spread = (p.truth - np.average(p.truth, weights=weight)) ** 2
    unexplained = np.average(squares, weights=weight) / np.average(spread, weights=weight)
    return 1 - unexplained - (squares - unexplained * spread) / np.average(spread, weights=weight)


def covered(p: NumberPredictions, weight: Floats) -> Floats:
    """Whether the interval holds the true number, ends included."""
    assert p.interval is not None
    return ((p.interval[:, 0] <= p.truth) & (p.truth <= p.interval[:, 1])).astype(np.float64)


def widths(p: NumberPredictions, weight: Floats) -> Floats:
    """Upper less lower end of the interval."""
    assert p.interval is not None
    return p.interval[:, 1] - p.interval[:, 0]
