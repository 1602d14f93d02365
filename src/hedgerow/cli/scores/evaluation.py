"""Scores of a model beside those of guessing, from one trial or from the folds of cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix

from hedgerow.cli.scores.metric_table import Metric, metrics_for
from hedgerow.cli.scores.predictions import ClassPredictions, Trial
from hedgerow.cli.scores.standard_error import Score, mean_of_folds, mean_of_rows

__all__ = ["Evaluation", "Line", "Marks", "combine", "mark"]

Floats = NDArray[np.float64]

_BEYOND_NOISE = 2.0  # standard errors: noise alone gets there in one of forty cases
_LEAST_GROUPS = 10  # fewer say too little about the noise


@dataclass(frozen=True)
class Line:
    """A metric of the model and of guessing."""

    metric: Metric
    title: str
    model: Score
    guess: Score | None
    """None if guessing does not have what the metric needs."""


@dataclass(frozen=True)
class Marks:
    """What is kept of a trial: all scores, but not the predictions."""

    lines: tuple[Line, ...]
    excess: dict[str, Floats]
    """Loss of each row in excess of that of guessing, by metric."""
    weight: Floats
    groups: NDArray[Any]
    classes: tuple[Any, ...]
    """Of the model and of the rows; empty for numbers."""
    confusion: Floats | None
    """Weight of rows by true × predicted class."""
    positive: int
    guessed: Any


@dataclass(frozen=True)
class Evaluation:
    """How good a model is, and whether it is better or worse than guessing."""

    lines: tuple[Line, ...]
    worse: frozenset[str]
    """Metrics (accuracy, log_loss, rmse) in which the model is worse than guessing, beyond noise."""
    better: frozenset[str]
    """Metrics in which it is better, beyond noise."""
    classes: tuple[Any, ...]
    confusion: Floats | None
    positive: int
    guessed: Any
    n_rows: int

    def line(self, name: str) -> Line | None:
        """Return the line of a metric; None if there is none."""
        return next((line for line in self.lines if line.metric.name == name), None)


def mark(trial: Trial) -> Marks:
    """Compute all metrics that the predictions of a trial have what they need for."""
    weight, groups, model, guess = trial.weight, trial.groups, trial.model, trial.guess
    metrics = metrics_for(model)
    lines = tuple(
        Line(
            metric,
            metric.title_for(model),
            metric.score(model, weight, groups),
            metric.score(guess, weight, groups) if metric.needs in guess.available else None,
        )
        for metric in metrics
    )
    excess = {metric.name: metric.loss(model) - metric.loss(guess) for metric in metrics if metric.loss is not None}
    if not isinstance(model, ClassPredictions):
        return Marks(lines, excess, weight, groups, (), None, 1, trial.guessed)
    codes = np.arange(len(model.classes))
    confusion = confusion_matrix(model.truth, model.label, labels=codes, sample_weight=weight).astype(np.float64)
    return Marks(lines, excess, weight, groups, model.classes, confusion, model.positive, trial.guessed)


def combine(marks: Sequence[Marks]) -> Evaluation:
    """Combine the marks of folds, or of one trial.

    Scores are means over folds with standard errors over folds; of one trial those over its rows. Whether the model is
    worse than guessing is decided by all rows together: the mean of loss − loss of guessing must be more than two of
    its standard errors from 0, and there must be at least ten rows (or groups).
    """
    first = marks[0]
    folds = [{line.metric.name: line for line in one.lines} for one in marks]
    lines = tuple(
        Line(
            line.metric,
            line.title,
            _joined([fold[line.metric.name].model for fold in folds]),
            None if line.guess is None else _joined([fold[line.metric.name].guess or Score(np.nan) for fold in folds]),
        )
        for line in first.lines
    )
    verdicts = {name: _verdict(name, marks) for name in first.excess}
    counts = [one.confusion for one in marks if one.confusion is not None]
    return Evaluation(
        lines,
        frozenset(name for name, sign in verdicts.items() if sign > 0),
        frozenset(name for name, sign in verdicts.items() if sign < 0),
        first.classes,
        np.sum(counts, axis=0) if counts else None,
        first.positive,
        first.guessed,
        sum(len(one.weight) for one in marks),
    )


def _joined(scores: list[Score]) -> Score:
    return scores[0] if len(scores) == 1 else mean_of_folds(scores)


def _verdict(name: str, marks: Sequence[Marks]) -> int:
    """Return 1 if the loss exceeds that of guessing beyond noise, −1 if it is below it beyond noise, else 0."""
    excess, weight, groups = (
        np.concatenate(parts)
        for parts in zip(*((one.excess[name], one.weight, one.groups) for one in marks), strict=True)
    )
    if len(np.unique(groups)) < _LEAST_GROUPS:
        return 0
    found = mean_of_rows(excess, weight, groups)
    return int(np.sign(found.value)) if abs(found.value) > _BEYOND_NOISE * found.error else 0
