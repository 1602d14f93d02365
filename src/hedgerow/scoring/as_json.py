"""An evaluation as JSON values."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.scoring.evaluation import Evaluation, Line

__all__ = ["to_json"]


def to_json(evaluation: Evaluation) -> dict[str, Any]:
    """Return an evaluation as JSON values; what is not defined is null."""
    found: dict[str, Any] = {
        "rows": evaluation.n_rows,
        "task": "regression" if evaluation.confusion is None else "classification",
        "baseline": evaluation.guessed,
        "scores": {line.metric.name: _figures(line) for line in evaluation.lines},
        "worse_than_baseline": sorted(evaluation.worse),
    }
    if evaluation.confusion is None:
        return found
    if len(evaluation.classes) == 2:
        found["positive_class"] = evaluation.classes[evaluation.positive]
    counts = evaluation.confusion
    whole = counts.astype(np.int64)
    matrix = (whole if (whole == counts).all() else counts).tolist()
    return found | {"classes": list(evaluation.classes), "confusion_matrix": matrix}


def _figures(line: Line) -> dict[str, Any]:
    figures = {
        "value": line.model.value,
        "standard_error": line.model.error,
        "baseline": np.nan if line.guess is None else line.guess.value,
    }
    return {name: None if np.isnan(value) else value for name, value in figures.items()}
