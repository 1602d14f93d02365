"""Metrics of predicted probabilities that scikit-learn does not have."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow._arrays import Floats
from hedgerow._params import check_whole
from hedgerow.forest.counts import as_numbers
from hedgerow.metrics.arguments import class_numbers, read_weights

__all__ = ["expected_calibration_error"]

N_BINS = 15
_ROUNDING = 1e-9  # what probabilities that are sums may exceed 1 by


def expected_calibration_error(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    n_bins: int = N_BINS,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean gap between the probability of the predicted class and how often it is the true one.

    The predicted class of a row is the one of the largest probability, its *confidence* (of equal ones the first).
    Rows are put into bins B₁, …, B_M of confidence in ((m − 1)/M, m/M]; with weights of rows,

        ECE = Σ_m w(B_m)/w · |accuracy(B_m) − mean confidence(B_m)|

    (Guo, Pleiss, Sun and Weinberger, 2017, eq. 3, with M = 15). From 0 to 1, lower is better. It says whether
    probabilities can be taken at their word, not whether they are informative: the class frequencies have an error
    near 0. With few rows it is too large, since noise does not cancel within bins.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    y_proba : array-like of shape (n_samples, n_classes) or (n_samples,)
        Probabilities, as `predict_proba` returns them; one column is the probability of the second of two classes.
    classes : array-like of shape (n_classes,) or None, default=None
        Labels of the columns; None: the different labels in `y_true`, sorted.
    n_bins : int, default=15
        Number of bins M, of equal width.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weight of each row; None weighs all alike.

    Returns
    -------
    float
        The error, from 0 to 1.

    Raises
    ------
    ValueError
        If labels and probabilities differ in number, or columns and classes do.

    Examples
    --------
    Of three rows with confidence 0.9 two are right, and the row with confidence 0.6 is:
    ¾·|⅔ − 0.9| + ¼·|1 − 0.6| = 0.275.

    >>> proba = [[0.1, 0.9], [0.9, 0.1], [0.9, 0.1], [0.4, 0.6]]
    >>> from hedgerow.metrics import expected_calibration_error
    >>> round(expected_calibration_error(["yes", "no", "yes", "yes"], proba), 3)
    0.275

    As a scorer: ``make_scorer(expected_calibration_error, response_method="predict_proba", greater_is_better=False)``.
    """
    n_bins = check_whole("n_bins", n_bins, 1)
    proba = _read_probabilities(y_proba)
    labels = np.unique(np.asarray(y_true)) if classes is None else classes
    truth = class_numbers(y_true, labels, proba.shape)
    weights = read_weights(sample_weight, len(proba))
    return calibration_gap(*confidence_and_hit(truth, proba), weights, n_bins)


def confidence_and_hit(truth: NDArray[np.intp], proba: Floats) -> tuple[Floats, Floats]:
    """Return the largest probability of each row, and whether it is that of the true class."""
    predicted = proba.argmax(axis=1)
    return proba[np.arange(len(proba)), predicted], (predicted == truth).astype(np.float64)


def calibration_gap(confidence: Floats, hit: Floats, weights: Floats, n_bins: int = N_BINS) -> float:
    """Weighted mean over bins of confidence of |share of hits − mean confidence|."""
    bins = np.searchsorted(np.arange(1, n_bins) / n_bins, confidence, side="left")
    gaps = np.bincount(bins, weights * (hit - confidence), minlength=n_bins)
    return float(np.abs(gaps).sum() / weights.sum())


def _read_probabilities(given: Any) -> Floats:
    proba = as_numbers("y_proba", given)
    if proba.ndim == 1:
        proba = np.stack([1 - proba, proba], axis=1)
    if proba.ndim != 2 or not proba.size:
        raise ValueError(f"y_proba has shape {proba.shape}, must have shape (n, n_classes) with at least one row")
    wrong = ~((proba >= -_ROUNDING) & (proba <= 1 + _ROUNDING))
    if wrong.any():
        i, j = np.argwhere(wrong)[0]
        raise ValueError(f"y_proba[{i}, {j}] is {proba[i, j]}, must be a probability, from 0 to 1")
    return proba
