"""Cross-validation: how good models are on rows that they have not been fitted to."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from hedgerow.cli.console import note
from hedgerow.cli.errors import CommandError
from hedgerow.cli.inputs.roles import Training
from hedgerow.cli.scores.evaluation import Evaluation, combine, mark
from hedgerow.cli.scores.predictions import Trial, make_trial, scoring_verbs
from hedgerow.estimators.contract import respond

__all__ = ["Split", "cross_validate", "splits", "try_out", "usable_folds"]

_SEED = 0


@dataclass(frozen=True)
class Split:
    """Rows to fit a model to, and rows to score it with."""

    X: pa.Table
    y: NDArray[Any]
    weight: NDArray[np.float64] | None
    X_new: pa.Table
    y_new: NDArray[Any]
    weight_new: NDArray[np.float64] | None
    groups_new: NDArray[np.intp]
    classes: NDArray[Any]
    """Classes of all rows, sorted; empty for numbers."""

    @property
    def fit_weight(self) -> dict[str, Any]:
        """The argument of `fit` that has the sample weights, if there are any."""
        return {} if self.weight is None else {"sample_weight": self.weight}


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
    """Shuffled folds, stratified by class and apart by group; `n_folds` as `usable_folds` gives it.

    Folds without a row of positive weight are left out.
    """
    X, y, weight, classification = training.X, training.y, training.weight, training.classification
    folds: Any
    if training.groups is not None:
        kind = StratifiedGroupKFold if classification else GroupKFold
        folds = kind(n_folds, shuffle=True, random_state=_SEED)
    else:
        folds = (StratifiedKFold if classification else KFold)(n_folds, shuffle=True, random_state=_SEED)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        parts = list(folds.split(np.zeros((len(y), 1)), y, training.groups))
    groups = np.arange(len(y)) if training.groups is None else training.groups
    classes = np.unique(y) if classification else np.empty(0)
    for old, new in parts:
        weights = (None, None) if weight is None else (weight[old], weight[new])
        if len(new) and (weights[1] is None or weights[1].any()):
            yield Split(X.take(old), y[old], weights[0], X.take(new), y[new], weights[1], groups[new], classes)


def try_out(model: Any, split: Split) -> Trial:
    """Predict the new rows of a split by a model that was fitted to the others."""
    found = respond(model, split.X_new, scoring_verbs(model, None))
    truth = np.searchsorted(split.classes, split.y_new) if len(split.classes) else split.y_new
    return make_trial(
        model,
        found,
        truth,
        classes=split.classes.tolist(),
        weight=split.weight_new,
        groups=split.groups_new,
    )


def cross_validate(make: Callable[[], Any], training: Training, n_folds: int, tick: Callable[[], None]) -> Evaluation:
    """Evaluate a model by cross-validation: all scores that it has."""
    marks = []
    for split in splits(training, n_folds):
        model = make().fit(split.X, split.y, **split.fit_weight)
        marks.append(mark(try_out(model, split)))
        tick()
    return combine(marks)
