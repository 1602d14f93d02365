"""Models as ONNX: the same answer of the runtime for every row, thresholds at equality included, and clear refusals."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

from hedgerow import (
    ForestClassifier,
    ForestRegressor,
    RandomTreesClassifier,
    RuleClassifier,
    TreeClassifier,
    TreeRegressor,
)
from hedgerow.exchange.onnx import to_onnx
from hedgerow.forest.build import build_forest, leaf, oblique
from hedgerow.forest.kinds import MissingPolicy, NodeKind
from hedgerow.probability import MEstimate
from hedgerow.walk import spread

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
Matrix = NDArray[np.float64]


def run(model: Any, X: Matrix) -> dict[str, Any]:
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return dict(zip([one.name for one in session.get_outputs()], session.run(None, {"X": X}), strict=True))


def rows_at_thresholds(model: Any, X: Matrix) -> Matrix:
    """Rows with a value at a threshold, and next to it on both sides."""
    rng = np.random.default_rng(0)
    inner = np.flatnonzero((model.forest_.kind == NodeKind.THRESHOLD) & np.isfinite(model.forest_.threshold))
    rows = X[rng.integers(len(X), size=3 * len(inner))].copy()
    t, columns = model.forest_.threshold[inner], model.forest_.feature[inner]
    for number, values in enumerate((t, np.nextafter(t, -np.inf), np.nextafter(t, np.inf))):
        rows[np.arange(len(inner)) + number * len(inner), columns] = values
    return rows


def assert_classifies_alike(model: Any, X: Matrix, **how: Any) -> None:
    rows = np.concatenate([X, rows_at_thresholds(model, X)])
    found = run(to_onnx(model, **how), rows)
    expected = model.predict_proba(rows)
    np.testing.assert_allclose(found["probabilities"], expected, rtol=0, atol=1e-13)
    ordered = np.sort(expected, axis=1)
    clear = np.ones(len(rows), dtype=bool) if expected.shape[1] == 1 else ordered[:, -1] - ordered[:, -2] > 1e-9
    assert (found["label"] == model.predict(rows))[clear].all()


THEIRS = [
    RuleClassifier(RandomForestClassifier(12, random_state=0), rule="probability"),
    RuleClassifier(ExtraTreesClassifier(8, max_depth=6, random_state=0), rule="probability"),
    RuleClassifier(DecisionTreeClassifier(random_state=0), rule="laplace"),
]
OURS = [
    TreeClassifier.cart(max_depth=4),
    TreeClassifier(leaf_probability=MEstimate(3)),
    ForestClassifier(12, random_state=0),
    ForestClassifier(5, rule="laplace", tree_weights=[1, 2, 3, 0, 5], max_depth=3, random_state=0),
    RandomTreesClassifier(6, rule="probability", random_state=0),
    RuleClassifier(ForestClassifier(6, missing="learned", random_state=0), rule="probability"),
]


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
@pytest.mark.parametrize("estimator", [*OURS, *THEIRS], ids=repr)
def test_every_row_gets_the_same_probabilities(estimator: Any, load: Any) -> None:
    X, y = load(return_X_y=True)
    assert_classifies_alike(estimator.fit(X[::2], y[::2]), X, missing="nan")


@pytest.mark.parametrize("estimator", THEIRS, ids=repr)
def test_missing_values_go_the_same_way(estimator: Any) -> None:
    X, y = load_iris(return_X_y=True)
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    holes[y == 2, 2] = np.nan  # so that trees ask only whether the value is known
    for training in (holes, X):
        assert_classifies_alike(estimator.fit(training, y), holes)


def test_learned_sides_of_missing_values_are_kept() -> None:
    X = np.array([[0.0], [1.0], [np.nan], [np.nan]] * 5)
    model = TreeClassifier.cart().fit(X, [0, 1, 1, 1] * 5)
    assert (model.forest_.missing[0], model.forest_.n_leaves) == (MissingPolicy.LAST_CHILD, 2)
    assert run(to_onnx(model), X[:4])["label"].tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize("seed", range(5))
def test_spread_forests_answer_nan_where_a_value_is_missing(seed: int) -> None:
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(seed)
    model = (ForestClassifier, RandomTreesClassifier)[seed % 2](7, rule="probability", random_state=seed).fit(X, y)
    assert_classifies_alike(model, X, missing="nan")
    holes = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    found = run(to_onnx(model, missing="nan"), holes)["probabilities"]
    missing = np.isnan(holes).any(axis=1)
    assert np.isnan(found[missing]).all()
    np.testing.assert_allclose(found[~missing], model.predict_proba(X)[~missing], atol=1e-13)


@pytest.mark.parametrize(
    "estimator",
    [
        TreeRegressor(missing="learned", min_samples_leaf=3),
        ForestRegressor(10, missing="learned", random_state=0),
        ForestRegressor(10, random_state=0),
    ],
    ids=repr,
)
def test_every_row_gets_the_same_number(estimator: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    model = estimator.fit(X[::2], y[::2])
    rows = np.concatenate([X, rows_at_thresholds(model, X)])
    found = run(to_onnx(model, missing="nan"), rows)["prediction"]
    assert found.shape == (len(rows),)
    np.testing.assert_allclose(found, model.predict(rows), rtol=1e-13)


def test_inputs_keep_all_their_digits() -> None:
    x = np.array([1.0, 1.0 + 2**-52, 1.0 + 2**-51, 1.0 + 2**-50])[:, np.newaxis]  # one number in float32
    model = TreeClassifier.cart().fit(x, [0, 1, 0, 1])
    assert run(to_onnx(model, missing="nan"), x)["label"].tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize(
    "classes",
    [[3, 7], ["no", "yes"], [False, True], [1.0, 2.0], ["one", "three", "two"], ["only"]],
    ids=repr,
)
def test_labels_of_every_type_come_back(classes: list[Any]) -> None:
    X = np.arange(30.0)[:, np.newaxis]
    y = np.array(classes)[np.arange(30) * len(classes) // 30]
    model = TreeClassifier.cart().fit(X, y)
    assert run(to_onnx(model, missing="nan"), X)["label"].tolist() == y.tolist()


def test_labels_that_onnx_has_not_are_refused() -> None:
    model = TreeClassifier.cart().fit([[0.0], [1.0]], np.array(["2020-01-01", "2021-01-01"], dtype="M8[D]"))
    with pytest.raises(ValueError, match=r"classes are .*2020.*ONNX has labels of numbers, text or truth values"):
        to_onnx(model, missing="nan")


def test_trees_that_are_a_leaf_are_walked_too() -> None:
    X = np.array([[0.0], [1.0], [2.0]])
    for model in (TreeClassifier().fit(X, [1, 1, 1]), TreeRegressor(max_depth=1, min_samples_leaf=2).fit(X, [1, 2, 4])):
        found = run(to_onnx(model), X)
        np.testing.assert_allclose(found.get("probabilities", found.get("prediction")).ravel(), model.predict(X))


def attributes_of_trees(model: Any) -> dict[str, Any]:
    (node,) = [node for node in model.graph.node if node.op_type == "TreeEnsemble"]
    return {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
@pytest.mark.parametrize("holes", [0.0, 0.1])
def test_a_leaf_never_has_the_number_of_the_node_beside_it(load: Any, holes: float) -> None:
    # onnxruntime 1.21 to 1.23 takes a root with such children for a leaf.
    X, y = load(return_X_y=True)
    X = np.where(np.random.default_rng(1).random(X.shape) < holes, np.nan, X)
    for estimator in (TreeClassifier.cart(), ForestClassifier(20, missing="learned", random_state=0)):
        trees = attributes_of_trees(to_onnx(estimator.fit(X, y), missing="nan"))
        equal = np.array(trees["nodes_truenodeids"]) == np.array(trees["nodes_falsenodeids"])
        assert not (equal & (np.array(trees["nodes_trueleafs"]) != np.array(trees["nodes_falseleafs"]))).any()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_only_rows_that_are_spread_get_nan_where_sides_were_learned(n_classes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 4))
    y = (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=400) > [[0.5], [1.5]][: n_classes - 1]).sum(axis=0)
    holes = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    model = TreeClassifier.cart().fit(holes, y)
    rows = np.where(rng.random(X.shape) < 0.3, np.nan, rng.normal(size=X.shape))
    found = run(to_onnx(model, missing="nan"), rows)["probabilities"]
    n_leaves = (spread(model.forest_, rows).todense() > 0).sum(axis=1)
    assert 0 < (n_leaves > 1).mean() < 0.3
    np.testing.assert_array_equal(np.isnan(found), np.repeat(n_leaves[:, np.newaxis] > 1, n_classes, axis=1))
    np.testing.assert_allclose(found[n_leaves == 1], model.predict_proba(rows)[n_leaves == 1], atol=1e-13)


# -- refusals


def colours() -> tuple[pd.DataFrame, list[int]]:
    return pd.DataFrame({"colour": ["red", "green", "blue"] * 5, "size": np.arange(15.0)}), [0, 1, 1] * 5


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (TreeClassifier().fit(*colours()), "column 'colour' is nominal: an ONNX model reads numbers"),
        (
            ForestClassifier(3, random_state=0).fit([[0.0], [1.0]] * 9, [0, 1] * 9),
            r"divides rows with missing values over branches.*'nan'",
        ),
        (RandomTreesClassifier(3).fit([[0.0], [1.0]], [0, 1]), "rule is 'tempered', and ONNX's trees can only average"),
        (
            TreeClassifier(missing="category").fit([[0.0], [1.0], [np.nan]] * 4, [0, 1, 2] * 4),
            "missing values have a branch of their own",
        ),
    ],
)
def test_what_onnx_has_not_is_refused(model: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        to_onnx(model)


def test_other_splits_are_refused() -> None:
    model = TreeClassifier().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    model.forest_ = build_forest([oblique({0: 1.0, 1: 1.0}, 0.5, leaf([1, 0]), leaf([0, 1]))], n_features=2)
    with pytest.raises(ValueError, match="the forest has oblique nodes, ONNX export knows only thresholds"):
        to_onnx(model)


def test_other_things_are_refused() -> None:
    with pytest.raises(TypeError, match="model is str, must be a fitted classifier or regressor of hedgerow"):
        to_onnx("forest")
    with pytest.raises(TypeError, match=r'scikit-learn pass RuleClassifier.from_fitted\(model, rule="probability"\)'):
        to_onnx(RandomForestClassifier(2).fit([[0.0], [1.0]], [0, 1]))
    with pytest.raises(NotFittedError):
        to_onnx(TreeClassifier())
    with pytest.raises(ValueError, match="missing is 'drop', must be 'refuse' or 'nan'"):
        to_onnx(TreeClassifier().fit([[0.0], [1.0]], [0, 1]), missing="drop")


def test_where_onnx_is_not_installed_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", refuse)
    with pytest.raises(ImportError, match=r"pip install 'hedgerow\[onnx\]'"):
        to_onnx(TreeClassifier.cart().fit([[0.0], [1.0]], [0, 1]), missing="nan")
