"""Forests of ydf and LightGBM as a Forest, where those are installed; and what is refused of them and of XGBoost."""

from __future__ import annotations

import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

from hedgerow.adapt import from_lightgbm, from_sklearn, from_xgboost, from_ydf
from hedgerow.exchange.layout import NestedSplit, flatten, lay_out
from hedgerow.forest.kinds import MissingPolicy, NodeKind
from hedgerow.walk import LeafTable, fold, route

Matrix = NDArray[np.float64]


def installed(name: str) -> Any:
    with warnings.catch_warnings(action="ignore"):
        return pytest.importorskip(name)


def with_holes(X: Matrix, share: float = 0.1) -> Matrix:
    return np.where(np.random.default_rng(0).random(X.shape) < share, np.nan, X)


def rows_at_thresholds(forest: Any, X: Matrix) -> Matrix:
    rng = np.random.default_rng(0)
    inner = np.flatnonzero(forest.kind == NodeKind.THRESHOLD)
    rows = []
    for value in (
        forest.threshold[inner],
        np.nextafter(forest.threshold[inner], np.inf),
        forest.threshold[inner].astype(np.float32).astype(np.float64),
    ):
        some = X[rng.integers(len(X), size=len(inner))].copy()
        some[np.arange(len(inner)), forest.feature[inner]] = value
        rows.append(some)
    return np.concatenate(rows)


# -- nested nodes


def test_nested_nodes_are_flattened() -> None:
    nested = (0, 0.5, (1, 1.5, [2, 0], [0, 3]), [2, 2])

    def ask(node: Any) -> NestedSplit | None:
        return NestedSplit(node[0], node[1], node[0] == 0, node[2], node[3]) if isinstance(node, tuple) else None

    tree = flatten(nested, ask, lambda row: (sum(row), row))
    forest = lay_out([tree, flatten([1, 4], ask, lambda row: (sum(row), row))], n_features=2)
    assert forest.weight.tolist() == [9, 5, 4, 2, 3, 5]
    assert forest.counts.tolist() == [[2, 2], [2, 0], [0, 3], [1, 4]]
    assert forest.missing[:2].tolist() == [MissingPolicy.FIRST_CHILD, MissingPolicy.LAST_CHILD]


# -- ydf


def ydf_frame(X: Matrix, y: Any) -> pd.DataFrame:
    return pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]).assign(y=y)


@pytest.fixture
def ydf() -> Any:
    module = installed("ydf")
    module.verbose(0)
    return module


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
@pytest.mark.parametrize("holes", [False, True])
def test_random_forests_of_ydf_keep_counts_and_ways(ydf: Any, load: Any, holes: bool) -> None:
    X, y = load(return_X_y=True)
    X = with_holes(X) if holes else X
    names = np.array(["a", "b", "c"])[y]
    model = ydf.RandomForestLearner(label="y", num_trees=12, winner_take_all=False).train(ydf_frame(X, names))
    forest = from_ydf(model)
    np.testing.assert_allclose(forest.weight[forest.tree_start[:-1]], len(X))
    np.testing.assert_allclose(forest.counts.sum(axis=1), forest.weight[forest.leaf_nodes])
    rows = np.concatenate([X, with_holes(X, 0.3), rows_at_thresholds(forest, X)])
    shares = LeafTable.of(forest.counts / forest.counts.sum(axis=1, keepdims=True))
    found = fold(forest, rows, [shares])[0] / forest.n_trees
    theirs = model.predict(ydf_frame(rows, "a"))
    expected = np.stack([1 - theirs, theirs], axis=1) if theirs.ndim == 1 else theirs
    np.testing.assert_allclose(found, expected, atol=1e-5)  # theirs is float32
    leaves = model.predict_leaves(ydf_frame(rows, "a"))
    for ours, other in zip(route(forest, rows).T, leaves.T, strict=True):
        assert len(set(zip(ours.tolist(), other.tolist(), strict=True))) == len(set(ours.tolist())) == len(set(other))


@pytest.mark.filterwarnings("ignore")
def test_regression_forests_of_ydf_keep_means_and_squares(ydf: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    learner = ydf.RandomForestLearner(
        label="y", num_trees=5, task=ydf.Task.REGRESSION, bootstrap_training_dataset=False
    )
    model = learner.train(ydf_frame(X, y))
    forest = from_ydf(model)
    found = fold(forest, X, [LeafTable.of(forest.stats[:, 1:2])])[0][:, 0] / forest.n_trees
    np.testing.assert_allclose(found, model.predict(ydf_frame(X, y)), rtol=1e-5)
    leaves = route(forest, X)[:, 0]
    for leaf in range(int(forest.leaf_start[1])):
        here = y[leaves == leaf]
        expected = [len(here), here.mean(), ((here - here.mean()) ** 2).sum()]
        np.testing.assert_allclose(forest.stats[leaf], expected, rtol=1e-4, atol=1e-2)


@pytest.mark.filterwarnings("ignore")
def test_other_models_of_ydf_are_refused(ydf: Any) -> None:
    X, y = load_iris(return_X_y=True)
    frame = ydf_frame(X, y)
    boosted = ydf.GradientBoostedTreesLearner(label="y", num_trees=2).train(frame)
    with pytest.raises(TypeError, match="GradientBoostedTreesModel for CLASSIFICATION, must be a random forest of ydf"):
        from_ydf(boosted)
    coloured = frame.assign(colour=np.array(["red", "green", "blue"])[y])
    nominal = ydf.RandomForestLearner(label="y", num_trees=3).train(coloured)
    with pytest.raises(ValueError, match="a CategoricalIsInCondition, only conditions on numbers"):
        from_ydf(nominal)


def test_what_is_not_of_ydf_is_refused() -> None:
    with pytest.raises(TypeError, match="model is str, must be a random forest of ydf"):
        from_ydf("forest")


# -- LightGBM


def lightgbm_forest(lightgbm: Any, kind: str = "LGBMRegressor", **settings: Any) -> Any:
    mode = {"boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.6, "n_estimators": 8, "n_jobs": 1}
    return getattr(lightgbm, kind)(**{**mode, "verbose": -1, **settings})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("holes", [False, True])
def test_regression_forests_of_lightgbm_keep_means_and_ways(holes: bool) -> None:
    lightgbm = installed("lightgbm")
    X, y = load_diabetes(return_X_y=True)
    training = with_holes(X) if holes else X
    model = lightgbm_forest(lightgbm).fit(training, y)
    with pytest.warns(UserWarning, match="LightGBM does not store how much the targets of a leaf vary"):
        forest = from_lightgbm(model)
    nearly_zero = X[:5].copy()
    nearly_zero[:] = np.array([1e-35, -1e-35, np.float32(1e-35), -np.float32(1e-35), -1.1e-35])[:, np.newaxis]
    rows = np.concatenate([X, with_holes(X), rows_at_thresholds(forest, X), nearly_zero])
    found = fold(forest, rows, [LeafTable.of(forest.stats[:, 1:2])])[0][:, 0] / forest.n_trees
    np.testing.assert_allclose(found, model.predict(rows), rtol=1e-12)
    roots = [tree["tree_structure"]["internal_count"] for tree in model.booster_.dump_model()["tree_info"]]
    np.testing.assert_allclose(forest.weight[forest.tree_start[:-1]], roots)
    assert from_lightgbm(model.booster_) == forest


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        ("LGBMClassifier", {}, "objective is 'binary sigmoid:1', must be 'regression'"),
        ("LGBMRegressor", {"objective": "mae"}, "objective is 'regression_l1'"),
        ("LGBMRegressor", {"boosting_type": "gbdt"}, "the model is boosted.*fit with boosting_type='rf'"),
        ("LGBMRegressor", {"zero_as_missing": True}, "zeros for missing values: fit with zero_as_missing=False"),
        ("LGBMRegressor", {"categorical_feature": [0]}, "splits on categories"),
        ("LGBMRegressor", {"min_child_samples": 10_000}, "a tree has no split"),
    ],
)
def test_other_models_of_lightgbm_are_refused(kind: str, settings: dict[str, Any], message: str) -> None:
    lightgbm = installed("lightgbm")
    X, y = load_breast_cancer(return_X_y=True)
    X[:, 0] = np.arange(len(X)) % 7
    model = lightgbm_forest(lightgbm, kind, **settings).fit(X, y + (X[:, 0] % 2 if kind == "LGBMRegressor" else 0))
    with pytest.raises(ValueError, match=message):
        from_lightgbm(model)


def test_what_is_not_of_lightgbm_is_refused() -> None:
    with pytest.raises(TypeError, match="model is str, must be a fitted LGBMRegressor or Booster of lightgbm"):
        from_lightgbm("forest")


# -- XGBoost


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("named", [False, True])
def test_regression_forests_of_xgboost_keep_means_and_ways(holes: bool, named: bool) -> None:
    xgboost = installed("xgboost")
    X, y = load_diabetes(return_X_y=True)
    weight = np.random.default_rng(0).choice([0.5, 1.0, 3.0], len(y))
    training = with_holes(X) if holes else X
    rename = (lambda rows: ydf_frame(rows, 0).drop(columns="y")) if named else (lambda rows: rows)
    model = xgboost.XGBRFRegressor(n_estimators=8, subsample=1.0, n_jobs=1, random_state=0)
    model.fit(rename(training), y, sample_weight=weight)
    with pytest.warns(UserWarning, match="XGBoost does not store how much the targets of a leaf vary"):
        forest = from_xgboost(model)
    rows = np.concatenate([X, with_holes(X), rows_at_thresholds(forest, X)])
    found = fold(forest, rows, [LeafTable.of(forest.stats[:, 1:2])])[0][:, 0] / forest.n_trees
    np.testing.assert_allclose(found, model.predict(rename(rows)), rtol=1e-5)  # theirs is float32
    leaves = model.apply(rename(rows))
    for ours, other in zip(route(forest, rows).T, leaves.T, strict=True):
        assert len(set(zip(ours.tolist(), other.tolist(), strict=True))) == len(set(ours.tolist())) == len(set(other))
    np.testing.assert_allclose(forest.weight[forest.tree_start[:-1]], weight.sum())
    reached = route(forest, training)[:, 0]
    means = [np.average(y[reached == leaf], weights=weight[reached == leaf]) for leaf in range(forest.leaf_start[1])]
    np.testing.assert_allclose(forest.stats[: forest.leaf_start[1], 1], means, rtol=1e-4)  # but for reg_lambda
    assert from_xgboost(model.get_booster()) == forest


@pytest.mark.filterwarnings("ignore")
def test_other_models_of_xgboost_are_refused() -> None:
    xgboost = installed("xgboost")
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(ValueError, match="objective is 'binary:logistic', must be 'reg:squarederror'"):
        from_xgboost(xgboost.XGBRFClassifier(n_estimators=2, n_jobs=1).fit(X, y))
    with pytest.raises(ValueError, match=r"the model is boosted in 3 rounds.*fit XGBRFRegressor"):
        from_xgboost(xgboost.XGBRegressor(n_estimators=3, n_jobs=1).fit(X, y))
    coloured = pd.DataFrame({"colour": pd.Categorical(np.array(["red", "green", "blue"] * 200)[: len(y)])})
    target = coloured["colour"].cat.codes
    nominal = xgboost.XGBRFRegressor(n_estimators=2, enable_categorical=True, n_jobs=1).fit(coloured, target)
    with pytest.raises(ValueError, match="splits on categories, only x < t is supported"):
        from_xgboost(nominal)


def test_what_is_not_of_xgboost_is_refused() -> None:
    with pytest.raises(TypeError, match="model is str, must be a fitted XGBRFRegressor or Booster of xgboost"):
        from_xgboost("forest")


# -- who can read what


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ("xgboost.sklearn", "is read by hedgerow.adapt.from_xgboost"),
        ("lightgbm.sklearn", "is read by hedgerow.adapt.from_lightgbm"),
        ("ydf.model", "is read by hedgerow.adapt.from_ydf"),
    ],
)
def test_models_of_other_libraries_are_refused_with_the_way_out(module: str, message: str) -> None:
    model = type("Forest", (SimpleNamespace,), {"__module__": module})()
    with pytest.raises(TypeError, match=f"model is a Forest, must be one of scikit-learn's .*{message}"):
        from_sklearn(model)
