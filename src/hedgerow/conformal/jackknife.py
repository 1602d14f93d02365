"""Sets and intervals by the jackknife+: a new row is compared with each calibration row by the trees without that one.

Barber, Candès, Ramdas and Tibshirani, Predictive inference with the jackknife+, 2021; with bootstrap samples Kim, Xu
and Barber, Predictive inference is free with the jackknife+-after-bootstrap, 2020, algorithm 1; of classes Romano,
Sesia and Candès, Classification with Valid and Adaptive Coverage, 2020.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.conformal.calibration import ClassCalibration, NumberCalibration
from hedgerow.conformal.levels import ROUNDING

__all__ = ["class_levels", "interval_ends"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]


def class_levels(
    calibration: ClassCalibration, own: Floats, scores: Floats, group: Codes, ties: Floats | None
) -> Floats:
    """Coverage above which each class is in the set, (k, n_classes): 1 less its p-value.

    `own` are the scores of the true classes of the n calibration rows, `scores`, (k, n, n_classes), those of the
    classes of new rows by the ensembles of these rows, `group` the groups of new rows, and `ties` their draws where
    ties are broken. A class is below W(own < score)/(W + 1), W the weight of the rows that it is compared with.
    """
    slack = ROUNDING * np.maximum(np.abs(scores), np.abs(own).max())  # the same trees are added in another order
    smaller = own[:, np.newaxis] < scores - slack
    equal = (own[:, np.newaxis] <= scores + slack) & ~smaller
    found = np.empty((len(scores), scores.shape[2]))
    for members, weight in _weights(calibration, group, scores.shape[2]):
        total = weight.sum(axis=0)
        below = _sums(smaller[members], weight)
        if ties is not None:
            below += (1 - ties[members, np.newaxis]) * (_sums(equal[members], weight) + 1)
        found[members] = below / (total + 1)
    return found


def interval_ends(
    calibration: NumberCalibration, ends: Floats, unit: Floats, group: Codes, sides: str, coverage: float
) -> Floats:
    """Lower and upper end for each new row, (k, 2): quantiles over the calibration rows of ends moved by their scores.

    `ends`, (k, n, 2), and `unit`, (k, n), are what the ensemble of each calibration row says about each new row.
    """
    scores = calibration.scores
    if sides == "both":
        scores = np.repeat(scores.max(axis=1, keepdims=True), 2, axis=1)
    share = (1 + coverage) / 2 if sides == "each" else coverage
    found = np.empty((len(ends), 2))
    for side, sign in enumerate((-1.0, 1.0)):
        if sides == ("upper", "lower")[side]:
            found[:, side] = sign * np.inf
            continue
        moved = sign * ends[..., side] + scores[:, side] * unit
        for number in np.unique(group):
            members, used = group == number, _in_group(calibration, number)
            found[members, side] = sign * _quantiles(moved[members][:, used], calibration.weight[used], share)
    return found


def _quantiles(values: Floats, weight: Floats, share: float) -> Floats:
    """Least of each row's values v with W(values ≤ v) ≥ share·(W + 1), (k,); infinite where there is none."""
    order = np.argsort(values, axis=1, kind="stable")
    upto = np.cumsum(weight[order], axis=1)
    at = (upto < share * (weight.sum() + 1) * (1 - ROUNDING)).sum(axis=1)
    with_none = np.append(order, np.full((len(order), 1), -1), axis=1)[np.arange(len(order)), at]
    found: Floats = np.where(with_none < 0, np.inf, values[np.arange(len(values)), with_none])
    return found


def _weights(calibration: ClassCalibration, group: Codes, n_classes: int) -> Any:
    """New rows of each group, and the weights, (n, n_classes), of the rows that their classes are compared with."""
    weight = np.repeat(calibration.weight[:, np.newaxis], n_classes, axis=1)
    if calibration.groups.by_class:
        yield np.ones(len(group), dtype=bool), weight * (calibration.codes[:, np.newaxis] == np.arange(n_classes))
        return
    for number in np.unique(group):
        yield group == number, weight * _in_group(calibration, number)[:, np.newaxis]


def _in_group(calibration: ClassCalibration | NumberCalibration, number: int) -> NDArray[np.bool_]:
    """Calibration rows of a group; all for rows in none."""
    return np.ones(len(calibration.weight), dtype=bool) if number < 0 else calibration.group == number


def _sums(chosen: NDArray[np.bool_], weight: Floats) -> Floats:
    """Weight of the chosen rows, (k, n_classes), added in their order, whatever the number k of new rows."""
    found: Floats = np.cumsum(np.where(chosen, weight, 0.0), axis=1)[:, -1]
    return found
