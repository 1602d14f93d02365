"""The metrics of ``hedgerow fit``, ``score`` and ``compare``: one table, one entry each.

A metric is a mean over rows wherever it can be: its standard error, and that of its difference to the baseline on the
same rows, follow from the rows. Rows that a metric does not concern are NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import r2_score, recall_score, roc_auc_score, root_mean_squared_error

from hedgerow.cli.scores.predictions import ClassPredictions, Need, NumberPredictions, Predictions
from hedgerow.cli.scores.standard_error import Score, mean_of_rows
from hedgerow.metrics import expected_calibration_error
from hedgerow.metrics.sets import U65, U80, set_utilities

__all__ = ["METRICS", "Metric", "metrics_for"]

Floats = NDArray[np.float64]

_LEAST = np.finfo(np.float64).eps  # as scikit-learn: a probability of 0 for what happened would cost infinitely much


@dataclass(frozen=True)
class Metric:
    """A metric: how it is called, what it needs, which way is better, and how it is computed and printed."""

    name: str
    """Name in JSON and in the notes of model files."""
    title: str
    """With `words` of predictions in braces."""
    heading: str
    """Short title, for the head of a column."""
    needs: Need
    better: int
    """1 if more is better, −1 if less is, 0 if neither is by itself."""
    of_rows: Callable[[Any], Floats] | None = None
    of_all: Callable[[Any, Floats], float] | None = None
    """Metric of all rows with their weights, if it is not a mean over rows."""
    loss: Callable[[Any], Floats] | None = None
    """Loss of each row by which the model is compared with guessing; None if it is not compared by this metric."""
    in_units: bool = False
    """Whether it is in the units of the target."""

    def score(self, predictions: Predictions, weight: Floats, groups: NDArray[Any]) -> Score:
        """Return the metric with its standard error; NaN where it is not defined."""
        if self.of_rows is not None:
            return mean_of_rows(self.of_rows(predictions), weight, groups)
        assert self.of_all is not None
        return Score(float(self.of_all(predictions, weight)))

    def title_for(self, predictions: Predictions) -> str:
        """Return the title with the class or the coverage that it is about."""
        return self.title.format_map(predictions.words)

    def text(self, score: Score) -> str:
        """Write a score with its standard error, "0.953 ± 0.012"; "–" if it is not defined."""
        if np.isnan(score.value):
            return "–"
        value = _significant(score.value, 4) if self.in_units else _fixed(score.value)
        if np.isnan(score.error):
            return value
        return f"{value} ± {_significant(score.error, 2) if self.in_units else _fixed(score.error)}"


def metrics_for(predictions: Predictions) -> list[Metric]:
    """Return the metrics that predictions have what they need for."""
    return [metric for metric in METRICS if metric.needs in predictions.available]


def _fixed(value: float) -> str:
    text = f"{value:.3f}"
    return "0.000" if text == "-0.000" else text


def _significant(value: float, digits: int) -> str:
    """Write a number with so many significant digits, and thousands apart: 63,300, 41.7, 0.00123."""
    rounded = float(f"{value:.{digits - 1}e}")
    return f"{rounded:,.0f}" if 10 ** (digits - 1) <= abs(rounded) < 1e15 else f"{rounded:.{digits}g}"


# --- Labels and probabilities -------------------------------------------------------------------------------


def _hits(p: ClassPredictions) -> Floats:
    hits: Floats = (p.label == p.truth).astype(np.float64)
    return hits


def _balanced_accuracy(p: ClassPredictions, weight: Floats) -> float:
    """Mean recall of the classes that the rows have; scikit-learn's function of this name warns if one is missing."""
    present = np.unique(p.truth)
    return float(recall_score(p.truth, p.label, labels=present, average="macro", sample_weight=weight))


def _recall(p: ClassPredictions, code: int) -> Floats:
    return np.where(p.truth == code, _hits(p), np.nan)


def _auc(p: ClassPredictions, weight: Floats) -> float:
    """Area under the ROC curve of the positive class; of more classes the mean of each against the rest.

    Classes without a row are left out; NaN if the rows have one class only.
    """
    codes = [p.positive] if len(p.classes) == 2 else range(len(p.classes))
    n_rows = np.bincount(p.truth, minlength=len(p.classes))
    found = [
        roc_auc_score(p.truth == code, p.proba[:, code], sample_weight=weight)
        for code in codes
        if 0 < n_rows[code] < len(p.truth)
    ]
    return float(np.mean(found)) if found else np.nan


def _log_losses(p: ClassPredictions) -> Floats:
    """Return −log p(true class) of each row, with p kept from 0."""
    told = p.proba[np.arange(len(p.truth)), p.truth]
    losses: Floats = -np.log(np.clip(told, _LEAST, 1.0))
    return losses


def _brier(p: ClassPredictions) -> Floats:
    """Squared error of the probabilities: of the positive one of two classes, else summed over classes."""
    if len(p.classes) == 2:
        return (p.proba[:, 1] - p.truth) ** 2
    told = p.proba[np.arange(len(p.truth)), p.truth]
    squares: Floats = (p.proba**2).sum(axis=1) - 2 * told + 1
    return squares


def _calibration_error(p: ClassPredictions, weight: Floats) -> float:
    return expected_calibration_error(p.truth, p.proba, classes=np.arange(len(p.classes)), sample_weight=weight)


# --- Sets ---------------------------------------------------------------------------------------------------


def _sets(p: ClassPredictions) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return whether each set has the true class, and its size."""
    assert p.sets is not None
    return p.sets[np.arange(len(p.truth)), p.truth], p.sets.sum(axis=1)


def _hits_of_single_classes(p: ClassPredictions) -> Floats:
    correct, sizes = _sets(p)
    return np.where(sizes == 1, correct, np.nan)


# --- Numbers ------------------------------------------------------------------------------------------------


def _r2(p: NumberPredictions, weight: Floats) -> float:
    return float(r2_score(p.truth, p.value, sample_weight=weight)) if np.ptp(p.truth) > 0 else np.nan


def _covered(p: NumberPredictions) -> Floats:
    assert p.interval is not None
    return ((p.interval[:, 0] <= p.truth) & (p.truth <= p.interval[:, 1])).astype(np.float64)


def _widths(p: NumberPredictions) -> Floats:
    assert p.interval is not None
    return p.interval[:, 1] - p.interval[:, 0]


METRICS: tuple[Metric, ...] = (
    Metric("accuracy", "accuracy", "accuracy", Need.LABELS, 1, _hits, loss=lambda p: 1 - _hits(p)),
    Metric(
        "balanced_accuracy", "balanced accuracy", "balanced", Need.LABELS, 1, of_all=_balanced_accuracy
    ),
    Metric("sensitivity", "sensitivity ({positive})", "sens.", Need.TWO_CLASSES, 1, lambda p: _recall(p, p.positive)),
    Metric(
        "specificity", "specificity ({negative})", "spec.", Need.TWO_CLASSES, 1, lambda p: _recall(p, 1 - p.positive)
    ),
    Metric("auc", "AUC{macro}", "AUC", Need.PROBABILITIES, 1, of_all=_auc),
    Metric("log_loss", "log-loss", "log-loss", Need.PROBABILITIES, -1, _log_losses, loss=_log_losses),
    Metric("brier", "Brier score", "Brier", Need.PROBABILITIES, -1, _brier),
    Metric(
        "calibration_error", "calibration error", "ECE", Need.PROBABILITIES, -1, of_all=_calibration_error
    ),
    Metric("u65", "u65", "u65", Need.SETS, 1, lambda p: set_utilities(*_sets(p), U65)),
    Metric("u80", "u80", "u80", Need.SETS, 1, lambda p: set_utilities(*_sets(p), U80)),
    Metric("set_accuracy", "set accuracy", "in set", Need.SETS, 1, lambda p: _sets(p)[0].astype(np.float64)),
    Metric("determinacy", "determinacy", "determ.", Need.SETS, 0, lambda p: (_sets(p)[1] == 1).astype(np.float64)),
    Metric("single_accuracy", "accuracy where decided", "decided", Need.SETS, 0, _hits_of_single_classes),
    Metric("r2", "R²", "R²", Need.NUMBERS, 1, of_all=_r2),
    Metric(
        "rmse", "root mean squared error", "RMSE", Need.NUMBERS, -1, in_units=True,
        of_all=lambda p, weight: root_mean_squared_error(p.truth, p.value, sample_weight=weight),
        loss=lambda p: (p.truth - p.value) ** 2,
    ),
    Metric(
        "mae", "mean absolute error", "MAE", Need.NUMBERS, -1, lambda p: np.abs(p.truth - p.value), in_units=True
    ),
    Metric("coverage", "coverage of {percent} % intervals", "coverage", Need.INTERVALS, 0, _covered),
    Metric("width", "mean width of intervals", "width", Need.INTERVALS, 0, _widths, in_units=True),
)  # fmt: skip
