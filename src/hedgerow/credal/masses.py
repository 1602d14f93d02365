"""Belief and plausibility: the share of the trees' weight that supports a class, and that does not exclude it.

Zhang, Quost and Masson, Cautious Random Forests, sections 2.2 and 3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hedgerow._arrays import Floats
from hedgerow.credal.decisions import undominated
from hedgerow.credal.leaves import Weighting, bounds_of, check_s, check_weighting, weights_of
from hedgerow.forest.counts import check_counts

__all__ = ["belief", "belief_interval"]


def belief(counts: ArrayLike, s: float, weighting: Weighting = "uniform") -> tuple[Floats, Floats]:
    """Belief and plausibility that each class is the likeliest, each (…, n_classes).

    bel_k is the weight of the trees whose set is {k}, pl_k that of the trees whose set has k, over the weight of all; a
    tree's set is that of :func:`tree_sets`, its weight that of :func:`tree_weights`. For two classes these are the
    paper's equations 4 to 8:

        bel₁ = Σ m_t·[lower₁ ≥ ½],  pl₁ = Σ m_t·[upper₁ > ½],  bel₀ = 1 − pl₁,  pl₀ = 1 − bel₁.

    More classes are our extension (the paper's future work). Where no tree has any weight they all count the same.
    ``interval_dominance(bel, pl)`` is the decision of section 3.

    Parameters
    ----------
    counts : array-like of shape (…, n_trees, n_classes)
        Class counts of the leaf that a row reaches in each tree.
    s : float
        Number of unobserved rows of unknown class, above 0.
    weighting : {"uniform", "samples", "epistemic"}, default="uniform"
        Weights of trees: all the same, the rows in the leaf, or 1 − s/(N + s).

    Returns
    -------
    tuple of two ndarrays of shape (…, n_classes)
        Belief and plausibility.

    Examples
    --------
    >>> from hedgerow.credal import belief
    >>> bel, pl = belief([[[0, 5], [2, 3], [4, 0]]], s=2, weighting="samples")
    >>> bel.round(3), pl.round(3)
    (array([[0.286, 0.357]]), array([[0.643, 0.714]]))
    """
    check_weighting(weighting)
    leaves, s = check_counts(counts, of_trees=True), check_s(s)
    sets = undominated(*bounds_of(leaves, s), strict=False)
    weights = _or_uniform(weights_of(leaves, s, weighting))[..., np.newaxis]
    alone = sets & (sets.sum(axis=-1, keepdims=True) == 1)
    total = weights.sum(axis=-2)
    return (weights * alone).sum(axis=-2) / total, (weights * sets).sum(axis=-2) / total


def belief_interval(
    lower: ArrayLike, upper: ArrayLike, tree_weights: ArrayLike | None, a: ArrayLike, b: ArrayLike
) -> tuple[Floats, Floats]:
    """Belief and plausibility that a class has a probability in the closed interval [a, b], each (…).

    The weight of the trees whose interval lies within [a, b], and of those whose interval meets it, over the weight of
    all (equations 2 and 3).

    Parameters
    ----------
    lower : array-like of shape (…, n_trees)
        Lower bound of the class in each tree.
    upper : array-like of shape (…, n_trees)
        Upper bound of the class in each tree.
    tree_weights : (…, n_trees) or None
        None, or all zero: equal weights.
    a : array-like
        Lower end of the interval.
    b : array-like
        Upper end of the interval.

    Returns
    -------
    tuple of two ndarrays of shape (…)
        Belief and plausibility of the interval.

    Raises
    ------
    ValueError
        If shapes do not match, a lower end is above its upper end, or weights are negative.

    Notes
    -----
    Equation 5 is the belief of [½, 1]. Equation 6 is the plausibility of ]½, 1], without its left end, which is one
    less the belief of [0, ½].

    >>> lower, upper = [0.5, 0.3, 0.1], [0.9, 0.6, 0.4]
    >>> from hedgerow.credal import belief_interval
    >>> bel, pl = belief_interval(lower, upper, [2, 1, 1], 0.5, 1)
    >>> float(bel), float(pl)
    (0.5, 0.75)
    """
    low, high = np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
    if low.shape != high.shape or low.ndim < 1 or low.shape[-1] < 1:
        raise ValueError(f"lower has shape {low.shape} and upper {high.shape}, both must have shape (..., n_trees)")
    if not (low <= high).all():
        where = tuple(int(i) for i in np.argwhere(~(low <= high))[0])
        raise ValueError(f"bounds{list(where)} are [{low[where]}, {high[where]}], must be numbers and lower <= upper")
    given = np.ones(low.shape[-1]) if tree_weights is None else np.asarray(tree_weights, dtype=np.float64)
    if not given.ndim or given.shape[-1] != low.shape[-1]:
        raise ValueError(f"tree_weights has shape {given.shape}, must have a weight for each of {low.shape[-1]} trees")
    if not (np.isfinite(given) & (given >= 0)).all():
        raise ValueError("tree_weights must be finite and not negative")
    start, end = (np.asarray(one, dtype=np.float64)[..., np.newaxis] for one in (a, b))
    if not (start <= end).all():
        raise ValueError(f"a is {a!r} and b {b!r}, must be numbers and a <= b: an interval [a, b]")
    weights = _or_uniform(given)
    within, meets = (start <= low) & (high <= end), (start <= high) & (low <= end)
    total = weights.sum(axis=-1)
    return (weights * within).sum(axis=-1) / total, (weights * meets).sum(axis=-1) / total


def _or_uniform(weights: Floats) -> Floats:
    """Replace weights that are all 0 in a row by ones."""
    return np.where(weights.any(axis=-1, keepdims=True), weights, 1.0)
