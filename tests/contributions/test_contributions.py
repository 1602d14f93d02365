"""Contributions of columns: the core against the definition, and estimators against their own answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.datasets import load_iris
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier
from sklearn.frozen import FrozenEstimator

import hedgerow
from effort import examples
from hedgerow import Forest
from hedgerow.adapt import from_sklearn
from hedgerow.contributions import contribute
from hedgerow.data.columns import Column, Kind
from hedgerow.data.table import Schema
from hedgerow.folds import Additive
from hedgerow.forest.build import build_forest, leaf, oblique, threshold, value
from hedgerow.walk import LeafTable, fold
from oracles.contributions import shapley
from strategies import forests, mixed_data, rows_of

Floats = NDArray[np.float64]

_ONE_COLUMN = ("threshold", "one_against_rest", "subset", "multiway")


def _schema(n_features: int) -> Schema:
    return Schema(tuple(Column(f"x{j}", Kind.NUMERIC) for j in range(n_features)), named=False)


def _contribute(forest: Forest, rows: Floats, values: Floats, **options: Any) -> Any:
    n = values.shape[1]
    additive = Additive("sum", np.eye(n), np.zeros(n), by_class=True)
    return contribute(forest, rows, LeafTable.of(values), additive, _schema(forest.n_features), **options)


@st.composite
def _cases(draw: st.DrawFn) -> tuple[Forest, Floats, Floats, Floats]:
    forest = draw(forests(splits=_ONE_COLUMN, max_trees=2))
    seed, n_outputs = draw(st.integers(0, 100)), draw(st.integers(1, 3))
    values = np.random.default_rng(seed).normal(size=(forest.n_leaves, n_outputs))
    return forest, draw(rows_of(forest, max_rows=3)), draw(rows_of(forest, max_rows=2)), values


@settings(max_examples=examples(11, 40))
@given(_cases(), st.booleans(), st.booleans())
def test_values_and_pairs_are_those_of_the_definition(
    case: tuple[Forest, Floats, Floats, Floats], with_background: bool, interactions: bool
) -> None:
    """All kinds of nodes and policies, rows that are spread, weights of 0; errors stay at those of rounding."""
    forest, rows, others, values = case
    background = others if with_background else None
    found = _contribute(forest, rows, values, background=background, interactions=interactions)
    for i, row in enumerate(rows):
        base, phi, pairs = shapley(forest, values, row, background)
        np.testing.assert_allclose(found.base, base, atol=1e-11)
        np.testing.assert_allclose(found.values[i], phi, atol=1e-11)
        if interactions:
            np.testing.assert_allclose(found.interactions[i], pairs, atol=1e-11)


@settings(max_examples=examples(11, 40))
@given(_cases(), st.booleans())
def test_contributions_add_up_to_the_fold(case: tuple[Forest, Floats, Floats, Floats], with_background: bool) -> None:
    forest, rows, others, values = case
    found = _contribute(forest, rows, values, background=others if with_background else None)
    np.testing.assert_allclose(found.answers, fold(forest, rows, [LeafTable.of(values)])[0], atol=1e-11)


def test_a_column_that_is_missing_and_spread_contributes_nothing() -> None:
    tree = threshold(0, 0.5, threshold(1, 0.5, value(1.0), value(5.0)), value(2.0))
    forest = build_forest([tree], 2, regression=True)
    found = _contribute(forest, np.array([[np.nan, 1.0]]), forest.stats[:, 1:2])
    assert found.values[0, 0, 0] == pytest.approx(0.0, abs=1e-15)
    assert found.values[0, 1, 0] > 0


def test_a_path_of_many_columns_is_exact() -> None:
    """40 distinct columns on a path: more points than the usual number. Only columns on the path are worth anything."""
    node = value(1.0, weight=1.0)
    for feature in range(40):
        node = threshold(feature, 0.5, value(0.0, weight=1.0), node)
    forest = build_forest([node], 41, regression=True)
    rows = np.ones((2, 41))
    rows[1, 3] = np.nan
    found = _contribute(forest, rows, forest.stats[:, 1:2])
    np.testing.assert_allclose(found.answers, fold(forest, rows, [LeafTable.of(forest.stats[:, 1:2])])[0], atol=1e-13)
    assert found.values[0, 40, 0] == 0


def _models() -> dict[str, Any]:
    cautious = hedgerow.CautiousForestClassifier(8, aggregate="average", random_state=0)
    return {
        "forest": hedgerow.ForestClassifier(12, random_state=0),
        "weighted forest": hedgerow.ForestClassifier(
            12, tree_weights=np.arange(12.0), calibration=None, random_state=0
        ),
        "tempered forest": hedgerow.ForestClassifier(12, rule="tempered", nominal="multiway", random_state=0),
        "weighted evidence": hedgerow.ForestClassifier(
            8, rule="evidence", calibration=None, tree_weights=np.arange(8.0), random_state=0
        ),
        "subset forest": hedgerow.ForestClassifier(8, nominal="subset", rule="laplace", random_state=0),
        "random trees": hedgerow.RandomTreesClassifier(12, random_state=0),
        "published evidence": hedgerow.RandomTreesClassifier(8, rule="evidence-published", random_state=0),
        "vote": hedgerow.RandomTreesClassifier(8, rule="vote", random_state=0),
        "tree": hedgerow.TreeClassifier(),
        "cautious": cautious,
        "rule": hedgerow.RuleClassifier(hedgerow.TreeClassifier.cart(), rule="laplace"),
    }


def _answer(model: Any, X: Any, of: str) -> Floats:
    if of == "uncalibrated probability":
        model = hedgerow.RuleClassifier.from_fitted(model, rule="probability")
    if of == "log-odds":
        return np.asarray(model.decision_function(X))
    shares = np.asarray(model.predict_proba(X))
    return np.log(shares) - np.log(shares).mean(axis=1, keepdims=True) if of.startswith("centred") else shares


def _named_data() -> tuple[Any, Any]:
    import pandas as pd

    X, y = mixed_data(150)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    frame["d"] = frame["d"].map(lambda code: None if np.isnan(code) else "pqrst"[int(code)]).astype("category")
    return frame, y


@pytest.mark.parametrize("name", list(_models()))
@pytest.mark.parametrize("n_classes", [2, 3])
def test_contributions_add_up_to_the_answer_they_name(name: str, n_classes: int) -> None:
    """Also for missing values: rows that reach several leaves, mixed before or after logarithms."""
    X, y = _named_data()
    y = np.minimum(y, n_classes - 1)
    model = _models()[name].fit(X, y)
    for background in (None, X[100:110]):
        found = model.contributions(X[:40], background, interactions=background is None)
        np.testing.assert_allclose(found.answers, _answer(model, X[:40], found.of), atol=1e-9)
        if found.interactions is not None:
            np.testing.assert_allclose(found.interactions.sum(axis=2), found.values, atol=1e-11)
            np.testing.assert_allclose(found.interactions, np.swapaxes(found.interactions, 1, 2), atol=1e-12)


@pytest.mark.parametrize("model", [hedgerow.TreeRegressor(), hedgerow.ForestRegressor(10, random_state=0)], ids=repr)
def test_contributions_add_up_to_the_prediction(model: Any) -> None:
    X, y = _named_data()
    model.fit(X, y * 10.0 + np.arange(len(y)))
    found = model.contributions(X[:30], X[50:60])
    assert found.of == "prediction"
    np.testing.assert_allclose(found.answers, model.predict(X[:30]), rtol=1e-12)


def test_identical_results_for_any_n_jobs_and_any_rows_beside() -> None:
    X, y = _named_data()
    model = hedgerow.ForestClassifier(30, random_state=0).fit(X, y)
    for background in (None, X[:5]):
        found = model.contributions(X, background)
        alone = np.concatenate([model.contributions(X[i : i + 1], background).values for i in range(0, 150, 30)])
        several = model.set_params(n_jobs=2).contributions(X, background)
        assert found.values.tobytes() == several.values.tobytes()
        assert found.values[::30].tobytes() == alone.tobytes()


def test_errors_name_the_way_out() -> None:
    X, y = _named_data()
    forest = hedgerow.ForestClassifier(5, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"^background: The feature names should match.* missing: [^\n]*$"):
        forest.contributions(X[:2], X[["a", "b"]])
    with pytest.raises(ValueError, match=r"minimum of 1 is required|at least one"):
        forest.contributions(X[:2], X[:0])
    with pytest.raises(ValueError, match=r"rule dempster has no answer that adds up.*'probability'"):
        hedgerow.RandomTreesClassifier(5, rule="dempster", random_state=0).fit(X, y).contributions(X[:2])
    with pytest.raises(ValueError, match=r"three or more classes.*rule='probability'"):
        hedgerow.RandomTreesClassifier(5, rule="confidence", random_state=0).fit(X, y).contributions(X[:2])
    with pytest.raises(ValueError, match="set aggregate='average'"):
        hedgerow.CautiousForestClassifier(5, aggregate="vote", random_state=0).fit(X, y).contributions(X[:2])
    numbers, labels = load_iris(return_X_y=True)
    others = (hedgerow.BoundaryClassifier(), hedgerow.NaiveBayesTreeClassifier(), hedgerow.MeasuredTreeClassifier())
    for model in others:
        with pytest.raises(ValueError, match=f"{type(model).__name__} has no contributions"):
            model.fit(numbers, labels).contributions(numbers[:2])
    sloping = build_forest([oblique({0: 1.0, 1: 1.0}, 0.0, leaf([1, 0]), leaf([0, 1]))], 2)
    with pytest.raises(ValueError, match="oblique splits"):
        _contribute(sloping, np.zeros((1, 2)), sloping.counts)


def test_a_record_has_names_and_text() -> None:
    X, y = _named_data()
    forest = hedgerow.ForestClassifier(5, random_state=0).fit(X, np.array(["u", "v", "w"])[y])
    found = forest.contributions(X[:3])
    assert found.columns == ("a", "b", "c", "d")
    assert found.of_class("v").values.tobytes() == np.ascontiguousarray(found.values[..., 1]).tobytes()
    assert found.of_class().of == "uncalibrated probability of w"
    assert found.cell(0, 3) in {"p", "q", "r", "s", "t", "missing"}
    with pytest.raises(ValueError, match=r"class is 'x', must be one of \['u', 'v', 'w'\]"):
        found.of_class("x")


# -- against the shap package


@pytest.mark.parametrize("with_background", [False, True])
@pytest.mark.parametrize("kind", ["classifier", "regressor"])
def test_equal_to_shap_on_forests_of_scikit_learn(kind: str, with_background: bool) -> None:
    shap = pytest.importorskip("shap", reason="the shap package is not installed")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6)).astype(np.float32).astype(np.float64)  # as scikit-learn reads it: no ties by rounding
    y = X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=300)
    classes = {"classifier": RandomForestClassifier, "regressor": ExtraTreesRegressor}
    model = classes[kind](8, max_depth=7, random_state=0).fit(X, np.digitize(y, [-1, 1]) if kind == "classifier" else y)
    forest = from_sklearn(model)
    values = forest.counts / forest.counts.sum(axis=1, keepdims=True) if kind == "classifier" else forest.stats[:, 1:2]
    background = X[::10].copy() if with_background else None
    found = _contribute(forest, X[:20].copy(), values / forest.n_trees, background=background)
    way = "interventional" if with_background else "tree_path_dependent"
    theirs = shap.TreeExplainer(model, background, feature_perturbation=way).shap_values(X[:20], check_additivity=False)
    # shap adds the terms of background rows up in single precision.
    tolerance = 1e-6 if with_background else 1e-12
    np.testing.assert_allclose(found.values, np.asarray(theirs).reshape(found.values.shape), atol=tolerance)


def test_shap_draws_what_to_shap_gives() -> None:
    shap = pytest.importorskip("shap", reason="the shap package is not installed")
    X, y = load_iris(return_X_y=True)
    theirs = RandomForestClassifier(5, random_state=0).fit(X, y)
    model = hedgerow.RuleClassifier(FrozenEstimator(theirs)).fit(X, y)
    found = model.contributions(X[:10]).to_shap()
    assert isinstance(found, shap.Explanation)
    assert found.values.shape == (10, 4, 3)
    answer = found.base_values + found.values.sum(axis=1)
    np.testing.assert_allclose(answer, theirs.predict_proba(X[:10]), atol=1e-12)
