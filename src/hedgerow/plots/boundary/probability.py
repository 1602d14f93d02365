"""Boundary classifiers as Displays ask them: checked, with one class's probability for encoded rows."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from hedgerow.estimators.contract import respond_to_rows
from hedgerow.plots.display import Floats
from hedgerow.plots.requirements import INSIDE, check_estimator

__all__ = ["check_boundary", "class_probability"]


def check_boundary(estimator: Any) -> None:
    """Raise an error unless the estimator is a fitted boundary classifier."""
    hint = f"pass a BoundaryClassifier, such as BoundaryClassifier.from_fitted(tree, X, y){INSIDE}"
    check_estimator(estimator, ["algebraic_distance"], hint=hint)
    check_is_fitted(estimator)


def class_probability(estimator: Any, rows: Floats, target: int) -> Floats:
    """Compute the probability of a class for encoded rows."""
    probabilities: Floats = respond_to_rows(estimator, rows, ["predict_proba"])["predict_proba"]
    return probabilities[:, target]
