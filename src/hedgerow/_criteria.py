"""The split criteria of classification trees: what each is called, and the impurity that its splits lower.

A new criterion takes one entry in `CRITERIA` here and one in the table of ``core/grow/criteria.hpp``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hedgerow._arrays import Floats
from hedgerow._core import Criterion

__all__ = ["CRITERIA", "SplitCriterion", "criterion_named", "impurity_named"]


def _gini(shares: Floats) -> Floats:
    return 1.0 - (shares**2).sum(axis=1)


def _entropy(shares: Floats) -> Floats:
    positive = np.where(shares > 0, shares, 1.0)
    return -(positive * np.log2(positive)).sum(axis=1)


@dataclass(frozen=True)
class SplitCriterion:
    """A criterion of the core, and the impurity of nodes that goes with it."""

    core: Criterion
    impurity: str
    """Name of the impurity, as model files store it."""
    impurity_of_shares: Callable[[Floats], Floats]
    """Impurity of each node from its class shares, (n_nodes, n_classes)."""
    binned: bool = False
    """Whether trees can be grown from binned columns."""
    c45: bool = False
    """Whether C4.5's other conditions on a split hold too; for single trees only."""


CRITERIA: dict[str, SplitCriterion] = {
    "gini": SplitCriterion(Criterion["gini"], "gini", _gini, binned=True),
    "entropy": SplitCriterion(Criterion["entropy"], "entropy", _entropy, binned=True),
    "gain_ratio": SplitCriterion(Criterion["gain_ratio"], "entropy", _entropy),
    "c45": SplitCriterion(Criterion["gain_ratio"], "entropy", _entropy, c45=True),
}


def criterion_named(name: object) -> SplitCriterion:
    """The criterion of this name; an error that lists all of them for any other."""
    if not isinstance(name, str) or name not in CRITERIA:
        raise ValueError(f"criterion is {name!r}, must be one of {', '.join(map(repr, CRITERIA))}")
    return CRITERIA[name]


def impurity_named(name: str) -> Callable[[Floats], Floats]:
    """The function from class shares to impurity of this name."""
    known = {criterion.impurity: criterion.impurity_of_shares for criterion in CRITERIA.values()}
    if name not in known:
        raise ValueError(f"impurity is {name!r}, must be one of {', '.join(map(repr, known))}")
    return known[name]
