"""Scores of a model beside those of guessing, from one trial or from the folds of cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow.scoring.metric_table import Metric, metrics_for
from hedgerow.scoring.predictions import ClassPredictions, Predictions, Trial
from hedgerow.scoring.standard_error import Score, mean_of_folds, mean_of_rows

__all__ = ["Evaluation", "Line", "Marks", "combine", "mark"]

_BEYOND_NOISE = 2.0  # standard errors: noise alone gets there in one of forty cases
_IMMATERIAL = 0.01  # of the baseline: where columns say nothing, every model is a little worse than the frequencies
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
    """Scores of a trial, without its predictions."""

    lines: tuple[Line, ...]
    gains: dict[str, Floats]
    """By metric, how much better each row is predicted than by guessing."""
    pooled: dict[str, tuple[Floats, Floats]]
    """By metric of all folds together, the values of rows, of the model and of guessing."""
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
    lines, gains, pooled = [], {}, {}
    for metric in metrics_for(model):
        values, baseline = metric.of_rows(model, weight), None
        if metric.needs in guess.available:
            guessed = metric.of_rows(guess, weight)
            baseline = metric.score(guessed, weight, groups)
            if metric.compared:
                gains[metric.name] = metric.better * (values - guessed)
            if metric.of_all is not None:
                pooled[metric.name] = values, guessed
        lines.append(Line(metric, metric.title_for(model), metric.score(values, weight, groups), baseline))
    classes, confusion, positive = _confusion(model, weight)
    return Marks(tuple(lines), gains, pooled, weight, groups, classes, confusion, positive, trial.guessed)


def _confusion(p: Predictions, weight: Floats) -> tuple[tuple[Any, ...], Floats | None, int]:
    """Return classes, the weight of rows by true × predicted class, and the position of the positive class."""
    if not isinstance(p, ClassPredictions):
        return (), None, 1
    n_classes = len(p.classes)
    # Not scikit-learn's, which warns of a single class.
    cells: Floats = np.bincount(p.truth * n_classes + p.label, weight, n_classes**2).astype(np.float64)
    return p.classes, cells.reshape(n_classes, n_classes), p.positive


def combine(marks: Sequence[Marks]) -> Evaluation:
    """Combine the marks of folds, or of one trial.

    Scores are means over folds with standard errors over folds; of one trial those over its rows. The calibration error
    is that of all rows together, since small folds make it too large. Whether the model is worse than guessing is
    decided by all rows together: the mean of what they gain on guessing must be more than two of its standard errors
    from 0, and a loss more than 1 % of what guessing scores. There must be at least ten rows (or groups), and two
    classes: in rows of one class, the guess of that class can't be beaten.
    """
    first = marks[0]
    weight, groups = (np.concatenate(parts) for parts in zip(*((one.weight, one.groups) for one in marks), strict=True))
    lines = tuple(_joined([one.lines[i] for one in marks]) for i in range(len(first.lines)))
    lines = tuple(_pooled(line, marks, weight, groups) if line.metric.name in first.pooled else line for line in lines)
    counts = [one.confusion for one in marks if one.confusion is not None]
    confusion = np.sum(counts, axis=0) if counts else None
    one_class = confusion is not None and np.count_nonzero(confusion.sum(axis=1)) < 2
    verdicts = {}
    if len(np.unique(groups)) >= _LEAST_GROUPS and not one_class:
        for line in lines:
            if line.metric.compared:
                gains = np.concatenate([one.gains[line.metric.name] for one in marks])
                verdicts[line.metric.name] = _verdict(line, mean_of_rows(gains, weight, groups))
    return Evaluation(lines, verdicts, first.classes, confusion, first.positive, first.guessed, len(weight))


def _joined(lines: list[Line]) -> Line:
    """Combine the lines of a metric in all folds."""
    if len(lines) == 1:
        return lines[0]
    guesses = [line.guess for line in lines if line.guess is not None]
    return replace(
        lines[0],
        model=mean_of_folds([line.model for line in lines]),
        guess=mean_of_folds(guesses) if guesses else None,
    )


def _pooled(line: Line, marks: Sequence[Marks], weight: Floats, groups: NDArray[np.intp]) -> Line:
    """Compute a metric from the rows of all folds together."""
    parts = zip(*(one.pooled[line.metric.name] for one in marks), strict=True)
    model, guess = (line.metric.score(np.concatenate(values), weight, groups) for values in parts)
    return replace(line, model=model, guess=guess)


def _verdict(line: Line, gain: Score) -> int:
    """Return 1 if the gain on guessing is beyond noise, −1 if the loss is, and matters, else 0."""
    sign = int(np.sign(gain.value)) if abs(gain.value) > _BEYOND_NOISE * gain.error else 0
    if sign < 0 and line.guess is not None and -gain.value <= _IMMATERIAL * abs(line.guess.value):
        return 0
    return sign if sign in line.metric.compared else 0
