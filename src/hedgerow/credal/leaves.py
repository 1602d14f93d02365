"""Bounds on probabilities from the class counts of a leaf, and weights of trees.

Zhang, Quost and Masson, Cautious Random Forests, sections 2.1 and 3, after Walley's imprecise Dirichlet model (1996).
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from hedgerow._arrays import Floats
from hedgerow._params import check_choice, check_number
from hedgerow.forest.counts import check_counts

__all__ = ["WEIGHTINGS", "Weighting", "check_s", "check_weighting", "idm_bounds", "tree_weights"]

Weighting = Literal["uniform", "samples", "epistemic"]

WEIGHTINGS: tuple[str, ...] = get_args(Weighting)
"""Names of the weightings of trees."""


def idm_bounds(counts: ArrayLike, s: float) -> tuple[Floats, Floats]:
    """Lower and upper probability of each class, n_j/(N + s) and (n_j + s)/(N + s) (equation 1), shaped as `counts`.

    `s` is the number of unobserved samples of any class. Without counts the bounds are 0 and 1.

    Parameters
    ----------
    counts : array-like of shape (…, n_classes)
        Class counts of leaves.
    s : float
        Number of unobserved rows of unknown class, above 0.

    Returns
    -------
    tuple of two ndarrays, shaped as `counts`
        Lower and upper probabilities.

    Raises
    ------
    ValueError
        If counts are negative or not finite, or `s` is not a positive number.

    Examples
    --------
    >>> from hedgerow.credal import idm_bounds
    >>> lower, upper = idm_bounds([[1, 3], [10, 30]], s=1)
    >>> lower.round(3)
    array([[0.2  , 0.6  ],
           [0.244, 0.732]])
    >>> (upper - lower).round(3)  # s/(N + s), the epistemic uncertainty of the leaf (equation 8)
    array([[0.2  , 0.2  ],
           [0.024, 0.024]])
    """
    return bounds_of(check_counts(counts), check_s(s))


def bounds_of(counts: Floats, s: float) -> tuple[Floats, Floats]:
    """Compute :func:`idm_bounds` without checks."""
    total = counts.sum(axis=-1, keepdims=True) + s
    return counts / total, (counts + s) / total


def tree_weights(counts: ArrayLike, s: float, weighting: Weighting = "uniform") -> Floats:
    """Weight of each tree, (…, n_trees), not normalised.

    Parameters
    ----------
    counts : array-like of shape (…, n_trees, n_classes)
        Class counts of the leaf that a row reaches in each tree.
    s : float
        Number of unobserved rows of unknown class, above 0.
    weighting : {"uniform", "samples", "epistemic"}, default="uniform"
        1; the number of samples in the leaf, N (equation 7); one less the length of its intervals,
        1 − s/(N + s) = N/(N + s) (equation 8). The paper's introduction has weights *equal* to the length: its
        equation 8, and its reasoning, are the opposite.

    Returns
    -------
    ndarray of shape (…, n_trees)
        Weights, not negative.

    Examples
    --------
    >>> from hedgerow.credal import tree_weights
    >>> tree_weights([[1, 0], [3, 6], [0, 0]], s=1, weighting="epistemic")
    array([0.5, 0.9, 0. ])
    """
    check_weighting(weighting)
    return weights_of(check_counts(counts, of_trees=True), check_s(s), weighting)


def weights_of(counts: Floats, s: float, weighting: str) -> Floats:
    """Compute :func:`tree_weights` without checks."""
    total: Floats = counts.sum(axis=-1)
    if weighting == "uniform":
        return np.ones_like(total)
    return total if weighting == "samples" else total / (total + s)


def check_s(s: Any) -> float:
    """Check the parameter of the imprecise Dirichlet model."""
    return check_number("s", s, hint=", such as 1: samples that might have been seen as well")


def check_weighting(weighting: Any) -> None:
    check_choice("weighting", weighting, WEIGHTINGS)
