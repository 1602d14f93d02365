"""How a model does for groups of rows, by columns that a reader may choose from."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.columns import Column
from hedgerow.report.numbers import rounded, to_label
from hedgerow.report.quality import describe_answers, share_with_interval
from hedgerow.scoring.predictions import ClassPredictions, NumberPredictions, Predictions, Trial

__all__ = ["compare_groups", "groupings"]

_MOST_GROUPS = 30
_MOST_CATEGORIES = 12  # of a column that is offered unasked
_MOST_COLUMNS = 8
_QUARTERS = 4


def groupings(
    rows: NDArray[np.float64], columns: Sequence[Column], order: NDArray[np.intp]
) -> list[tuple[str, list[Any]]]:
    """Columns by which rows may be divided, each with the values of the rows: the most important ones.

    Categories are left out where there are many of them; numbers will be divided at their quartiles.
    """
    found: list[tuple[str, list[Any]]] = []
    for j in order.tolist():
        column, values = columns[j], rows[:, j]
        known = np.unique(values[~np.isnan(values)])
        if len(known) < 2 or (column.categories and len(known) > _MOST_CATEGORIES) or len(found) == _MOST_COLUMNS:
            continue
        names = [to_label(category) for category in column.categories]
        texts = (
            [names[int(value)] if value == value else None for value in values.tolist()] if names else values.tolist()
        )
        found.append((column.name, texts))
    return found


def compare_groups(trial: Trial, values: Sequence[Any], positive: int | None) -> list[dict[str, Any]]:
    """Answers by the value that rows have in a column; numbers with many values are divided at their quartiles."""
    names, codes = _groups_of(values)
    counts = np.bincount(codes, minlength=len(names))
    found = []
    model = trial.model
    for code in np.sort(np.argsort(-counts, kind="stable")[:_MOST_GROUPS]).tolist():
        inside = codes == code
        if not inside.any():
            continue
        if isinstance(model, NumberPredictions):
            interval = None if model.interval is None else model.interval[inside]
            part: Any = NumberPredictions(model.truth[inside], model.value[inside], interval, model.coverage)
            answers = describe_answers(_trial(part))
            answers["bias"] = rounded((model.value[inside] - model.truth[inside]).mean())
        else:
            answers = _of_classes(model, inside, positive)
        found.append({"group": names[code], **answers})
    return found


def _of_classes(model: ClassPredictions, inside: NDArray[np.bool_], positive: int | None) -> dict[str, Any]:
    sets = None if model.sets is None else model.sets[inside]
    part = ClassPredictions(model.classes, model.truth[inside], model.label[inside], model.proba[inside], sets)
    answers = describe_answers(_trial(part))
    if positive is not None:
        is_positive, said = part.truth == positive, part.label == positive
        answers |= {
            "answered_positive": share_with_interval(said),
            "false_positive": share_with_interval(said[~is_positive]),
            "false_negative": share_with_interval(~said[is_positive]),
        }
    return answers


def _trial(part: Predictions) -> Trial:
    n = len(part.truth)
    return Trial(part, part, None, np.ones(n), np.arange(n))


def _groups_of(values: Sequence[Any]) -> tuple[list[str], NDArray[np.intp]]:
    """Names of groups in the order to show them, numbers by size and categories by how often they are there."""
    numbers = _as_numbers(values)
    if numbers is None:
        texts = np.array(["missing" if value is None or value != value else to_label(value) for value in values])
        distinct, codes, counts = np.unique(texts, return_inverse=True, return_counts=True)
        order = np.argsort(-counts, kind="stable")
        return distinct[order].tolist(), np.argsort(order)[codes]
    absent = np.isnan(numbers)
    known = np.unique(numbers[~absent])
    if len(known) <= 2 * _QUARTERS:
        names, codes = [to_label(value) for value in known.tolist()], np.searchsorted(known, numbers)
    else:
        cuts = np.unique(np.quantile(numbers[~absent], np.arange(1, _QUARTERS) / _QUARTERS))
        names = [f"≤ {cuts[0]:.4g}", *(f"{a:.4g} to {b:.4g}" for a, b in pairwise(cuts)), f"> {cuts[-1]:.4g}"]
        codes = np.searchsorted(cuts, numbers, side="left")
    return [*names, "missing"], np.where(absent, len(names), codes)


def _as_numbers(values: Sequence[Any]) -> NDArray[np.float64] | None:
    """Values as numbers; None where some are text or truth values."""
    if any(isinstance(value, str | bool | np.bool_) for value in values):
        return None
    try:
        return np.array([np.nan if value is None else float(value) for value in values])
    except (TypeError, ValueError):
        return None
