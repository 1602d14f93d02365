"""Answers for every value that a missing column may turn out to have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._printable import printable
from hedgerow.data.columns import Column
from hedgerow.estimators.contract import offers
from hedgerow.estimators.verbs.ways_out import WaysOut
from hedgerow.explain.questions import Values, values_of_columns
from hedgerow.explain.reasons.reason import MissingColumn, ValueOfColumn
from hedgerow.explain.sentences import listed
from hedgerow.forest.names import highest_level, number_text

__all__ = ["deciding_columns"]

Floats = NDArray[np.float64]


def deciding_columns(model: WaysOut, row: Floats) -> tuple[MissingColumn, ...]:
    """For each missing column of a row, the answers that its values lead to; the most gain first.

    In each cell of a column every tree takes the same branches, so that the answers are exact; other missing values
    stay missing. Columns that no path of the row splits on are left out.
    """
    missing = np.flatnonzero(np.isnan(row)).tolist()
    found = values_of_columns(model.forest_, model.schema_, model._training_range(), row, missing) if missing else {}
    if not found:
        return ()
    filled = [row[np.newaxis]]
    for column, cells in found.items():
        rows = np.repeat(row[np.newaxis], len(cells.values), axis=0)
        rows[:, column] = cells.values
        filled.append(rows)
    rows = np.concatenate(filled)
    doubts = model._doubts(rows, model._kind_of_doubt("auto"))
    answers, single = _answers(model, rows)
    at, columns = 1, []
    for column, cells in found.items():
        part = slice(at, at + len(cells.values))
        at = part.stop
        gain = float(doubts[0] - cells.probabilities @ doubts[part])
        decides = None if single is None else float(cells.probabilities[single[part]].sum())
        if decides is not None and single is not None and single[part].all():
            decides = 1.0
        known = model.schema_.columns[column]
        values = tuple(_runs(known, cells, answers[part], None if single is None else single[part]))
        columns.append(MissingColumn(known.name, gain, decides, values))
    return tuple(sorted(columns, key=lambda one: -one.gain))


def _answers(model: WaysOut, rows: Floats) -> tuple[list[tuple[Any, ...]], NDArray[np.bool_] | None]:
    """Answer to each row, and whether it is single; None where answers are no sets."""
    if offers(model, "predict_set"):
        sets = model._respond(rows, {"predict_set": {}})["predict_set"]
        return [tuple(model.classes_[has].tolist()) for has in sets], sets.sum(axis=1) == 1
    answers = model._respond(rows, {"predict": {}})["predict"]
    return [(one,) for one in answers.tolist()], None


def _runs(
    column: Column, cells: Values, answers: list[tuple[Any, ...]], single: NDArray[np.bool_] | None
) -> Iterator[ValueOfColumn]:
    """Join cells with the same answer: neighbours of a number, any of a category."""
    nominal = bool(column.categories)
    groups: list[list[int]] = []
    for i, answer in enumerate(answers):
        if nominal:
            same = next((group for group in groups if answers[group[0]] == answer), None)
        else:
            joins = groups and answers[i - 1] == answer and cells.upper[i - 1] == cells.lower[i]
            same = groups[-1] if joins else None
        if same is None:
            groups.append([i])
        else:
            same.append(i)
    for group in groups:
        if nominal:
            names = [printable(column.categories[int(cells.values[i])]) for i in group]
            said: str = listed(names, "or")
        else:
            said = _range(float(cells.lower[group[0]]), float(cells.upper[group[-1]]))
        heaviest = max(group, key=lambda i: cells.probabilities[i])
        yield ValueOfColumn(
            said,
            float(sum(cells.probabilities[i] for i in group)),
            answers[group[0]],
            None if single is None else bool(single[group[0]]),
            _example(column, float(cells.values[heaviest])),
        )


def _range(lower: float, upper: float) -> str:
    if np.isinf(lower):
        return "any value" if np.isinf(upper) else f"at most {number_text(upper)}"
    if np.isinf(upper):
        return f"above {number_text(lower)}"
    return f"above {number_text(lower)} and at most {number_text(upper)}"


def _example(column: Column, value: float) -> Any:
    level = highest_level(column.categories, value)
    return value if level is None else column.categories[level]
