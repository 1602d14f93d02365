"""Ways to another answer: the nearest change of a row that leads there."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._params import check_bool
from hedgerow.counterfactual import Counterfactual, Goal, Limits, Space, nearest_changes
from hedgerow.counterfactual.search import Unreachable
from hedgerow.estimators.base import TreeBased
from hedgerow.estimators.fitting.costs import feature_costs as read_costs
from hedgerow.walk import ForestWalk

__all__ = ["WaysOut"]

Floats = NDArray[np.float64]


class WaysOut(TreeBased):
    """Abstract: counterfactuals."""

    def counterfactual(
        self,
        X: Any,
        target: Any = None,
        *,
        immutable: Any = (),
        monotone: Mapping[Any, int] | None = None,
        max_changes: int | None = None,
        plausible: bool = False,
        feature_costs: Any = None,
        ranges: Mapping[Any, tuple[float, float]] | None = None,
        max_nodes: int = 500,
        time_limit: float | None = None,
    ) -> list[list[Counterfactual]]:
        """Find the nearest change of each row that leads to another answer: a list of records for each row.

        A classifier is to predict `target`; one with sets is to answer `target` alone. Without a target there is a
        record for each class that is not the answer already, the nearest first. A regressor's target is an interval
        that the prediction is to lie in: ``target=(low, high)``, ``None`` for an open end.

        The distance is Σ cost·|change|/(training range) over the numbers, plus the cost of each changed category: the
        L1 distance in training ranges. Changed values stay within the training range and are rounded: to whole numbers
        where the column seems to have them, else to few digits, which moves them by at most a twentieth of the way to
        the next threshold. No row of such values is nearer. Missing values stay missing.

        Parameters
        ----------
        immutable : names or positions of columns that stay as they are.
        monotone : {column: 1 or -1}
            Columns that may only rise (1) or only fall (-1).
        max_changes : int or None
            Most columns that may change.
        plausible : bool
            Only rows all of whose leaves hold training rows.
        feature_costs : (n_features,), mapping of names to costs, or None
            Cost of changing a column by its range, or its category; 1 by default, or as the model's own
            `feature_costs`.
        ranges : {column: (low, high)}
            Bounds and scale of columns instead of the training range, which models of other libraries do not tell.
        max_nodes : int
            Boxes of rows that a search looks into before it stops: the records' `gap` says how much nearer another row
            may be, 0 where none is. The same for every run and machine.
        time_limit : float or None
            Seconds after which a search stops too.
        """
        rows, goals = self._read(X), self._goals(target)
        own = getattr(self, "feature_costs", None)
        space = Space.of(
            self.schema_,
            self.forest_,
            self._training_range(),
            immutable=immutable,
            monotone=monotone,
            ranges=ranges,
            costs=read_costs(own if feature_costs is None else feature_costs, self.schema_),
        )
        limits = Limits(max_changes, max_nodes, time_limit)
        barred = None
        if check_bool("plausible", plausible):
            leaves = self.forest_.stats[:, 0] if self.forest_.leaf_counts is None else self.forest_.counts.sum(axis=1)
            barred = (leaves <= 0).astype(np.uint8)
        if not isinstance(self._walk, ForestWalk):
            raise ValueError(f"{type(self).__name__} has no counterfactuals here: a row is in several soft regions")
        return [
            self._ways_of_row(i, row, space, limits, barred, goals, named=target is not None)
            for i, row in enumerate(rows)
        ]

    def _ways_of_row(
        self,
        number: int,
        row: Floats,
        space: Space,
        limits: Limits,
        barred: NDArray[np.uint8] | None,
        goals: list[Goal],
        *,
        named: bool,
    ) -> list[Counterfactual]:
        wanted = [goal for goal in goals if named or not goal.accepts(row)]
        found = nearest_changes(self.forest_, row, space, wanted, limits, barred)
        missed = [one for one in found if isinstance(one, Unreachable)]
        if stopped := [one for one in missed if one.bound < np.inf]:
            said = (
                f"no change of row {number} to {stopped[0].target!r} was found within max_nodes or time_limit; none is "
                f"nearer than {stopped[0].bound:.3g}: allow more"
            )
            if named:
                raise ValueError(said)
            warnings.warn(said, stacklevel=3)
        if named and missed:
            raise ValueError(
                f"row {number} can't be changed to {missed[0].target!r} within the training range by what may change"
            )
        return sorted((one for one in found if isinstance(one, Counterfactual)), key=lambda one: one.distance)

    def _goals(self, target: Any) -> list[Goal]:
        """What is wanted: each class, or `target`."""
        raise ValueError(
            f"{type(self).__name__} has no counterfactuals: its answers vary within a leaf; ask the tree itself, if "
            "there is one (estimator_)"
        )

    def _training_range(self) -> Floats | None:
        """Least and largest training value of each column, (n_features, 2); None where they are not known."""
        return getattr(self, "training_range_", None)
