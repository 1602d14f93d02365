"""Fitted estimators in model files: what is stored, and checks of what is read."""

from __future__ import annotations

import inspect
import re
from functools import cache, partial
from typing import Any, TypeVar

import numpy as np
from sklearn.base import is_classifier

from hedgerow._criteria import CRITERIA
from hedgerow._registry import ModelFileError, register
from hedgerow.data.table import Schema
from hedgerow.folds.leaf_probability import leaf_probability
from hedgerow.forest.check import check_columns
from hedgerow.forest.forest import Forest
from hedgerow.rules import FoldRule, get
from hedgerow.walk import check_n_jobs

__all__ = ["check_fitted", "storable"]

Class = TypeVar("Class", bound=type)

# Caches, and what belongs to a session and not to a model: scikit-learn's callbacks and requests.
_NOT_STORED = frozenset({"_tables", "_device", "_engine", "_skl_callbacks", "_metadata_request"})
_FOUND_BY_FIT = re.compile(r"[a-z]([a-z0-9_]*[a-z0-9])?_|_impurity")


def storable(cls: Class) -> Class:
    """Decorator of a final estimator: models of this class can be saved, also as parts of others.

    Stored are its parameters and the attributes that `fit` set, whose names end with ``_``, except those in
    ``_made_again``. Its method ``_check_fitted`` raises an error unless they are consistent, and ``_restored`` also
    recreates what is not stored.
    """
    return register(cls, name=f"hedgerow.{cls.__name__}", take=_take, make=partial(_make, cls), is_model=True)


def _take(model: Any) -> dict[str, Any]:
    parameters = model.get_params(deep=False)
    left_out = {*parameters, *_NOT_STORED, *model._made_again}
    found = {name: value for name, value in vars(model).items() if name not in left_out}
    for name in found:
        if not _may_be_found(type(model), name):
            raise ModelFileError(f"its attribute {name} is neither a parameter nor found by fit (name_): delete it")
    if found:  # a model that is a parameter of another need not be fitted
        model._check_fitted()
    return {"parameters": parameters, "fitted": found}


def _make(cls: type, values: dict[str, Any]) -> Any:
    parameters, fitted = values["parameters"], values["fitted"]
    if unknown := set(parameters) - _parameters(cls):
        raise ModelFileError(f"{cls.__name__} has no parameter {min(map(str, unknown))!r}: install a newer hedgerow")
    model = cls(**parameters)
    for name, value in fitted.items():
        if not isinstance(name, str) or not _may_be_found(cls, name):
            raise ModelFileError(f"{cls.__name__} has no attribute {str(name)[:60]!r}")
        setattr(model, name, value)
    if fitted:
        model._restored()
    return model


@cache
def _parameters(cls: type) -> frozenset[str]:
    return frozenset(inspect.signature(cls).parameters)


def _may_be_found(cls: type, name: str) -> bool:
    return _FOUND_BY_FIT.fullmatch(name) is not None and not hasattr(cls, name)


# --- Checks ---------------------------------------------------------------------------------------------------


def check_fitted(model: Any) -> None:
    """Check that a model can predict: its parts are consistent, and its parameters valid."""
    _check_columns(model)
    if is_classifier(model):
        _check_classes(model)
    elif model.forest_.leaf_stats is None or model._impurity != "squared_error":
        raise ValueError("a regressor needs the forest of one")
    if "column_deviation_" in vars(model):
        _check_weights("column_deviation_", model.column_deviation_, model.forest_.n_features, "columns")
    if "leaf_samples_" in vars(model) and len(model.leaf_samples_.start) != model.forest_.n_leaves + 1:
        raise ValueError("its leaf samples are those of another forest")
    if "leaf_targets_" in vars(model) and len(model.leaf_targets_.start) != model.forest_.n_leaves + 1:
        raise ValueError("leaf_targets_ are those of another tree")
    _check_parameters(model)


def _check_columns(model: Any) -> None:
    if not isinstance(model.forest_, Forest) or not isinstance(model.schema_, Schema):
        raise ValueError("forest_ or schema_ is something else")
    n_features = model.forest_.n_features
    if model.schema_.n_features != n_features or model.n_features_in_ != n_features:
        raise ValueError(f"its forest has {n_features} columns, and its schema another number")
    check_columns(model.forest_, model.schema_.n_categories)
    ranges = vars(model).get("training_range_")
    if ranges is not None and not _is_range_of_columns(ranges, n_features):
        raise ValueError("training_range_ has no least and largest value for each column")
    names = getattr(model, "feature_names_in_", None)
    if names is not None and list(names) != list(model.schema_.names):
        raise ValueError("feature_names_in_ are not the names of its columns")


def _check_classes(model: Any) -> None:
    classes, n_classes = model.classes_, model.forest_.n_classes
    if not isinstance(classes, np.ndarray) or classes.shape != (n_classes,) or model.n_classes_ != n_classes:
        raise ValueError(f"classes_ are not the labels of {n_classes} classes")
    if not (classes[1:] > classes[:-1]).all():
        raise ValueError("classes_ do not increase")
    _check_weights("class_prior_", model.class_prior_, n_classes)
    if not abs(model.class_prior_.sum() - 1) < 1e-9:
        raise ValueError("class_prior_ does not add up to 1")
    if "class_count_" in vars(model):
        _check_weights("class_count_", model.class_count_, n_classes)
    unit = vars(model).get("weight_unit_", 1.0)
    if not isinstance(unit, float) or not 0 < unit < np.inf:
        raise ValueError("weight_unit_ must be a positive number")
    if model._impurity not in {criterion.impurity for criterion in CRITERIA.values()}:
        raise ValueError("it has no impurity of classes")


def _is_range_of_columns(ranges: Any, n_features: int) -> bool:
    if not isinstance(ranges, np.ndarray) or ranges.dtype != np.float64 or ranges.shape != (n_features, 2):
        return False
    return not (ranges[:, 0] > ranges[:, 1]).any()


def _check_weights(name: str, weights: Any, n: int, of: str = "classes") -> None:
    if not isinstance(weights, np.ndarray) or weights.dtype != np.float64 or weights.shape != (n,):
        raise ValueError(f"{name} has no number for each of {n} {of}")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError(f"{name} must be finite and not negative")


def _check_parameters(model: Any) -> None:
    """Check the parameters that predicting uses: a file must not load and fail later."""
    parameters = _parameters(model.__class__)
    if "rule" in parameters:
        get(model.rule)
        if not isinstance(vars(model).get("rule_"), FoldRule | None):
            raise ValueError("rule_ is not a rule")
    if "leaf_probability" in parameters:
        leaf_probability(model.leaf_probability)
    model.get_tree_weights()
    check_n_jobs(getattr(model, "n_jobs", None))
