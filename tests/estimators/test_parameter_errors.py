"""Whatever a parameter is set to, fit works or its error names the parameter."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import hedgerow
from hedgerow import (
    BoundaryClassifier,
    CautiousClassifier,
    CautiousForestClassifier,
    ConformalClassifier,
    ConformalRegressor,
    ForestClassifier,
    ForestRegressor,
    MeasuredBoostingClassifier,
    MeasuredBoostingRegressor,
    MeasuredForestClassifier,
    MeasuredForestRegressor,
    MeasuredTreeClassifier,
    MeasuredTreeRegressor,
    NaiveBayesTreeClassifier,
    ObliqueForestClassifier,
    ObliqueTreeClassifier,
    ObliqueTreeRegressor,
    RandomTreesClassifier,
    RuleClassifier,
    TreeClassifier,
    TreeRegressor,
    measured,
)
from hedgerow.credal import Belief
from hedgerow.growth import ChiSquare, Fractional
from hedgerow.probability import MEstimate
from hedgerow.pruning import CostComplexity, Pessimistic, ReducedError
from hedgerow.rules import Dempster, Evidence, Mixture

ESTIMATORS = [
    TreeClassifier(),
    TreeRegressor(),
    ForestClassifier(2),
    ForestRegressor(2),
    RandomTreesClassifier(2),
    RuleClassifier(TreeClassifier()),
    CautiousClassifier(TreeClassifier()),
    CautiousForestClassifier(n_estimators=2),
    ConformalClassifier(ForestClassifier(4), 0.5),
    ConformalRegressor(ForestRegressor(4), 0.5),
    BoundaryClassifier(),
    ObliqueTreeClassifier(),
    ObliqueTreeRegressor(),
    ObliqueForestClassifier(2),
    NaiveBayesTreeClassifier(),
    MeasuredBoostingClassifier(n_estimators=2),
    MeasuredBoostingRegressor(n_estimators=2),
    MeasuredForestClassifier(n_estimators=2),
    MeasuredForestRegressor(n_estimators=2),
    MeasuredTreeClassifier(),
    MeasuredTreeRegressor(),
]

STRANGE = [
    *(None, "x", "", b"x", float("inf"), float("nan"), -1, 0, True, 1 + 2j, 10**30, object(), TreeClassifier),
    *([], [1], [None], [[]], {}, {"a": 1}, set(), np.array([1.0, 2.0]), np.array(["a", "b"]), np.full((2, 2), np.nan)),
]
X = np.random.default_rng(0).normal(size=(40, 3))
Y = (X[:, 0] + X[:, 1] > 0).astype(int)


def refusal(model: Any, otherwise: str) -> str:
    """The message with which a model refuses to be fitted, or to answer; `otherwise` if it does neither."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, Y).predict(X[:3])
    except (ValueError, TypeError) as error:
        return str(error)
    return otherwise


def test_all_estimators_are_tried() -> None:
    known = {name for name in hedgerow.__all__ if hasattr(getattr(hedgerow, name), "fit")}
    assert {type(estimator).__name__ for estimator in ESTIMATORS} == known


@pytest.mark.parametrize(
    ("estimator", "name"),
    [(estimator, name) for estimator in ESTIMATORS for name in estimator.get_params(deep=False)],
    ids=lambda given: given if isinstance(given, str) else type(given).__name__,
)
def test_strange_values_work_or_are_refused_by_name(estimator: Any, name: str) -> None:
    for value in STRANGE:
        if name == "n_estimators" and isinstance(value, int) and value > 2:
            continue  # many trees are what was asked for
        if name == "oob_score" and callable(value):
            continue  # raises its own error
        model = clone(estimator).set_params(**{name: value})
        assert name in refusal(model, otherwise=name), f"{name}={value!r}"


STRATEGIES = [
    *((Fractional, "min_fraction"), (ChiSquare, "level"), (MEstimate, "m")),
    *((Pessimistic, "confidence"), (Pessimistic, "raising"), (ReducedError, "fraction"), (ReducedError, "order")),
    *((CostComplexity, "alpha"), (CostComplexity, "folds"), (CostComplexity, "standard_errors")),
    *((measured.CostComplexity, "alpha"), (measured.CostComplexity, "folds")),
    *((Dempster, "prior"), (Evidence, "correction"), (Evidence, "toward"), (Evidence, "reliability")),
    *((Mixture, "centre"), (Belief, "weighting"), (measured.Pinball, "level")),
]


@pytest.mark.parametrize(("strategy", "name"), STRATEGIES)
def test_strange_parameters_of_strategies_are_refused_by_name(strategy: Any, name: str) -> None:
    def made(value: Any) -> str:
        try:
            strategy(**{name: value})
        except (ValueError, TypeError) as error:
            return str(error)
        return name

    for value in STRANGE:
        assert name in made(value), f"{name}={value!r}"


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (TreeClassifier(class_weight=[1]), r"class_weight is \[1\], must be a dict"),
        (TreeClassifier(class_weight={0: "a", 1: 1}), "class_weight of class 0 is 'a', must be a number"),
        (CautiousClassifier(0), "estimator is 0, must be a classifier made of trees"),
        (ForestClassifier(n_jobs=np.inf), "n_jobs is inf, must be None, a positive number of threads"),
        (ForestClassifier(bootstrap="no"), "bootstrap is 'no', must be True or False"),
        (ForestClassifier(oob_score="yes"), "oob_score is 'yes', must be True or False, or a function"),
        (ForestClassifier(max_samples=10**30), "max_samples is 1000000000000000000000000000000, must be"),
        (TreeClassifier(random_state=-1), "random_state is -1, must be None, a whole number in 0 .. 4294967295"),
        (TreeClassifier(cost_matrix="x"), "cost_matrix is 'x', must be an array of numbers"),
        (TreeClassifier(cost_priors=1), "cost_priors is 1, must be True or False"),
    ],
    ids=repr,
)
def test_refusals_say_what_to_do(estimator: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        estimator.fit(X, Y)
