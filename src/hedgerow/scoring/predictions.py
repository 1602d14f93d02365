"""Predictions for rows whose target is known, of a model and of guessing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from hedgerow._arrays import Bools, Floats
from hedgerow.estimators.contract import CODES, Verbs
from hedgerow.scoring.promises import USUAL_COVERAGE, coverage_arguments, promised_coverage

__all__ = [
    "ClassPredictions",
    "Need",
    "NumberPredictions",
    "Predictions",
    "Trial",
    "make_trial",
    "scoring_verbs",
    "with_single_classes",
]

Codes = NDArray[np.intp]


class Need(StrEnum):
    """Parts of predictions that a metric needs."""

    LABELS = "labels"
    TWO_CLASSES = "two classes"
    PROBABILITIES = "probabilities"
    SETS = "sets"
    NUMBERS = "numbers"
    INTERVALS = "intervals"


@dataclass(frozen=True)
class ClassPredictions:
    """True classes of rows, as positions in `classes`, and what is predicted for them."""

    classes: tuple[Any, ...]
    """Classes of the model and of the rows."""
    truth: Codes
    label: Codes
    proba: Floats
    sets: Bools | None = None
    positive: int = 1
    """Position of the positive one of two classes."""

    @cached_property
    def available(self) -> frozenset[Need]:
        return frozenset({Need.LABELS, Need.PROBABILITIES}).union(
            {Need.TWO_CLASSES} if len(self.classes) == 2 else (), {Need.SETS} if self.sets is not None else ()
        )

    @property
    def words(self) -> dict[str, Any]:
        """Words in titles of metrics."""
        if len(self.classes) != 2:
            return {"macro": " (one-vs-rest, macro)"}
        return {"macro": "", "positive": self.classes[self.positive], "negative": self.classes[1 - self.positive]}


@dataclass(frozen=True)
class NumberPredictions:
    """True numbers of rows, and what is predicted for them."""

    truth: Floats
    value: Floats
    interval: Floats | None = None
    coverage: float = USUAL_COVERAGE
    """Coverage that intervals were asked for."""

    @cached_property
    def available(self) -> frozenset[Need]:
        return frozenset({Need.NUMBERS} | ({Need.INTERVALS} if self.interval is not None else set()))

    @property
    def words(self) -> dict[str, Any]:
        """Words in titles of metrics."""
        return {"percent": f"{100 * self.coverage:g}"}


Predictions = ClassPredictions | NumberPredictions


@dataclass(frozen=True)
class Trial:
    """Predictions of a model and of guessing for the same rows, each with its weight and its group."""

    model: Predictions
    guess: Predictions
    guessed: Any
    """The class or the number that is guessed for every row."""
    weight: Floats
    groups: Codes
    """Numbers from 0."""


def scoring_verbs(model: Any, coverage: float | None) -> Verbs:
    """Return what to ask a model for, to be passed to `respond`."""
    verbs: dict[str, dict[str, Any]] = {CODES: {}, "predict_proba": {}} if is_classifier(model) else {"predict": {}}
    verb = "predict_set" if is_classifier(model) else "predict_interval"
    arguments = coverage_arguments(model, verb, coverage)
    return verbs if arguments is None else verbs | {verb: arguments}


def make_trial(
    model: Any,
    found: Mapping[str, NDArray[Any]],
    truth: NDArray[Any],
    *,
    classes: Sequence[Any] = (),
    weight: Floats | None = None,
    groups: Codes | None = None,
    positive: int = 1,
    coverage: float | None = None,
) -> Trial:
    """Put what a model `found` for rows beside the truth and a guess that ignores the inputs.

    `truth` are numbers, or positions in `classes`, which are those of the model and others that the rows have. The
    guess is the most frequent class of the training rows, with the class frequencies as probabilities, or their mean.
    Rows of weight 0 are left out.
    """
    weight = np.ones(len(truth)) if weight is None else weight
    groups = np.arange(len(truth)) if groups is None else groups
    counted = weight > 0
    if not counted.all():
        found = {verb: rows[counted] for verb, rows in found.items()}
        truth, weight, groups = truth[counted], weight[counted], groups[counted]
    if not is_classifier(model):
        promised = promised_coverage(model, coverage)
        answered = NumberPredictions(truth, found["predict"], found.get("predict_interval"), promised)
        mean = _training_mean(model)
        return Trial(answered, NumberPredictions(truth, np.full(len(truth), mean)), mean, weight, groups)
    order = {label: i for i, label in enumerate(classes)}
    columns = np.array([order[label] for label in model.classes_.tolist()], dtype=np.intp)
    known = ClassPredictions(
        tuple(classes),
        truth,
        columns[found[CODES]],
        _in_columns(found["predict_proba"], columns, len(classes)),
        _in_columns(found["predict_set"], columns, len(classes)) if "predict_set" in found else None,
        positive,
    )
    prior = model.class_prior_
    return Trial(known, _guess(known, columns, prior), model.classes_.tolist()[np.argmax(prior)], weight, groups)


def _in_columns(values: NDArray[Any], columns: Codes, n_columns: int) -> NDArray[Any]:
    """Return values for the classes of a model in the columns of all classes; 0 or False for the others."""
    if n_columns == values.shape[1] and np.array_equal(columns, np.arange(n_columns)):
        return values
    wide = np.zeros((len(values), n_columns), dtype=values.dtype)
    wide[:, columns] = values
    return wide


def _guess(known: ClassPredictions, columns: Codes, prior: Floats) -> ClassPredictions:
    n_rows, n_classes = known.proba.shape
    label = np.full(n_rows, columns[int(np.argmax(prior))])
    proba = np.broadcast_to(_in_columns(prior[np.newaxis], columns, n_classes), (n_rows, n_classes))
    guess = replace(known, label=label, proba=proba)
    return guess if known.sets is None else with_single_classes(guess)


def with_single_classes(predictions: ClassPredictions) -> ClassPredictions:
    """Return predictions whose sets hold the predicted class alone."""
    return replace(predictions, sets=np.eye(len(predictions.classes), dtype=bool)[predictions.label])


def _training_mean(model: Any) -> float:
    """Mean of the training targets, as the leaves have them; of forests that of their bootstrap samples."""
    weight, mean, _ = model.forest_.leaf_stats.T
    return float(np.average(mean, weights=weight))
