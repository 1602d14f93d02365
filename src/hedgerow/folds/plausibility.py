"""Degrees of plausibility: how strongly the counts of a leaf support a class, and how uncertain they are about it.

Busch et al., Combining Predictions under Uncertainty, section 3.1, after Shaker and Hüllermeier (2020) and Nguyen et
al. (2018).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow._arrays import Floats
from hedgerow.folds.fold import Fold
from hedgerow.folds.uncertainty import Uncertainty

__all__ = [
    *("PlausibilityDegrees", "PlausibilityUncertainty"),
    *("against_rest", "distinct_pairs", "plausibility_degrees", "rest"),
]

_MAX_STEPS = 100  # a bisection from 1 to below 1e-16 needs 54; nearly all are done after 8


@dataclass(frozen=True)
class PlausibilityDegrees:
    """Plausibility of two classes, and what follows from it; arrays of the shape of the counts.

    Examples
    --------
    >>> from hedgerow.rules import plausibility_degrees
    >>> degrees = plausibility_degrees(3, 1)
    >>> round(float(degrees.pi_positive), 2), round(float(degrees.pi_negative), 2)
    (0.77, 0.28)
    """

    pi_positive: Floats
    """π(⊕|w) = sup over θ of min(L(θ)/L(w⁺/n), 2θ − 1), L being the likelihood of the counts."""
    pi_negative: Floats
    """π(⊖|w), the same with 1 − 2θ."""
    epistemic: Floats
    """u_e = min(π(⊕|w), π(⊖|w)): reducible by more samples."""
    aleatoric: Floats
    """u_a = 1 − max(π(⊕|w), π(⊖|w)): irreducible."""
    s_positive: Floats
    """s⊕ = 1 − u_a − u_e where ⊕ is more plausible, else 0."""
    s_negative: Floats
    """s⊖, likewise. Where both are equally plausible u_a + u_e = 1 and both are 0."""


def plausibility_degrees(positive: ArrayLike, negative: ArrayLike) -> PlausibilityDegrees:
    """Degrees of plausibility, uncertainty and preference for counts w⁺ and w⁻, whole or fractional, up to 1e9.

    No counts at all are total ignorance: both classes are fully plausible, u_e = 1.

    Parameters
    ----------
    positive : array-like
        Counts w⁺.
    negative : array-like
        Counts w⁻.

    Returns
    -------
    PlausibilityDegrees
        Six arrays of the shape of the counts.

    Raises
    ------
    ValueError
        If counts are negative or not finite.

    Examples
    --------
    >>> from hedgerow.rules import plausibility_degrees
    >>> degrees = plausibility_degrees([0, 3, 300], [0, 1, 100])
    >>> degrees.epistemic.round(3)
    array([1.   , 0.282, 0.   ])
    >>> degrees.aleatoric.round(3)
    array([0.   , 0.235, 0.453])
    """
    w_positive, w_negative = np.broadcast_arrays(_checked("positive", positive), _checked("negative", negative))
    shape = w_positive.shape
    w_positive, w_negative, inverse = distinct_pairs(w_positive, w_negative)
    pi_positive = _plausibility(w_positive, w_negative)
    pi_negative = _plausibility(w_negative, w_positive)
    degrees = (
        *(pi_positive, pi_negative),
        *(np.minimum(pi_positive, pi_negative), 1.0 - np.maximum(pi_positive, pi_negative)),
        *(np.maximum(pi_positive - pi_negative, 0.0), np.maximum(pi_negative - pi_positive, 0.0)),
    )
    return PlausibilityDegrees(*(degree[inverse].reshape(shape) for degree in degrees))


@dataclass(frozen=True)
class PlausibilityUncertainty(Fold[None, Uncertainty]):
    """Mean over the trees of the leaves' u_a and u_e (section 3.1), and their sum.

    With more than two classes also the mean over the classes, each against the rest; with two both are the same.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.folds import PlausibilityUncertainty
    >>> leaves = np.array([[3.0, 1.0], [300.0, 100.0]])
    >>> fold = PlausibilityUncertainty()
    >>> found = fold.finish(fold.table(leaves, None), 1, None)  # of each leaf alone
    >>> found.epistemic.round(2), found.aleatoric.round(2)
    (array([0.28, 0.  ]), array([0.23, 0.45]))
    """

    def table(self, counts: Floats, context: None) -> Floats:
        """Numbers of each leaf.

        Parameters
        ----------
        counts : array of shape (n_leaves, n_classes)
            Class counts of the leaves.
        context : object
            Not used.

        Returns
        -------
        ndarray of shape (n_leaves, m)
            The quantities.
        """
        degrees = plausibility_degrees(counts, rest(counts))
        return np.stack([degrees.aleatoric.mean(axis=1), degrees.epistemic.mean(axis=1)], axis=1)

    def finish(self, folded: Floats, n_trees: int, context: None) -> Uncertainty:
        aleatoric, epistemic = folded.T / n_trees
        return Uncertainty(aleatoric + epistemic, aleatoric, epistemic, "plausibility")


def _checked(name: str, counts: ArrayLike) -> Floats:
    found = np.asarray(counts, dtype=np.float64)
    bad = ~(np.isfinite(found) & (found >= 0))
    if bad.any():
        raise ValueError(f"{name} has {found[bad][0]}, counts must be finite and not negative")
    return found


def distinct_pairs(a: Floats, b: Floats) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """The distinct pairs of two arrays, and where each element finds its own: a forest has few different leaves."""
    a, b = a.ravel(), b.ravel()
    width = float(b.max(initial=0.0)) + 1
    n_possible = (float(a.max(initial=0.0)) + 1) * width
    if n_possible > 4 * len(a) + 1024 or (a != np.floor(a)).any() or (b != np.floor(b)).any():
        pairs, inverse = np.unique(a + 1j * b, return_inverse=True)
        return pairs.real, pairs.imag, inverse
    # Small whole counts, the usual case, need no sort.
    key = (a * width + b).astype(np.intp)
    present = np.flatnonzero(np.bincount(key))
    position = np.zeros(int(n_possible), dtype=np.intp)
    position[present] = np.arange(len(present))
    first, second = np.divmod(present.astype(np.float64), width)
    return first, second, position[key]


def rest(counts: Floats) -> Floats:
    """The counts of all other classes together, for every class; not total − own, which would lose digits."""
    before, after = np.zeros_like(counts), np.zeros_like(counts)
    np.cumsum(counts[:, :-1], axis=1, out=before[:, 1:])
    np.cumsum(counts[:, :0:-1], axis=1, out=after[:, -2::-1])
    return before + after


def against_rest(counts: Floats, score: Callable[[Floats, Floats], Floats]) -> Floats:
    """``score(count of the class, count of the others)`` for every class, (n, n_classes).

    The score must change its sign with its arguments swapped; two classes then need one call.
    """
    if counts.shape[1] == 2:
        positive = score(counts[:, 1], counts[:, 0])
        return np.stack([-positive, positive], axis=1)
    return np.stack([score(*pair) for pair in zip(counts.T, rest(counts).T, strict=True)], axis=1)


def _plausibility(w_for: Floats, w_against: Floats) -> Floats:
    """sup over θ of min(L(θ)/L(p), 2θ − 1), p = w_for/n.

    2θ − 1 rises and the likelihood falls right of θ₀ = max(p, ½), where it is the greater of the two: the answer is
    where they meet. With θ = θ₀ + δ the difference of their logarithms

        w_for·log1p(δ/θ₀) + w_against·log1p(−δ/(1−θ₀)) + log L(θ₀)/L(p) − log(2θ − 1)

    falls in δ and keeps its digits for large counts; its root is found by Newton's steps within a bracket.
    """
    n = w_for + w_against
    answer = np.ones_like(n)  # also where nothing speaks against the class
    open_ = np.flatnonzero(w_against > 0)
    if not open_.size:
        return answer
    w_for, w_against, n = w_for[open_], w_against[open_], n[open_]
    excess = (w_for - w_against) / n  # 2p − 1
    behind = excess < 0
    start = np.where(behind, 0.0, excess)  # 2θ₀ − 1
    below = np.where(behind, excess, 0.0)
    # log 2p: log1p has more digits about p = ½, but none where 2p is lost in 1 + below.
    few = (below < -0.5) & (w_for > 0)
    log_twice = np.where(few, np.log(np.where(few, 2 * w_for, 1.0)) - np.log(n), np.log1p(np.maximum(below, -0.5)))
    at_start = -(w_for * log_twice + w_against * np.log1p(-below))
    # In t = 2θ − 1 = start + d: θ/θ₀ = 1 + d/(1 + start), (1 − θ)/(1 − θ₀) = 1 − d/(1 − start).
    up, down = 1.0 + start, 1.0 - start
    low, high = np.zeros_like(n), down.copy()
    d = down / 2
    active = np.arange(len(n))
    for _ in range(_MAX_STEPS):
        at = d[active]
        rise, fall = up[active] + at, down[active] - at
        with np.errstate(divide="ignore", invalid="ignore"):
            difference = (
                w_for[active] * np.log1p(at / up[active])
                + w_against[active] * np.log1p(-at / down[active])
                + at_start[active]
                - np.log(start[active] + at)
            )
            slope = w_for[active] / rise - w_against[active] / fall - 1.0 / (start[active] + at)
            newton = at - difference / slope
        above = difference > 0
        low[active] = np.where(above, at, low[active])
        high[active] = np.where(above, high[active], at)
        # A step to the bracket's own end, which is where we are, has arrived.
        inside = (newton >= low[active]) & (newton <= high[active])
        following = np.where(inside, newton, (low[active] + high[active]) / 2)
        d[active] = following
        active = active[np.abs(following - at) > 1e-15]
        if not active.size:
            break
    answer[open_] = start + d
    return answer
