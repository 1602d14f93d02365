"""The nearest changes of a row, found in the core by branch and bound.

The thresholds of a forest cut the space of rows into cells in each of which every tree has one leaf. The conditions on
the answer are linear in the leaves' numbers (:class:`~hedgerow.folds.Conditions`), so that the least and largest number
that each tree has in a box of cells bound them there; boxes are taken by their distance, and divided where the nearest
row of a box fails. See ``core/counterfactual``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import nearest_change
from hedgerow._params import check_number, check_whole
from hedgerow.counterfactual.record import Counterfactual
from hedgerow.counterfactual.space import Space
from hedgerow.folds.conditions import Conditions
from hedgerow.forest.forest import Forest
from hedgerow.walk import LeafTable

__all__ = ["Goal", "Limits", "Unreachable", "nearest_changes"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Goal:
    """An answer that is wanted, and what it needs.

    Parameters
    ----------
    target
        The answer.
    table : LeafTable
        Numbers of the leaves that the answer is made of.
    conditions : Conditions
        Linear conditions on their sums under which the answer is the one that is wanted.
    tree_weights : array or None
        Weight of each tree.
    """

    target: Any
    table: LeafTable
    conditions: Conditions
    tree_weights: Floats | None
    accepts: Callable[[Floats], bool]
    """Whether the model answers a row, (n_features,), as wanted."""

    def leaf_values(self, forest: Forest) -> Floats:
        """Terms of the conditions, (n_leaves, n_conditions).

        Parameters
        ----------
        forest : Forest
            The trees.
        """
        linked = self.table.linked if self.table.row_of is None else self.table.linked[self.table.row_of]
        values = linked @ self.conditions.weights
        if self.tree_weights is not None:
            values *= np.repeat(self.tree_weights, np.diff(forest.leaf_start))[:, np.newaxis]
        return np.ascontiguousarray(values)


@dataclass(frozen=True)
class Limits:
    """How far a search goes.

    Parameters
    ----------
    max_changes : int or None
        Most columns that may change.
    max_nodes : int
        Most boxes that are searched.
    time_limit : float or None
        Seconds after which the search stops; None never.
    """

    max_changes: int | None
    max_nodes: int
    time_limit: float | None

    def __post_init__(self) -> None:
        if self.max_changes is not None:
            check_whole("max_changes", self.max_changes, 1)
        check_whole("max_nodes", self.max_nodes, 1)
        if self.time_limit is not None:
            check_number("time_limit", self.time_limit, hint=" of seconds, or None")

    def crossing(self, n_features: int) -> tuple[int, int, float]:
        """Arguments of the core, in its order.

        Parameters
        ----------
        n_features : int
            Number of columns.
        """
        changes = n_features if self.max_changes is None else min(self.max_changes, n_features)
        return changes, self.max_nodes, np.inf if self.time_limit is None else float(self.time_limit)


@dataclass(frozen=True)
class Unreachable:
    """No change was found: `bound` is infinite if there is none, else none is nearer than it."""

    target: Any
    bound: float


def nearest_changes(
    forest: Forest, row: Floats, space: Space, goals: list[Goal], limits: Limits, barred: NDArray[np.uint8] | None
) -> list[Counterfactual | Unreachable]:
    """Nearest change of a row for each goal, in their order; `barred` marks leaves that no row may reach.

    Parameters
    ----------
    forest : Forest
        The trees.
    row : array of shape (n_features,)
        The converted row.
    space : Space
        What may change, and what changes cost.
    goals : list of Goal
        Answers that are wanted.
    limits : Limits
        How far to search.
    barred : array of shape (n_leaves,) or None
        1 for leaves that no row may reach.
    """
    candidates = space.candidates(row)
    return [_nearest(forest, row, space, goal, limits, barred, candidates) for goal in goals]


def _nearest(
    forest: Forest,
    row: Floats,
    space: Space,
    goal: Goal,
    limits: Limits,
    barred: NDArray[np.uint8] | None,
    candidates: Any,
) -> Counterfactual | Unreachable:
    def accept(choices: Sequence[int]) -> bool:
        return bool(goal.accepts(candidates.chosen(np.array(choices, dtype=np.int32))))

    conditions = (goal.leaf_values(forest), goal.conditions.offset, barred, not goal.table.links.any())
    choices, distance, bound, _ = nearest_change(
        forest.core_with_weight, tuple(candidates), conditions, limits.crossing(len(row)), accept
    )
    if not len(choices):
        return Unreachable(goal.target, bound)
    gap = 1 - bound / distance if bound < distance else 0.0
    return Counterfactual.of(space.schema, row, candidates.chosen(choices), goal.target, distance, gap)
