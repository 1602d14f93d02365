"""Regression forests of XGBoost, through its documented dump and configuration."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from typing import Any

from hedgerow.exchange.layout import NestedSplit, flatten, lay_out
from hedgerow.exchange.thresholds import thresholds_below
from hedgerow.forest.forest import Forest

__all__ = ["from_xgboost"]


def from_xgboost(model: Any) -> Forest:
    """A regression forest of XGBoost (one round of parallel trees) as a Forest that routes every row alike.

    The dump of a leaf holds its "cover", a sum of second derivatives: with squared error that is the weight of its
    training rows, and its value the mean of their deviations from the base score, divided by the number of trees and
    shrunk by ``reg_lambda``. There is no sum of squared deviations: it is 0, the lower bound, with a warning.

    Parameters
    ----------
    model : xgboost.XGBRFRegressor or xgboost.Booster
        Fitted in one round, with objective "reg:squarederror". Refused are classifiers, whose covers are no counts;
        boosting, whose leaves correct each other; and splits on categories.

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
    >>> from xgboost import XGBRFRegressor  # doctest: +SKIP
    >>> from hedgerow.exchange import from_xgboost  # doctest: +SKIP
    >>> from sklearn.datasets import load_diabetes  # doctest: +SKIP
    >>> X, y = load_diabetes(return_X_y=True)  # doctest: +SKIP
    >>> from_xgboost(XGBRFRegressor(n_estimators=50).fit(X, y)).n_trees  # doctest: +SKIP
    50
    """
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    if not callable(getattr(booster, "save_config", None)):
        raise TypeError(f"model is {type(model).__name__}, must be a fitted XGBRFRegressor or Booster of xgboost")
    learner = json.loads(booster.save_config())["learner"]
    objective = learner["objective"]["name"]
    if objective != "reg:squarederror":
        raise ValueError(
            f"objective is {objective!r}, must be 'reg:squarederror': leaves of other objectives hold sums of second "
            "derivatives ('cover'), and neither counts of classes nor of rows"
        )
    if booster.num_boosted_rounds() != 1:
        raise ValueError(
            f"the model is boosted in {booster.num_boosted_rounds()} rounds, its leaves correct each other and hold no "
            "mean: fit XGBRFRegressor, or num_parallel_tree trees in one round"
        )
    warnings.warn(
        "XGBoost does not store how much the targets of a leaf vary: the sums of squared deviations in leaf_stats are "
        "0, their lower bounds",
        stacklevel=2,
    )
    dumps = [json.loads(tree) for tree in booster.get_dump(with_stats=True, dump_format="json")]
    base = float(learner["learner_model_param"]["base_score"].strip("[]"))
    n_features = int(learner["learner_model_param"]["num_feature"])
    names = booster.feature_names or [f"f{j}" for j in range(n_features)]
    column_of = {name: j for j, name in enumerate(names)}

    def ask(node: dict[str, Any]) -> NestedSplit | None:
        return _split(node, column_of)

    def leaf(node: dict[str, Any]) -> tuple[float, Sequence[float]]:
        return node["cover"], [node["cover"], base + len(dumps) * node["leaf"], 0.0]

    return lay_out([flatten(tree, ask, leaf) for tree in dumps], n_features, regression=True)


def _split(node: dict[str, Any], column_of: dict[str, int]) -> NestedSplit | None:
    if "leaf" in node:
        return None
    condition = node.get("split_condition")
    if not isinstance(condition, int | float):
        raise ValueError("the forest splits on categories, only x < t is supported: fit with numeric columns")
    yes, no = sorted(node["children"], key=lambda child: child["nodeid"] != node["yes"])
    threshold = float(thresholds_below(condition))
    return NestedSplit(column_of[node["split"]], threshold, node["missing"] == node["yes"], yes, no)
