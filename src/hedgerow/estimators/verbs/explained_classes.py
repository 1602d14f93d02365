"""Explanations of a classifier's answers: reasons for all rows at once, records of single rows when asked for."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.estimators.verbs.deciding_columns import deciding_columns
from hedgerow.estimators.verbs.training_cases import TrainingCases
from hedgerow.explain.explanation import explain_classes
from hedgerow.explain.explanations import Explanations
from hedgerow.explain.reasons import REASONS, Levels, ReasonForDoubt, Reasons, divide
from hedgerow.explain.reasons.leaf_certainty import ClassCertainty, rows_at_once, tree_maxima
from hedgerow.explain.reasons.reason import Outside, RowFacts
from hedgerow.explain.records import ClassExplanation
from hedgerow.folds.uncertainty import widths_outside
from hedgerow.forest.kinds import NodeKind
from hedgerow.walk import HardWalk, Query

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from hedgerow.estimators.verbs.answers import ClassAnswers

__all__ = ["ClassRows", "class_levels", "explain_class_rows", "outside_columns"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

FACTORS = range(2, 11)
"""Factors by which all counts are multiplied, to see whether more rows would decide."""


def explain_class_rows(
    model: ClassAnswers, rows: Floats, training: TrainingCases | None = None, decided: Bools | None = None
) -> Explanations[ClassExplanation]:
    """Answer and explain converted rows. `decided` marks rows without doubt where another model's sets tell."""
    model = copy(model)  # parameters may be set to others before the records are made
    reached = model._walk.spread(rows) if model.forest_.n_trees == 1 else None
    verbs = ("predict", "predict_proba", *model._set_verbs)
    found = model._respond(rows, {verb: {} for verb in (*verbs, "certainty")}, reached)
    certainty: ClassCertainty = found.pop("certainty")
    levels = class_levels(model, rows, certainty)
    sets = found.get("predict_set")
    single = decided if decided is not None else None if sets is None else sets.sum(axis=1) == 1
    about = _about(model, rows)
    if single is None:
        doubt = 1.0 - about * found["predict_proba"].max(axis=1)
    else:
        far = np.where(about <= 0.5, 1.0 - about, 0.0)  # half of what the leaves say, or more, is not about the row
        levels = levels.only_outside(single, far * certainty.classes.max(axis=1))
        doubt = levels.now
    reasons = divide(levels, doubt, "probability")
    explained = ClassRows(
        model, rows, found, certainty, levels, reasons, reached, training, sets is not None and decided is None
    )
    return Explanations(explained.records, reasons, found["predict"], sets, model.classes_)


def class_levels(model: ClassAnswers, rows: Floats, certainty: ClassCertainty, away: Floats | None = None) -> Levels:
    """Levels of doubt about rows; `away` is the certainty of rows far from the boundary, where it matters."""
    answer = certainty.classes.max(axis=1) if away is None else away
    tree = _certainty_of_trees(model, rows, certainty)
    soft = not isinstance(model._walk, HardWalk)
    return Levels.of_classes(
        about=_about(model, rows),
        empty=certainty.empty,
        answer=answer,
        away=answer,
        tree=tree,
        exact=certainty.leaf if soft else tree,
        leaf=certainty.leaf,
        counted=certainty.counted,
    )


def _about(model: ClassAnswers, rows: Floats) -> Floats:
    """Probability that the leaves are about a row: halved with each width of the training range that it is outside."""
    ranges = model._ranges_of_splits()
    return np.ones(len(rows)) if ranges is None else np.exp2(-widths_outside(rows, ranges))


def _certainty_of_trees(model: ClassAnswers, rows: Floats, certainty: ClassCertainty) -> Floats:
    """Mean over the trees of their certainty of their own likeliest class."""
    forest = model.forest_
    if forest.n_trees == 1:
        return certainty.classes.max(axis=1)
    found = certainty.leaf.copy()
    several = np.flatnonzero(_in_several_leaves(model, rows))
    if not len(several):
        return found
    query = Query(model._leaf_certainty().certainties(), lambda of_trees, _: of_trees, per_tree=True)
    step = rows_at_once(forest.n_trees, forest.n_classes)
    for first in range(0, len(several), step):
        part = several[first : first + step]
        found[part] = tree_maxima(model._ask(rows[part], query)[0], model.get_tree_weights())
    return found


def _in_several_leaves(model: ClassAnswers, rows: Floats) -> Bools:
    """Rows that may reach several leaves of a tree, (n,)."""
    by_code = np.isin(model.forest_.kind, (NodeKind.SUBSET, NodeKind.MULTIWAY)).any()  # codes without a branch
    if by_code or not isinstance(model._walk, HardWalk):
        return np.ones(len(rows), dtype=np.bool_)
    return np.asarray(np.isnan(rows).any(axis=1))


@dataclass(frozen=True, eq=False)
class ClassRows:
    """Rows of a classifier with its answers; records of single rows are made from them."""

    model: ClassAnswers
    rows: Floats
    found: dict[str, Any]
    certainty: ClassCertainty
    levels: Levels
    reasons: Reasons
    reached: csr_array | None
    training: TrainingCases | None
    sets: bool

    def records(self, first: int, last: int) -> list[ClassExplanation]:
        """Explanations of the rows from `first` to before `last`."""
        part, model = slice(first, last), self.model
        rows = self.rows[part]
        reached = None if self.reached is None else self.reached[part]
        of_leaves = model._respond(rows, {"leaf_counts": {}, "votes": {}}, reached)
        found = {verb: answer[part] for verb, answer in self.found.items()}
        return explain_classes(
            *(model._walk, model.schema_, rows),
            reached=reached,
            classes=model.classes_,
            answers=found["predict"],
            probabilities=found["predict_proba"],
            counts=of_leaves["leaf_counts"],
            votes=of_leaves["votes"],
            leaf_probabilities=model._leaf_probabilities,
            bounds=found.get("predict_bounds"),
            sets=found.get("predict_set"),
            why=self._why(first, last),
        )

    def _why(self, first: int, last: int) -> list[tuple[ReasonForDoubt, ...]]:
        factors = self._factors(first, last)
        return [self.why(i, factors.get(i)) for i in range(first, last)]

    def why(self, i: int, factor: int | None) -> tuple[ReasonForDoubt, ...]:
        """Reasons for doubt about a row, in words and numbers."""
        by_name = {one.name: one for one in REASONS}
        found = []
        for name, share in self.reasons.of_row(i).items():
            facts = self._facts(i, name, float(by_name[name].part(self.levels)[i]), factor)
            said = by_name[name].describe(facts)
            found.append(ReasonForDoubt(name, share, said.text, said.remedy, said.resolves, said.facts))
        return tuple(found)

    def _factors(self, first: int, last: int) -> dict[int, int]:
        """Smallest factor for which each row's answer would be single, by row; those without one are left out."""
        if not self.sets:
            return {}
        open_ = first + np.flatnonzero(self.reasons.shares[first:last].any(axis=1))
        open_ = open_[self.found["predict_set"][open_].sum(axis=1) > 1]
        if not len(open_):
            return {}
        answers = self.model._ask(self.rows[open_], *(self.model._set_query_of_more(factor) for factor in FACTORS))
        single = np.stack([sets.sum(axis=1) == 1 for sets in answers])
        return {
            int(i): FACTORS[int(np.argmax(of_row))] for i, of_row in zip(open_, single.T, strict=True) if of_row.any()
        }

    def _facts(self, i: int, name: str, part: float, factor: int | None) -> RowFacts:
        model, row = self.model, self.rows[i : i + 1]
        forest = model.forest_
        certainty = self.certainty
        similar = missing = None
        empty_columns: dict[str, float] = {}
        if name == "mixed leaves" and self.training is not None:
            similar = self.training.nearest(model._walk.spread(row), self.found["predict"][i], of_classes=True)
        if name == "missing input":
            missing = deciding_columns(model, row[0])
        if name == "unlike the training data" and certainty.no_rows[i] > 0:
            empty_columns = columns_of_empty_leaves(model, row)
        return RowFacts(
            of_classes=True,
            part=part,
            n_rows=float(certainty.n_rows[i]),
            n_training=float(forest.distinct_counts.of_each_leaf(forest.distinct_counts.counts.sum(axis=1)).sum())
            / forest.n_trees,
            sets=self.sets,
            factor=factor,
            sure=dict(zip(model.classes_.tolist(), certainty.sure[i].tolist(), strict=True)),
            similar=similar,
            missing=missing or (),
            outside=outside_columns(model, row[0]),
            empty=float(certainty.no_rows[i]),
            empty_columns=empty_columns,
        )


def outside_columns(model: Any, row: Floats) -> tuple[Outside, ...]:
    """Values of a row outside of the training range of a column that trees split on, the furthest first."""
    ranges = model._ranges_of_splits()
    if ranges is None:
        return ()
    found = []
    for j, ((low, high), value) in enumerate(zip(ranges.tolist(), row.tolist(), strict=True)):
        if high > low and (value < low or value > high):
            found.append((max(low - value, value - high) / (high - low), j))
    return tuple(
        Outside(model.schema_.names[j], float(row[j]), *ranges[j].tolist()) for _, j in sorted(found, reverse=True)
    )


def columns_of_empty_leaves(model: ClassAnswers, row: Floats) -> dict[str, float]:
    """Columns of the last splits above the leaves without rows that a row reaches, with their shares of these."""
    forest = model.forest_
    reached = model._walk.spread(row)
    no_rows = ~forest.counts[reached.indices].any(axis=1)
    splits = forest.parent[forest.leaf_nodes[reached.indices[no_rows]]]
    weights: dict[str, float] = {}
    for node, weight in zip(splits.tolist(), reached.data[no_rows].tolist(), strict=True):
        if node >= 0 and forest.feature[node] >= 0:
            column = model.schema_.names[forest.feature[node]]
            weights[column] = weights.get(column, 0.0) + weight
    total = sum(weights.values())
    return {name: weight / total for name, weight in sorted(weights.items(), key=lambda one: -one[1])}
