"""Explanations of a single tree of soft regions: levels of doubt, and what the errors of a row hide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.estimators.verbs.explained_classes import about_rows, certainty_of_exact_values, in_words, outside_columns
from hedgerow.estimators.verbs.training_cases import TrainingCases
from hedgerow.explain.explanations import Explanations
from hedgerow.explain.reasons import Levels, SetSizes, divide
from hedgerow.explain.reasons.leaf_certainty import ClassCertainty, LeafCertainty
from hedgerow.explain.reasons.number_spread import NumberSpread, number_spread
from hedgerow.explain.reasons.reason import RowFacts
from hedgerow.measured.explain.hidden_by_errors import facts_of_errors
from hedgerow.measured.explain.possible_regions import RegionExplanation, error_costs, explain_regions
from hedgerow.walk import LeafTable, Query, SoftWalk, ask

if TYPE_CHECKING:
    from hedgerow.estimators.measured.one_tree import MeasuredTree

__all__ = ["RegionRows", "class_levels_of_regions", "number_levels_of_regions"]

Floats = NDArray[np.float64]


def class_levels_of_regions(model: MeasuredTree, values: Floats, rows: Floats, shares: Floats) -> Levels:
    """Levels of doubt about rows with these memberships; `values` are the class probabilities of the regions."""
    known = LeafCertainty.of(LeafTable.of(np.clip(values, 0.0, 1.0)), model.forest_.distinct_counts)
    found: ClassCertainty = _ask_about(model, shares, known.query(None))
    answer = found.classes.max(axis=1)

    def at_readings(some: Floats) -> Floats:
        exact: ClassCertainty = ask(model._exact_walk, some, [known.query(None)])[0]
        return exact.classes.max(axis=1)

    return Levels.of_classes(
        about=about_rows(model, rows),
        empty=found.empty,
        answer=answer,
        away=answer,
        tree=answer,
        exact=certainty_of_exact_values(rows, answer, found.leaf, at_readings),
        leaf=found.leaf,
        counted=found.counted,
    )


def number_levels_of_regions(model: MeasuredTree, rows: Floats, shares: Floats) -> Levels:
    """Levels of the variance of rows with these memberships: that of the regions, and within them."""
    query = number_spread(model.forest_.stats)
    spread: NumberSpread = _ask_about(model, shares, query)
    between, left = spread.between, np.zeros(len(rows))
    some = np.flatnonzero(np.isnan(rows).any(axis=1))
    if len(some):
        exact: NumberSpread = ask(model._exact_walk, rows[some], [query])[0]
        left[some] = np.minimum(exact.between, between[some])
    complete = spread.within + spread.error
    now = complete + between
    return Levels(now, now, now, now, complete + left, complete, spread.within)


def _ask_about(model: MeasuredTree, shares: Floats, query: Query[Any]) -> Any:
    return ask(SoftWalk(model.forest_, lambda rows: shares), shares, [query])[0]


@dataclass(frozen=True, eq=False)
class RegionRows:
    """Rows of a tree of soft regions; records of single rows are made from them."""

    model: MeasuredTree
    rows: Floats
    cells: Floats
    shares: Floats
    answers: dict[str, Any]
    """Values of the regions and answers to the rows, as `explain_regions` takes them."""
    levels: Levels
    training: TrainingCases | None

    def explanations(self, outer: SetSizes | None) -> Explanations[RegionExplanation]:
        """Explanations of all rows; `outer` are the sets of another model about them."""
        levels, doubt = self.levels, self.levels.now
        of_classes = "classes" in self.answers
        if outer is not None:
            levels, doubt = outer.limit(levels, about_rows(self.model, self.rows), 1.0 - levels.inside)
        reasons = divide(levels, doubt, "probability" if of_classes else "variance")

        def records(first: int, last: int) -> list[RegionExplanation]:
            part = slice(first, last)
            model, found = self.model, self.answers
            why = [in_words(reasons, levels, i, self._facts_of(i)) for i in range(first, last)]
            return explain_regions(
                *(model._regions, model.schema_, self.rows[part], self.cells[part], self.shares[part]),
                values=found["values"],
                answers=found["answers"][part],
                classes=found.get("classes"),
                probabilities=found["probabilities"][part] if of_classes else None,
                why=why,
            )

        return Explanations(records, reasons, self.answers["answers"], None, self.answers.get("classes"))

    def _facts_of(self, i: int) -> Callable[[str, float], RowFacts]:
        return lambda name, part: self._facts(i, name, part)

    def _facts(self, i: int, name: str, part: float) -> RowFacts:
        model, share = self.model, self.shares[i]
        n_rows = model._rows_of_regions()
        from scipy.sparse import csr_array  # slow to import

        more: dict[str, Any] = {}
        of_classes = "classes" in self.answers
        if name == "mixed leaves" and self.training is not None:
            reached = csr_array(share[np.newaxis])
            more = {"similar": self.training.nearest(reached, self.answers["answers"][i], of_classes=of_classes)}
        if name in ("measurement error", "missing input"):
            row = self.rows[i : i + 1]
            costs = error_costs(model._regions, self.answers["values"], model._joint, row, self.cells[i : i + 1])
            names = model.schema_.names
            hidden = {names[j]: float(cost**0.5) for j, cost in enumerate(costs.tolist()) if cost > 0}
            more = facts_of_errors(hidden, {names[j] for j in np.flatnonzero(np.isnan(row[0]))})
        return RowFacts(
            of_classes=of_classes,
            part=part,
            n_rows=float(share @ n_rows),
            n_training=float(n_rows.sum()),
            outside=outside_columns(model, self.rows[i]),
            empty=float(share @ (n_rows <= 0)),
            **more,
        )
