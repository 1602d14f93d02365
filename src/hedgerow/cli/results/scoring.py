"""How good models are on rows that they have not seen: by cross-validation, with standard errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from hedgerow.cli.console import note
from hedgerow.cli.errors import CommandError
from hedgerow.cli.inputs.roles import Training
from hedgerow.estimators.contract import offers, respond
from hedgerow.metrics import determinacy, single_accuracy, u65_score

__all__ = [
    "SCORES",
    "Score",
    "Split",
    "by_name",
    "cross_validated",
    "log_loss",
    "scores_of",
    "splits",
    "summarised",
    "usable_folds",
]

Floats = NDArray[np.float64]

_SEED = 0
_LEAST = 1e-15  # a probability of 0 for what happened would cost infinitely much

# Name, and how a person reads it.
SCORES = {
    "accuracy": "accuracy",
    "log_loss": "log-loss",
    "u65": "u65",
    "undecided": "undecided",
    "single_accuracy": "accuracy where decided",
    "r2": "R²",
    "mae": "mean absolute error",
    "inside": "inside the 90 % interval",
}


@dataclass(frozen=True)
class Score:
    """A mean over folds and its standard error."""

    mean: float
    error: float

    def text(self, name: str) -> str:
        """ "0.953 ± 0.012"; shares as per cent."""
        if np.isnan(self.mean):
            return "–"
        if name in ("undecided", "inside"):
            return f"{100 * self.mean:.1f} ± {100 * self.error:.1f} %"
        return f"{self.mean:.3f} ± {self.error:.3f}" if name != "mae" else f"{self.mean:.4g} ± {self.error:.2g}"


@dataclass(frozen=True)
class Split:
    """Rows to learn from, and rows to ask about."""

    X: pa.Table
    y: NDArray[Any]
    X_new: pa.Table
    y_new: NDArray[Any]
    weight: Floats | None = None
    """Sample weights of the rows to learn from."""


def usable_folds(training: Training, n_folds: int) -> int:
    """Limit the number of folds to what rows and groups allow, with a note; an error if that is no cross-validation."""
    if training.classification:
        most, what = int(np.unique(training.y, return_counts=True)[1].max()), "rows in the largest class"
        reason = "no class has two rows"
    else:
        most, what, reason = len(training.y), "rows", "there is only one row"
    if training.groups is not None and (n_groups := len(np.unique(training.groups))) < most:
        most, what, reason = n_groups, "groups", "there is only one group"
    if most < 2:
        raise CommandError(
            f"target {training.target!r} can't be cross-validated, since {reason}: skip it with fit --folds 0, "
            "or give more rows"
        )
    if n_folds > most:
        note(f"--folds is {n_folds}, but there are only {most} {what}: {most} folds were used")
    return min(n_folds, most)


def splits(training: Training, n_folds: int) -> Iterator[Split]:
    """Shuffled folds, stratified by class and apart by group; `n_folds` as `usable_folds` gives it."""
    X, y, classification = training.X, training.y, training.classification
    folds: Any
    if training.groups is not None:
        kind = StratifiedGroupKFold if classification else GroupKFold
        folds = kind(n_folds, shuffle=True, random_state=_SEED)
    else:
        folds = (StratifiedKFold if classification else KFold)(n_folds, shuffle=True, random_state=_SEED)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        parts = list(folds.split(np.zeros((len(y), 1)), y, training.groups))
    for old, new in parts:
        weight = None if training.weight is None else training.weight[old]
        yield Split(X.take(old), y[old], X.take(new), y[new], weight)


def cross_validated(
    make: Callable[[], Any], training: Training, n_folds: int, tick: Callable[[], None]
) -> dict[str, Score]:
    """All scores that a model has, by name."""
    found = []
    for split in splits(training, n_folds):
        weight = {} if split.weight is None else {"sample_weight": split.weight}
        model = make().fit(split.X, split.y, **weight)
        found.append(scores_of(model, split, np.unique(training.y)))
        tick()
    return summarised(found)


def summarised(found: list[dict[str, float]]) -> dict[str, Score]:
    """Means over folds, and their standard errors."""
    if not found:
        return {}
    return {name: _score(np.array([one[name] for one in found])) for name in found[0]}


def _score(values: Floats) -> Score:
    known = values[~np.isnan(values)]
    if not len(known):
        return Score(float("nan"), float("nan"))
    error = known.std(ddof=1) / np.sqrt(len(known)) if len(known) > 1 else float("nan")
    return Score(float(known.mean()), float(error))


def scores_of(model: Any, split: Split, classes: NDArray[Any]) -> dict[str, float]:
    """Scores of a fitted model on the new rows of a split; `classes` are all that there are."""
    if getattr(model, "classes_", None) is None:
        return _number_scores(model, split)
    wanted = ("predict", "predict_proba", "predict_set")
    found = respond(model, split.X_new, [verb for verb in wanted if offers(model, verb)])
    scores = {
        "accuracy": float((found["predict"] == split.y_new).mean()),
        "log_loss": log_loss(split.y_new, found["predict_proba"], model.classes_),
    }
    if "predict_set" in found:
        scores |= _set_scores(model.classes_, found["predict_set"], split, classes)
    return scores


def _set_scores(
    known: NDArray[Any], predicted: NDArray[np.bool_], split: Split, classes: NDArray[Any]
) -> dict[str, float]:
    sets = np.zeros((len(split.y_new), len(classes)), dtype=bool)  # with classes that the training rows lack
    sets[:, np.searchsorted(classes, known)] = predicted
    decided = bool((sets.sum(axis=1) == 1).any())
    return {
        "u65": u65_score(split.y_new, sets, classes=classes),
        "undecided": 1.0 - determinacy(None, sets),
        "single_accuracy": single_accuracy(split.y_new, sets, classes=classes) if decided else float("nan"),
    }


def _number_scores(model: Any, split: Split) -> dict[str, float]:
    difference = split.y_new - model.predict(split.X_new)
    total = float(((split.y_new - split.y_new.mean()) ** 2).sum())
    scores: dict[str, float] = {
        "r2": 1.0 - float((difference**2).sum()) / total if total > 0 else float("nan"),
        "mae": float(np.abs(difference).mean()),
    }
    if offers(model, "predict_interval"):
        low, high = model.predict_interval(split.X_new, 0.9).T
        scores["inside"] = float(((low <= split.y_new) & (split.y_new <= high)).mean())
    return scores


def log_loss(y: NDArray[Any], shares: Floats, classes: NDArray[Any]) -> float:
    """−mean log p(y), with p kept from 0; a class that the model does not know has none."""
    code = {label: i for i, label in enumerate(classes.tolist())}
    told = np.array([shares[i, code[label]] if label in code else 0.0 for i, label in enumerate(y.tolist())])
    return float(-np.log(np.clip(told, _LEAST, 1.0)).mean())


def by_name(scores: Mapping[str, Score]) -> dict[str, list[float]]:
    """As plain numbers, for the notes of a model file."""
    return {
        name: [score.mean, score.error]
        for name, score in scores.items()
        if np.isfinite([score.mean, score.error]).all()
    }
