"""Explanations of a classifier's answers: reasons for all rows at once, records of single rows when asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.estimators.verbs.deciding_columns import deciding_columns
from hedgerow.estimators.verbs.training_cases import TrainingCases
from hedgerow.explain.explanation import explain_classes
from hedgerow.explain.explanations import Explanations
from hedgerow.explain.reasons import REASONS, Levels, ReasonForDoubt, Reasons, SetSizes, divide
from hedgerow.explain.reasons.leaf_certainty import ClassCertainty, rows_at_once, tree_maxima
from hedgerow.explain.reasons.reason import Outside, RowFacts
from hedgerow.explain.records import ClassExplanation
from hedgerow.folds.uncertainty import widths_outside
from hedgerow.forest.kinds import NodeKind
from hedgerow.walk import HardWalk, Query, ask

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from hedgerow.estimators.verbs.answers import ClassAnswers

__all__ = [
    *("ClassRows", "MoreFacts", "about_rows", "certainty_of_exact_values", "explain_class_rows", "in_words"),
    "outside_columns",
]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Part = slice | NDArray[np.intp]
MoreFacts = Callable[[int, str], Mapping[str, Any]]
"""Facts about a row for the reason with this name, by field of :class:`RowFacts`."""

FACTORS = range(2, 11)
"""Factors by which all counts are multiplied, to see whether more rows would decide."""


def explain_class_rows(
    model: ClassAnswers,
    rows: Floats,
    training: TrainingCases | None = None,
    *,
    outer: SetSizes | None = None,
    model_of: Callable[[Part], ClassAnswers] | None = None,
    more_facts: MoreFacts | None = None,
) -> Explanations[ClassExplanation]:
    """Answer and explain converted rows.

    `outer` are the sets of another model about them, which say where there is doubt. `model_of` gives the model of some
    of the rows, where it differs from row to row; `model` is that of all. `more_facts` are those about a row that a
    reason can name beside its leaves, by field of :class:`RowFacts`.
    """
    model = copy(model)  # parameters may be set to others before the records are made
    model_of = model_of or (lambda part: model)
    reached = model._walk.spread(rows) if model.forest_.n_trees == 1 else None
    verbs = ("predict", "predict_proba", *model._set_verbs)
    found = model._respond(rows, {verb: {} for verb in (*verbs, "certainty")}, reached)
    certainty: ClassCertainty = found.pop("certainty")
    levels = class_levels(model_of, rows, certainty)
    sets = found.get("predict_set")
    about = about_rows(model, rows)
    sizes = outer if outer is not None or sets is None else SetSizes(sets.sum(axis=1))
    if sizes is None:
        doubt = 1.0 - about * found["predict_proba"].max(axis=1)
    else:
        levels, doubt = sizes.limit(levels, about, certainty.classes.max(axis=1))
    reasons = divide(levels, doubt, "probability")
    explained = ClassRows(
        *(model, rows, found, certainty, levels, reasons, reached, training),
        sets=sets is not None and outer is None,
        model_of=model_of,
        more_facts=more_facts or _no_facts,
    )
    return Explanations(explained.records, reasons, found["predict"], sets, model.classes_)


def class_levels(model_of: Callable[[Part], ClassAnswers], rows: Floats, certainty: ClassCertainty) -> Levels:
    """Levels of doubt about rows, from the certainties of their leaves."""
    model = model_of(slice(None))
    answer = certainty.classes.max(axis=1)
    tree = _certainty_of_trees(model_of, rows, certainty)
    exact = tree
    if (walk := model._exact_walk) is not None:

        def at_readings(some: Floats) -> Floats:
            query = model._leaf_certainty().query(model.get_tree_weights())
            found: ClassCertainty = ask(walk, some, [query])[0]
            return found.classes.max(axis=1)

        exact = certainty_of_exact_values(rows, tree, certainty.leaf, at_readings)
    return Levels.of_classes(
        about=about_rows(model, rows),
        empty=certainty.empty,
        answer=answer,
        away=answer,
        tree=tree,
        exact=exact,
        leaf=certainty.leaf,
        counted=certainty.counted,
    )


def certainty_of_exact_values(
    rows: Floats, tree: Floats, leaf: Floats, at_readings: Callable[[Floats], Floats]
) -> Floats:
    """Certainty of rows measured with error if it were known in which leaves the known values are.

    Without missing values that is the certainty of their leaf. With some it is that of the row if its readings were
    exact, `at_readings`, between the certainty now and that of the leaf.
    """
    found = leaf.copy()
    some = np.flatnonzero(np.isnan(rows).any(axis=1))
    if len(some):
        found[some] = np.clip(at_readings(rows[some]), tree[some], np.maximum(leaf[some], tree[some]))
    return found


def about_rows(model: Any, rows: Floats) -> Floats:
    """Probability that the leaves are about a row: halved with each width of the training range that it is outside."""
    ranges = model._ranges_of_splits()
    return np.ones(len(rows)) if ranges is None else np.exp2(-widths_outside(rows, ranges))


def _certainty_of_trees(model_of: Callable[[Part], ClassAnswers], rows: Floats, certainty: ClassCertainty) -> Floats:
    """Mean over the trees of their certainty of their own likeliest class."""
    model = model_of(slice(None))
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
        found[part] = tree_maxima(model_of(part)._ask(rows[part], query)[0], model.get_tree_weights())
    return found


def _in_several_leaves(model: ClassAnswers, rows: Floats) -> Bools:
    """Rows that may reach several leaves of a tree, (n,)."""
    by_code = np.isin(model.forest_.kind, (NodeKind.SUBSET, NodeKind.MULTIWAY)).any()  # codes without a branch
    if by_code or not isinstance(model._walk, HardWalk):
        return np.ones(len(rows), dtype=np.bool_)
    return np.asarray(np.isnan(rows).any(axis=1))


def _no_facts(row: int, reason: str) -> Mapping[str, Any]:
    return {}


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
    _: KW_ONLY
    sets: bool = False
    """Whether the model's own answers are sets, so that it can be said what would make them single."""
    model_of: Callable[[Part], ClassAnswers]
    more_facts: MoreFacts

    def records(self, first: int, last: int) -> list[ClassExplanation]:
        """Explanations of the rows from `first` to before `last`."""
        part = slice(first, last)
        rows, model = self.rows[part], self.model_of(part)
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
        return in_words(self.reasons, self.levels, i, lambda name, part: self._facts(i, name, part, factor))

    def _factors(self, first: int, last: int) -> dict[int, int]:
        """Smallest factor for which each row's answer would be single, by row; those without one are left out."""
        if not self.sets:
            return {}
        open_ = first + np.flatnonzero(self.reasons.shares[first:last].any(axis=1))
        open_ = open_[self.found["predict_set"][open_].sum(axis=1) > 1]
        if not len(open_):
            return {}
        answers = self.model_of(open_)._ask(
            self.rows[open_], *(self.model._set_query_of_more(factor) for factor in FACTORS)
        )
        single = np.stack([sets.sum(axis=1) == 1 for sets in answers])
        return {
            int(i): FACTORS[int(np.argmax(of_row))] for i, of_row in zip(open_, single.T, strict=True) if of_row.any()
        }

    def _facts(self, i: int, name: str, part: float, factor: int | None) -> RowFacts:
        model, row = self.model_of(slice(i, i + 1)), self.rows[i : i + 1]
        forest = model.forest_
        certainty = self.certainty
        similar = missing = None
        empty_columns: dict[str, float] = {}
        if name == "mixed leaves" and self.training is not None:
            similar = self.training.nearest(model._walk.spread(row), self.found["predict"][i], of_classes=True)
        if name == "missing input" and model._exact_walk is None:
            missing = deciding_columns(model, row[0])
        if name == "unlike the training data" and certainty.no_rows[i] > 0:
            empty_columns = columns_of_empty_leaves(model, row)
        facts = RowFacts(
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
        return replace(facts, **self.more_facts(i, name))


def in_words(
    reasons: Reasons, levels: Levels, row: int, facts: Callable[[str, float], RowFacts]
) -> tuple[ReasonForDoubt, ...]:
    """Reasons for doubt about a row, in words and numbers; `facts` are those for a reason that is worth a part."""
    by_name = {one.name: one for one in REASONS}
    found = []
    for name, share in reasons.of_row(row).items():
        said = by_name[name].describe(facts(name, float(by_name[name].part(levels)[row])))
        found.append(ReasonForDoubt(name, share, said.text, said.remedy, said.resolves, said.facts))
    return tuple(found)


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
