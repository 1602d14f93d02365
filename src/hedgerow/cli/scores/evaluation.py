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
    gains: dict[str, Floats]
    """By metric, how much better each row is predicted than by guessing."""
    weight: Floats
    groups: NDArray[np.intp]
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
    verdicts: dict[str, int]
    """By metric that is compared: 1 if the model is better than guessing beyond noise, −1 if it is worse, else 0; empty
    if the rows can't tell."""
    classes: tuple[Any, ...]
    confusion: Floats | None
    positive: int
    guessed: Any
    n_rows: int

    @property
    def worse(self) -> set[str]:
        """Metrics in which the model is worse than guessing, beyond noise."""
        return {name for name, verdict in self.verdicts.items() if verdict < 0}

    @property
    def better(self) -> set[str]:
        """Metrics in which the model is better than guessing, beyond noise."""
        return {name for name, verdict in self.verdicts.items() if verdict > 0}

    def line(self, name: str) -> Line | None:
        """Return the line of a metric; None if there is none."""
        return next((line for line in self.lines if line.metric.name == name), None)


def mark(trial: Trial) -> Marks:
    """Compute all metrics that the predictions of a trial have what they need for."""
    weight, groups, model, guess = trial.weight, trial.groups, trial.model, trial.guess
    lines, gains = [], {}
    for metric in metrics_for(model):
        values, guessed = metric.values(model, weight), None
        if metric.needs in guess.available:
            guessed = metric.values(guess, weight)
        if metric.compared and guessed is not None:
            gains[metric.name] = metric.better * (values - guessed)
        baseline = None if guessed is None else metric.score(guessed, weight, groups)
        lines.append(Line(metric, metric.title_for(model), metric.score(values, weight, groups), baseline))
    if not isinstance(model, ClassPredictions):
        return Marks(tuple(lines), gains, weight, groups, (), None, 1, trial.guessed)
    codes = np.arange(len(model.classes))
    confusion = confusion_matrix(model.truth, model.label, labels=codes, sample_weight=weight).astype(np.float64)
    return Marks(tuple(lines), gains, weight, groups, model.classes, confusion, model.positive, trial.guessed)


def combine(marks: Sequence[Marks]) -> Evaluation:
    """Combine the marks of folds, or of one trial.

    Scores are means over folds with standard errors over folds; of one trial those over its rows. Whether the model is
    worse than guessing is decided by all rows together: the mean of what they gain on guessing must be more than two of
    its standard errors from 0. There must be at least ten rows (or groups), and two classes: in rows of one class, the
    guess of that class can't be beaten.
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
    counts = [one.confusion for one in marks if one.confusion is not None]
    confusion = np.sum(counts, axis=0) if counts else None
    one_class = confusion is not None and np.count_nonzero(confusion.sum(axis=1)) < 2
    n_groups = len(np.unique(np.concatenate([one.groups for one in marks])))
    can_tell = n_groups >= _LEAST_GROUPS and not one_class
    return Evaluation(
        lines,
        {line.metric.name: _verdict(line.metric, marks) for line in lines if line.metric.compared} if can_tell else {},
        first.classes,
        confusion,
        first.positive,
        first.guessed,
        sum(len(one.weight) for one in marks),
    )


def _joined(scores: list[Score]) -> Score:
    return scores[0] if len(scores) == 1 else mean_of_folds(scores)


def _verdict(metric: Metric, marks: Sequence[Marks]) -> int:
    """Return 1 if the model is better than guessing beyond noise, −1 if worse, 0 if neither or not to be shown."""
    gains, weight, groups = (
        np.concatenate(parts)
        for parts in zip(*((one.gains[metric.name], one.weight, one.groups) for one in marks), strict=True)
    )
    found = mean_of_rows(gains, weight, groups)
    sign = int(np.sign(found.value)) if abs(found.value) > _BEYOND_NOISE * found.error else 0
    return sign if sign in metric.compared else 0
