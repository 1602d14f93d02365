"""Answers of models for rows that they were not fitted to, a fold at a time."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from hedgerow.estimators.contract import respond
from hedgerow.scoring.folds import LabelledRows, Split, splits, take_rows, try_out
from hedgerow.scoring.predictions import Predictions, Trial, make_trial, scoring_verbs

__all__ = ["Fold", "Rows", "answer_fitted", "cross_validated", "put_together", "sample_rows"]

_SEED = 0


@dataclass(frozen=True)
class Rows:
    """Rows with their targets."""

    X: Any
    y: NDArray[Any]
    weight: NDArray[np.float64] | None
    groups: NDArray[Any] | None
    classification: bool

    def take(self, rows: NDArray[np.intp]) -> Rows:
        """Return some of them, by position."""
        weight, groups = (None if part is None else part[rows] for part in (self.weight, self.groups))
        return Rows(take_rows(self.X, rows), self.y[rows], weight, groups, self.classification)

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True)
class Fold:
    """Fitted models, and their answers for rows that they have not seen."""

    fitted: Mapping[str, Any]
    trials: Mapping[str, Trial]
    split: Split
    """The rows; `old` is empty where models were fitted elsewhere."""


def sample_rows(rows: LabelledRows, most: int) -> NDArray[np.intp]:
    """Positions of at most so many rows, drawn without replacement, in their order."""
    n = len(rows.y)
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(_SEED).choice(n, most, replace=False))


def cross_validated(
    models: Mapping[str, Any], rows: Rows, n_folds: int, tick: Callable[[], None], failed: dict[str, str]
) -> Iterator[Fold]:
    """Fit every model to all folds but one, and let it answer that one.

    A model that can't be fitted is left out from then on, with the reason in `failed`, unless all fail.
    """
    for split in splits(rows, n_folds):
        fitted, trials = {}, {}
        for name, model in models.items():
            if name in failed:
                continue
            try:
                with warnings.catch_warnings():
                    warnings.filterwarnings("ignore", message="the trees have no distribution in common")
                    fitted[name] = clone(model).fit(split.X, split.y, **split.fit_weight)
                    trials[name] = try_out(fitted[name], split)
            except ValueError as error:
                failed[name] = " ".join(str(error).split())
                if len(failed) == len(models):
                    raise
            tick()
        yield Fold(fitted, trials, split)


def answer_fitted(models: Mapping[str, Any], rows: Rows, classes: list[Any]) -> Fold:
    """Let fitted models answer labelled rows."""
    trials = {}
    for name, model in models.items():
        found = respond(model, rows.X, scoring_verbs(model, None))
        truth = rows.y
        if is_classifier(model):
            code = {label: i for i, label in enumerate(classes)}
            truth = np.array([code[label] for label in rows.y.tolist()], dtype=np.intp)
        trials[name] = make_trial(model, found, truth, classes=classes, weight=rows.weight, groups=_codes(rows.groups))
    every, none = np.arange(len(rows)), np.empty(0, np.intp)
    nobody = rows.take(none)
    groups = _codes(rows.groups)
    labels = np.array(classes)
    return Fold(
        models,
        trials,
        Split(
            nobody.X,
            nobody.y,
            None,
            rows.X,
            rows.y,
            rows.weight,
            every if groups is None else groups,
            labels,
            none,
            every,
        ),
    )


def _codes(groups: NDArray[Any] | None) -> NDArray[np.intp] | None:
    return None if groups is None else np.unique(groups, return_inverse=True)[1]


def put_together(trials: list[Trial]) -> Trial:
    """Join the answers of all folds."""
    return Trial(
        _joined([trial.model for trial in trials]),
        _joined([trial.guess for trial in trials]),
        trials[0].guessed,
        np.concatenate([trial.weight for trial in trials]),
        np.concatenate([trial.groups for trial in trials]),
    )


def _joined(parts: list[Predictions]) -> Predictions:
    first: Any = parts[0]
    arrays = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("truth", "label", "proba", "sets", "value", "interval")
        if isinstance(getattr(first, name, None), np.ndarray)
    }
    return replace(first, **arrays)
