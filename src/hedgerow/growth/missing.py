"""Policies for rows whose value is missing when a tree is grown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow._arrays import Floats, Whole
from hedgerow._core import TrainMissing
from hedgerow._params import choose
from hedgerow._registry import register

__all__ = ["Category", "Fractional", "Learned", "MissingValues", "Random", "core_policy", "missing_values"]


@dataclass(frozen=True)
class Fractional:
    """Split a row with a missing value over all branches, in proportion to the rows with a value (C4.5).

    The gain of a split counts only the rows that have a value. A fraction of a row below `min_fraction` is not split
    further: it follows the heaviest branch.

    Parameters
    ----------
    min_fraction : float, default=0.015625
        A smaller fraction of a row follows the heaviest branch.

    Examples
    --------
    >>> from hedgerow import TreeClassifier
    >>> X = [[1.0], [2.0], [float("nan")], [4.0]]
    >>> from hedgerow.growth import Fractional
    >>> TreeClassifier(missing=Fractional(), pruning=None).fit(X, [0, 0, 1, 1]).score(X, [0, 0, 1, 1])
    1.0
    """

    min_fraction: float = 1 / 64

    def divide(self, branch: Whole, weight: Floats, n_branches: int) -> tuple[Whole, Whole, Floats]:
        """Divide rows over the branches of a split; a row without a value has the branch -1.

        A whole row weighs 1, a fraction of one less. Returns the number of fractions of each row and, row by row, the
        branch and the weight of each fraction. At least one row must have a value.

        Parameters
        ----------
        branch : array of shape (n_rows,)
            Branch of each row; -1 without a value.
        weight : array of shape (n_rows,)
            Weight of each row.
        n_branches : int
            Number of branches.

        Returns
        -------
        tuple of three ndarrays
            Number of fractions of each row, of shape (n_rows,); branch and weight of each fraction, of shape
            (n_fractions,).

        Examples
        --------
        >>> from hedgerow.growth import Fractional
        >>> import numpy as np
        >>> Fractional().divide(np.array([1, -1, 0, 1]), np.array([1.0, 0.5, 1.0, 2.0]), 2)
        (array([1, 2, 1, 1]), array([1, 0, 1, 0, 1]), array([1.   , 0.125, 0.375, 1.   , 2.   ]))
        """
        known = branch >= 0
        shares: Floats = np.bincount(branch[known], weights=weight[known], minlength=n_branches).astype(np.float64)
        branch = np.where(~known & (weight < self.min_fraction), shares.argmax(), branch)
        shares /= shares.sum()
        n_fractions = np.where(branch < 0, n_branches, 1)
        row = np.repeat(np.arange(len(branch)), n_fractions)
        number = np.arange(len(row)) - (np.cumsum(n_fractions) - n_fractions)[row]
        target = np.where(branch[row] < 0, number, branch[row])
        return n_fractions, target, weight[row] * np.where(branch[row] < 0, shares[target], 1.0)


@dataclass(frozen=True)
class Category:
    """Treat missing as a value: it gets a branch, or is one of the rest; numeric columns too.

    Examples
    --------
    >>> from hedgerow import TreeClassifier
    >>> X = [[1.0], [2.0], [float("nan")], [4.0]]
    >>> from hedgerow.growth import Category
    >>> TreeClassifier(missing=Category(), pruning=None).fit(X, [0, 0, 1, 1]).score(X, [0, 0, 1, 1])
    1.0
    """


@dataclass(frozen=True)
class Learned:
    """Send missing values to the side with the larger gain; in a multiway split to a branch of their own.

    At a node where no training row had a missing value, prediction splits such rows over the branches.

    Examples
    --------
    >>> from hedgerow import TreeClassifier
    >>> X = [[1.0], [2.0], [float("nan")], [4.0]]
    >>> from hedgerow.growth import Learned
    >>> TreeClassifier(missing=Learned(), pruning=None).fit(X, [0, 0, 1, 1]).score(X, [0, 0, 1, 1])
    1.0
    """


@dataclass(frozen=True)
class Random:
    """Send a row with a missing value down one branch, drawn in proportion to the rows with a value.

    Equal to :class:`Fractional` in expectation, and as fast as growth without missing values: the default of forests.

    Examples
    --------
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.growth import Random
    >>> X = [[1.0], [2.0], [float("nan")], [4.0]]
    >>> TreeClassifier(missing=Random(), pruning=None, random_state=0).fit(X, [0, 0, 1, 1]).get_n_leaves()
    2
    """


MissingValues = Fractional | Category | Learned | Random

_CORE_POLICIES = {
    Fractional: TrainMissing.fractional,
    Category: TrainMissing.category,
    Learned: TrainMissing.learned,
    Random: TrainMissing.random,
}
_ALIASES: dict[str, MissingValues] = {kind.__name__.lower(): kind() for kind in _CORE_POLICIES}
for _policy in _CORE_POLICIES:
    register(_policy, name=f"hedgerow.growth.{_policy.__name__}")


def missing_values(given: Any) -> MissingValues:
    """Return the policy for the parameter `missing`, an alias or an instance."""
    return choose("missing", given, _ALIASES, tuple(_CORE_POLICIES))


def core_policy(policy: MissingValues) -> TrainMissing:
    """Return the core's name of a policy."""
    return _CORE_POLICIES[type(policy)]
