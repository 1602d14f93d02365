"""Regression forests of LightGBM, through its documented dump."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from hedgerow.exchange.layout import Question, flatten, lay_out
from hedgerow.forest.forest import Forest

__all__ = ["from_lightgbm"]

_ZERO = float(np.float32(1e-35))


def from_lightgbm(model: Any) -> Forest:
    """A regression forest of LightGBM (``boosting_type="rf"``) as a Forest that sends every row the same way.

    Leaves hold the weight of their training rows and LightGBM's value, which is their mean unless regularised. The dump
    has no sum of squared deviations: it is 0, the least that is possible, and a warning says so.

    Parameters
    ----------
    model : lightgbm.LGBMRegressor or lightgbm.Booster
        In forest mode, with objective "regression" (squared error). Refused are classifiers, whose leaves hold a number
        of rows and a log-odds but no counts of classes; boosting, whose leaves correct each other; categorical
        questions; ``zero_as_missing``; and trees without a question, of which LightGBM stores no weight.
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


def _question(node: dict[str, Any]) -> Question | None:
    if "left_child" not in node:
        return None
    if node["decision_type"] != "<=":
        raise ValueError("the forest asks for categories, only questions x <= t are read: fit with numeric columns")
    missing, threshold = node["missing_type"], node["threshold"]
    if missing == "Zero":
        raise ValueError("the forest takes zeros for missing values: fit with zero_as_missing=False")
    # "None": no missing value was met in fit, and one is taken for a zero.
    missing_left = node["default_left"] if missing == "NaN" else threshold >= 0
    return Question(
        node["split_feature"], _beside_zero(threshold), missing_left, node["left_child"], node["right_child"]
    )


def _beside_zero(threshold: float) -> float:
    """The threshold for rows as they are: LightGBM takes values of at most 1e-35 (in float32) either side for zeros."""
    if abs(threshold) > _ZERO:
        return threshold
    return _ZERO if threshold >= 0 else float(np.nextafter(-_ZERO, -np.inf))


def _leaf(node: dict[str, Any]) -> tuple[float, Sequence[float]]:
    if "leaf_weight" not in node:
        raise ValueError(
            "a tree has no question, and LightGBM stores no weight of such: fit with more rows, or fewer "
            "min_child_samples"
        )
    return node["leaf_weight"], [node["leaf_weight"], node["leaf_value"], 0.0]
