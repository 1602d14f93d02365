"""The walker in the browser answers as the model does in Python: to 1e-12, with missing values and new categories."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes
from sklearn.ensemble import ExtraTreesClassifier

from codegen.test_code import holes, mixed
from hedgerow import (
    CautiousClassifier,
    CautiousForestClassifier,
    ConformalClassifier,
    ConformalRegressor,
    ForestClassifier,
    ForestRegressor,
    ObliqueForestClassifier,
    ObliqueTreeRegressor,
    RandomTreesClassifier,
    RuleClassifier,
    TreeClassifier,
    TreeRegressor,
)
from hedgerow.report.whatif import whatif_data
from report.browser.chrome import Browser
from report.browser.page import write_page

TOLERANCE = 1e-12

_ANSWERS = """
const walker = new hedgerow.Walker(arguments[0]);
return arguments[1].map((given) => {
  const row = given.map((value) => value ?? NaN);
  const text = JSON.stringify(walker.answer(row), (_, value) => Math.abs(value) === Infinity ? String(value) : value);
  return {...JSON.parse(text), leaves: walker.route(row)};
});
"""


@pytest.fixture(scope="module")
def walk(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Any, Any, Any], list[dict[str, Any]]]:
    """Ask the walker about rows: ``walk(model, X, rows)`` with X those that the page is made of."""
    empty = tmp_path_factory.mktemp("walker") / "page.html"
    browser.open(write_page(empty, {}, [], scripts=("walker.js",)))

    def ask(model: Any, X: Any, rows: Any) -> list[dict[str, Any]]:
        (packed,) = whatif_data(model, X)["models"]
        values = [[None if value != value else value for value in row] for row in model._read(rows).tolist()]
        answers: list[dict[str, Any]] = browser.run(_ANSWERS, packed, values)
        return answers

    yield ask
    assert browser.complaints() == []
    assert browser.network_requests() == []


def numbers(answers: list[dict[str, Any]], name: str) -> Any:
    return np.array([one[name] for one in answers], dtype=object).astype(float)


def assert_agree(model: Any, answers: list[dict[str, Any]], rows: Any) -> None:
    """Everything that the walker says about the rows is what the model says."""
    exact = {"rtol": 0, "atol": TOLERANCE}
    if hasattr(model, "classes_"):
        np.testing.assert_allclose(numbers(answers, "probabilities"), model.predict_proba(rows), **exact)
        assert [model.classes_[one["code"]] for one in answers] == model.predict(rows).tolist()
    else:
        scale = max(1.0, float(np.abs(model.predict(rows)).max()))
        np.testing.assert_allclose(numbers(answers, "value") / scale, model.predict(rows) / scale, **exact)
        deviation = getattr(model, "estimator_", model).predict_uncertainty(rows).total
        np.testing.assert_allclose(numbers(answers, "deviation") / scale, deviation / scale, **exact)
    if hasattr(model, "predict_bounds") and not isinstance(model, ConformalClassifier):
        np.testing.assert_allclose(numbers(answers, "bounds"), model.predict_bounds(rows), **exact)
    if hasattr(model, "predict_set"):
        assert [one["set"] for one in answers] == model.predict_set(rows).tolist()
    if hasattr(model, "predict_interval"):
        np.testing.assert_allclose(numbers(answers, "interval"), model.predict_interval(rows), rtol=1e-12)
    if hasattr(model, "apply"):
        assert [one["leaves"] for one in answers] == model.apply(rows).reshape(len(rows), -1).tolist()


def forest(n: int = 12, **settings: Any) -> ForestClassifier:
    return ForestClassifier(n, random_state=0, **settings)


MODELS: dict[str, Callable[[], Any]] = {
    "one tree": TreeClassifier,
    "subsets": lambda: TreeClassifier.cart(nominal="subset", max_leaf_nodes=30),
    "missing values in branches of their own": lambda: TreeClassifier(missing="category", max_leaf_nodes=30),
    "one against the rest, costs": lambda: TreeClassifier(
        nominal="binary", cost_matrix=[[0, 1, 2], [3, 0, 1], [1, 7, 0]]
    ),
    "a calibrated forest": forest,
    "a forest of multiway splits": lambda: forest(nominal="multiway"),
    "weighted trees": lambda: forest(3, calibration=None, tree_weights=[1.0, 0.0, 2.5]),
    "oblique trees": lambda: ObliqueForestClassifier(5, random_state=0),
    "random trees, tempered evidence": lambda: RandomTreesClassifier(20, random_state=0),
    **{
        f"rule {rule}": lambda rule=rule: RuleClassifier(forest(calibration=None), rule=rule)
        for rule in (
            *("laplace", "plausibility", "confidence", "vote", "pool", "dempster", "cautious", "evidence"),
            "evidence-published",
        )
    },
    **{
        f"cautious forest, {aggregate}": lambda aggregate=aggregate: CautiousForestClassifier(
            10, aggregate=aggregate, weighting="samples", s=2, random_state=0
        )
        for aggregate in ("average", "belief", "vote", "conjunction", "disjunction")
    },
    "learned weights": lambda: CautiousForestClassifier(10, weighting="learned", random_state=0),
    **{
        f"conformal, {score}": lambda score=score, groups=groups: ConformalClassifier(
            forest(), conformity_score=score, groups=groups, coverage=0.8, randomized=False
        )
        for score, groups in (("lac", None), ("aps", "class"), ("raps", "grade"))
    },
    "conformal bounds": lambda: ConformalClassifier(
        CautiousForestClassifier(8, random_state=0), conformity_score="bounds", allow_empty=True
    ),
}


@pytest.mark.filterwarnings("ignore:the trees have no distribution in common")
@pytest.mark.parametrize("name", MODELS)
def test_classes(name: str, walk: Any) -> None:
    X, y = mixed(220)
    model = MODELS[name]().fit(X, y)
    rows = pd.concat([X, holes(X)], ignore_index=True)
    assert_agree(model, walk(model, X, rows), rows)


NUMBERS: dict[str, Callable[[], Any]] = {
    "one tree": TreeRegressor,
    "an oblique tree": ObliqueTreeRegressor,
    "a forest with quantiles": lambda: ForestRegressor(10, random_state=0),
    "normalized": lambda: ConformalRegressor(ForestRegressor(10, random_state=0)),
    "absolute, lower": lambda: ConformalRegressor(TreeRegressor(), conformity_score="absolute", sides="lower"),
    "moved quantiles, groups": lambda: ConformalRegressor(
        ForestRegressor(10, random_state=0), conformity_score="cqr", groups="sex", sides="each", coverage=0.8
    ),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers(name: str, walk: Any) -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X, y = X[:200], y[:200]
    model = NUMBERS[name]().fit(X, y)
    rows = pd.concat([X, holes(X)], ignore_index=True)
    assert_agree(model, walk(model, X, rows), rows)


def test_two_classes_and_a_forest_of_another_library(walk: Any) -> None:
    X, y = mixed(200)
    numeric = X[["_age"]].fillna(50.0).to_numpy()
    rows = np.linspace(10, 90, 200)[:, np.newaxis]
    theirs = ExtraTreesClassifier(10, random_state=0).fit(numeric, y == "yes")
    for model in (
        CautiousClassifier.from_fitted(theirs, s=2, aggregate="belief"),
        RuleClassifier.from_fitted(theirs, rule="dempster"),
    ):
        assert_agree(model, walk(model, numeric, rows), rows)


def test_weights_of_training_rows_that_were_spread(walk: Any) -> None:
    """Node weights are not sums of the leaves' where rows with missing values were divided."""
    X, y = mixed(220)
    X = holes(X.replace({"new": None}))
    model = TreeClassifier(pruning=None).fit(X, y)
    forest = model.forest_
    model.forest_ = replace(forest, weight=forest.weight * np.linspace(1, 2, forest.n_nodes))  # nothing adds up
    rows = holes(X, seed=5)
    answers = walk(model, X, rows)
    assert_agree(model, answers, rows)


def test_smaller_forests_answer_as_the_page_says(walk: Any, browser: Browser, tmp_path: Path) -> None:
    X, y = mixed(400)
    model = RandomTreesClassifier(60, random_state=0).fit(X, y)
    (packed,) = whatif_data({"random trees": model}, X, most_bytes=30_000)["models"]
    assert packed["agreement"]["n_rows"] == 400
    rows = model._read(X)
    values = [[None if value != value else value for value in row] for row in rows.tolist()]
    found = numbers(browser.run(_ANSWERS, packed, values), "probabilities")
    whole = model.predict_proba(X)
    assert abs(packed["agreement"]["mean_difference"] - np.abs(found - whole).mean()) < TOLERANCE
    assert packed["agreement"]["same_label"] == (found.argmax(axis=1) == whole.argmax(axis=1)).mean()
