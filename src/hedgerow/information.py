"""Entropy, mutual information and tests of splits, in bits.

The quantities of Honavar, Decision Trees and Forests (the slides on information, entropy, mutual information, gain
ratio and early stopping). Arguments are counts or probabilities: they are normalised to sum to 1. The table of a split
has a row per branch and a column per class.

>>> coins = [[0.2, 0.4], [0.3, 0.1]]  # rows: the first coin, columns: the second
>>> round(joint_entropy(coins), 3), round(entropy([0.6, 0.4]), 3), round(conditional_entropy(coins), 4)
(1.846, 0.971, 0.8755)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, rel_entr, xlogy

from hedgerow._arrays import Floats

__all__ = [
    *("ChiSquareTest", "chi2_split", "chi2_test"),
    *("conditional_entropy", "entropy", "gain_ratio", "information_gain", "joint_entropy"),
    *("kullback_leibler_divergence", "mutual_information", "split_entropy"),
]


def entropy(p: ArrayLike) -> float:
    """H(p) = −Σ p·log2 p: the least mean number of yes-no questions that determine the outcome.

    From 0 (a certain outcome) to log2 n (n equally likely ones).

    Parameters
    ----------
    p : array-like
        Probabilities, or counts.

    Returns
    -------
    float
        Bits.

    Raises
    ------
    ValueError
        If entries are negative, not finite, or all 0.

    Examples
    --------
    >>> from hedgerow.information import entropy
    >>> entropy([1, 1]), entropy([1, 0])
    (1.0, 0.0)
    """
    return _bits(_shares("p", p, n_dimensions=1))


def joint_entropy(joint: ArrayLike) -> float:
    """H(X, Y) = −Σ p(x, y)·log2 p(x, y) of a table of any shape.

    Parameters
    ----------
    joint : array-like of shape (n_rows, n_columns)
        Joint probabilities, or counts.

    Returns
    -------
    float
        Bits.

    Raises
    ------
    ValueError
        If entries are negative, not finite, or all 0.

    Examples
    --------
    >>> from hedgerow.information import joint_entropy
    >>> round(joint_entropy([[0.2, 0.4], [0.3, 0.1]]), 2)
    1.85
    """
    return _bits(_shares("joint", joint))


def conditional_entropy(joint: ArrayLike) -> float:
    """H(columns | rows) = Σ_r p(r)·H(columns | r): the remaining entropy of the column once the row is known.

    Transpose the table for H(rows | columns).

    Parameters
    ----------
    joint : array-like of shape (n_rows, n_columns)
        Joint probabilities, or counts.

    Returns
    -------
    float
        Bits.

    Raises
    ------
    ValueError
        If entries are negative, not finite, or all 0.

    Examples
    --------
    >>> from hedgerow.information import conditional_entropy
    >>> round(conditional_entropy([[0.2, 0.4], [0.3, 0.1]]), 2)  # of the columns, given the rows
    0.88
    """
    shares = _shares("joint", joint, n_dimensions=2)
    return max(0.0, _bits(shares) - _bits(shares.sum(axis=1)))


def mutual_information(joint: ArrayLike) -> float:
    """I(X, Y) = H(X) + H(Y) − H(X, Y): the information that rows and columns share.

    0 if they are independent; symmetric in rows and columns.

    Parameters
    ----------
    joint : array-like of shape (n_rows, n_columns)
        Joint probabilities, or counts.

    Returns
    -------
    float
        Bits.

    Raises
    ------
    ValueError
        If entries are negative, not finite, or all 0.

    Examples
    --------
    >>> from hedgerow.information import mutual_information
    >>> round(mutual_information([[0.5, 0.0], [0.0, 0.5]]), 2)  # each tells the other
    1.0
    """
    shares = _shares("joint", joint, n_dimensions=2)
    return max(0.0, _bits(shares.sum(axis=0)) + _bits(shares.sum(axis=1)) - _bits(shares))


def kullback_leibler_divergence(p: ArrayLike, q: ArrayLike) -> float:
    """D(p‖q) = Σ p·log2(p/q): extra bits of a code for q when p holds; infinite where p > 0 = q.

    Parameters
    ----------
    p : array-like
        Probabilities, or counts.
    q : array-like
        Probabilities, or counts, of the same shape.

    Returns
    -------
    float
        Bits; infinite where q is 0 and p is not.

    Raises
    ------
    ValueError
        If p and q have different shapes, or entries are negative.

    Examples
    --------
    >>> from hedgerow.information import kullback_leibler_divergence
    >>> round(float(kullback_leibler_divergence([0.5, 0.5], [0.9, 0.1])), 2)
    0.74
    """
    of_p, of_q = _shares("p", p, n_dimensions=1), _shares("q", q, n_dimensions=1)
    if of_p.shape != of_q.shape:
        raise ValueError(f"p has {len(of_p)} outcomes and q has {len(of_q)}: they must be of the same outcomes")
    return max(0.0, float(rel_entr(of_p, of_q).sum()) / float(np.log(2)))


def information_gain(table: ArrayLike) -> float:
    """H(classes) − H(classes | branches) of a split, branches × classes.

    Parameters
    ----------
    table : array-like of shape (n_branches, n_classes)
        Counts of the classes in each branch.

    Returns
    -------
    float
        Bits.

    Raises
    ------
    ValueError
        If counts are negative, not finite, or all 0.

    Examples
    --------
    >>> hair = [[3, 0], [2, 2], [0, 1]]  # dark, blond, red: positive and negative examples of the lecture
    >>> from hedgerow.information import conditional_entropy, information_gain
    >>> round(conditional_entropy(hair), 3), round(information_gain(hair), 3)
    (0.5, 0.454)
    """
    return mutual_information(table)


def split_entropy(table: ArrayLike) -> float:
    """Entropy of the branches, large for many small branches.

    Parameters
    ----------
    table : array-like of shape (n_branches, n_classes)
        Counts of the classes in each branch.

    Returns
    -------
    float
        Bits.

    Raises
    ------
    ValueError
        If counts are negative, not finite, or all 0.

    Examples
    --------
    >>> from hedgerow.information import split_entropy
    >>> split_entropy([[2, 2], [2, 2]])  # four rows in each of two branches
    1.0
    """
    return _bits(_shares("table", table, n_dimensions=2).sum(axis=1))


def gain_ratio(table: ArrayLike) -> float:
    """Information gain over split entropy (Quinlan, C4.5, 1993); 0 where all rows go down one branch.

    The lecture's slide divides the remaining entropy instead, which would prefer the worst split.

    Parameters
    ----------
    table : array-like of shape (n_branches, n_classes)
        Counts of the classes in each branch.

    Returns
    -------
    float
        Gain per bit of the split, from 0 to 1.

    Raises
    ------
    ValueError
        If counts are negative, not finite, or all 0.

    Examples
    --------
    >>> from hedgerow.information import gain_ratio
    >>> gain_ratio([[4, 0], [0, 4]])
    1.0
    """
    information = split_entropy(table)
    return information_gain(table) / information if information > 0 else 0.0


@dataclass(frozen=True)
class ChiSquareTest:
    """Result of Pearson's test that branches and classes are independent.

    Parameters
    ----------
    statistic : float
        Pearson's χ².
    degrees_of_freedom : int
        (branches − 1)·(classes − 1).
    p_value : float
        Probability of a statistic as large where they are independent.

    Examples
    --------
    >>> from hedgerow.information import chi2_test
    >>> found = chi2_test([[10, 12], [11, 9]])
    >>> found.degrees_of_freedom, round(found.p_value, 2)
    (1, 0.54)
    """

    statistic: float
    degrees_of_freedom: int
    p_value: float


def chi2_split(table: ArrayLike) -> float:
    """The lecture's statistic, branches × classes: Σ (n_ij − p_j·n_i)²/(p_j·n_i) over all but the last branch.

    p_j is the share of branch j, n_i the number of class i. For two branches of equal size it is half of Pearson's
    statistic, which sums over all branches: see :func:`chi2_test`.

    Parameters
    ----------
    table : array-like of shape (n_branches, n_classes)
        Counts of the classes in each branch.

    Returns
    -------
    float
        The statistic.

    Raises
    ------
    ValueError
        If counts are negative, not finite, or all 0.

    Examples
    --------
    >>> from hedgerow.information import chi2_split
    >>> chi2_split([[50, 0], [0, 50]])
    50.0
    """
    return float(_chi2_cells(_numbers("table", table, 2))[:-1].sum())


def chi2_test(table: ArrayLike) -> ChiSquareTest:
    """Pearson's χ² over all branches with (branches − 1)·(classes − 1) degrees of freedom, and its p-value.

    Empty branches and classes are ignored.

    Parameters
    ----------
    table : array-like of shape (n_branches, n_classes)
        Counts of the classes in each branch.

    Returns
    -------
    ChiSquareTest
        Statistic, degrees of freedom and p-value.

    Raises
    ------
    ValueError
        If counts are negative, not finite, or all 0.

    Examples
    --------
    >>> from hedgerow.information import chi2_test
    >>> chi2_test([[50, 0], [0, 50]])
    ChiSquareTest(statistic=100.0, degrees_of_freedom=1, p_value=1.5...e-23)
    """
    counts = _numbers("table", table, 2)
    used = counts[np.ix_(counts.any(axis=1), counts.any(axis=0))]
    freedom = (used.shape[0] - 1) * (used.shape[1] - 1)
    statistic = float(_chi2_cells(used).sum())
    return ChiSquareTest(statistic, freedom, float(chdtrc(freedom, statistic)) if freedom else 1.0)


def _chi2_cells(counts: Floats) -> Floats:
    """(observed − expected)²/expected of each cell; 0 where the expectation is 0."""
    expected = counts.sum(axis=1, keepdims=True) * (counts.sum(axis=0) / counts.sum())
    safe = np.where(expected > 0, expected, 1.0)
    return np.where(expected > 0, (counts - expected) ** 2 / safe, 0.0)


def _bits(shares: Floats) -> float:
    return max(0.0, -float(xlogy(shares, shares).sum()) / float(np.log(2)))


def _shares(name: str, given: ArrayLike, n_dimensions: int | None = None) -> Floats:
    numbers = _numbers(name, given, n_dimensions)
    numbers = numbers / numbers.max()  # the sum does not overflow
    return numbers / numbers.sum()


def _numbers(name: str, given: ArrayLike, n_dimensions: int | None) -> Floats:
    numbers = np.asarray(given, dtype=np.float64)
    if n_dimensions is not None and numbers.ndim != n_dimensions:
        raise ValueError(f"{name} has {numbers.ndim} dimensions, must have {n_dimensions}")
    if not numbers.size or not np.isfinite(numbers).all() or (numbers < 0).any() or not numbers.any():
        raise ValueError(f"{name} must hold finite numbers that are not negative, and one that is positive")
    return numbers
