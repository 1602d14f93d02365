"""Decisions: from bounds on class probabilities to a set of classes.

Troffaes, Decision making under uncertainty using imprecise probabilities (2007), compares the three: interval dominance
keeps at least what maximality keeps, and that at least what E-admissibility keeps. On the bounds of one leaf, and on
averages of those, the three agree: there the slack may all go to any one class.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hedgerow._arrays import Bools, Floats

__all__ = ["TIE", "e_admissibility", "interval_dominance", "maximality", "reachable", "tree_sets"]

TIE = 1e-12
"""Sums over trees that differ by no more than this share of the total are equal, whatever order they were added in."""

_SLIP = 1e-9  # bounds that miss a distribution by no more than this do so by rounding


def interval_dominance(lower: ArrayLike, upper: ArrayLike, strict: bool = True) -> Bools:
    """Classes that no other dominates, bool (…, n_classes); never none.

    k dominates j when lower_k > upper_j: k is the likelier one whatever the probabilities within the bounds are. For
    two classes and lower₀ = 1 − upper₁ that is the paper's decision (section 3): class 1 when lower₁ > ½, class 0 when
    upper₁ < ½, else both.

    Parameters
    ----------
    lower : array-like of shape (…, n_classes)
        Lower bounds.
    upper : array-like of shape (…, n_classes)
        Upper bounds.
    strict : bool, default=True
        True: lower_k > upper_j by more than 1e-12, so that a tie of sums is a tie in whatever order they were added.
        False: lower_k ≥ upper_j, exactly, as the paper's equations 5 and 6 ask of a single tree; two classes with the
        same probability on both ends do not dominate each other.

    Returns
    -------
    bool ndarray of shape (…, n_classes)
        Whether each class is in the set.

    Examples
    --------
    >>> from hedgerow.credal import interval_dominance
    >>> interval_dominance([0.1, 0.2, 0.5], [0.2, 0.5, 0.7])
    array([False,  True,  True])
    >>> interval_dominance([0.1, 0.2, 0.5], [0.2, 0.5, 0.7], strict=False)
    array([False, False,  True])
    """
    return undominated(*_bounds(lower, upper), strict=strict)


def tree_sets(lower: ArrayLike, upper: ArrayLike) -> Bools:
    """Set of each tree: the classes that no other dominates, lower_k ≥ upper_j, within that tree.

    For two classes it is {1} when lower₁ ≥ ½ (equation 5 of the paper), {0} when upper₁ ≤ ½ (not equation 6), else
    both. Bounds and sets have shape (…, n_trees, n_classes).

    Parameters
    ----------
    lower : array-like of shape (…, n_classes)
        Lower bounds.
    upper : array-like of shape (…, n_classes)
        Upper bounds.

    Returns
    -------
    bool ndarray of shape (…, n_trees, n_classes)
        Whether each class is in the tree's set.

    Examples
    --------
    >>> from hedgerow.credal import tree_sets
    >>> lower, upper = [[0.6, 0.2], [0.4, 0.4]], [[0.8, 0.4], [0.6, 0.6]]  # two trees, two classes
    >>> tree_sets(lower, upper)
    array([[ True, False],
           [ True,  True]])
    """
    return interval_dominance(lower, upper, strict=False)


def undominated(lower: Floats, upper: Floats, *, strict: bool) -> Bools:
    """Compute :func:`interval_dominance` without checks; only the largest lower bound matters."""
    best = lower.max(axis=-1, keepdims=True)
    kept: Bools
    if strict:
        kept = best <= upper + TIE
        return kept
    # A class whose upper bound is the best lower one is dominated by whoever has that; unless both are points.
    has_room = np.where(lower == best, upper, -np.inf).max(axis=-1, keepdims=True) > best
    kept = (upper > best) | ((upper == best) & (lower == best) & ~has_room)
    return kept


def maximality(lower: ArrayLike, upper: ArrayLike) -> Bools:
    """Classes than which no other is likelier under every distribution, (…, n_classes); never none.

    j dominates k when p_j − p_k > 0 for all p with l ≤ p ≤ u and Σp = 1. Its least value takes p_j = l_j and p_k = u_k,
    unless the others can't take up what is left: then p_k gives way, down to 1 − l_j − Σl of the others, or p_j, up to
    1 − u_k − Σu of the others. So the least value is

        max(l_j − u_k,  (l_j − l_k) − (1 − Σl),  (u_j − u_k) − (Σu − 1)),

    and that is interval dominance on bounds made :func:`reachable`. An error where no distribution lies within the
    bounds.

    Parameters
    ----------
    lower : array-like of shape (…, n_classes)
        Lower bounds.
    upper : array-like of shape (…, n_classes)
        Upper bounds.

    Returns
    -------
    bool ndarray of shape (…, n_classes)
        Whether each class is in the set.

    Raises
    ------
    ValueError
        If no distribution lies within the bounds.

    Examples
    --------
    >>> from hedgerow.credal import interval_dominance, maximality
    >>> maximality([0.5, 0.2, 0.2], [0.6, 0.6, 0.6])  # only 0.1 is left to give: no other than the first gets to 0.5
    array([ True, False, False])
    >>> interval_dominance([0.5, 0.2, 0.2], [0.6, 0.6, 0.6])
    array([ True,  True,  True])
    """
    return undominated(*tightened(*_proper(lower, upper)), strict=True)


def e_admissibility(lower: ArrayLike, upper: ArrayLike) -> Bools:
    """Classes that are likeliest under some distribution within the bounds, (…, n_classes); never none.

    The best that k can do is t = min(u_k, 1 − Σl of the others). Class k is likeliest there if no lower bound is
    above t, and if the others can take up the rest without passing t: t + Σ min(u_j, t) ≥ 1. A smaller p_k makes both
    harder. An error where no distribution lies within the bounds.

    Parameters
    ----------
    lower : array-like of shape (…, n_classes)
        Lower bounds.
    upper : array-like of shape (…, n_classes)
        Upper bounds.

    Returns
    -------
    bool ndarray of shape (…, n_classes)
        Whether each class is in the set.

    Raises
    ------
    ValueError
        If no distribution lies within the bounds.

    Examples
    --------
    >>> from hedgerow.credal import e_admissibility
    >>> e_admissibility([0.0, 0.0, 0.0], [0.3, 0.5, 0.5])  # 0.3 is not the most: the others have 0.7
    array([False,  True,  True])
    """
    low, high = _proper(lower, upper)
    best_low = low.max(axis=-1)
    below, _ = _slack(low, high)
    reach = np.minimum(high, low + below)
    kept = np.empty(low.shape, dtype=np.bool_)
    for k in range(low.shape[-1]):  # one class at a time: pairs of classes would take their square of memory
        t = reach[..., k]
        room = np.minimum(high, t[..., np.newaxis]).sum(axis=-1)
        kept[..., k] = (t >= best_low - TIE) & (room >= 1 - TIE)
    return kept


def reachable(lower: ArrayLike, upper: ArrayLike) -> tuple[Floats, Floats]:
    """Tightest bounds on the same distributions: each is attained by some distribution.

    l_k becomes max(l_k, 1 − Σu of the others) and u_k min(u_k, 1 − Σl of the others) (de Campos, Huete and Moral,
    Probability intervals, 1994). An error where no distribution lies within the bounds.

    Parameters
    ----------
    lower : array-like of shape (…, n_classes)
        Lower bounds.
    upper : array-like of shape (…, n_classes)
        Upper bounds.

    Returns
    -------
    tuple of two ndarrays, shaped as the bounds
        The tightened lower and upper bounds.

    Raises
    ------
    ValueError
        If no distribution lies within the bounds.

    Examples
    --------
    >>> from hedgerow.credal import reachable
    >>> lower, upper = reachable([0.5, 0.2, 0.2], [0.6, 0.6, 0.6])  # 0.5 + 0.2 + 0.2 leaves 0.1 to give
    >>> lower.round(2), upper.round(2)
    (array([0.5, 0.2, 0.2]), array([0.6, 0.3, 0.3]))
    """
    low, high = _proper(lower, upper)
    return tightened(low, high)


def tightened(lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Compute :func:`reachable` without checks."""
    below, above = _slack(lower, upper)
    low: Floats = np.maximum(lower, upper - above)
    high: Floats = np.minimum(upper, lower + below)
    return low, np.maximum(low, high)


def has_distribution(lower: Floats, upper: Floats, slip: float = TIE) -> Bools:
    """Whether l ≤ p ≤ u for some p that adds up to 1, (…)."""
    ordered = (lower <= upper + slip).all(axis=-1)
    return ordered & (lower.sum(axis=-1) <= 1 + slip) & (upper.sum(axis=-1) >= 1 - slip)


def _slack(lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """1 − Σl and Σu − 1, (…, 1)."""
    below: Floats = np.maximum(1 - lower.sum(axis=-1, keepdims=True), 0.0)
    above: Floats = np.maximum(upper.sum(axis=-1, keepdims=True) - 1, 0.0)
    return below, above


def _bounds(lower: ArrayLike, upper: ArrayLike) -> tuple[Floats, Floats]:
    """Read bounds as float64 of one shape, (…, n_classes)."""
    low, high = np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
    if low.shape != high.shape or low.ndim < 1 or low.shape[-1] < 1:
        raise ValueError(f"lower has shape {low.shape} and upper {high.shape}, both must have shape (..., n_classes)")
    bad = ~(np.isfinite(low) & np.isfinite(high) & (low <= high + _SLIP))
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(f"bounds{list(where)} are [{low[where]}, {high[where]}], must be finite and lower <= upper")
    return low, np.maximum(low, high)


def _proper(lower: ArrayLike, upper: ArrayLike) -> tuple[Floats, Floats]:
    """Check that a distribution lies within the bounds, correcting rounding errors."""
    low, high = _bounds(lower, upper)
    bad = ~has_distribution(low, high, _SLIP)
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(
            f"bounds{list(where)} hold no distribution: lower adds up to {low[where].sum()}, must be at most 1, "
            f"and upper to {high[where].sum()}, must be at least 1"
        )
    total_low = np.maximum(low.sum(axis=-1, keepdims=True), 1.0)
    total_high = np.minimum(high.sum(axis=-1, keepdims=True), 1.0)
    return low / total_low, high / total_high
