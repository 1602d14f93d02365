"""Pruning: trees that a person can read, and that do not repeat the chance of their training rows.

Each way is a strategy, by its alias or with its parameters (``pruning="pessimistic"`` or
``Pessimistic(confidence=0.1)``), and a function from one :class:`~hedgerow.Forest` to another. All are made of
:func:`cut`: a node becomes a leaf and keeps the counts of what was below it.
"""

from __future__ import annotations

from typing import Any

from hedgerow._params import choose
from hedgerow._registry import register
from hedgerow.pruning.cutting import collapse, cut
from hedgerow.pruning.error_limits import Pessimistic, pessimistic
from hedgerow.pruning.grower import Grower, Pruning
from hedgerow.pruning.message_length import DescriptionLength, description_length
from hedgerow.pruning.reduced_error import ReducedError, reduced_error
from hedgerow.pruning.weakest_links import CostComplexity, Links, cost_complexity, links_of

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
    """The strategy for `pruning`: an alias or an instance; None prunes nothing."""
    if given is None:
        return None
    chosen: Pruning = choose("pruning", given, _ALIASES, _KINDS)
    return chosen
