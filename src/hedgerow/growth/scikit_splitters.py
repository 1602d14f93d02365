"""Linear models of scikit-learn that a model file may name: those that an oblique tree was made with."""

from __future__ import annotations

from functools import partial
from typing import Any

from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Perceptron,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
    SGDRegressor,
)
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR

from hedgerow._registry import register


def _parameters(model: Any) -> dict[str, Any]:
    found: dict[str, Any] = model.get_params(deep=False)
    return found


def _make(cls: Any, parameters: dict[str, Any]) -> Any:
    return cls().set_params(**parameters)  # an unknown parameter, of another version, is an error


for _cls in (
    *(LinearDiscriminantAnalysis, LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier, LinearSVC, SVC),
    *(ElasticNet, HuberRegressor, Lasso, LinearRegression, Ridge, SGDRegressor, LinearSVR, SVR),
):
    register(_cls, name=f"sklearn.{_cls.__name__}", take=_parameters, make=partial(_make, _cls))
