"""Random forests of ydf (Yggdrasil Decision Forests), whose leaves have class counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hedgerow.exchange.layout import NestedSplit, flatten, lay_out
from hedgerow.exchange.thresholds import thresholds_below
from hedgerow.forest.forest import Forest

__all__ = ["from_ydf"]

_NUMERICAL = "NumericalHigherThanCondition"


def from_ydf(model: Any) -> Forest:
    """A random forest of ydf, for classes or numbers, as a Forest that routes every row alike.

    Columns are in the order of ``model.input_feature_names()``, classes in that of ``model.label_classes()``; leaves
    hold the counts, or weight, mean and squared deviations, that ydf stores.

    Parameters
    ----------
    model : ydf.RandomForestModel
        With conditions on numbers alone (x ≥ t in float32; a missing value goes where the node says). Conditions on
        categories, sets, truth values or several columns are refused, and so are gradient-boosted trees and isolation
        forests, whose leaves hold no counts.

    Returns
    -------
    Forest
        The trees, in the order of the model.

    Raises
    ------
    TypeError
        If the model is no random forest for classes or numbers.

    Examples
    --------
    >>> import pandas as pd, ydf  # doctest: +SKIP
    >>> frame = pd.read_csv("patients.csv")  # doctest: +SKIP
    >>> from hedgerow.exchange import from_ydf  # doctest: +SKIP
    >>> model = ydf.RandomForestLearner(label="ill", num_trees=50).train(frame)  # doctest: +SKIP
    >>> from_ydf(model).n_trees  # doctest: +SKIP
    50
    """
    name = type(model).__name__
    if not callable(getattr(model, "get_all_trees", None)):
        raise TypeError(f"model is {name}, must be a random forest of ydf (ydf.RandomForestLearner(...).train(...))")
    task = str(getattr(model.task(), "name", model.task()))
    if model.name() != "RANDOM_FOREST" or task not in ("CLASSIFICATION", "REGRESSION"):
        raise TypeError(f"model is {name} for {task}, must be a random forest of ydf for CLASSIFICATION or REGRESSION")
    column_of = {feature.column_idx: j for j, feature in enumerate(model.input_features())}
    leaf = _leaf_counts if task == "CLASSIFICATION" else _leaf_statistics
    trees = [flatten(tree.root, lambda node: _split(node, column_of), leaf) for tree in model.get_all_trees()]
    return lay_out(trees, len(column_of), regression=task == "REGRESSION")


def _split(node: Any, column_of: dict[int, int]) -> NestedSplit | None:
    if node.is_leaf:
        return None
    condition = node.condition
    kind = type(condition).__name__
    if kind != _NUMERICAL:
        raise ValueError(
            f"the forest has a {kind}, only conditions on numbers ({_NUMERICAL}) are read: train it on numeric columns"
        )
    # The negative child takes x < t.
    threshold = float(thresholds_below(condition.threshold))
    return NestedSplit(column_of[condition.attribute], threshold, not condition.missing, node.neg_child, node.pos_child)


def _leaf_counts(node: Any) -> tuple[float, Sequence[float]]:
    n = node.value.num_examples
    return n, [n * share for share in node.value.probability]


def _leaf_statistics(node: Any) -> tuple[float, Sequence[float]]:
    value = node.value
    return value.num_examples, [value.num_examples, value.value, value.num_examples * value.standard_deviation**2]
