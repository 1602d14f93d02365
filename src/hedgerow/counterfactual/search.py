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
    tree_weights : array of shape (n_trees,) or None
        Weight of each tree; None weighs all alike.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow import TreeRegressor
    >>> from hedgerow.counterfactual import Goal
    >>> from hedgerow.folds import Conditions, Mean
    >>> tree = TreeRegressor(pruning=None).fit([[1], [2]], [10, 20])
    >>> table = Mean().leaf_table(tree.forest_.stats, None)
    >>> above_15 = Conditions(np.array([[1.0]]), np.array([-15.0]))
    >>> goal = Goal("above 15", table, above_15, None, lambda row: tree.predict([row])[0] > 15)
    >>> goal.leaf_values(tree.forest_)
    array([[10.], [20.]])
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

        Returns
        -------
        ndarray of shape (n_leaves, n_conditions)
            What each leaf adds to the left side of each condition.
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
        Largest number of columns that may change; None sets no limit.
    max_nodes : int
        Largest number of boxes that are searched.
    time_limit : float or None
        Seconds after which the search stops; None never.

    Examples
    --------
    >>> from hedgerow.counterfactual import Limits
    >>> Limits(max_changes=2, max_nodes=500, time_limit=None).crossing(n_features=30)
    (2, 500, inf)
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

        Returns
        -------
        tuple of int, int and float
            Most columns that change, most boxes, and seconds.
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

    Returns
    -------
    list of Counterfactual or Unreachable
        One for each goal; what can't be reached has a bound on its distance.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow import TreeRegressor
    >>> from hedgerow.counterfactual import Goal, Limits, Space, nearest_changes
    >>> from hedgerow.folds import Conditions, Mean
    >>> tree = TreeRegressor(pruning=None).fit([[1], [2]], [10, 20])
    >>> above_15 = Conditions(np.array([[1.0]]), np.array([-15.0]))
    >>> table = Mean().leaf_table(tree.forest_.stats, None)
    >>> goal = Goal("above 15", table, above_15, None, lambda row: tree.predict([row])[0] > 15)
    >>> space = Space.of(
    ...     tree.schema_, tree.forest_, tree.training_range_, immutable=(), monotone=None, ranges=None, costs=np.ones(1)
    ... )
    >>> nearest_changes(tree.forest_, np.array([1.0]), space, [goal], Limits(None, 100, None), None)[0].changes
    {'x0': (1.0, 2.0)}
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
