"""Rows that the model is least sure of, and those that it is surely wrong about, each with what explains its answer."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.counterfactual import Counterfactual
from hedgerow.data.columns import Column
from hedgerow.estimators.contract import offers, read_rows
from hedgerow.inspection import neighbors
from hedgerow.report.held_out import Fold
from hedgerow.report.numbers import rounded, rounded_list, to_label
from hedgerow.scoring.folds import take_rows
from hedgerow.scoring.predictions import ClassPredictions, NumberPredictions

__all__ = ["DoubtfulRows", "cell_values"]

Floats = NDArray[np.float64]

_SHARE_OF_MISTAKES = 1 / 3
_N_NEIGHBORS = 5
_MOST_NEIGHBOR_ROWS = 20_000  # of the training rows among which neighbors are looked for
_MOST_CONTRIBUTIONS = 8
_COUNTERFACTUAL_NODES = 60
_MOST_WORK = 4_000_000  # nodes of the model × classes × rows that counterfactuals are looked for; a few seconds
_SEED = 0


class DoubtfulRows:
    """Rows in doubt and mistakes, collected over folds: the most doubtful of each, and its model's surest mistakes."""

    def __init__(self, name: str, n_rows: int, n_folds: int) -> None:
        self._name = name
        self._quota = -(-n_rows // n_folds)
        self._n_folds = n_folds
        self.items: list[dict[str, Any]] = []
        self.n_undecided = 0
        self.n_mistakes = 0

    def add(self, fold: Fold) -> None:
        """Choose rows of a fold and explain them."""
        model, trial = fold.fitted[self._name], fold.trials[self._name]
        answers = trial.model
        kept = np.flatnonzero(np.ones(len(fold.split.new)) if fold.split.weight_new is None else fold.split.weight_new)
        chosen = self._choose(answers)
        if not len(chosen):
            return
        X = take_rows(fold.split.X_new, kept[chosen])
        rows = read_rows(model, X)
        items: list[dict[str, Any]] = [{"row": int(row)} for row in fold.split.new[kept[chosen]]]
        columns = model.schema_.columns
        for item, values in zip(items, rows, strict=True):
            item["values"] = cell_values(values, columns, digits=17)
        _add_answers(items, answers, chosen)
        _add_explanations(items, model, X)
        _add_contributions(items, model, X, answers, chosen)
        _add_neighbors(items, model, X, fold)
        self._add_counterfactuals(items, model, X, answers)
        self.items += items

    def sorted(self) -> list[dict[str, Any]]:
        """The rows, most doubtful first."""
        return sorted(self.items, key=lambda item: -item["doubt"])

    def _choose(self, answers: Any) -> NDArray[np.intp]:
        if isinstance(answers, NumberPredictions):
            doubt, surprise = _doubt_of_numbers(answers), _distance_outside(answers)
            wrong = surprise > 0
            undecided = ~wrong
        else:
            doubt = _doubt_of_classes(answers)
            surprise = -doubt
            single = np.ones(len(doubt), bool) if answers.sets is None else answers.sets.sum(axis=1) == 1
            wrong = single & (answers.label != answers.truth)
            undecided = ~single if answers.sets is not None else ~wrong
        self.n_undecided += int(undecided.sum()) if isinstance(answers, ClassPredictions) else 0
        self.n_mistakes += int(wrong.sum())
        n_wrong = min(
            int(wrong.sum()), max(round(self._quota * _SHARE_OF_MISTAKES), self._quota - int(undecided.sum()))
        )
        mistakes = _largest(surprise, wrong, n_wrong)
        unsure = _largest(doubt, undecided, self._quota - len(mistakes))
        return np.sort(np.concatenate([mistakes, unsure]))

    def _add_counterfactuals(self, items: list[dict[str, Any]], model: Any, X: Any, answers: Any) -> None:
        """Look for the nearest other answer, in as many rows as the size of the model allows."""
        if not offers(model, "counterfactual"):
            return
        n_classes = len(answers.classes) if isinstance(answers, ClassPredictions) else 1
        if n_classes == 1:  # a number has no other answer, unless one is asked for
            return
        n_rows = int(min(len(items), _MOST_WORK / self._n_folds / (model.forest_.n_nodes * n_classes)))
        order = np.argsort([-item["doubt"] for item in items], kind="stable")[:n_rows]
        if not len(order):
            return
        names = {name: j for j, name in enumerate(model.schema_.names)}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="no change of row")
            found = model.counterfactual(take_rows(X, np.sort(order)), max_nodes=_COUNTERFACTUAL_NODES)
        for at, records in zip(np.sort(order).tolist(), found, strict=True):
            items[at]["counterfactuals"] = [_change(record, names) for record in records[:3]]


def _change(record: Counterfactual, names: dict[str, int]) -> dict[str, Any]:
    changes = [[names[name], _plain(a), _plain(b)] for name, (a, b) in record.changes.items()]
    return {
        "target": to_label(record.target),
        "distance": rounded(record.distance, 3),
        "nearest": record.gap == 0,
        "changes": changes,
    }


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return None if value is None else to_label(value)
    return rounded(value) if isinstance(value, int | float) else to_label(value)


def _doubt_of_classes(answers: ClassPredictions) -> Floats:
    """Probability, as the model has it, that its most probable class is wrong."""
    doubt: Floats = 1.0 - answers.proba[np.arange(len(answers.label)), answers.label]
    return doubt


def _doubt_of_numbers(answers: NumberPredictions) -> Floats:
    """Width of the interval, or without intervals the size of the error."""
    if answers.interval is None:
        return np.abs(answers.truth - answers.value)
    width: Floats = answers.interval[:, 1] - answers.interval[:, 0]
    return width


def _distance_outside(answers: NumberPredictions) -> Floats:
    """How far the truth lies outside its interval."""
    if answers.interval is None:
        return np.zeros(len(answers.truth))
    low, high = answers.interval.T
    distance: Floats = np.maximum(np.maximum(low - answers.truth, answers.truth - high), 0.0)
    return distance


def _largest(values: Floats, among: NDArray[np.bool_], n: int) -> NDArray[np.intp]:
    rows = np.flatnonzero(among)
    return rows[np.argsort(-values[rows], kind="stable")[: max(n, 0)]]


def cell_values(row: Floats, columns: Sequence[Column], digits: int = 6) -> list[Any]:
    """Values of a converted row: numbers, texts of categories, None where missing."""
    found: list[Any] = []
    for value, column in zip(row.tolist(), columns, strict=True):
        if value != value:
            found.append(None)
        elif column.categories:
            found.append(to_label(column.categories[int(value)]))
        else:
            found.append(rounded(value, digits))
    return found


# --- What is said about each ----------------------------------------------------------------------------------


def _add_answers(items: list[dict[str, Any]], answers: Any, chosen: NDArray[np.intp]) -> None:
    if isinstance(answers, NumberPredictions):
        doubt = _doubt_of_numbers(answers)
        for item, at in zip(items, chosen.tolist(), strict=True):
            item |= {"truth": rounded(answers.truth[at]), "answer": rounded(answers.value[at])}
            item["doubt"] = rounded(doubt[at])
            if answers.interval is not None:
                low, high = answers.interval[at].tolist()
                item["interval"] = [rounded(low), rounded(high)]
                item["tags"] = [] if low <= answers.truth[at] <= high else ["outside"]
        return
    doubt = _doubt_of_classes(answers)
    for item, at in zip(items, chosen.tolist(), strict=True):
        item |= {"truth": int(answers.truth[at]), "answer": int(answers.label[at])}
        item |= {"doubt": rounded(doubt[at]), "probabilities": rounded_list(answers.proba[at], 4)}
        item["tags"] = []
        if answers.sets is not None:
            item["set"] = np.flatnonzero(answers.sets[at]).tolist()
            item["tags"] += ["undecided"] if len(item["set"]) > 1 else []
        undecided = len(item.get("set", [])) > 1
        item["tags"] += ["mistake"] if answers.label[at] != answers.truth[at] and not undecided else []


def _add_explanations(items: list[dict[str, Any]], model: Any, X: Any) -> None:
    for item, explanation in zip(items, model.explain(X), strict=True):
        item["text"] = str(explanation).split("\n")
        if any(value is None for value in item["values"]):
            item["tags"].append("missing")
        if explanation.doubt:
            item["why"] = explanation.doubt
        bounds = getattr(explanation, "bounds", None)
        if bounds is not None:
            item["bounds"] = rounded_list(bounds, 4)
        item["reasons"] = [
            {"name": one.name, "share": rounded(one.share, 3), "text": one.text, "remedy": one.remedy}
            for one in explanation.why
        ]


def _add_contributions(items: list[dict[str, Any]], model: Any, X: Any, answers: Any, chosen: NDArray[np.intp]) -> None:
    """Largest contributions of columns to the answer that is given."""
    if not offers(model, "contributions"):
        return
    found = model.contributions(X)
    for i, (item, at) in enumerate(zip(items, chosen.tolist(), strict=True)):
        values, base, of, sign = found.values[i], found.base, found.of, 1.0
        if found.classes:
            values, base = values[:, answers.label[at]], np.asarray(found.base)[answers.label[at]]
        elif isinstance(answers, ClassPredictions):  # one value for two classes: that of the second
            sign = 1.0 if answers.label[at] == 1 else -1.0
            base = 1.0 - float(base) if "probability" in of and sign < 0 else float(base) * sign
        order = np.argsort(-np.abs(values), kind="stable")
        shown, rest = order[:_MOST_CONTRIBUTIONS], order[_MOST_CONTRIBUTIONS:]
        item["contributions"] = {
            "of": of,
            "base": rounded(base, 4),
            "values": [[int(j), rounded(sign * values[j], 4)] for j in shown if values[j] != 0],
            "others": rounded(sign * values[rest].sum(), 4),
        }


def _add_neighbors(items: list[dict[str, Any]], model: Any, X: Any, fold: Fold) -> None:
    """Rows that share most leaves with each: of the rows that the model was fitted to, or of the others."""
    split = fold.split
    known = len(split.old) > 0
    rows, table, truth = (split.old, split.X, split.y) if known else (split.new, split.X_new, split.y_new)
    among = np.arange(len(rows))
    if len(among) > _MOST_NEIGHBOR_ROWS:
        among = np.sort(np.random.default_rng(_SEED).choice(len(among), _MOST_NEIGHBOR_ROWS, replace=False))
        table = take_rows(table, among)
    try:
        near = neighbors(model, table, X, n_neighbors=_N_NEIGHBORS + (not known))
    except (TypeError, AttributeError):  # a model whose trees do not route rows
        return
    codes = {label: i for i, label in enumerate(split.classes.tolist())}
    for item, indices, shares in zip(items, near.indices, near.proximities, strict=True):
        found = []
        for index, share in zip(indices.tolist(), shares.tolist(), strict=True):
            if index >= 0 and int(rows[among[index]]) != item["row"]:
                at = int(among[index])
                label = truth[at].item() if isinstance(truth[at], np.generic) else truth[at]
                found.append([int(rows[at]), rounded(share, 3), codes[label] if codes else rounded(label)])
        item["neighbors"] = found[:_N_NEIGHBORS]
