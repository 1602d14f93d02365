"""Folds of cross-validation, and what a model answers for the rows of a fold that it was not fitted to."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from hedgerow.estimators.contract import respond
from hedgerow.scoring.predictions import Trial, make_trial, scoring_verbs

__all__ = ["LabelledRows", "Split", "splits", "take_rows", "try_out"]

_SEED = 0


class LabelledRows(Protocol):
    """A table of inputs with its targets."""

    @property
    def X(self) -> Any: ...  # noqa: N802
    @property
    def y(self) -> NDArray[Any]: ...
    @property
    def weight(self) -> NDArray[np.float64] | None: ...
    @property
    def groups(self) -> NDArray[Any] | None: ...
    @property
    def classification(self) -> bool: ...


def take_rows(X: Any, rows: NDArray[np.intp]) -> Any:
    """Return rows of an array or of a frame of any library, by position."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame[rows].to_native() if isinstance(frame, nw.DataFrame) else np.asarray(X)[rows]


@dataclass(frozen=True)
class Split:
    """Rows to fit a model to, and rows to score it with."""

    X: Any
    y: NDArray[Any]
    weight: NDArray[np.float64] | None
    X_new: Any
    y_new: NDArray[Any]
    weight_new: NDArray[np.float64] | None
    groups_new: NDArray[np.intp]
    classes: NDArray[Any]
    """Classes of all rows, sorted; empty for numbers."""
    old: NDArray[np.intp]
    """Positions of the rows to fit to."""
    new: NDArray[np.intp]
    """Positions of the rows to score with."""

    @property
    def fit_weight(self) -> dict[str, Any]:
        """The argument of `fit` that has the sample weights, if there are any."""
        return {} if self.weight is None else {"sample_weight": self.weight}


def splits(rows: LabelledRows, n_folds: int) -> Iterator[Split]:
    """Shuffled folds, stratified by class and apart by group; at most as many folds as rows of the largest class.

    Folds without a row of positive weight are left out.
    """
    X, y, weight, classification = rows.X, rows.y, rows.weight, rows.classification
    folds: Any
    if rows.groups is not None:
        kind = StratifiedGroupKFold if classification else GroupKFold
        folds = kind(n_folds, shuffle=True, random_state=_SEED)
    else:
        folds = (StratifiedKFold if classification else KFold)(n_folds, shuffle=True, random_state=_SEED)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        parts = list(folds.split(np.zeros((len(y), 1)), y, rows.groups))
    groups = np.arange(len(y)) if rows.groups is None else rows.groups
    classes = np.unique(y) if classification else np.empty(0)
    for old, new in parts:
        weights = (None, None) if weight is None else (weight[old], weight[new])
        if len(new) and (weights[1] is None or weights[1].any()):
            X_old, X_new = take_rows(X, old), take_rows(X, new)
            yield Split(X_old, y[old], weights[0], X_new, y[new], weights[1], groups[new], classes, old, new)


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
