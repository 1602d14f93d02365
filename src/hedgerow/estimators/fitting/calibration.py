"""Rules completed by held-out rows: how much the trees' evidence is worth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow.rules import Evidence, FoldRule
from hedgerow.rules.calibrated import Calibrated

__all__ = ["CALIBRATION_ROWS", "Completed", "HeldOut", "best_exponent", "complete", "thinning"]

CALIBRATION_ROWS = 5_000  # enough to choose two numbers: more would take time and change nothing
_LEAST = 1e-3  # of an exponent: rows keep their order, and answers are the class frequencies but for a trace
_SHARPEST = 4.0
_MAX_STEPS = 60  # Newton needs about six, bisection down to 1e-6 of the interval twenty


def thinning(n_rows: int, most: int) -> slice:
    """Every k-th row, so that at most `most` are left."""
    return slice(None, None, max(1, -(-n_rows // most)))


@dataclass(frozen=True)
class HeldOut:
    """Classes and weights of rows with held-out answers, and the prior of the classes."""

    codes: NDArray[np.int32]
    weight: Floats
    prior: Floats
    n_rows: int
    """All training rows, also those without a held-out answer."""


class Completed(NamedTuple):
    """A rule with all its numbers, and its mean log-loss on the held-out rows."""

    rule: FoldRule
    loss: float


def complete(rule: FoldRule, folded: Floats, n_trees: Any, held_out: HeldOut, n_all_trees: int) -> Completed:
    """Choose the exponent of a rule by the log-loss of held-out rows, given their folds over `n_trees` trees each.

    For "tempered" it is β of log P(y|x) = log P(y) + β·Σ_t [log P(y|w_t) − log P(y)], the sum scaled to all trees; for
    any other rule t of :class:`~hedgerow.rules.Calibrated`, whose floor is half a row of the training data.
    """
    prior = held_out.prior
    log_prior = np.log(np.where(prior > 0, prior, 1.0))
    if isinstance(rule, Evidence) and rule.temper is None:
        evidence = (folded - n_trees * log_prior) * (n_all_trees / n_trees)
        temper, loss = best_exponent(evidence, held_out, most=1.0, pull=0.0)
        return Completed(replace(rule, temper=temper), loss)
    floor = 0.5 / max(held_out.n_rows, len(prior))
    shares = (1.0 - len(prior) * floor) * rule.finish(folded, n_trees, prior) + floor
    sharpness, loss = best_exponent(np.log(shares) - log_prior, held_out, most=_SHARPEST, pull=1.0)
    return Completed(Calibrated(rule, sharpness, floor), loss)


def best_exponent(evidence: Floats, held_out: HeldOut, *, most: float, pull: float) -> tuple[float, float]:
    """Exponent t with the least log-loss of log P(y|x) = log P(y) + t·evidence, and that log-loss.

    The log-loss is convex in t. `pull`·(t − 1)²/2 is added to the sum over the rows: where there are few rows, t stays
    near 1. Newton's method within a bracket.
    """
    weight, prior = held_out.weight, held_out.prior
    evidence = np.ascontiguousarray(evidence.T)  # sums over few classes are fast down the columns alone
    with np.errstate(divide="ignore"):
        log_prior = np.log(prior)[:, np.newaxis]
    own = held_out.codes, np.arange(len(held_out.codes))
    low, high, t = _LEAST, most, min(1.0, most)
    for _ in range(_MAX_STEPS):
        shares = _softmax(log_prior + t * evidence)
        moments = shares * evidence
        mean = moments.sum(axis=0)
        slope = (weight * (mean - evidence[own])).sum() + pull * (t - 1.0)
        curvature = (weight * ((moments * evidence).sum(axis=0) - mean**2)).sum() + pull
        low, high = (low, t) if slope > 0 else (t, high)
        following = t - slope / curvature if curvature > 0 else low
        if not low < following < high:
            following = (low + high) / 2
        arrived = abs(following - t) <= 1e-6 * t
        t = following
        if arrived:
            break
    of_truth = _softmax(log_prior + t * evidence)[own]
    losses = -np.log(np.maximum(of_truth, np.finfo(np.float64).tiny))
    return float(t), float((weight * losses).sum() / max(weight.sum(), np.finfo(np.float64).tiny))


def _softmax(logs: Floats) -> Floats:
    """Softmax of each column."""
    odds = np.exp(logs - logs.max(axis=0))
    return odds / odds.sum(axis=0)
