"""The area under the ROC curve from whole counts in fixed bins of the score, with a bound of its error."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats

__all__ = ["area_under", "bin_scores"]

_BINS = 1 << 16  # for each class of two; fewer for each of many


def bin_scores(truth: NDArray[np.intp], proba: Floats, weight: Floats) -> Floats:
    """Weight of rows by class, whether it is theirs, and bin of its probability: (n_scored, 2, n_bins).

    Of two classes only the second is scored.
    """
    n_classes = proba.shape[1]
    n_bins = max(256, _BINS // n_classes)
    scored = [1] if n_classes == 2 else range(n_classes)
    at = np.minimum((proba * n_bins).astype(np.int64), n_bins - 1)
    counts = [np.bincount((truth == k) * n_bins + at[:, k], weight, 2 * n_bins).reshape(2, n_bins) for k in scored]
    return np.stack(counts)


def area_under(bins: Floats) -> tuple[float, float]:
    """Area, mean over the classes that have rows of both kinds, and how far it may be from that of the scores.

    Rows of one bin count as ties. In truth, each pair of them counts 0, ½ or 1: the error is at most half of the share
    of such pairs.

    >>> counts = np.zeros((1, 2, 4))
    >>> counts[0, 0, [0, 1]] = 1  # two rows of the other class, in bins 0 and 1
    >>> counts[0, 1, [1, 3]] = 1
    >>> area_under(counts)
    (0.875, 0.125)
    """
    areas: list[Any] = []
    for negative, positive in bins:
        n_pairs = negative.sum() * positive.sum()
        if n_pairs > 0:
            below = np.cumsum(negative) - negative / 2
            areas.append(((positive * below).sum() / n_pairs, (positive * negative).sum() / (2 * n_pairs)))
    if not areas:
        return np.nan, np.nan
    area, error = np.mean(areas, axis=0)
    return float(area), float(error)
