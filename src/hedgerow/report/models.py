"""Default models of a report, and requirements on models that are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from hedgerow import (
    BoundaryClassifier,
    CautiousForestClassifier,
    ForestClassifier,
    ForestRegressor,
    MeasuredForestClassifier,
    MeasuredForestRegressor,
    MeasuredTreeClassifier,
    MeasuredTreeRegressor,
    RandomTreesClassifier,
    TreeClassifier,
    TreeRegressor,
)
from hedgerow.estimators.contract import Responder, offers

__all__ = ["compared_models", "deciding_name", "drawn_name", "is_fitted", "named_models"]

_READABLE = 20  # leaves of a tree that a person reads


def compared_models(
    classification: bool, *, numeric: bool, sigma: Mapping[str, Any] | None = None, n_jobs: int | None = -1
) -> dict[str, Any]:
    """Return unfitted models by name, the readable tree first.

    `numeric` is whether all inputs are numbers, which boundary probabilities need; `sigma` the errors of inputs that
    were measured with error, which measured trees and forests need.
    """
    many: dict[str, Any] = {"n_jobs": n_jobs, "random_state": 0}
    if not classification:
        models: dict[str, Any] = {
            "readable tree": TreeRegressor(max_leaf_nodes=_READABLE, random_state=0),
            "forest": ForestRegressor(**many),
        }
        if sigma:
            models["measured tree"] = MeasuredTreeRegressor(sigma=sigma)
            models["measured forest"] = MeasuredForestRegressor(sigma=sigma, **many)
        return models
    tree = TreeClassifier(max_leaf_nodes=_READABLE, random_state=0)
    models = {
        "readable tree": tree,
        "forest": ForestClassifier(**many),
        "random trees": RandomTreesClassifier(**many),
        "cautious forest": CautiousForestClassifier(s="u80", **many),
    }
    if numeric:
        models["boundary"] = BoundaryClassifier(tree)
    if sigma:
        models["measured tree"] = MeasuredTreeClassifier(sigma=sigma)
        models["measured forest"] = MeasuredForestClassifier(sigma=sigma, **many)
    return models


def named_models(given: Any) -> dict[str, Any]:
    """Return models by name: those of a mapping, or one or several models named by their classes."""
    if isinstance(given, Mapping):
        found = {str(name): model for name, model in given.items()}
    elif isinstance(given, Sequence):
        found = {}
        for model in given:
            name = type(model).__name__
            found[name if name not in found else f"{name} {len(found) + 1}"] = model
    else:
        found = {type(given).__name__: given}
    if not found:
        raise ValueError("model is empty: pass a model, or several in a list or by name in a dict")
    for model in found.values():
        if isinstance(model, type) or not (isinstance(model, Responder) and offers(model, "explain")):
            raise TypeError(
                f"model is {model!r}, must be an estimator of hedgerow; wrap forests of other libraries by "
                "RuleClassifier.from_fitted"
            )
    if len({is_classifier(model) for model in found.values()}) > 1:
        raise ValueError("models are classifiers and regressors: a page is about one kind")
    assert all(is_classifier(model) or is_regressor(model) for model in found.values())
    return found


def is_fitted(model: Any) -> bool:
    """Whether a model has been fitted."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def deciding_name(models: Mapping[str, Any]) -> str:
    """Name of the model whose answers the page is about: the first that answers with sets or intervals, or the first.

    Several trees go before a single one: what they disagree about is the reason to doubt.
    """

    def rank(name: str) -> tuple[bool, bool]:
        model = models[name]
        with_sets = offers(model, "predict_set") or offers(model, "predict_interval")
        return not with_sets, "n_estimators" not in model.get_params(deep=True)

    return min(models, key=rank)


def drawn_name(models: Mapping[str, Any], deciding: str) -> str:
    """Name of the fitted model whose tree is drawn: the first that is a single tree, or the deciding one."""
    return next((name for name, model in models.items() if model.forest_.n_trees == 1), deciding)
