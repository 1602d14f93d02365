"""BoundaryClassifier: its probabilities from the distances one by one, scikit-learn's contract, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from effort import daily
from hedgerow import (
    BoundaryClassifier,
    ForestClassifier,
    NaiveBayesTreeClassifier,
    TreeClassifier,
    boundary,
    checks,
)
from hedgerow.boundary.decision_boundary import DecisionBoundary
from hedgerow.forest.build import build_forest, leaf, oblique
from hedgerow.probability import MEstimate
from oracles import boundary as truth

BOTH = ("distance", "position")
PAPERS: dict[str, Any] = {"bandwidth": 0.1, "boundary_weight": 1}
NAN = math.nan


def test_every_parameter_changes_something() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 4))
    y = np.digitize(X[:, 0] + X[:, 1] ** 2 + rng.normal(size=700) / 2, [0.5, 2])
    X[rng.random(X.shape) < 0.05] = NAN
    changes = {
        "estimator": TreeClassifier(max_depth=2),
        "metric": "minmax",
        "bandwidth": 0.07,
        "boundary_weight": 0.3,
        "kernel": "box",
        "partition": "separator",
        "features": BOTH,
        "decide": "tree",
        "tolerance": 1e-2,
    }
    checks.check_every_parameter_changes_something(BoundaryClassifier(TreeClassifier(max_depth=4)), changes, X, y)


# -- the estimate, one by one


def expected_probabilities(model: Any, forest: Any, X: Any, y: Any, weight: Any, Q: Any) -> Any:
    """Algorithm 3 with equation 2, for each row and class, from the oracle's distances."""
    labels = forest.counts.argmax(axis=1).tolist()
    areas, walls, scale = truth.Areas(forest), DecisionBoundary.of(forest), model.scale_

    def distances(rows: Any) -> tuple[Any, Any]:
        parts = walls.fractions(rows)
        h = [
            [truth.algebraic_distance(areas, rows[i], int(own), labels, c, scale) for c in range(forest.n_classes)]
            for i, own in zip(parts.rows, parts.leaves, strict=True)
        ]
        return parts, np.array(h)

    parts, h = distances(X)
    amount, label = weight[parts.rows] * parts.weights, y[parts.rows]
    separators = walls.separator_numbers(walls.measure(X, scale))
    new, places = distances(Q)
    crossed = walls.separator_numbers(walls.measure(Q, scale))
    laplace = (forest.counts + 1) / (forest.counts.sum(axis=1, keepdims=True) + forest.n_classes)
    out = np.zeros((len(Q), forest.n_classes))
    for part, (i, own) in enumerate(zip(new.rows, new.leaves, strict=True)):
        p = np.empty(forest.n_classes)
        for c in range(forest.n_classes):
            usable = np.isfinite(h[:, c])
            if not np.isfinite(places[part, c]) or not usable.any():
                p[c] = laplace[own, c]
                continue
            width = 0.1 * (h[usable, c].max() - h[usable, c].min()) or 0.1
            subset = {
                "global": usable,
                "separator": usable & (separators[:, c] == crossed[part, c]),
                "leaf": usable & (parts.leaves == own),
            }[model.partition]
            subset = subset if subset.any() else usable
            weights = amount[subset, None] * np.stack([label[subset] == c, label[subset] != c], axis=1)
            p[c] = truth.share(model.kernel, h[subset][:, [c]], weights, np.array([width]), np.array([places[part, c]]))
        p = laplace[own] if p.sum() == 0 else p / p.sum()
        out[i] += new.weights[part] * p
    return out


@pytest.mark.parametrize("partition", ["global", "separator", "leaf"])
@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
@pytest.mark.parametrize("n_classes", daily((3,), (2, 3)))
def test_probabilities_are_those_of_algorithm_3(partition: str, kernel: str, n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(70, 3))
    y = np.digitize(X[:, 0] + X[:, 1] ** 2 + rng.normal(size=70) / 2, [0.5, 2][: n_classes - 1])
    X[:, 2] = rng.integers(0, 3, size=70)
    X[rng.random(X.shape) < 0.05] = NAN
    weight = rng.uniform(0.5, 2, size=70)
    tree = TreeClassifier(categorical_features=[2], max_depth=4).fit(X, y, weight)
    model = BoundaryClassifier.from_fitted(tree, X, y, weight, partition=partition, kernel=kernel, **PAPERS)
    Q = np.concatenate([rng.normal(size=(12, 3)) * [2, 2, 0] + [0, 0, 1], [[NAN, NAN, NAN], [1e6, 0, 2], [0, NAN, 1]]])
    rows = model.schema_.read(X)
    expected = expected_probabilities(model, tree.forest_, rows, y, weight, model.schema_.read(Q))
    np.testing.assert_allclose(model.predict_proba(Q), expected, atol=1e-9)


def test_two_classes_have_one_boundary() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = BoundaryClassifier(DecisionTreeClassifier(max_leaf_nodes=8, random_state=0), **PAPERS).fit(X, y)
    distance = model.algebraic_distance(X)
    np.testing.assert_array_equal(distance[:, 0], -distance[:, 1])
    assert model.bandwidth_[0] == model.bandwidth_[1]
    np.testing.assert_allclose(model.bandwidth_, 0.1 * np.ptp(distance, axis=0))
    assert ((distance[:, 1] < 0) == (model.estimator_.predict(X) == 1)).all()


def test_the_tree_stays_as_it_is() -> None:
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier(max_leaf_nodes=4, random_state=0).fit(X, y)
    before = tree.tree_.__getstate__()["nodes"].tobytes()
    for frozen in (
        BoundaryClassifier.from_fitted(tree, X, y, decide="tree"),
        BoundaryClassifier(FrozenEstimator(tree), decide="tree").fit(X, y),
    ):
        assert frozen.estimator_ is tree
        np.testing.assert_array_equal(frozen.predict(X), tree.predict(X))
        np.testing.assert_array_equal(frozen.forest_.counts[frozen.apply(X)], frozen.leaf_counts(X)[:, 0])
        probable = frozen.set_params(decide="probability").predict(X)
        np.testing.assert_array_equal(probable, frozen.predict_proba(X).argmax(axis=1))
    assert tree.tree_.__getstate__()["nodes"].tobytes() == before
    fitted = BoundaryClassifier(clone(tree), bandwidth=0.1, boundary_weight=0.5).fit(X, y)
    assert checks.outputs(fitted, X) == checks.outputs(frozen, X)


def test_a_class_that_labels_no_leaf_has_its_laplace_frequency() -> None:
    X = np.repeat([[0.0], [1.0]], 20, axis=0)
    y = np.array([0] * 19 + [2] + [1] * 18 + [2] * 2)
    model = BoundaryClassifier(TreeClassifier(max_depth=1), **PAPERS).fit(X, y)
    h = model.algebraic_distance(X)
    assert (h[:, 2] == np.inf).all()
    p = model.predict_proba([[0.0]])[0]
    shares = np.array([19 / 20, 0, 2 / 23])  # two bandwidths of a tenth apart: e^-50 of the other side
    np.testing.assert_allclose(p, shares / shares.sum(), atol=1e-12)


def test_sample_weights_are_copies() -> None:
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(80, 3)), rng.integers(0, 4, size=80)
    y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
    for settings in ({}, {"partition": "separator", "features": BOTH}, {"metric": "minmax", "kernel": "box"}):
        weighted = BoundaryClassifier(TreeClassifier(max_depth=3), **settings).fit(X, y, weight)
        copied = BoundaryClassifier(TreeClassifier(max_depth=3), **settings)
        copied.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
        np.testing.assert_allclose(weighted.scale_, copied.scale_)
        np.testing.assert_allclose(weighted.predict_proba(X), copied.predict_proba(X), atol=1e-9)


def test_cross_validation_takes_the_likeliest_bandwidth() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(300, 1))
    y = (rng.random(300) < 1 / (1 + np.exp(-8 * X[:, 0]))).astype(int)
    tree = DecisionTreeClassifier(max_depth=1).fit(X, y)
    model = BoundaryClassifier.from_fitted(tree, X, y, bandwidth="cv")
    h = model.algebraic_distance(X)[:, [1]]
    weights = np.stack([y == 1, y != 1], axis=1).astype(float)

    def likelihood(fraction: float) -> float:
        width = np.array([fraction * np.ptp(h)])
        p = np.array([truth.share("gaussian", h, weights, width, h[i], i) for i in range(len(h))])
        return float(np.log(np.where(y == 1, p, 1 - p)).sum())

    fractions = boundary.CrossValidated().fractions
    best = max(fractions, key=likelihood)
    np.testing.assert_allclose(model.bandwidth_, best * np.ptp(h))
    assert best not in (fractions[0], fractions[-1])


def test_own_scales_and_absolute_bandwidths() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    precision = dict.fromkeys(X.columns, 0.05)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    by_name = BoundaryClassifier(tree, metric=precision, bandwidth=boundary.Absolute(2.0)).fit(X, y)
    by_place = BoundaryClassifier(tree, metric=[0.05] * 4, bandwidth=boundary.Absolute(2.0)).fit(X, y)
    assert by_name.scale_.tolist() == [0.05] * 4
    assert by_name.bandwidth_.tolist() == [2.0] * 3
    assert checks.outputs(by_name, X) == checks.outputs(by_place, X)
    feature, at = by_name.nearest_separator(X)
    same = boundary.nearest_separator(by_name.estimator_, X, scale=[0.05] * 4)
    np.testing.assert_array_equal(feature, same.feature)
    np.testing.assert_array_equal(at, same.threshold)


def test_nominal_columns_and_their_weight() -> None:
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], size=300)
    size = rng.normal(size=300)
    frame = pd.DataFrame({"size": size, "colour": colour})
    y = (size + (colour == "red") + rng.normal(size=300) / 2 > 0.5).astype(int)
    light, heavy = (
        BoundaryClassifier(TreeClassifier(max_depth=3), metric=boundary.Standard(nominal_weight=w)).fit(frame, y)
        for w in (0.01, 10.0)
    )
    assert light.scale_[1] == 100
    assert heavy.scale_[1] == 0.1
    assert (np.abs(light.algebraic_distance(frame)) <= np.abs(heavy.algebraic_distance(frame)) + 1e-12).all()
    assert roc_auc_score(y, heavy.predict_proba(frame)[:, 1]) > 0.85


def test_positions_tell_rows_apart_that_distances_do_not() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(2000, 2))
    y = (rng.random(2000) < np.where(X[:, 1] > 0, 0.95, 0.55)).astype(int) ^ (X[:, 0] < 0)
    tree = DecisionTreeClassifier(max_depth=1).fit(X, y)
    assert tree.tree_.feature[0] == 0
    plain, placed = (
        BoundaryClassifier.from_fitted(tree, X, y, partition="separator", features=features, **PAPERS)
        for features in (("distance",), BOTH)
    )
    Q = np.array([[0.5, 0.7], [0.5, -0.7]])
    p, q = plain.predict_proba(Q)[:, 1], placed.predict_proba(Q)[:, 1]
    assert p[0] == p[1]
    np.testing.assert_allclose(q, [0.95, 0.55], atol=0.06)


@pytest.mark.parametrize("settings", [{"cost_matrix": [[0, 1], [20, 0]]}, {"leaf_probability": MEstimate(40.0)}])
def test_areas_are_those_of_the_trees_own_answers(settings: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] + rng.normal(size=300) > 1).astype(int)
    plain = TreeClassifier(max_depth=3, pruning=None).fit(X, y)
    tree = TreeClassifier(max_depth=3, pruning=None, **settings).fit(X, y)
    assert (plain.predict(X) != tree.predict(X)).any()
    distance = BoundaryClassifier.from_fitted(tree, X, y).algebraic_distance(X)[:, 1]
    assert ((distance <= 0) == (tree.predict(X) == 1))[distance != 0].all()


def test_branches_without_rows_answer_as_their_parents() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"kind": rng.choice(list("abcd"), size=200), "size": rng.normal(size=200)})
    frame.loc[frame["size"] < 0, "kind"] = frame["kind"].where(frame["kind"] != "d", "a")
    y = ((frame["size"] < 0) & (frame["kind"] == "b")) | (frame["size"] > 1)
    tree = TreeClassifier.c45(pruning=None).fit(frame, y)
    model = BoundaryClassifier.from_fitted(tree, frame, y)
    rows = pd.DataFrame({"kind": list("abcd") * 2, "size": [-1.0] * 4 + [2.0] * 4})
    inside = model.algebraic_distance(rows)[:, 1] <= 0
    np.testing.assert_array_equal(inside, tree.predict(rows))
    np.testing.assert_allclose(model.predict_proba(rows).sum(axis=1), 1)


def test_ordinal_columns_count_by_rank() -> None:
    levels = ["low", "mid", "high", "top"]
    grade = pd.Categorical(np.repeat(levels, 10), categories=levels, ordered=True)
    frame, y = pd.DataFrame({"grade": grade}), np.repeat([0, 0, 1, 1], 10)
    model = BoundaryClassifier(TreeClassifier(max_depth=1), metric=[1.0]).fit(frame, y)
    at = model.forest_.threshold[0]
    np.testing.assert_allclose(model.algebraic_distance(frame)[::10, 1], [at, at - 1, at - 2, at - 3])


def test_oblique_trees() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X.sum(axis=1) + rng.normal(size=60) / 3 > 0).astype(int)
    inside = X.sum(axis=1) <= 0
    counts = [np.bincount(y[side], minlength=2) for side in (inside, ~inside)]
    forest = build_forest([oblique({0: 1.0, 1: 1.0}, 0.0, *(leaf(n) for n in counts))], n_features=2)
    tree = TreeClassifier(max_depth=1).fit(X, y)
    tree.forest_ = forest
    for features in (("distance",), BOTH):
        model = BoundaryClassifier.from_fitted(tree, X, y, metric=[1.0, 1.0], partition="separator", features=features)
        np.testing.assert_allclose(model.algebraic_distance(X)[:, 1], -X.sum(axis=1) / math.sqrt(2), atol=1e-12)
        assert roc_auc_score(y, model.predict_proba(X)[:, 1]) > 0.9
        assert model.nearest_separator(X).feature.tolist() == [-2] * 60


def test_smooth_probabilities_rank_better_than_frequencies() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    better = 0
    for seed in range(5):
        train = np.random.default_rng(seed).permutation(len(y)) % 3 > 0
        tree = DecisionTreeClassifier(min_samples_leaf=5, random_state=0).fit(X[train], y[train])
        model = BoundaryClassifier.from_fitted(tree, X[train], y[train])
        ours, theirs = (roc_auc_score(y[~train], m.predict_proba(X[~train])[:, 1]) for m in (model, tree))
        better += ours > theirs
    assert better >= 4


def test_settings_of_the_estimate_wait_for_the_next_fit() -> None:
    X, y = load_iris(return_X_y=True)
    model = BoundaryClassifier(TreeClassifier(max_depth=3)).fit(X, y)
    before = model.predict_proba(X)
    for name, value in {"partition": "leaf", "features": BOTH, "bandwidth": 3.0, "metric": "minmax"}.items():
        np.testing.assert_array_equal(model.set_params(**{name: value}).predict_proba(X), before)
    assert not np.array_equal(model.fit(X, y).predict_proba(X), before)


def test_a_search_over_bandwidths() -> None:
    X, y = load_iris(return_X_y=True)
    tree = TreeClassifier(max_depth=2)
    search = GridSearchCV(
        BoundaryClassifier(tree), {"bandwidth": [0.02, 0.1, 5.0], "estimator__max_depth": [1, 2]}, cv=3
    ).fit(X, y)
    assert search.best_score_ > 0.9


# -- errors


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"metric": "euclidean"}, "metric is 'euclidean', must be one of 'standard', 'minmax'"),
        ({"metric": [1.0, 2.0]}, r"metric has shape \(2,\), must have one number for each of 4 columns"),
        ({"metric": [1, 1, 0, 1]}, r"metric\[2\] \(column 'x2'\) is 0.0, must be a positive number"),
        ({"metric": {"x0": 1}}, "metric names other columns than X has: x1, x2, x3"),
        ({"bandwidth": 0}, "bandwidth is 0.0, must be a positive number"),
        ({"bandwidth": -0.1}, "bandwidth is -0.1"),
        ({"bandwidth": "silverman"}, "bandwidth is 'silverman', must be one of 'held_out', 'cv'"),
        ({"boundary_weight": 1.5}, r"boundary_weight is 1.5, must be a number in \[0, 1\], or 'held_out'"),
        ({"boundary_weight": "cv"}, "boundary_weight is 'cv', must be"),
        ({"boundary_weight": True}, "boundary_weight is True"),
        ({"kernel": "cosine"}, "kernel is 'cosine'"),
        ({"partition": "tree"}, "partition is 'tree', must be one of 'global', 'separator', 'leaf'"),
        ({"features": ("position",)}, r"features is \('position',\), must be \('distance',\)"),
        ({"features": "distance"}, "features is 'distance'"),
        ({"decide": "leaf"}, "decide is 'leaf', must be 'probability' or 'tree'"),
        ({"tolerance": 1}, "tolerance is 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], message: str) -> None:
    X, y = load_iris(return_X_y=True)
    model = BoundaryClassifier(TreeClassifier(max_depth=2)).fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match=message):
        clone(model).set_params(**settings).fit(X, y)
    with pytest.raises(ValueError, match=message):
        model.set_params(**settings).fit(X, y)
    original = BoundaryClassifier().get_params()
    model.set_params(**{name: original[name] for name in settings})
    np.testing.assert_array_equal(model.predict_proba(X), before)


@pytest.mark.parametrize(
    "estimator",
    [LogisticRegression(), RandomForestClassifier(), FrozenEstimator(LogisticRegression()), TreeClassifier, "tree"],
)
def test_what_has_no_tree_is_refused_with_what_is_accepted(estimator: Any) -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(
        TypeError, match=r"must be a tree whose leaves have one answer each: a TreeClassifier, an Oblique"
    ):
        BoundaryClassifier(estimator).fit(X, y)


def test_forests_and_regressors_are_refused() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match=r"estimator is ForestClassifier.*, must be a tree"):
        BoundaryClassifier(ForestClassifier(3)).fit(X, y)
    with pytest.raises(TypeError, match=r"estimator is NaiveBayesTreeClassifier.*, must be a tree whose leaves"):
        BoundaryClassifier(NaiveBayesTreeClassifier()).fit(X, y)
    with pytest.raises(TypeError, match="must be a classifier"):
        BoundaryClassifier(DecisionTreeRegressor()).fit(X, y)
    tree = DecisionTreeClassifier().fit(X, y)
    with pytest.raises(ValueError, match=r"y has classes \[7\], the frozen estimator has \[0, 1, 2\]"):
        BoundaryClassifier.from_fitted(tree, X, np.full(150, 7))
