"""Pruning: smaller trees that overfit less.

Each method is a strategy, given by its alias or as an instance (``pruning="pessimistic"`` or
``Pessimistic(confidence=0.1)``), and a function from one :class:`~hedgerow.Forest` to another. A node that becomes a
leaf keeps the counts of the leaves below it.
"""

from __future__ import annotations

from typing import Any

from hedgerow._params import choose
from hedgerow._registry import register
from hedgerow.pruning._cost_complexity import CostComplexity, Links, cost_complexity, links_of
from hedgerow.pruning._description_length import DescriptionLength, description_length
from hedgerow.pruning._pessimistic import Pessimistic, pessimistic
from hedgerow.pruning._reduced_error import ReducedError, reduced_error
from hedgerow.pruning.strategy import Grower, Pruning
from hedgerow.pruning.subtrees import collapse, cut

__all__ = [
    "CostComplexity",
    "DescriptionLength",
    "Grower",
    "Links",
    "Pessimistic",
    "Pruning",
    "ReducedError",
    "collapse",
    "cost_complexity",
    "cut",
    "description_length",
    "links_of",
    "pessimistic",
    "pruning_named",
    "reduced_error",
]

_KINDS = (Pessimistic, ReducedError, CostComplexity, DescriptionLength)
for _strategy in (Pessimistic, ReducedError, DescriptionLength):
    register(_strategy, name=f"hedgerow.pruning.{_strategy.__name__}")
register(CostComplexity, name="hedgerow.pruning.CostComplexity", former_names=["hedgerow.measured.CostComplexity"])
_ALIASES: dict[str, Pruning] = {
    "pessimistic": Pessimistic(),
    "reduced_error": ReducedError(),
    "cost_complexity": CostComplexity(),
    "description_length": DescriptionLength(),
}


def pruning_named(given: Any) -> Pruning | None:
    """Return the strategy for the parameter `pruning`, an alias or an instance; None for no pruning.

    Parameters
    ----------
    given : {"pessimistic", "reduced_error", "cost_complexity", "description_length"}, an instance, or None
        Value of the parameter `pruning` of an estimator.

    Returns
    -------
    Pruning or None
        The strategy.

    Raises
    ------
    ValueError
        If no strategy has this name.

    Examples
    --------
    >>> from hedgerow.pruning import pruning_named
    >>> pruning_named("pessimistic")
    Pessimistic(confidence=0.25, raising=True)
    """
    if given is None:
        return None
    if isinstance(given, Pruning) and not isinstance(given, type):
        return given
    return choose("pruning", given, _ALIASES, _KINDS)
