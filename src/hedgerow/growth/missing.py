"""Policies for rows whose value is missing when a tree is grown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hedgerow._core import TrainMissing
from hedgerow._registry import register
from hedgerow.strategies import choose

__all__ = ["Category", "Fractional", "Learned", "MissingValues", "Random", "core_policy", "missing_values"]


@dataclass(frozen=True)
class Fractional:
    """Split a row with a missing value over all branches, in proportion to the rows with a value (C4.5).

    The gain of a split counts only the rows that have a value. A fraction of a row below `min_fraction` is not split
    further: it follows the heaviest branch.
    """

    min_fraction: float = 1 / 64


@dataclass(frozen=True)
class Category:
    """Treat missing as a value: it gets a branch, or is one of the rest; numeric columns too."""


@dataclass(frozen=True)
class Learned:
    """Send missing values to the side with the larger gain; in a multiway split to a branch of their own.

    At a node where no training row had a missing value, prediction splits such rows over the branches.
    """


@dataclass(frozen=True)
class Random:
    """Send a row with a missing value down one branch, drawn in proportion to the rows with a value.

    Equal to :class:`Fractional` in expectation, and as fast as growth without missing values: the default of forests.
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
    policy: MissingValues = choose("missing", given, _ALIASES, tuple(_CORE_POLICIES))
    return policy


def core_policy(policy: MissingValues) -> TrainMissing:
    """Return the core's name of a policy."""
    return _CORE_POLICIES[type(policy)]
