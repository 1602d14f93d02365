"""Explanations of a regressor's answers: reasons for all rows at once, records of single rows when asked for."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hedgerow._lazy import lazy
from hedgerow.estimators.verbs.deciding_columns import deciding_columns
from hedgerow.estimators.verbs.explained_classes import MoreFacts, in_words, outside_columns
from hedgerow.estimators.verbs.training_cases import TrainingCases
from hedgerow.explain.explanation import explain_numbers
from hedgerow.explain.explanations import Explanations
from hedgerow.explain.reasons import Levels, ReasonForDoubt, Reasons, divide
from hedgerow.explain.reasons.leaf_certainty import rows_at_once
from hedgerow.explain.reasons.number_spread import NumberSpread, variance_of_trees
from hedgerow.explain.reasons.reason import RowFacts
from hedgerow.explain.records import NumberExplanation
from hedgerow.folds import leaf_moments
from hedgerow.folds.uncertainty import widths_outside
from hedgerow.forest.kinds import NodeKind
from hedgerow.walk import HardWalk, LeafTable, Query, Walk, ask

if TYPE_CHECKING:
    from hedgerow.estimators.verbs.answers import NumberAnswers

__all__ = ["NumberRows", "explain_number_rows"]

Floats = NDArray[np.float64]
Part = slice | NDArray[np.intp]


def explain_number_rows(
    model: NumberAnswers,
    rows: Floats,
    coverage: float,
    training: TrainingCases | None = None,
    walk_of: Callable[[Part], Walk] | None = None,
    more_facts: MoreFacts | None = None,
) -> Explanations[NumberExplanation]:
    """Answer and explain converted rows.

    `walk_of` gives the walk of some of them, by default the model's own; `more_facts` as in
    :func:`~hedgerow.estimators.verbs.explained_classes.explain_class_rows`.
    """
    model = copy(model)  # parameters may be set to others before the records are made
    walk_of = walk_of or (lambda part: model._walk)
    spread: NumberSpread
    answers, spread = ask(walk_of(slice(None)), rows, [model._mean_query(), model._number_spread_query()])
    explained = NumberRows(model, rows, answers, spread, coverage, training, walk_of, more_facts)
    return Explanations(explained.records, explained.reasons, answers)


def _root_variance(model: NumberAnswers) -> float:
    """Variance of all training targets, mean over the trees."""
    weight, _, squares = model.forest_.node_stats()[model.forest_.tree_start[:-1]].T
    return float((squares / np.where(weight > 0, weight, 1.0)).mean())


@dataclass(frozen=True, eq=False)
class NumberRows:
    """Rows of a regressor with its answers; records of single rows are made from them."""

    model: NumberAnswers
    rows: Floats
    answers: Floats
    spread: NumberSpread
    coverage: float
    training: TrainingCases | None
    walk_of: Callable[[Part], Walk]
    more_facts: MoreFacts | None

    @lazy
    def reasons(self) -> Reasons:
        """Shares of the reasons of all rows."""
        return divide(self.levels, self.levels.now, "variance")

    @lazy
    def levels(self) -> Levels:
        """Levels of the variance: law of total variance over trees, leaves, and rows in a leaf."""
        within, error, trees = self.spread.within, self.spread.error, self._between_trees()
        regions = np.maximum(self.spread.between - trees, 0.0)
        if self._is_soft:  # how regions differ is part of the errors in them
            agreed, left = within, np.maximum(within - regions, 0.0)
        else:
            agreed, left = within + regions, within
        inside, agreed, complete = agreed + trees + error, agreed + error, left + error
        exact = agreed
        if (walk := self.model._exact_walk) is not None:
            exact = complete + self._between_exact(walk, np.minimum(regions, within))
        return Levels(inside + self._of_outside(), inside, inside, agreed, exact, complete, left)

    def _between_exact(self, walk: Walk, most: Floats) -> Floats:
        """Variance between the leaves that rows may be in with exact readings, at most as much as with errors.

        It is 0 where no value is missing.
        """
        found = np.zeros(len(self.rows))
        some = np.flatnonzero(np.isnan(self.rows).any(axis=1))
        if len(some):
            spread, means = ask(walk, self.rows[some], [self.model._number_spread_query(), self._means_of_trees()])
            found[some] = np.clip(spread.between - variance_of_trees(means), 0.0, most[some])
        return found

    def _means_of_trees(self) -> Query[Floats]:
        stats = self.model.forest_.stats
        return Query(LeafTable.of(stats[:, 1:2]), lambda means, _: means[:, :, 0], per_tree=True)

    @property
    def _is_soft(self) -> bool:
        return not isinstance(self.walk_of(slice(0, 1)), HardWalk)

    def _of_outside(self) -> Floats:
        """Variance of all training targets, as far as the leaves of a row are not about it."""
        ranges = self.model._ranges_of_splits()
        if ranges is None or not (widths := widths_outside(self.rows, ranges)).any():
            return np.zeros(len(self.rows))
        of_all = self.model._tables.get("root variance", lambda: _root_variance(self.model))
        return (1.0 - np.exp2(-widths)) * of_all

    def _between_trees(self) -> Floats:
        """Variance between the means of the trees, each over the leaves that a row reaches in it."""
        forest, rows = self.model.forest_, self.rows
        if forest.n_trees == 1:
            return np.zeros(len(rows))
        found = self.spread.between.copy()
        by_code = np.isin(forest.kind, (NodeKind.SUBSET, NodeKind.MULTIWAY)).any()  # codes without a branch
        all_rows = by_code or self._is_soft
        several = np.arange(len(rows)) if all_rows else np.flatnonzero(np.isnan(rows).any(axis=1))
        step = rows_at_once(forest.n_trees, 1)
        query = self._means_of_trees()
        for first in range(0, len(several), step):
            part = several[first : first + step]
            found[part] = variance_of_trees(ask(self.walk_of(part), rows[part], [query])[0])
        return found

    def records(self, first: int, last: int) -> list[NumberExplanation]:
        """Explanations of the rows from `first` to before `last`."""
        part, model = slice(first, last), self.model
        walk, rows = self.walk_of(part), self.rows[part]
        (reached,) = ask(walk, rows, [leaf_moments(model.forest_)])
        if self._is_soft:
            reached[:, :, 2] = reached[:, :, 1] ** 2
        intervals = None
        if model._has_intervals:
            intervals = model._respond(rows, {"predict_interval": {"coverage": self.coverage}})["predict_interval"]
        return explain_numbers(
            *(walk, model.schema_, rows),
            answers=self.answers[part],
            reached=reached,
            intervals=intervals,
            coverage=self.coverage,
            why=[self._why(i, reached[i - first, :, 1]) for i in range(first, last)],
        )

    def _why(self, i: int, trees: Floats) -> tuple[ReasonForDoubt, ...]:
        return in_words(self.reasons, self.levels, i, lambda name, part: self._facts(i, name, part, trees))

    def _facts(self, i: int, name: str, part: float, trees: Floats) -> RowFacts:
        model, row = self.model, self.rows[i : i + 1]
        similar = None
        if name == "mixed leaves" and self.training is not None:
            similar = self.training.nearest(model._walk.spread(row), self.answers[i], of_classes=False)
        facts = RowFacts(
            of_classes=False,
            part=part,
            n_rows=float(self.spread.n_rows[i]),
            n_training=float(model.forest_.stats[:, 0].sum()) / model.forest_.n_trees,
            trees=(float(trees.min()), float(trees.max())),
            similar=similar,
            missing=deciding_columns(model, row[0]) if name == "missing input" and not self._is_soft else (),
            outside=outside_columns(model, row[0]),
        )
        return facts if self.more_facts is None else replace(facts, **self.more_facts(i, name))
