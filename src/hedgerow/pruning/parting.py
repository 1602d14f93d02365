"""Rows apart, for growing and for judging, by what they hold and not by where they stand."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import random_bits
from hedgerow.growth import Training

__all__ = ["places_in_line"]


def places_in_line(training: Training, seed: int) -> NDArray[np.float64]:
    """The rows of each class (of all, if there are none) in a line of length 1, in a drawn order: where each stands.

    Equal rows stand at one place, and a row takes as much of the line as its weight: so weights and repeated rows are
    the same, and the order of the rows has no influence.
    """
    groups = _equal_rows(training)
    _, first_row = np.unique(groups, return_index=True)
    weight = np.bincount(groups, weights=training.sample_weight)
    stratum = np.zeros(len(weight), dtype=np.int32) if training.labels is None else training.labels[first_row]
    order = np.lexsort((random_bits(seed, [1], len(weight)), stratum))
    ends = np.cumsum(weight[order])
    totals = np.bincount(stratum, weights=weight)
    starts_of_strata = np.cumsum(totals) - totals
    place = np.empty(len(weight))
    place[order] = (ends - weight[order] / 2 - starts_of_strata[stratum[order]]) / totals[stratum[order]]
    of_rows: NDArray[np.float64] = np.clip(place, 0.0, np.nextafter(1.0, 0.0))[groups]
    return of_rows


def _equal_rows(training: Training) -> NDArray[np.int64]:
    """The number of each row's group of equals (NaN equals NaN), in lexicographic order."""
    target = training.targets if training.labels is None else training.labels
    assert target is not None
    columns = [target, *training.values.T]
    order = np.lexsort(columns[::-1])
    differs = np.zeros(len(order), dtype=bool)
    for column in columns:
        ascending = column[order]
        here, before = ascending[1:], ascending[:-1]
        differs[1:] |= (here != before) & ~(np.isnan(here) & np.isnan(before))
    groups = np.empty(len(order), dtype=np.int64)
    groups[order] = np.cumsum(differs)
    return groups
