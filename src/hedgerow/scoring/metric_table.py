"""The metrics of ``hedgerow fit``, ``score`` and ``compare``: one table, one entry each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow.metrics.probabilities import calibration_gap
from hedgerow.scoring import row_values as rows
from hedgerow.scoring.predictions import Need, Predictions
from hedgerow.scoring.standard_error import Score, mean_of_rows

__all__ = ["METRICS", "Metric", "metrics_for"]


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
    of_rows: Callable[[Any, Floats], Floats]
    """Values of rows, by predictions and weights: the metric is their mean, or what `of_all` makes of them."""
    of_all: Callable[[Floats, Floats], float] | None = None
    """The metric by the values of all rows, of all folds together, and their weights; it has no standard error."""
    compared: tuple[int, ...] = ()
    """Whether the metric can show that a model is better (1) or worse (−1) than guessing."""
    in_units: bool = False
    """Whether it is in the units of the target."""

    def score(self, values: Floats, weight: Floats, groups: NDArray[np.intp]) -> Score:
        """Return the metric of rows with these values; NaN where it is not defined."""
        return mean_of_rows(values, weight, groups) if self.of_all is None else Score(self.of_all(values, weight))

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


def _calibration_error(values: Floats, weight: Floats) -> float:
    return calibration_gap(values[:, 0], values[:, 1], weight)


_BETTER, _BETTER_OR_WORSE = (1,), (1, -1)

METRICS: tuple[Metric, ...] = (
    Metric("accuracy", "accuracy", "accuracy", Need.LABELS, 1, rows.hits, compared=_BETTER_OR_WORSE),
    Metric("balanced_accuracy", "balanced accuracy", "balanced", Need.LABELS, 1, rows.balanced_hits),
    Metric("sensitivity", "sensitivity ({positive})", "sens.", Need.TWO_CLASSES, 1, rows.positive_hits),
    Metric("specificity", "specificity ({negative})", "spec.", Need.TWO_CLASSES, 1, rows.negative_hits),
    # The cross-validated AUC of a useless model is below 1/2: a class that a fold has more of, the others have less of.
    Metric("auc", "AUC{macro}", "AUC", Need.PROBABILITIES, 1, rows.auc, compared=_BETTER),
    Metric("log_loss", "log-loss", "log-loss", Need.PROBABILITIES, -1, rows.log_losses, compared=_BETTER_OR_WORSE),
    Metric("brier", "Brier score", "Brier", Need.PROBABILITIES, -1, rows.brier, compared=_BETTER_OR_WORSE),
    Metric(
        "calibration_error", "calibration error", "ECE", Need.PROBABILITIES, -1, rows.confidence_and_hits,
        of_all=_calibration_error,
    ),
    Metric("u65", "u65", "u65", Need.SETS, 1, rows.u65),
    Metric("u80", "u80", "u80", Need.SETS, 1, rows.u80),
    Metric("set_accuracy", "set accuracy", "in set", Need.SETS, 1, rows.in_set),
    Metric("determinacy", "determinacy", "determ.", Need.SETS, 0, rows.decided),
    Metric("single_accuracy", "accuracy where decided", "decided", Need.SETS, 0, rows.hits_where_decided),
    Metric("r2", "R²", "R²", Need.NUMBERS, 1, rows.r2),
    Metric(
        "rmse", "root mean squared error", "RMSE", Need.NUMBERS, -1, rows.rmse, compared=_BETTER_OR_WORSE, in_units=True
    ),
    Metric("mae", "mean absolute error", "MAE", Need.NUMBERS, -1, rows.absolute_errors, in_units=True),
    Metric("coverage", "coverage of {percent} % intervals", "coverage", Need.INTERVALS, 0, rows.covered),
    Metric("width", "mean width of intervals", "width", Need.INTERVALS, 0, rows.widths, in_units=True),
)  # fmt: skip
