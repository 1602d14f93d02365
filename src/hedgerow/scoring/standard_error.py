"""Means over rows, and their standard errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats

__all__ = ["Score", "mean_of_folds", "mean_of_rows"]


@dataclass(frozen=True)
class Score:
    """A score and its standard error; NaN if it has none."""

    value: float
    error: float = np.nan


def mean_of_rows(values: Floats, weight: Floats, groups: NDArray[np.intp]) -> Score:
    """Weighted mean of rows, those with NaN left out, with a standard error by which groups are independent.

    Groups are numbered from 0; some of the numbers may have no row. With the weighted mean m, w the sum of weights and
    G groups,

        error² = G/(G − 1) · Σ_g (Σ_{i in g} wᵢ (xᵢ − m))² / w²

    the usual error of a mean if each row is a group of its own and has weight 1.
    """
    known = ~np.isnan(values)
    values, weight, groups = values[known], weight[known], groups[known]
    if not len(values):
        return Score(np.nan)
    mean = float(np.average(values, weights=weight))
    n_groups = np.count_nonzero(np.bincount(groups))
    if n_groups < 2:
        return Score(mean)
    sums = np.bincount(groups, weight * (values - mean))
    return Score(mean, float(np.sqrt(n_groups / (n_groups - 1) * (sums**2).sum()) / weight.sum()))


def mean_of_folds(scores: list[Score]) -> Score:
    """Mean over folds and its standard error; folds in which a score is not defined are left out."""
    known = np.array([score.value for score in scores if not np.isnan(score.value)])
    if not len(known):
        return Score(np.nan)
    return Score(float(known.mean()), float(known.std(ddof=1) / np.sqrt(len(known))) if len(known) > 1 else np.nan)
