"""Explanations of sums of soft trees: what errors and missing values hide of each answer, and the doubt left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.estimators.verbs.explained_classes import about_rows, in_words, outside_columns
from hedgerow.estimators.verbs.training_cases import TrainingCases
from hedgerow.explain.reasons import Levels, ReasonForDoubt, Reasons, SetSizes, divide
from hedgerow.explain.reasons.reason import RowFacts
from hedgerow.measured.explain.hidden_by_errors import facts_of_errors, pieces_of_columns
from hedgerow.walk import Query, ask

if TYPE_CHECKING:
    from hedgerow.estimators.measured.boosting import MeasuredBoosting

__all__ = ["SumRows", "class_levels_of_sums", "number_levels_of_sums"]

Floats = NDArray[np.float64]


def class_levels_of_sums(model: MeasuredBoosting, rows: Floats, shares: Floats, query: Query[Floats]) -> Levels:
    """Levels of doubt about rows with these probabilities, (n, n_classes), by the trees' sums.

    A region's step says nothing about the frequencies in it, so that few cases and conflicts can't be told: what exact
    and complete values leave is put down to mixed leaves. If several values are missing, the one that would be worth
    most counts.
    """
    answer = shares.max(axis=1)
    exact: Floats = ask(model._exact_walk, rows, [query])[0].max(axis=1)
    complete = exact.copy()
    for i in np.flatnonzero(np.isnan(rows).any(axis=1)).tolist():
        complete[i] = max([exact[i], *_with_one_more(model, rows[i], query)])
    none = np.zeros(len(rows))
    return Levels.of_classes(
        about=about_rows(model, rows),
        empty=none,
        answer=answer,
        away=answer,
        tree=answer,
        exact=exact,
        leaf=complete,
        counted=complete,
    )


def _with_one_more(model: MeasuredBoosting, row: Floats, query: Query[Floats]) -> list[float]:
    """Expected certainty of the likeliest class once a missing column is known, for each; readings being exact."""
    no_errors = np.zeros(len(row))
    found = []
    for column, (values, masses) in pieces_of_columns(model._soft.landmarks, model._soft.joint, row, no_errors).items():
        known = np.repeat(row[np.newaxis], len(values), axis=0)
        known[:, column] = values
        found.append(float(masses @ ask(model._exact_walk, known, [query])[0].max(axis=1)))
    return found


def number_levels_of_sums(hidden: list[dict[str, float]], missing: list[set[str]]) -> Levels:
    """Levels of the variance that errors and missing values of each row hide, by column and added up."""
    of_missing = np.array(
        [sum(size**2 for name, size in one.items() if name in gone) for one, gone in zip(hidden, missing, strict=True)]
    )
    total = np.array([sum(size**2 for size in one.values()) for one in hidden])
    none = np.zeros(len(total))
    return Levels(total, total, total, total, of_missing, none, none)


@dataclass(frozen=True, eq=False)
class SumRows:
    """Rows of a sum of soft trees, with what reasons for doubt need."""

    model: MeasuredBoosting
    rows: Floats
    levels: Levels
    hidden: Callable[[int], dict[str, float]]
    """Standard deviation that each column hides of the answer to a row."""
    answers: NDArray[Any]
    of_classes: bool

    def divide(
        self, outer: SetSizes | None, training: TrainingCases | None
    ) -> tuple[Reasons, Callable[[int], tuple[ReasonForDoubt, ...]]]:
        """Shares of the reasons, and those of a row in words; `outer` are the sets of another model about the rows."""
        levels, doubt = self.levels, self.levels.now
        if outer is not None:
            levels, doubt = outer.limit(levels, about_rows(self.model, self.rows), 1.0 - levels.inside)
        reasons = divide(levels, doubt, "probability" if self.of_classes else "variance")
        return reasons, lambda i: in_words(reasons, levels, i, lambda name, part: self._facts(i, name, part, training))

    def _facts(self, i: int, name: str, part: float, training: TrainingCases | None) -> RowFacts:
        model = self.model
        names = model.schema_.names
        more: dict[str, Any] = {}
        if name == "mixed leaves" and training is not None:
            more = {
                "similar": training.nearest(model._walk.spread(self.rows[i : i + 1]), self.answers[i], of_classes=True)
            }
        if name in ("measurement error", "missing input"):
            more = facts_of_errors(self.hidden(i), {names[j] for j in np.flatnonzero(np.isnan(self.rows[i]))})
        return RowFacts(of_classes=self.of_classes, part=part, outside=outside_columns(model, self.rows[i]), **more)
