"""Metrics of predicted intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hedgerow._arrays import Floats
from hedgerow.forest.counts import as_numbers
from hedgerow.metrics.arguments import mean, read_weights

__all__ = ["interval_coverage", "mean_interval_width"]


def interval_coverage(y_true: ArrayLike, intervals: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Share of targets within their interval, ends included.

    It should be near the coverage that `predict_interval` was asked for: below it intervals are too narrow.

    >>> interval_coverage([1.0, 2.0, 3.0, 4.0], [[0, 1], [0, 1], [3, 5], [0, 9]])
    0.75
    """
    found, weights = _read(intervals, sample_weight)
    truth = as_numbers("y_true", y_true)
    if truth.shape != (len(found),):
        raise ValueError(f"y_true has shape {truth.shape}, must have a number for each of {len(found)} intervals")
    return mean((found[:, 0] <= truth) & (truth <= found[:, 1]), weights)


def mean_interval_width(intervals: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Mean of upper less lower end; of intervals with the same coverage the narrower are better.

    >>> mean_interval_width([[0, 1], [0, 1], [3, 5], [0, 4]])
    2.0
    """
    found, weights = _read(intervals, sample_weight)
    return mean(found[:, 1] - found[:, 0], weights)


def _read(given: Any, sample_weight: Any) -> tuple[Floats, Floats]:
    found = as_numbers("intervals", given)
    if found.ndim != 2 or found.shape[1] != 2 or not len(found):
        raise ValueError(f"intervals have shape {found.shape}, must have shape (n, 2) with at least one row")
    crossed = ~(found[:, 0] <= found[:, 1])
    if crossed.any():
        i = int(np.argmax(crossed))
        raise ValueError(f"intervals[{i}] is from {found[i, 0]} to {found[i, 1]}: the lower end must come first")
    return found, read_weights(sample_weight, len(found))
