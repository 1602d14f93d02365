"""Estimators that rows in parts can't be fitted on, why, and what to do instead."""

from __future__ import annotations

from typing import Any

__all__ = ["refuse"]

_ON_FITTED = (
    "fit its estimator with distributed.fit, and then {name}(FrozenEstimator(model)) with distributed.fit on other rows"
)
_ON_SAMPLE = "fit it on a sample of the rows that fits in memory"
_SOFT_FOREST = (
    "draws bags of rows and solves least squares for thousands of regions in every tree",
    "use MeasuredTreeClassifier or MeasuredTreeRegressor, or " + _ON_SAMPLE,
)
_SOFT_BOOSTING = (
    "grows every tree from what all trees before it say of every row",
    "use MeasuredTreeClassifier or MeasuredTreeRegressor, or " + _ON_SAMPLE,
)

# Reason for each refusal, and the fix.
_REFUSED = {
    "ConformalClassifier": ("ranks the answers of all calibration rows", _ON_FITTED),
    "ConformalRegressor": ("ranks the answers of all calibration rows", _ON_FITTED),
    "BoundaryClassifier": (
        "grows a tree with exact thresholds",
        "fit the tree on a sample of the rows, and then BoundaryClassifier(FrozenEstimator(tree)) with distributed.fit",
    ),
    "TreeClassifier": ("is one tree with exact thresholds", "use ForestClassifier, or fit it on a sample of the rows"),
    "TreeRegressor": ("is one tree with exact thresholds", "use ForestRegressor, or fit it on a sample of the rows"),
    "ObliqueTreeClassifier": ("fits a linear model in every node", _ON_SAMPLE),
    "ObliqueTreeRegressor": ("fits a linear model in every node", _ON_SAMPLE),
    "ObliqueForestClassifier": ("fits a linear model in every node", "use ForestClassifier, or " + _ON_SAMPLE),
    "NaiveBayesTreeClassifier": ("cross-validates a model in every node", _ON_SAMPLE),
    "MeasuredForestClassifier": _SOFT_FOREST,
    "MeasuredForestRegressor": _SOFT_FOREST,
    "MeasuredBoostingClassifier": _SOFT_BOOSTING,
    "MeasuredBoostingRegressor": _SOFT_BOOSTING,
}


def refuse(model: Any, known: list[str]) -> None:
    """Raise the error for a model that is not among those that can be fitted, whose names are `known`."""
    name = type(model).__name__
    able = f"those that can are {', '.join(known)}"
    if name not in _REFUSED:
        raise ValueError(f"{name} can't be fitted on rows in parts; {able}")
    reason, fix = _REFUSED[name]
    raise ValueError(f"{name} {reason} and can't be fitted on rows in parts: {fix.format(name=name)}; {able}")
