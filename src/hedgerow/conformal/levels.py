"""Finite-sample quantiles of calibration scores, and the level from which a score is accepted."""

from __future__ import annotations

from math import ceil, inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._params import check_number

__all__ = ["ROUNDING", "SortedScores", "check_coverage", "needed_rows"]

Floats = NDArray[np.float64]

ROUNDING = 1e-9  # relative, of sums of weights; and of scores that the same trees give in two walks


def check_coverage(coverage: Any, name: str = "coverage") -> float:
    """Return a coverage, a number in (0, 1)."""
    return check_number(name, coverage, 0, 1, hint=", for example 0.9")


def needed_rows(coverage: float) -> int:
    """Least number n of calibration rows for a coverage c: ⌈(n + 1)·c⌉ ≤ n.

    With fewer the threshold is infinite, and sets have all classes.

    Parameters
    ----------
    coverage : float
        Probability that is promised.

    Returns
    -------
    int
        The least n.

    Examples
    --------
    >>> from hedgerow.conformal import needed_rows
    >>> [needed_rows(coverage) for coverage in (0.5, 0.8, 0.9, 0.95, 0.99)]
    [1, 4, 9, 19, 99]
    """
    return max(1, ceil(coverage / (1 - coverage) - ROUNDING))


class SortedScores:
    """Scores of calibration rows, sorted, with the weight up to each; a row of weight 2 counts as two rows.

    The score of a new row is at most the ⌈(n + 1)·c⌉-th smallest of n others with probability at least c, if all n + 1
    are exchangeable (Vovk, Gammerman and Shafer, Algorithmic Learning in a Random World, 2005, proposition 2.3; Lei et
    al., Distribution-free predictive inference for regression, 2018, theorem 2.2).
    """

    def __init__(self, scores: Floats, weight: Floats) -> None:
        order = np.argsort(scores, kind="stable")
        self.scores = scores[order]
        self.upto = np.cumsum(weight[order])
        self.total = float(self.upto[-1]) if len(order) else 0.0

    def threshold(self, coverage: float) -> float:
        """Least score q with W(scores ≤ q) ≥ c·(W + 1), W the sum of the weights; infinite where there is none."""
        target = coverage * (self.total + 1)
        at = int(np.searchsorted(self.upto, target * (1 - ROUNDING)))
        return float(self.scores[at]) if at < len(self.scores) else inf

    def levels(self, scores: Floats) -> Floats:
        """Coverage above which a score is accepted, W(scores of rows < score)/(W + 1), of each score."""
        at = np.searchsorted(self.scores, scores - _tolerance(scores), side="left")
        below: Floats = np.concatenate([[0.0], self.upto])[at]
        return below / (self.total + 1)

    def smoothed_levels(self, scores: Floats, draws: Floats) -> Floats:
        """Levels with ties broken: a uniform share of the rows with an equal score, and of the row itself, is below.

        The p-values 1 − level are uniform, so that coverage is exact (Vovk, Gammerman and Shafer, 2005, equation 2.20).
        """
        upto = np.concatenate([[0.0], self.upto])
        tolerance = _tolerance(scores)
        below = upto[np.searchsorted(self.scores, scores - tolerance, side="left")]
        not_above = upto[np.searchsorted(self.scores, scores + tolerance, side="right")]
        smoothed: Floats = (below + (1 - draws) * (not_above - below + 1)) / (self.total + 1)
        return smoothed

    def accepts(self, scores: Floats, draws: Floats, coverage: float) -> NDArray[np.bool_]:
        """Whether smoothed levels are below a coverage; they are computed of the scores near the threshold alone."""
        upto, tolerance = np.concatenate([[0.0], self.upto]), _tolerance(scores)
        n_rejected = int(np.searchsorted(upto / (self.total + 1), coverage))  # at so many smaller scores, whatever ties
        n_accepted = int(np.searchsorted((upto + 1) * (1 + ROUNDING) / (self.total + 1), coverage)) - 1
        limit = np.append(self.scores, inf)
        accepted = scores + tolerance < limit[n_accepted] if n_accepted >= 0 else np.zeros(len(scores), dtype=bool)
        near = np.flatnonzero(~accepted & ~(scores - tolerance > limit[n_rejected - 1]))
        accepted[near] = self.smoothed_levels(scores[near], draws[near]) < coverage
        return accepted


def _tolerance(scores: Floats) -> Floats:
    """Rounding that two walks of the same trees may differ by."""
    finite = np.where(np.isfinite(scores), scores, 0.0)
    found: Floats = ROUNDING * np.abs(finite)
    return found
