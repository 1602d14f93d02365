"""Tests that a split must pass before a node is split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hedgerow._params import check_number, choose
from hedgerow._registry import register

__all__ = ["ChiSquare", "stopping"]


@dataclass(frozen=True)
class ChiSquare:
    """Make a node a leaf unless the classes in the branches of its best split differ significantly.

    Pearson's test of branches against classes on the weighted counts, with (branches − 1)·(classes − 1) degrees of
    freedom (Honavar, Decision Trees and Forests, the slides on early stopping); a node whose best split has a p-value
    above `level` is a leaf.

    Parameters
    ----------
    level : float, default=0.05
        Largest p-value at which a node is split, between 0 and 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.growth import ChiSquare
    >>> TreeClassifier(stopping=ChiSquare(0.01), pruning=None).fit(X, y).get_n_leaves()
    6
    """

    level: float = 0.05

    def __post_init__(self) -> None:
        check_number("ChiSquare: level", self.level, 0, 1, hint=", such as 0.05")


register(ChiSquare, name="hedgerow.growth.ChiSquare")


def stopping(given: Any) -> ChiSquare:
    """Return the test for the parameter `stopping`, an alias or an instance."""
    return choose("stopping", given, {"chi_square": ChiSquare()}, (ChiSquare,))
