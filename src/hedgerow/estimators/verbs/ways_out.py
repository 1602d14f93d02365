"""Ways out of doubt: the nearest change of a row that leads to another answer, and what to measure next."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._params import check_bool, check_choice
from hedgerow.counterfactual import Counterfactual, Goal, Limits, Space, nearest_changes
from hedgerow.counterfactual.search import Unreachable
from hedgerow.counterfactual.space import check_columns
from hedgerow.estimators.base import TreeBased
from hedgerow.estimators.contract import offers
from hedgerow.estimators.fitting.costs import feature_costs as read_costs
from hedgerow.explain.questions import NextQuestion, Question, values_of_columns
from hedgerow.folds import entropy_bits
from hedgerow.walk import HardWalk

__all__ = ["WaysOut"]

Floats = NDArray[np.float64]

_VERB_OF_DOUBT = {"set_size": "predict_set", "entropy": "predict_proba"}  # regressors have the variance


class WaysOut(TreeBased):
    """Abstract: counterfactuals and next questions."""

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
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        target : label, (low, high), or None, default=None
            Answer that is wanted: a class, or an interval for the prediction of a regressor, with None for an open end.
            None: every other class.
        immutable : sequence of names or positions of columns, default=()
            Columns that stay as they are.
        monotone : mapping of columns to 1 or -1, or None, default=None
            Columns that may only rise (1) or only fall (-1).
        max_changes : int or None, default=None
            Largest number of columns that may change; None sets no limit.
        plausible : bool, default=False
            Whether only rows are proposed all of whose leaves hold training rows.
        feature_costs : array-like of shape (n_features,), mapping of names to costs, or None, default=None
            Cost of changing a column by its training range, or its category. None: those of the model, else 1.
        ranges : mapping of columns to (low, high), or None, default=None
            Bounds of the values of columns, and units of their changes, in place of the training ranges, which models
            of other libraries do not have.
        max_nodes : int, default=500
            Number of boxes of rows that the search looks into before it stops. What is found does not depend on the
            machine; the records' `gap` says how much nearer another row may be, 0 where none is.
        time_limit : float or None, default=None
            Seconds after which a search stops too.

        Returns
        -------
        list of lists of Counterfactual
            The records of each row, the nearest first; an empty list where no change leads to another answer.

        Raises
        ------
        ValueError
            If there is no such class, the model has oblique splits or answers that are no sums, or an argument names an
            unknown column.

        Examples
        --------
        >>> from hedgerow import TreeClassifier
        >>> tree = TreeClassifier().fit([[20, 1], [30, 1], [50, 0], [60, 0]], ["no", "no", "yes", "yes"])
        >>> tree.counterfactual([[20, 1]])[0][0].changes
        {'x0': (20.0, 41.0)}
        """
        rows, goals = self._read_here(X), self._goals(target)
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
        if not isinstance(self._walk, HardWalk):
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
        """Wanted answers: each class, or `target`."""
        raise ValueError(
            f"{type(self).__name__} has no counterfactuals: its answers vary within a leaf; ask the tree itself, if "
            "there is one (estimator_)"
        )

    def next_question(
        self, X: Any, *, columns: Any = None, feature_costs: Any = None, measure: str = "auto"
    ) -> list[NextQuestion]:
        """Rank the missing columns of each row by the doubt that measuring them is expected to take away, per cost.

        The doubt that is left is exact for every value that a column may turn out to have; how likely each is follows
        from the weights with which the row reaches the leaves (:mod:`hedgerow.explain.questions` has the formula). A
        gain below 0 means that the value is expected to stir up doubt, by as much.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        columns : sequence of names or positions of columns, or None, default=None
            Columns that could be measured. None: those whose value is missing. Others, whose value is uncertain, count
            as missing too.
        feature_costs : array-like of shape (n_features,), mapping of names to costs, or None, default=None
            Cost of measuring each column. None: those of the model, else 1.
        measure : {"auto", "entropy", "set_size", "variance"}, default="auto"
            Doubt: entropy of `predict_proba` in bits, number of classes in `predict_set`, or total variance of
            `predict_uncertainty`. "auto" is the set's size where there are sets, entropy for other classifiers, and
            variance for regressors.

        Returns
        -------
        list of NextQuestion
            For each row the columns, ranked, with their expected gains and costs.

        Raises
        ------
        ValueError
            If the model has no such measure of doubt, or an argument names an unknown column.

        Examples
        --------
        >>> from hedgerow import TreeClassifier
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, ["no", "no", "no", "yes"] * 5
        >>> tree = TreeClassifier(pruning=None).fit(X, y)
        >>> print(tree.next_question([[None, 1]])[0])
        entropy now: 0.999 bits
          x0: 0.205 bits expected, cost 1
        """
        rows = self._read_here(X)
        own = getattr(self, "feature_costs", None)
        costs = read_costs(own if feature_costs is None else feature_costs, self.schema_)
        named = None if columns is None else check_columns("columns", columns, self.schema_)
        kind = self._kind_of_doubt(measure)
        return [self._question(row, named, costs, kind) for row in rows]

    def _kind_of_doubt(self, measure: str) -> str:
        offered = [kind for kind, verb in _VERB_OF_DOUBT.items() if offers(self, verb)] or ["variance"]
        return offered[0] if measure == "auto" else check_choice("measure", measure, offered)

    def _question(self, row: Floats, named: list[int] | None, costs: Floats, kind: str) -> NextQuestion:
        row = row.copy()
        if named is not None:
            row[named] = np.nan
        missing = np.flatnonzero(np.isnan(row)).tolist() if named is None else named
        found = values_of_columns(self.forest_, self.schema_, self._training_range(), row, missing)
        rows = [row[np.newaxis]]
        for column, cells in found.items():
            filled = np.repeat(row[np.newaxis], len(cells.values), axis=0)
            filled[:, column] = cells.values
            rows.append(filled)
        doubts = self._doubts(np.concatenate(rows), kind)
        now, at, ranked = float(doubts[0]), 1, []
        for column, cells in found.items():
            expected = float(cells.probabilities @ doubts[at : at + len(cells.values)])
            at += len(cells.values)
            ranked.append(Question(self.schema_.names[column], expected, now - expected, float(costs[column])))
        ranked.sort(key=lambda one: -one.gain_per_cost)
        return NextQuestion(tuple(ranked), now, kind)

    def _doubts(self, rows: Floats, kind: str) -> Floats:
        """Doubt of each row, (n,)."""
        match kind:
            case "set_size":
                sizes: Floats = self._respond(rows, {"predict_set": {}})["predict_set"].sum(axis=1).astype(np.float64)
                return sizes
            case "entropy":
                return entropy_bits(self._respond(rows, {"predict_proba": {}})["predict_proba"])
        variance: Floats = self._respond(rows, {"predict_uncertainty": {"measure": "variance"}})[
            "predict_uncertainty"
        ].total
        return variance

    def _respond(self, rows: Floats, verbs: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """Answer several verbs about the same rows, see :mod:`hedgerow.estimators.contract`."""
        raise NotImplementedError
