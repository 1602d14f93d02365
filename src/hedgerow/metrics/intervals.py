"""Metrics of predicted intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hedgerow._arrays import Floats
from hedgerow._params import check_number, check_whole
from hedgerow.forest.counts import as_numbers
from hedgerow.metrics.arguments import least_of_groups, mean, read_weights

__all__ = ["interval_coverage", "interval_score", "mean_interval_width", "width_stratified_coverage"]


def interval_coverage(y_true: ArrayLike, intervals: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Share of targets within their interval, ends included.

    It should be near the coverage that `predict_interval` was asked for: below it intervals are too narrow.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, or targets.
    intervals : array-like of shape (n_samples, 2)
        Lower and upper end of each interval.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weight of each row; None weighs all alike.

    Returns
    -------
    float
        The share, from 0 to 1.

    Raises
    ------
    ValueError
        If intervals do not have shape (n_samples, 2), or a lower end is above the upper one.

    Examples
    --------
    >>> from hedgerow.metrics import interval_coverage
    >>> interval_coverage([1.0, 2.0, 3.0, 4.0], [[0, 1], [0, 1], [3, 5], [0, 9]])
    0.75
    """
    found, weights = _read(intervals, sample_weight)
    truth = _targets(y_true, found)
    return mean((found[:, 0] <= truth) & (truth <= found[:, 1]), weights)


def mean_interval_width(intervals: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Mean of upper less lower end; of intervals with the same coverage the narrower are better.

    Parameters
    ----------
    intervals : array-like of shape (n_samples, 2)
        Lower and upper end of each interval.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weight of each row; None weighs all alike.

    Returns
    -------
    float
        The mean, in the unit of the target.

    Raises
    ------
    ValueError
        If intervals do not have shape (n_samples, 2), or a lower end is above the upper one.

    Examples
    --------
    >>> from hedgerow.metrics import mean_interval_width
    >>> mean_interval_width([[0, 1], [0, 1], [3, 5], [0, 4]])
    2.0
    """
    found, weights = _read(intervals, sample_weight)
    return mean(found[:, 1] - found[:, 0], weights)


def interval_score(
    y_true: ArrayLike, intervals: ArrayLike, *, coverage: float, sample_weight: ArrayLike | None = None
) -> float:
    """Mean of width + 2/α·(distance of the target outside the interval), α = 1 − coverage; lower is better.

    A proper score: the least expected one is that of the true quantiles α/2 and 1 − α/2 (Gneiting and Raftery,
    Strictly Proper Scoring Rules, Prediction, and Estimation, 2007, equation 43).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, or targets.
    intervals : array-like of shape (n_samples, 2)
        Lower and upper end of each interval.
    coverage : float
        Coverage that the intervals promise.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weight of each row; None weighs all alike.

    Returns
    -------
    float
        The mean, in the unit of the target.

    Raises
    ------
    ValueError
        If intervals do not have shape (n_samples, 2), or `coverage` is not between 0 and 1.

    Examples
    --------
    >>> from hedgerow.metrics import interval_score
    >>> interval_score([1.0, 4.0], [[0, 2], [0, 3]], coverage=0.5)  # 2, and 3 + 4·1
    4.5
    """
    found, weights = _read(intervals, sample_weight)
    truth = _targets(y_true, found)
    share = check_number("coverage", coverage, 0, 1)
    outside = np.maximum(found[:, 0] - truth, 0) + np.maximum(truth - found[:, 1], 0)
    return mean(found[:, 1] - found[:, 0] + 2 / (1 - share) * outside, weights)


def width_stratified_coverage(
    y_true: ArrayLike, intervals: ArrayLike, *, n_bins: int = 3, sample_weight: ArrayLike | None = None
) -> float:
    """Least coverage among bins of intervals of similar width, with as many rows in each as can be.

    Intervals may hold the target often enough on average, and too rarely where they are narrow. Intervals of the same
    width are in the same bin (Feldman, Bates and Romano, Improving Conditional Coverage via Orthogonal Quantile
    Regression, 2021, section 4).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, or targets.
    intervals : array-like of shape (n_samples, 2)
        Lower and upper end of each interval.
    n_bins : int, default=3
        Number of bins.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weight of each row; None weighs all alike.

    Returns
    -------
    float
        The least share, from 0 to 1.

    Raises
    ------
    ValueError
        If intervals do not have shape (n_samples, 2), or `n_bins` is not a positive whole number.

    Examples
    --------
    >>> from hedgerow.metrics import width_stratified_coverage
    >>> width_stratified_coverage([1.0, 2.0, 3.0, 4.0], [[0, 1], [0, 1], [0, 5], [0, 9]], n_bins=2)
    0.5
    """
    check_whole("n_bins", n_bins, 1)
    found, weights = _read(intervals, sample_weight)
    truth = _targets(y_true, found)
    inside = (found[:, 0] <= truth) & (truth <= found[:, 1])
    widths = found[:, 1] - found[:, 0]
    edges = np.quantile(widths, np.arange(1, n_bins) / n_bins, method="inverted_cdf")
    return least_of_groups(inside, weights, np.searchsorted(edges, widths, side="left"))


def _targets(y_true: Any, intervals: Floats) -> Floats:
    truth = as_numbers("y_true", y_true)
    if truth.shape != (len(intervals),):
        raise ValueError(f"y_true has shape {truth.shape}, must have a number for each of {len(intervals)} intervals")
    return truth


def _read(given: Any, sample_weight: Any) -> tuple[Floats, Floats]:
    found = as_numbers("intervals", given)
    if found.ndim != 2 or found.shape[1] != 2 or not len(found):
        raise ValueError(f"intervals have shape {found.shape}, must have shape (n, 2) with at least one row")
    crossed = ~(found[:, 0] <= found[:, 1])
    if crossed.any():
        i = int(np.argmax(crossed))
        raise ValueError(f"intervals[{i}] is from {found[i, 0]} to {found[i, 1]}: the lower end must come first")
    return found, read_weights(sample_weight, len(found))
