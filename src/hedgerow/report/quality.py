"""How good held-out answers are: reliability, confusion, ROC, sets and intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score, roc_curve

from hedgerow.report.numbers import rounded, rounded_list
from hedgerow.scoring.coverage import binomial_interval
from hedgerow.scoring.predictions import ClassPredictions, NumberPredictions, Trial

__all__ = ["describe_answers", "reliability", "roc", "scatter", "share_with_interval"]

_BINS = 10
_ROC_POINTS = 120
_MOST_ROC_CLASSES = 12
_MOST_POINTS = 600
_SEED = 0


def describe_answers(trial: Trial) -> dict[str, Any]:
    """How often the model decides, and how often it is right where it does; of numbers what intervals hold.

    Rows count once each, with 95 % binomial intervals.
    """
    model = trial.model
    if isinstance(model, NumberPredictions):
        return _of_numbers(model)
    hits = model.label == model.truth
    single = np.ones(len(hits), bool) if model.sets is None else model.sets.sum(axis=1) == 1
    found: dict[str, Any] = {
        "rows": len(hits),
        "accuracy": share_with_interval(hits),
        "decided": share_with_interval(single),
        "accuracy_where_decided": share_with_interval(hits[single]),
        "accuracy_where_not": share_with_interval(hits[~single]),
        "has_sets": model.sets is not None,
    }
    if model.sets is not None:
        sizes = model.sets.sum(axis=1)
        inside = model.sets[np.arange(len(hits)), model.truth]
        found["set_accuracy"] = share_with_interval(inside)
        found["sets"] = [{"size": int(size), **share_with_interval(inside[sizes == size])} for size in np.unique(sizes)]
    return found


def _of_numbers(model: NumberPredictions) -> dict[str, Any]:
    errors = np.abs(model.truth - model.value)
    found: dict[str, Any] = {
        "rows": len(errors),
        "mean_absolute_error": rounded(errors.mean()),
        "median_absolute_error": rounded(np.median(errors)),
        "has_intervals": model.interval is not None,
    }
    if model.interval is not None:
        low, high = model.interval.T
        found |= {
            "promised": model.coverage,
            "coverage": share_with_interval((low <= model.truth) & (model.truth <= high)),
            "median_width": rounded(np.median(high - low)),
            "widths": rounded_list(np.quantile(high - low, [0.05, 0.25, 0.5, 0.75, 0.95])),
        }
    return found


def share_with_interval(hits: NDArray[np.bool_]) -> dict[str, Any]:
    """Share of rows with its 95 % binomial interval."""
    n, k = len(hits), int(hits.sum())
    if n == 0:
        return {"rows": 0, "count": 0, "value": None, "interval": None}
    return {"rows": n, "count": k, "value": rounded(k / n), "interval": rounded_list(binomial_interval(k, n))}


def reliability(model: ClassPredictions) -> dict[str, Any]:
    """Frequency of the outcome in ten bins of the predicted probability, each with its 95 % interval.

    Of two classes the outcome is the positive one; of more it is that the answer is right, by its probability.
    """
    if len(model.classes) == 2:
        p, outcome = model.proba[:, model.positive], model.truth == model.positive
    else:
        p, outcome = model.proba.max(axis=1), model.proba.argmax(axis=1) == model.truth
    bins = np.minimum((p * _BINS).astype(np.intp), _BINS - 1)
    found = []
    for at in np.unique(bins):
        inside = bins == at
        found.append({"predicted": rounded(p[inside].mean()), **share_with_interval(outcome[inside])})
    return {"bins": found, "of": "positive" if len(model.classes) == 2 else "answer"}


def roc(model: ClassPredictions) -> list[dict[str, Any]]:
    """ROC curves, of the positive one of two classes or of each of the most frequent classes against the rest."""
    frequent = np.argsort(-np.bincount(model.truth, minlength=len(model.classes)), kind="stable")
    codes = [model.positive] if len(model.classes) == 2 else sorted(frequent[:_MOST_ROC_CLASSES].tolist())
    curves = []
    for code in codes:
        of_class = model.truth == code
        if of_class.all() or not of_class.any():
            continue
        fpr, tpr, _ = roc_curve(of_class, model.proba[:, code])
        kept = np.unique(np.linspace(0, len(fpr) - 1, _ROC_POINTS).astype(np.intp))
        area = roc_auc_score(of_class, model.proba[:, code])
        curve = {"fpr": rounded_list(fpr[kept], 4), "tpr": rounded_list(tpr[kept], 4)}
        curves.append({"class": int(code), "auc": rounded(area), **curve})
    return curves


def scatter(model: NumberPredictions) -> dict[str, Any]:
    """Prediction, truth and interval of some rows, and a histogram of all errors."""
    n = len(model.truth)
    shown = np.arange(n)
    if n > _MOST_POINTS:
        shown = np.sort(np.random.default_rng(_SEED).choice(n, _MOST_POINTS, replace=False))
    errors = model.truth - model.value
    counts, edges = np.histogram(errors, bins=30) if np.ptp(errors) > 0 else (np.array([n]), np.array([-0.5, 0.5]))
    found: dict[str, Any] = {
        "rows": n,
        "shown": len(shown),
        "truth": rounded_list(model.truth[shown], 5),
        "value": rounded_list(model.value[shown], 5),
        "errors": {"counts": counts.tolist(), "edges": rounded_list(edges, 4)},
    }
    if model.interval is not None:
        found["interval"] = rounded_list(model.interval[shown], 5)
    return found
