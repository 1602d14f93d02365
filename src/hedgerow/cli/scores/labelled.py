"""Rows of a file with their targets, asked of a model: a trial."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from sklearn.base import is_classifier

from hedgerow._params import RowError
from hedgerow.cli.errors import CommandError, UsageError
from hedgerow.cli.figures import counted, listed
from hedgerow.cli.inputs.roles import group_codes, sample_weights
from hedgerow.datasets.rows import As, decode
from hedgerow.estimators.contract import respond
from hedgerow.scoring.predictions import Trial, make_trial, scoring_verbs

__all__ = ["LabelledAnswers", "ask_rows", "describe_unknown", "kind_of_target", "to_labels", "to_trial"]

_MOST_NAMED = 3


@dataclass(frozen=True)
class LabelledAnswers:
    """Answers of a model for the rows that have a target, and the other columns of these rows."""

    found: dict[str, NDArray[Any]]
    columns: pa.Table
    """Target, weight and groups."""
    n_without_target: int


def kind_of_target(model: Any) -> As:
    """Return how to read the target: as numbers, also where the classes are numbers, or as text."""
    return "number" if not is_classifier(model) or model.classes_.dtype.kind in "iuf" else "text"


def ask_rows(
    model: Any,
    parts: Iterable[pa.Table],
    target: str,
    others: list[str],
    coverage: float | None,
    tick: Callable[[int], None],
) -> LabelledAnswers:
    """Ask a model about the rows of a file that have a target, some at a time; `tick` gets the number of rows."""
    answers: list[dict[str, NDArray[Any]]] = []
    columns: list[pa.Table] = []
    n_before = n_without = 0
    verbs = scoring_verbs(model, coverage)
    for part in parts:
        known = pc.invert(pc.is_null(part[target], nan_is_null=True))
        rows = part.filter(known)
        if rows.num_rows:
            try:
                answers.append(respond(model, rows.select(model.schema_.names), verbs))
            except RowError as error:
                position = int(np.flatnonzero(known)[error.row])
                raise CommandError(error.in_row(n_before + position + 1)) from None
            columns.append(pa.table({name: decode(rows[name]) for name in dict.fromkeys([target, *others])}))
        n_before += part.num_rows
        tick(part.num_rows)
        n_without += part.num_rows - rows.num_rows
    if not columns:
        raise CommandError(
            f"target {target!r} has no values: nothing to score" if n_before else "there are no rows: nothing to score"
        )
    found = {verb: np.concatenate([answer[verb] for answer in answers]) for verb in answers[0]}
    return LabelledAnswers(found, pa.concat_tables(columns), n_without)


def to_trial(
    model: Any,
    asked: LabelledAnswers,
    target: str,
    *,
    weight: str | None,
    groups: str | None,
    positive: str | None,
    coverage: float | None,
) -> tuple[Trial, dict[Any, int]]:
    """Put what a model found beside the targets; also returns the classes that it does not know, with their rows."""
    options: dict[str, Any] = {
        "weight": sample_weights(asked.columns, weight),
        "groups": group_codes(asked.columns, groups),
        "coverage": coverage,
    }
    truth = asked.columns[target]
    if not is_classifier(model):
        if positive is not None:
            raise UsageError("--positive is for models of two classes, and this one predicts numbers")
        return make_trial(model, asked.found, truth.to_numpy(), **options), {}
    classes, codes = _codes(truth, model.classes_)
    n_known = len(model.classes_)
    if (codes >= n_known).all():
        raise CommandError(
            f"target {target!r} has none of the classes of the model ({_named(classes[:n_known])}), but "
            f"{_named(classes[n_known:])}: name the column with the true classes, --target COLUMN"
        )
    unknown = {label: int((codes == n_known + i).sum()) for i, label in enumerate(classes[n_known:])}
    options["positive"] = 1 if positive is None else _positive_code(classes, positive)
    return make_trial(model, asked.found, codes, classes=classes, **options), unknown


def _positive_code(classes: list[Any], positive: str) -> int:
    """Return the position of the class that --positive names; an error if there are not two."""
    names = [str(label) for label in classes]
    if len(classes) != 2:
        raise UsageError(f"--positive is for two classes, and there are {_named(classes)}")
    if positive not in names:
        raise UsageError(f"--positive is {positive!r}, must be one of the classes {_named(classes)}")
    return names.index(positive)


def _codes(column: pa.ChunkedArray, known: NDArray[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    """Return the classes of the model and then others that the column has, and the position of each row's class."""
    classes = known.tolist()
    number = {_as_read(label): i for i, label in enumerate(classes)}
    encoded = column.combine_chunks().dictionary_encode()
    values = encoded.dictionary.to_pylist()
    for value in sorted(value for value in values if value not in number):
        number[value] = len(classes)
        classes.append(int(value) if isinstance(value, float) and value.is_integer() else value)
    codes = np.array([number[value] for value in values], dtype=np.intp)
    return classes, codes[encoded.indices.to_numpy()]


def to_labels(column: pa.ChunkedArray, model: Any) -> NDArray[Any]:
    """Return the targets of a file as the model has them: numbers, or its classes, and others as they are read."""
    if not is_classifier(model):
        return column.to_numpy()
    label_of = {_as_read(label): label for label in model.classes_.tolist()}
    return np.array([label_of.get(value, value) for value in column.to_pylist()])


def _as_read(label: Any) -> Any:
    """Return a class as a file has it: truth values as text, whole numbers as floats."""
    if isinstance(label, bool):
        return str(label).lower()
    return float(label) if isinstance(label, int | float) else str(label)


def describe_unknown(unknown: dict[Any, int], target: str) -> str:
    """Return a warning on classes that the model has never seen."""
    shown = listed([f"{label!r} ({counted(n, 'row')})" for label, n in unknown.items()], _MOST_NAMED)
    what = "a class that the model does not know" if len(unknown) == 1 else "classes that the model does not know"
    return f"target {target!r} has {what}: {shown}; its predictions for these rows are wrong"


def _named(labels: list[Any]) -> str:
    return listed(list(map(repr, labels)), _MOST_NAMED)
