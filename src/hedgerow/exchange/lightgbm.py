"""Regression forests of LightGBM, through its documented dump."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from hedgerow.exchange.layout import NestedSplit, flatten, lay_out
from hedgerow.forest.forest import Forest

__all__ = ["from_lightgbm"]

_ZERO = float(np.float32(1e-35))


def from_lightgbm(model: Any) -> Forest:
    """A regression forest of LightGBM (``boosting_type="rf"``) as a Forest that routes every row alike.

    Leaves hold the weight of their training rows and LightGBM's value, which is their mean unless regularised. The dump
    has no sum of squared deviations: it is 0, the lower bound, with a warning.

    Parameters
    ----------
    model : lightgbm.LGBMRegressor or lightgbm.Booster
        In forest mode, with objective "regression" (squared error). Refused are classifiers, whose leaves hold a number
        of rows and a log-odds but no counts of classes; boosting, whose leaves correct each other; categorical
        splits; ``zero_as_missing``; and trees without a split, of which LightGBM stores no weight.

    Returns
    -------
    Forest
        A regression forest, a tree for each of the model's.

    Raises
    ------
    TypeError
        If the model is of another class.
    ValueError
        If its leaves hold no means.

    Examples
    --------
    >>> from lightgbm import LGBMRegressor  # doctest: +SKIP
    >>> from hedgerow.exchange import from_lightgbm  # doctest: +SKIP
    >>> from sklearn.datasets import load_diabetes  # doctest: +SKIP
    >>> X, y = load_diabetes(return_X_y=True)  # doctest: +SKIP
    >>> model = LGBMRegressor(boosting_type="rf", bagging_freq=1, bagging_fraction=0.6).fit(X, y)  # doctest: +SKIP
    >>> from_lightgbm(model).n_trees  # doctest: +SKIP
    100
    """
    booster = getattr(model, "booster_", model)
    if not callable(getattr(booster, "dump_model", None)):
        raise TypeError(f"model is {type(model).__name__}, must be a fitted LGBMRegressor or Booster of lightgbm")
    dump = booster.dump_model()
    objective = dump.get("objective", "none")
    if objective != "regression":
        raise ValueError(
            f"objective is {objective!r}, must be 'regression': leaves of other objectives hold a score, and neither "
            "counts of classes nor a mean"
        )
    if not dump.get("average_output"):
        raise ValueError(
            "the model is boosted, its leaves correct each other and hold no mean: fit with boosting_type='rf'"
        )
    warnings.warn(
        "LightGBM does not store how much the targets of a leaf vary: the sums of squared deviations in leaf_stats are "
        "0, their lower bounds",
        stacklevel=2,
    )
    trees = [flatten(tree["tree_structure"], _question, _leaf) for tree in dump["tree_info"]]
    return lay_out(trees, dump["max_feature_idx"] + 1, regression=True)


def _question(node: dict[str, Any]) -> NestedSplit | None:
    if "left_child" not in node:
        return None
    if node["decision_type"] != "<=":
        raise ValueError("the forest splits on categories, only x <= t is supported: fit with numeric columns")
    missing, threshold = node["missing_type"], node["threshold"]
    if missing == "Zero":
        raise ValueError("the forest takes zeros for missing values: fit with zero_as_missing=False")
    # "None": no missing value occurred in fit, and one counts as zero.
    missing_left = node["default_left"] if missing == "NaN" else threshold >= 0
    return NestedSplit(
        node["split_feature"], _beside_zero(threshold), missing_left, node["left_child"], node["right_child"]
    )


def _beside_zero(threshold: float) -> float:
    """Threshold for raw rows: LightGBM treats values within 1e-35 (in float32) of 0 as zeros."""
    if abs(threshold) > _ZERO:
        return threshold
    return _ZERO if threshold >= 0 else float(np.nextafter(-_ZERO, -np.inf))


def _leaf(node: dict[str, Any]) -> tuple[float, Sequence[float]]:
    if "leaf_weight" not in node:
        raise ValueError(
            "a tree has no split, and LightGBM stores no weight for it: fit with more rows, or fewer min_child_samples"
        )
    return node["leaf_weight"], [node["leaf_weight"], node["leaf_value"], 0.0]
