"""Trees, random forests, extra trees and bagged trees of scikit-learn, through their documented arrays."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from hedgerow._arrays import Floats
from hedgerow.exchange.layout import BinaryTree, lay_out
from hedgerow.exchange.thresholds import widened_thresholds
from hedgerow.forest.forest import Forest

__all__ = ["from_sklearn"]

_ACCEPTED = (
    "decision trees and extra trees (DecisionTree*, ExtraTree*), random forests and forests of extra trees "
    "(RandomForest*, ExtraTrees*), and bagging of trees (Bagging*)"
)
# Hints for models of other libraries with scikit-learn's interface.
_ELSEWHERE = {
    "lightgbm": "; a regression forest of LightGBM is read by hedgerow.adapt.from_lightgbm",
    "ydf": "; a random forest of ydf is read by hedgerow.adapt.from_ydf",
    "xgboost": "; a regression forest of XGBoost is read by hedgerow.adapt.from_xgboost",
}
# Criteria whose impurity is the variance of the targets, so that impurity · weight is their sum of squared deviations.
_VARIANCE = ("squared_error", "friedman_mse")


def from_sklearn(model: Any, *, widen: bool = True) -> Forest:
    """A fitted tree, forest or bagging of trees of scikit-learn as a Forest that routes every row alike.

    Parameters
    ----------
    model : DecisionTree*, ExtraTree*, RandomForest*, ExtraTrees* or Bagging* (Classifier or Regressor)
        Fitted, with one output, and without monotonicity constraints, which change the values of leaves. Bagging must
        be of trees; `max_features` and `bootstrap_features` are taken into account.
    widen : bool, default=True
        False keeps the thresholds as the model shows them, for distances to them; see below.

    Returns
    -------
    Forest
        The trees, in the order of ``model.estimators_``.

    Raises
    ------
    TypeError
        If the model is no tree, forest or bagging of trees of scikit-learn.
    ValueError
        If it has several outputs, or constraints that change the values of leaves.

    Notes
    -----
    *Thresholds.* scikit-learn tests float32(x) ≤ t. The Forest tests x ≤ t′ with t′ the largest double that rounds to a
    float32 ≤ t, so that every float64 x takes the same branch.

    *Missing values* go to the first child where ``tree_.missing_go_to_left`` says so, else to the last. (A model that
    was fitted without missing values has the larger child there.)

    *Counts.* ``tree_.value`` holds counts in some releases of scikit-learn and shares in others: its rows are divided
    by their sum and multiplied by ``tree_.weighted_n_node_samples``. Class weights are part of them.

    *Numbers.* A leaf of a regression tree holds weight, mean and sum of squared deviations, impurity · weight for
    `squared_error` and `friedman_mse`. Other criteria do not store the latter: then it is the least that the impurity
    i leaves possible, weight · i² for `absolute_error` (whose value is the median, in place of the mean) and 0 for
    `poisson`, and a warning says so.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier(max_depth=1, random_state=0).fit(*load_iris(return_X_y=True))
    >>> from hedgerow.exchange import from_sklearn
    >>> from_sklearn(tree).counts
    array([[50.,  0.,  0.],
           [ 0., 50., 50.]])
    """
    members = _members(model)
    first = members[0].estimator
    if first.tree_.n_outputs > 1:
        raise ValueError(
            f"{_name(model)} was fitted with {first.tree_.n_outputs} outputs, a Forest has one: fit one model for each"
        )
    _refuse_constraints(model, first)
    if is_classifier(model):
        trees = [_tree(model, one, _class_counts(model, one), widen) for one in members]
        return lay_out(trees, model.n_features_in_)
    _warn_of_unknown_squares(first)
    trees = [_tree(model, one, _statistics(one), widen) for one in members]
    return lay_out(trees, model.n_features_in_, regression=True)


@dataclass(frozen=True)
class _Member:
    """A fitted tree of a model, and the model's columns that it uses; None: all."""

    estimator: Any
    columns: NDArray[np.int64] | None = None


def _members(model: Any) -> list[_Member]:
    # Slow to import; whoever has such a model has imported it already.
    from sklearn import ensemble, tree

    trees = (tree.DecisionTreeClassifier, tree.DecisionTreeRegressor)  # ExtraTree* are special cases of these
    forests = (
        *(ensemble.RandomForestClassifier, ensemble.RandomForestRegressor),
        *(ensemble.ExtraTreesClassifier, ensemble.ExtraTreesRegressor),
    )
    bagging = (ensemble.BaggingClassifier, ensemble.BaggingRegressor)
    if not isinstance(model, (*trees, *forests, *bagging)):
        elsewhere = _ELSEWHERE.get(type(model).__module__.partition(".")[0], "")
        raise TypeError(f"model is {_article(model)}, must be one of scikit-learn's {_ACCEPTED}{elsewhere}")
    check_is_fitted(model)
    if isinstance(model, trees):
        return [_Member(model)]
    if isinstance(model, forests):
        return [_Member(one) for one in model.estimators_]
    for one in model.estimators_:
        if not isinstance(one, trees):
            raise TypeError(f"model is {_article(model)} of {_name(one)}, must be one of scikit-learn's {_ACCEPTED}")
    return _bagged(model.estimators_, model.estimators_features_)


def _bagged(estimators: Sequence[Any], columns: Sequence[Any]) -> list[_Member]:
    return [_Member(one, np.asarray(chosen, dtype=np.int64)) for one, chosen in zip(estimators, columns, strict=True)]


def _refuse_constraints(model: Any, tree: Any) -> None:
    constraints = getattr(tree, "monotonic_cst", None)
    if constraints is not None and np.any(constraints):
        raise ValueError(
            f"{_name(model)} was fitted with monotonic_cst={constraints!r}, which moves the values of leaves away from "
            "what their training rows say: fit it with monotonic_cst=None"
        )


def _tree(model: Any, member: _Member, leaf_row: Floats, widen: bool) -> BinaryTree:
    tree = member.estimator.tree_
    if not (np.isfinite(leaf_row).all() and (tree.weighted_n_node_samples > 0).all()):
        raise ValueError(
            f"{_name(model)} has a node whose training weight is not positive: fit it without negative weights"
        )
    feature = np.maximum(tree.feature, 0)  # leaves have negative ones
    return BinaryTree(
        left=tree.children_left,
        right=tree.children_right,
        feature=feature if member.columns is None else member.columns[feature],
        threshold=widened_thresholds(tree.threshold) if widen else tree.threshold,
        missing_left=tree.missing_go_to_left,
        weight=tree.weighted_n_node_samples,
        leaf_row=leaf_row,
    )


def _class_counts(model: Any, member: _Member) -> Floats:
    """Weighted counts of the model's classes in each node."""
    tree = member.estimator.tree_
    values = tree.value[:, 0, :]
    with np.errstate(invalid="ignore", divide="ignore"):
        counts: Floats = values / values.sum(axis=1, keepdims=True) * tree.weighted_n_node_samples[:, np.newaxis]
    if (counts < 0).any():
        raise ValueError(f"{_name(model)} has negative counts of a class: fit it without negative weights")
    n_classes = len(model.classes_)
    if counts.shape[1] == n_classes:
        return counts
    # A bagged tree has not seen all classes; those that it has seen are the positions of the model's.
    wide = np.zeros((len(counts), n_classes))
    wide[:, member.estimator.classes_.astype(np.int64)] = counts
    return wide


def _statistics(member: _Member) -> Floats:
    """Weight, mean and sum of squared deviations of the training targets in each node."""
    tree = member.estimator.tree_
    weight, impurity = tree.weighted_n_node_samples, np.maximum(tree.impurity, 0.0)  # rounding may leave -1e-17
    least = {"absolute_error": weight * impurity**2}.get(member.estimator.criterion, np.zeros_like(weight))
    squares = weight * impurity if member.estimator.criterion in _VARIANCE else least
    return np.stack([weight, tree.value[:, 0, 0], squares], axis=1)


def _warn_of_unknown_squares(tree: Any) -> None:
    if tree.criterion not in _VARIANCE:
        warnings.warn(
            f"trees with criterion={tree.criterion!r} do not store how much the targets of a leaf vary: the sums of "
            "squared deviations in leaf_stats are lower bounds; fit with criterion='squared_error' to have them",
            stacklevel=3,  # the line that called from_sklearn
        )


def _name(model: Any) -> str:
    return type(model).__name__


def _article(model: Any) -> str:
    if isinstance(model, type):
        return f"the class {model.__name__}"
    name = _name(model)
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"
