"""The table of ``hedgerow compare``, on a screen of any width or as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text

from hedgerow.cli.console import fits, out
from hedgerow.cli.scores.contest import Contest
from hedgerow.scoring.as_json import to_json
from hedgerow.scoring.evaluation import Evaluation
from hedgerow.scoring.metric_table import METRICS, Metric
from hedgerow.scoring.standard_error import Score

__all__ = ["contest_to_json", "print_contest"]

_LEAST_NAME = 12
_SHOWN = ("accuracy", "balanced_accuracy", "auc", "log_loss", "brier", "calibration_error", "u65", "determinacy",
          "r2", "rmse", "mae", "coverage", "width")  # fmt: skip
_MEANINGS = {
    "calibration_error": "ECE: expected calibration error",
    "u65": "u65: 1 for the right class, 0.65 for two classes of which one is right",
    "determinacy": "determ.: share of rows with one class",
}
_LEFT_OUT_FIRST = ("calibration_error", "brier", "balanced_accuracy", "determinacy", "width", "auc")


def print_contest(found: Contest, n_folds: int) -> None:
    """Print one table; the best of each column, and what is within a standard error of it, has a star.

    Where it would be wider than the screen, standard errors are left out, then columns: numbers are never cut.
    """
    present = {line.metric.name for evaluation in found.values() for line in evaluation.lines}
    metrics = [metric for metric in METRICS if metric.name in _SHOWN and metric.name in present]
    hidden: list[str] = []
    table = _table(found, metrics, with_errors=True)
    with_errors = fits(table)
    if not with_errors:
        table = _table(found, metrics, with_errors=False)
    for name in _LEFT_OUT_FIRST:
        if fits(table):
            break
        hidden += [metric.heading for metric in metrics if metric.name == name]
        metrics = [metric for metric in metrics if metric.name != name]
        table = _table(found, metrics, with_errors=False)
    out.print()
    out.print(table)
    out.print()
    for line in _legend(found, n_folds, metrics, with_errors, hidden):
        out.print(line, style="dim")


def _legend(
    found: Contest, n_folds: int, metrics: Sequence[Metric], with_errors: bool, hidden: Sequence[str]
) -> list[str]:
    first = next(iter(found))[1]
    errors = ", ± standard error" * with_errors
    lines = [f"{n_folds}-fold cross-validation{errors}; *: within one standard error of the best."]
    if any(evaluation.worse for evaluation in found.values()):
        lines.append(f"!: worse than {first!r}, which ignores the columns, by more than two standard errors.")
    meanings = [_MEANINGS[metric.name] for metric in metrics if metric.name in _MEANINGS]
    if meanings:
        lines.append(f"{'; '.join(meanings)}.")
    if not with_errors:
        lines.append(f"A wider terminal, or --json, shows {', '.join(['standard errors', *hidden])} as well.")
    return lines


def _table(found: Contest, metrics: Sequence[Metric], *, with_errors: bool) -> Table:
    best = {metric.name: _best(found, metric) for metric in metrics if metric.better}
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("", overflow="fold", min_width=_LEAST_NAME)
    for metric in metrics:
        table.add_column(metric.heading, justify="right", no_wrap=True)
    group = ""
    for (own_group, name), evaluation in found.items():
        if own_group != group:
            table.add_row(own_group, style="bold")
            group = own_group
        cells = [_cell(evaluation, metric, best.get(metric.name), with_errors) for metric in metrics]
        table.add_row(f"  {name}", *cells)
    return table


def _cell(evaluation: Evaluation, metric: Metric, best: Score | None, with_errors: bool) -> Text:
    line = evaluation.line(metric.name)
    if line is None:
        return Text("")
    text = metric.text(line.model if with_errors else Score(line.model.value))
    if metric.name in evaluation.worse:
        return Text(f"{text}!", style="red")
    if best is not None and _is_close(line.model, best, metric.better):
        return Text(f"*{text}", style="green")
    return Text(text)


def _best(found: Contest, metric: Metric) -> Score:
    lines = [evaluation.line(metric.name) for evaluation in found.values()]
    scores = [line.model for line in lines if line is not None and not np.isnan(line.model.value)]
    nothing = Score(np.nan)  # R² of folds of one row
    return max(scores, key=lambda score: metric.better * score.value, default=nothing)


def _is_close(score: Score, best: Score, better: int) -> bool:
    behind = better * (best.value - score.value)
    return bool(behind <= best.error or behind == 0)


def contest_to_json(found: Contest, n_folds: int) -> dict[str, Any]:
    """Return all evaluations as JSON values."""
    models = [{"group": group, "name": name, **to_json(evaluation)} for (group, name), evaluation in found.items()]
    return {"folds": n_folds, "models": models}
