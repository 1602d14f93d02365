"""Scores on the screen and as JSON: a table with the baseline beside every score, and the confusion matrix."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from hedgerow.cli.console import fits, out
from hedgerow.cli.figures import counted
from hedgerow.scoring.evaluation import Evaluation
from hedgerow.scoring.standard_error import Score

__all__ = ["print_confusion", "print_json", "print_scores", "to_notes"]

_MOST_CLASSES = 12  # of a confusion matrix that a person reads
_MOST_CONFUSED = 5


def print_scores(evaluation: Evaluation) -> None:
    """Print every score with its standard error, and that of guessing beside it."""
    table = Table(box=None, pad_edge=False)
    table.add_column("", overflow="fold")
    table.add_column("model", justify="right", no_wrap=True)
    table.add_column("baseline", justify="right", no_wrap=True)
    for line in evaluation.lines:
        guess = "" if line.guess is None else line.metric.text(Score(line.guess.value))
        table.add_row(f"  {line.title}", line.metric.text(line.model), guess)
    out.print(table)
    out.print(f"Baseline: {_baseline(evaluation)}.", style="dim")


def _baseline(evaluation: Evaluation) -> str:
    if evaluation.confusion is None:
        return "always the mean of the training targets"
    return (
        f"always {evaluation.guessed!s}, the most frequent training class, with the class frequencies as probabilities"
    )


# --- Confusion matrix ---------------------------------------------------------------------------------------


def print_confusion(evaluation: Evaluation) -> None:
    """Print how many rows of each class are predicted as which; of many classes those that are most confused."""
    if evaluation.confusion is None:
        return
    out.print()
    table = _matrix(evaluation.classes, evaluation.confusion)
    if fits(table) and len(evaluation.classes) <= _MOST_CLASSES:
        out.print(table)
    else:
        _print_most_confused(evaluation.classes, evaluation.confusion)
    if len(evaluation.classes) == 2:
        positive, negative = evaluation.classes[evaluation.positive], evaluation.classes[1 - evaluation.positive]
        out.print(
            f"The positive class is {positive!s}: sensitivity is the share of its rows that are found, "
            f"specificity that of {negative!s}.",
            style="dim",
        )


def _matrix(classes: tuple[Any, ...], confusion: NDArray[np.float64]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("true \\ predicted", overflow="fold")
    for label in classes:
        table.add_column(str(label), justify="right", no_wrap=True)
    for label, row in zip(classes, confusion, strict=True):
        table.add_row(str(label), *(f"{weight:,.6g}" for weight in row))
    return table


def _print_most_confused(classes: tuple[Any, ...], confusion: NDArray[np.float64]) -> None:
    wrong = confusion * (1 - np.eye(len(classes)))
    order = np.argsort(-wrong, axis=None, kind="stable")[:_MOST_CONFUSED]
    pairs = [(i, j) for i, j in (divmod(int(at), len(classes)) for at in order) if wrong[i, j] > 0]
    out.print(f"Most confused of {counted(len(classes), 'class', 'classes')} (--json of score has the whole matrix):")
    for i, j in pairs:
        of_all = f"{wrong[i, j]:,.6g} of {confusion[i].sum():,.6g}"
        out.print(f"  {classes[i]!s} predicted as {classes[j]!s}: {of_all}")
    if not pairs:
        out.print("  none: every row is predicted correctly")


# --- For machines -------------------------------------------------------------------------------------------


def to_notes(evaluation: Evaluation | None) -> dict[str, Any]:
    """Return scores as notes of a model file: [value, error or null] by name, and those of guessing."""
    lines = evaluation.lines if evaluation is not None else ()
    return {
        "scores": {
            line.metric.name: [line.model.value, None if np.isnan(line.model.error) else line.model.error]
            for line in lines
            if np.isfinite(line.model.value)
        },
        "baseline": {
            line.metric.name: line.guess.value
            for line in lines
            if line.guess is not None and np.isfinite(line.guess.value)
        },
    }


def print_json(content: Any) -> None:
    """Print JSON to standard output, in ASCII: nothing in it steers a terminal, and every encoding has it."""
    print(json.dumps(content, indent=2, allow_nan=False))
