"""Forests: the fast way to grow against literal truths, bags, quantiles, and what users are told."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_classification, make_regression
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score

from effort import examples
from hedgerow import ForestClassifier, ForestRegressor, TreeClassifier, checks
from hedgerow.forest.kinds import NodeKind
from hedgerow.growth import Growth, Training, grow_forest
from hedgerow.walk import gather, route, spread
from hedgerow.walk.quantiles import LeafSamples, predict_quantiles
from oracles import forests as forest_oracles

several = settings(max_examples=examples(16, 60), deadline=None)


# -- the fast way against every split


def grow_fast(
    X: Any, y: Any, n_classes: int, n_categories: Any, *, max_bins: int = 255, n_draws: int = 0, **growth: Any
):
    criterion = "gini" if n_classes else "squared_error"
    weight = growth.pop("weight", np.ones(len(y)))
    options = Growth(criterion=criterion, missing="random", **growth).options(weight, X.shape[1], (criterion,), seed=3)
    options.max_bins = max_bins
    options.n_draws = n_draws
    options.keep_in_bag = n_draws > 0
    options.keep_leaf_rows = True
    training = Training(
        np.asfortranarray(X),
        np.array(n_categories, dtype=np.int32),
        weight,
        labels=np.asarray(y, dtype=np.int32) if n_classes else None,
        targets=None if n_classes else np.asarray(y, dtype=float),
        n_classes=n_classes,
    )
    grown = grow_forest(training, options)
    grown.forest.check()
    return grown


@st.composite
def fast_problems(draw: st.DrawFn) -> dict[str, Any]:
    n_rows = draw(st.integers(1, 24))
    n_classes = draw(st.sampled_from([0, 2, 3]))
    columns, n_categories = [], []
    for _ in range(draw(st.integers(1, 3))):
        nominal = draw(st.booleans())
        value = st.integers(0, 4) if nominal else st.sampled_from([-2.5, -1.0, 0.0, 0.1, 0.25, 3.0, 1e6])
        columns.append(draw(st.lists(value, min_size=n_rows, max_size=n_rows)))
        n_categories.append(5 if nominal else 0)
    target = st.integers(0, n_classes - 1) if n_classes else st.sampled_from([-1.0, 0.0, 0.5, 2.0, 7.0])
    return {
        "X": np.array(columns, dtype=float).T,
        "y": np.array(draw(st.lists(target, min_size=n_rows, max_size=n_rows)), dtype=float),
        "n_classes": n_classes,
        "n_categories": n_categories,
        "max_bins": draw(st.sampled_from([2, 3, 255])),
        "nominal": draw(st.sampled_from(["binary", "subset", "multiway"])),
        "min_samples_leaf": draw(st.sampled_from([1, 2, 4])),
        "weight": np.array(draw(st.lists(st.sampled_from([1.0, 1.0, 0.5, 2.0]), min_size=n_rows, max_size=n_rows))),
    }


@several
@given(problem=fast_problems())
def test_every_split_of_the_fast_way_is_the_best_there_is(problem: dict[str, Any]) -> None:
    X, y, weight, n_classes = (problem[name] for name in ("X", "y", "weight", "n_classes"))
    forest = grow_fast(**problem).forest
    edges = [
        None if n else forest_oracles.bins(X[:, j], weight, problem["max_bins"])
        for j, n in enumerate(problem["n_categories"])
    ]
    # Sets of categories are searched along one order: the best of all, but for more than two classes, and where a
    # least size of leaves excludes the best.
    heuristic = problem["nominal"] == "subset" and (n_classes > 2 or problem["min_samples_leaf"] > 1)
    rows_of = {0: np.arange(len(y))}
    for node in range(forest.n_nodes):
        rows = rows_of[node]
        values = [
            forest_oracles.gain(weight[rows], y[rows], branches, n_classes)
            for j, bins in enumerate(edges)
            for branches in forest_oracles.divisions(X[rows, j], bins, problem["nominal"])
            if (np.bincount(branches) >= problem["min_samples_leaf"]).sum() >= 2
        ]
        np.testing.assert_allclose(forest.weight[node], weight[rows].sum(), rtol=1e-9)
        if forest.kind[node] == NodeKind.LEAF:
            assert len(set(y[rows].tolist())) == 1 or not values or heuristic
            leaf = forest.first_child[node]
            if n_classes:
                expected = np.bincount(y[rows].astype(int), weights=weight[rows], minlength=n_classes)
                np.testing.assert_allclose(forest.counts[leaf], expected, rtol=1e-9)
            else:
                mean = np.average(y[rows], weights=weight[rows])
                squares = (weight[rows] * (y[rows] - mean) ** 2).sum()
                np.testing.assert_allclose(
                    forest.stats[leaf], [weight[rows].sum(), mean, squares], rtol=1e-9, atol=1e-9
                )
            continue
        column = X[rows, forest.feature[node]]
        branches = branches_of(forest, node, column)
        found = forest_oracles.gain(weight[rows], y[rows], branches, n_classes)
        scale = 1e-9 * (1 + abs(max(values)))
        assert found <= max(values) + scale
        if not heuristic:
            assert found >= max(values) - scale
        for branch in range(forest.n_children[node]):
            rows_of[forest.first_child[node] + branch] = rows[branches == branch]


def branches_of(forest: Any, node: int, column: Any) -> Any:
    if forest.kind[node] == NodeKind.THRESHOLD:
        return (column > forest.threshold[node]).astype(int)
    if forest.kind[node] == NodeKind.ONE_AGAINST_REST:
        return (column != forest.threshold[node]).astype(int)
    payload = forest.payload_codes[forest.payload_start[forest.payload[node]] :]
    if forest.kind[node] == NodeKind.MULTIWAY:
        return payload[column.astype(int)]
    return np.array([int(not int(payload[0]) >> int(code) & 1) for code in column])


@pytest.mark.parametrize("n_classes", [0, 2, 5])
def test_without_binning_the_fast_and_the_general_way_grow_the_same_tree(n_classes: int) -> None:
    # Fewer distinct values than bins, all columns tried: both are exact, and ties fall alike.
    rng = np.random.default_rng(n_classes)
    X = rng.integers(0, 200, size=(400, 6)).astype(float)
    y = rng.integers(0, n_classes, 400) if n_classes else rng.normal(size=400)
    fast = grow_fast(X, y, n_classes, [0] * 6).forest
    general = grow_fast(X, y, n_classes, [0] * 6, max_bins=0).forest
    assert fast.feature.tolist() == general.feature.tolist()
    assert fast.threshold.tobytes() == general.threshold.tobytes()
    name = "counts" if n_classes else "stats"
    np.testing.assert_allclose(getattr(fast, name), getattr(general, name), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n_classes", [0, 2, 5])
@pytest.mark.parametrize("growth", [{}, {"max_features": 2}, {"min_samples_leaf": 3}, {"max_leaf_nodes": 20}])
def test_both_ways_grow_the_same_multiway_trees_and_draw_the_same_branches(n_classes: int, growth: Any) -> None:
    rng = np.random.default_rng(n_classes)
    X = np.column_stack([rng.integers(0, k, size=500) for k in (200, 7, 3, 12)]).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.integers(0, n_classes, 500) if n_classes else rng.normal(size=500)
    fast, general = (
        grow_fast(X, y, n_classes, [0, 7, 3, 12], max_bins=max_bins, n_draws=400, **growth) for max_bins in (255, 0)
    )
    assert (fast.forest.kind == NodeKind.MULTIWAY).any()
    assert (fast.forest.kind == NodeKind.THRESHOLD).any()
    for name in ("feature", "kind", "first_child", "payload_codes", "payload_start"):
        assert getattr(fast.forest, name).tolist() == getattr(general.forest, name).tolist()
    assert fast.leaf_rows.tolist() == general.leaf_rows.tolist()


def test_a_missing_category_takes_one_branch_in_proportion_to_their_weights() -> None:
    # 700, 200 and 100 rows of three categories and 10,000 without: standard deviations of 46, 40 and 30.
    X = np.repeat([0.0, 2.0, 3.0, np.nan], [700, 200, 100, 10_000])[:, np.newaxis]
    y = np.repeat([0.0, 1.0, 0.0, 1.0], [700, 200, 100, 10_000])
    forest = grow_fast(X, y, 2, [4], nominal="multiway", max_depth=1).forest
    assert forest.payload_codes.tolist() == [0, -1, 1, 2]
    assert (np.abs(forest.counts.sum(axis=1) - [7700, 2200, 1100]) < 5 * np.array([46, 40, 30])).all()


def test_a_missing_value_takes_one_branch_in_proportion_to_their_weights() -> None:
    # 900 rows left, 100 right, 10,000 without a value: 9,000 are expected left, with a standard deviation of 30.
    X = np.concatenate([np.zeros(900), np.ones(100), np.full(10_000, np.nan)])[:, np.newaxis]
    y = np.concatenate([np.zeros(900), np.ones(100), np.arange(10_000) % 2])
    for max_bins in (255, 0):
        forest = grow_fast(X, y, 2, [0], max_bins=max_bins, max_depth=1).forest
        assert abs(forest.counts[0].sum() - 9900) < 5 * 30
        assert forest.counts.sum() == 11_000


def test_bags_hold_the_rows_that_were_drawn() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(203, 3)), rng.normal(size=203)
    grown = grow_fast(X, y, 0, [0] * 3, n_draws=150, max_depth=3)
    in_bag = np.unpackbits(grown.in_bag, axis=1, count=203, bitorder="little").astype(bool)
    assert in_bag.shape == (1, 203)
    assert sorted(grown.leaf_rows.tolist()) == np.flatnonzero(in_bag[0]).tolist()
    assert grown.leaf_row_weights.sum() == 150
    leaves = np.repeat(np.arange(grown.forest.n_leaves), np.diff(grown.leaf_rows_start))
    assert route(grown.forest, X[grown.leaf_rows])[:, 0].tolist() == leaves.tolist()


def test_draws_follow_the_weights() -> None:
    # A row of weight 3 beside one of weight 1: 7,500 of 10,000 draws, with a standard deviation of 43.
    grown = grow_fast(np.zeros((2, 1)), [0, 1], 2, [0], n_draws=10_000, weight=np.array([3.0, 1.0]))
    assert abs(grown.forest.counts[0, 0] - 7500) < 5 * 43


# -- scikit-learn's contract


def data_in_which_everything_matters() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    X[:, 3] = rng.integers(0, 6, size=600)
    signal = X[:, 0] + (X[:, 3] % 3) + rng.normal(size=600)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, signal


CHANGES: dict[str, Any] = {
    "n_estimators": 4,
    "nominal": "binary",
    "missing": "category",
    "max_depth": 2,
    "min_samples_split": 60,
    "min_samples_leaf": 20,
    "min_weight_fraction_leaf": 0.1,
    "min_impurity_decrease": 0.05,
    "max_leaf_nodes": 4,
    "splitter": "random",
    "max_features": None,
    "max_bins": 3,
    "bootstrap": False,
    "max_samples": 0.5,
    "feature_costs": [9, 1, 1, 9],
    "categorical_features": None,
}


def test_every_parameter_changes_something() -> None:
    X, signal = data_in_which_everything_matters()
    labels = np.digitize(signal, [0, 2.5])
    changes = CHANGES | {
        "criterion": "entropy",
        "rule": "vote",
        "class_weight": {0: 5, 1: 1, 2: 1},
        "calibration": None,
        "cost_matrix": [[0, 5, 1], [1, 0, 1], [1, 2, 0]],
    }
    changes["tree_weights"] = [1, 2, 3]
    classifier = ForestClassifier(3, nominal="subset", categorical_features=[3])
    for estimator, y, more in (
        (classifier, labels, changes),
        (ForestRegressor(3, nominal="subset", max_features=2, categorical_features=[3]), signal, CHANGES),
    ):
        names = estimator.get_params().keys()
        plain = {name: value for name, value in more.items() if name in names}
        before = checks.outputs(estimator.set_params(random_state=0).fit(X, y), X)
        assert set(plain) == names - checks.WITHOUT_EFFECT
        for name, value in plain.items():
            changed = type(estimator)(**(estimator.get_params() | {name: value})).fit(X, y)
            assert checks.outputs(changed, X) != before, name


def test_uneven_weights_leave_no_negative_count() -> None:
    X, y = make_classification(200, 4, flip_y=0.3, random_state=0)
    weight = np.where(y == 0, 1000, 1e-4)
    for criterion in ("gini", "entropy"):
        forest = ForestClassifier(10, criterion=criterion, bootstrap=False, random_state=0).fit(X, y, weight)
        assert (forest.forest_.counts >= 0).all()
        np.testing.assert_allclose(forest.leaf_counts(X).sum(axis=2).min(), 1e-4 * len(y) / weight.sum())


@pytest.mark.parametrize("n_jobs", [2, 3, -1])
@pytest.mark.parametrize("settings", [{}, {"nominal": "binary"}, {"max_bins": None}, {"missing": "fractional"}])
def test_threads_change_no_bit(n_jobs: int, settings: dict[str, Any]) -> None:
    X, signal = data_in_which_everything_matters()
    one = ForestClassifier(30, random_state=1, oob_score=True, categorical_features=[3], **settings).fit(X, signal > 1)
    many = ForestClassifier(
        30, random_state=1, oob_score=True, categorical_features=[3], n_jobs=n_jobs, **settings
    ).fit(X, signal > 1)
    assert one.forest_ == many.forest_
    assert one.oob_decision_function_.tobytes() == many.oob_decision_function_.tobytes()


def test_a_forest_of_more_trees_begins_with_the_same_trees() -> None:
    X, y = load_iris(return_X_y=True)
    few, many = (ForestClassifier(n, min_samples_split=2, random_state=0).fit(X, y) for n in (3, 9))
    assert many.leaf_counts(X)[:, :3].tolist() == few.leaf_counts(X).tolist()


# -- how good it is


def test_forests_are_as_good_as_scikit_learns() -> None:
    # Five or ten seeds each; no worse than by 0.002 and two standard errors of the difference.
    X, y = make_classification(3000, 15, n_informative=6, flip_y=0.1, random_state=1)
    auc: dict[str, list[float]] = {"ours": [], "theirs": []}
    n_seeds = examples(5, 10)
    for seed in range(n_seeds):
        ours = ForestClassifier(40, random_state=seed).fit(X[:1500], y[:1500])
        theirs = RandomForestClassifier(40, random_state=seed).fit(X[:1500], y[:1500])
        for name, model in (("ours", ours), ("theirs", theirs)):
            auc[name].append(roc_auc_score(y[1500:], model.predict_proba(X[1500:])[:, 1]))
    error = np.sqrt(np.var(auc["ours"]) / n_seeds + np.var(auc["theirs"]) / n_seeds)
    assert np.mean(auc["ours"]) > np.mean(auc["theirs"]) - 0.002 - 2 * error


def test_out_of_bag_is_honest() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    forest = ForestClassifier(200, oob_score=True, random_state=0).fit(X, y)
    held_out = cross_val_score(ForestClassifier(200, random_state=0), X, y, cv=5).mean()
    # Both estimate the same accuracy, near .96, from 569 rows: a standard error of .008 each.
    assert abs(forest.oob_score_ - held_out) < 3 * np.hypot(0.008, 0.008)
    assert forest.score(X, y) == 1


def test_out_of_bag_is_the_mean_of_the_trees_that_have_not_seen_a_row() -> None:
    X, y = load_iris(return_X_y=True)
    weight = np.ones(len(y))
    weight[::7] = 0
    forest = ForestClassifier(30, oob_score=True, calibration=None, random_state=0).fit(X, y, weight)
    trees = gather(forest.forest_, X, forest.forest_.counts / forest.forest_.counts.sum(axis=1, keepdims=True))
    # A row of weight 0 is in no bag: all trees speak.
    np.testing.assert_allclose(forest.oob_decision_function_[::7], trees[::7].mean(axis=1), atol=1e-12)
    assert (np.abs(forest.oob_decision_function_ - trees.mean(axis=1)).max(axis=1)[1::7] > 1e-3).any()


def test_rows_that_are_in_every_bag_are_said_so() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.warns(UserWarning, match="rows are in the bag of every tree"):
        forest = ForestClassifier(1, oob_score=True, random_state=0).fit(X, y)
    assert np.isnan(forest.oob_decision_function_).any(axis=1).sum() > 50
    assert 0.8 < forest.oob_score_ <= 1


def test_the_out_of_bag_score_can_be_a_users_own() -> None:
    X, y = load_diabetes(return_X_y=True)
    forest = ForestRegressor(60, oob_score=lambda a, b: -np.abs(a - b).mean(), random_state=0).fit(X, y)
    assert forest.oob_score_ == -np.abs(y - forest.oob_prediction_).mean()
    assert ForestRegressor(60, oob_score=True, random_state=0).fit(X, y).oob_score_ > 0.4


# -- outputs


def test_leaf_counts_are_those_of_the_leaves_reached() -> None:
    X, y = load_iris(return_X_y=True)
    forest = ForestClassifier(5, random_state=0).fit(X, y)
    leaves = forest.apply(X)
    counts = forest.leaf_counts(X)
    assert counts.shape == (150, 5, 3)
    for tree in range(5):
        expected = forest.forest_.counts[forest.forest_.leaf_start[tree] + leaves[:, tree]]
        assert counts[:, tree].tolist() == expected.tolist()


def test_uncertainty_is_the_entropy_of_the_mean_and_the_mean_of_entropies() -> None:
    X, y = load_iris(return_X_y=True)
    X = X.copy()
    X[::5, 2] = np.nan
    forest = ForestClassifier(7, max_depth=2, random_state=0).fit(X, y)
    shares = gather(forest.forest_, X, forest.forest_.counts / forest.forest_.counts.sum(axis=1, keepdims=True))

    def bits(p: Any) -> Any:
        return -(p * np.log2(np.where(p > 0, p, 1))).sum(axis=-1)

    found = forest.predict_uncertainty(X, "leaf_entropy")
    np.testing.assert_allclose(found.total, bits(shares.mean(axis=1)), atol=1e-12)
    np.testing.assert_allclose(found.aleatoric, bits(shares).mean(axis=1), atol=1e-12)
    np.testing.assert_allclose(found.epistemic, found.total - found.aleatoric, atol=1e-12)


def test_a_category_without_a_branch_divides_a_row_as_a_missing_value_does() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (80, 3)).astype(float)  # few rows of many categories: deep nodes do not know them all
    y = (X[:, 0] + X[:, 1] > 4).astype(int) ^ (rng.random(80) < 0.2)
    forest = ForestClassifier(7, nominal="multiway", categorical_features=[0, 1, 2], random_state=0).fit(X, y)
    asked = rng.integers(0, 6, (200, 3)).astype(float)
    one = TreeClassifier(pruning=None, categorical_features=[0, 1, 2]).fit(X, y)
    for model in (forest, one):
        assert (np.diff(spread(model.forest_, asked).indptr) > model.forest_.n_trees).any()
        shares = gather(model.forest_, asked, model.leaf_probabilities())
        bits = -(shares * np.log2(np.where(shares > 0, shares, 1))).sum(axis=-1)
        found = model.predict_uncertainty(asked, "leaf_entropy").aleatoric
        np.testing.assert_allclose(found, bits.mean(axis=1), atol=1e-12)


def test_variance_is_that_of_leaves_and_that_of_trees() -> None:
    X, y = load_diabetes(return_X_y=True)
    forest = ForestRegressor(9, random_state=0).fit(X, y)
    weight, mean, squares = forest.forest_.stats.T
    means = gather(forest.forest_, X, mean[:, np.newaxis])[:, :, 0]
    variances = gather(forest.forest_, X, (squares / weight)[:, np.newaxis])[:, :, 0]
    found = forest.predict_uncertainty(X, "variance")
    np.testing.assert_allclose(found.aleatoric, variances.mean(axis=1))
    np.testing.assert_allclose(found.epistemic, means.var(axis=1), atol=1e-6)
    np.testing.assert_allclose(found.total, found.aleatoric + found.epistemic)
    np.testing.assert_allclose(forest.predict(X), means.mean(axis=1))


@several
@given(data=st.data())
def test_quantiles_are_those_of_the_training_targets(data: st.DataObject) -> None:
    n_rows = data.draw(st.integers(1, 30))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    X = rng.integers(0, 4, size=(n_rows, 2)).astype(float)
    y = rng.integers(0, 6, size=n_rows).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    grown = grow_fast(X, y, 0, [0, 0], n_draws=data.draw(st.sampled_from([0, n_rows])), min_samples_leaf=2)
    samples = LeafSamples.of(*grown.leaf_samples, y)
    leaves = [
        [(float(y[row]), float(w)) for row, w in zip(grown.leaf_rows[a:b], grown.leaf_row_weights[a:b], strict=True)]
        for a, b in zip(grown.leaf_rows_start[:-1], grown.leaf_rows_start[1:], strict=True)
    ]
    q = [0.9, 0.0, 0.25, 0.5, 1.0]
    found = predict_quantiles(grown.forest, samples, X, q)
    for row, x in enumerate(X):
        assert found[row].tolist() == [forest_oracles.quantile(grown.forest, leaves, x, p) for p in q]


def test_intervals_cover_what_they_promise() -> None:
    # Uniform noise, 2,000 fresh rows: the share inside has a standard error of 0.009; a forest's leaves widen it.
    rng = np.random.default_rng(0)
    X = rng.random((6000, 1))
    y = X[:, 0] + rng.uniform(-1, 1, size=6000)
    forest = ForestRegressor(100, min_samples_leaf=50, random_state=0, n_jobs=2).fit(X[:4000], y[:4000])
    lower, upper = forest.predict_interval(X[4000:], coverage=0.8).T
    assert abs(((lower <= y[4000:]) & (y[4000:] <= upper)).mean() - 0.8) < 0.05
    assert (forest.predict_quantiles(X, [0.2, 0.7])[:, 0] <= forest.predict_quantiles(X, [0.7, 0.2])[:, 0]).all()


def test_threads_change_no_quantile() -> None:
    X, y = load_diabetes(return_X_y=True)
    one, two = (ForestRegressor(30, random_state=0, n_jobs=n).fit(X, y) for n in (1, 2))
    assert one.predict_quantiles(X).tobytes() == two.predict_quantiles(X).tobytes()


@pytest.mark.parametrize("nominal", ["multiway", "binary", "subset"])
def test_frames_with_categories_and_missing_values_work(nominal: str) -> None:
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue", "grey"], size=300)
    frame = pd.DataFrame({"colour": colour, "size": rng.normal(size=300)})
    y = np.where(np.isin(colour, ["red", "grey"]), "warm", "cold")
    frame.loc[::11, "colour"] = None
    frame.loc[::13, "size"] = np.nan
    forest = ForestClassifier(20, nominal=nominal, random_state=0).fit(frame, y)
    assert forest.score(frame, y) > 0.9
    assert forest.predict(pd.DataFrame({"colour": ["violet"], "size": [0.0]}))[0] in ("warm", "cold")


def test_more_than_255_categories_take_the_general_way() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 400, size=(2000, 1)).astype(float)
    forest = ForestClassifier(3, nominal="subset", categorical_features=[0], random_state=0).fit(X, X[:, 0] % 2)
    assert (forest.forest_.kind == NodeKind.SUBSET).any()
    assert forest.score(X, X[:, 0] % 2) > 0.9


@pytest.mark.parametrize("criterion", ["gini", "entropy", "gain_ratio"])
def test_a_tree_may_ask_for_sets_of_categories(criterion: str) -> None:
    X = np.array([[0.0], [1], [2], [3], [4], [5]])
    y = [0, 1, 0, 1, 1, 0]
    tree = TreeClassifier(criterion, nominal="subset", categorical_features=[0]).fit(X, y)
    assert tree.get_n_leaves() == 2
    assert tree.to_text().startswith("x0 in {0.0, 2.0, 5.0}: 0")


def test_importances_add_up_to_one_and_find_the_signal() -> None:
    X, y = make_regression(300, 5, n_informative=1, random_state=0)
    importances = ForestRegressor(20, random_state=0).fit(X, y).feature_importances_
    np.testing.assert_allclose(importances.sum(), 1)
    assert importances.max() > 0.5


def test_a_pickle_answers_with_the_same_bits() -> None:
    X, y = load_diabetes(return_X_y=True)
    forest = ForestRegressor(10, random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(forest))
    assert again.predict_quantiles(X).tobytes() == forest.predict_quantiles(X).tobytes()


# -- progress

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")


class Listener:
    """Follows scikit-learn's FitCallback protocol and notes what it is told."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def setup(self, estimator: Any, context: Any) -> None:
        self.heard.append(f"setup {context.max_subtasks}")

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        self.heard.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        self.heard.append(f"end {context.task_name}")

    def teardown(self, estimator: Any, context: Any) -> None:
        self.heard.append("teardown")


def test_callbacks_hear_of_every_tree() -> None:
    X, y = load_iris(return_X_y=True)
    listener = Listener()
    ForestClassifier(3, random_state=0).set_callbacks(listener).fit(X, y)
    assert listener.heard[:2] == ["setup 3", "begin fit"]
    assert [word for word in listener.heard if word.startswith("end tree")] == [
        "end tree 0",
        "end tree 1",
        "end tree 2",
    ]
    assert listener.heard[-2:] == ["end fit", "teardown"]


# -- what makes no sense


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_estimators": 0}, "n_estimators is 0, must be a whole number of at least 1"),
        ({"n_estimators": 2.5}, "n_estimators is 2.5"),
        ({"max_samples": 0}, "max_samples is 0"),
        ({"max_samples": 1.5}, "max_samples is 1.5"),
        ({"max_samples": "all"}, "max_samples is 'all'"),
        ({"bootstrap": False, "max_samples": 0.5}, "bootstrap=False draws no rows"),
        ({"bootstrap": False, "oob_score": True}, "oob_score needs bootstrap=True"),
        ({"max_bins": 1}, "max_bins is 1, must be a whole number in 2 .. 255"),
        ({"max_bins": 256}, "max_bins is 256"),
        ({"max_features": 0}, "max_features is 0"),
        ({"missing": "drop"}, "missing is 'drop', must be one of"),
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"min_samples_leaf": 0}, "min_samples_leaf is 0"),
    ],
)
@pytest.mark.parametrize("forest", [ForestClassifier, ForestRegressor])
def test_settings_that_make_no_sense_are_named(forest: type, settings: dict[str, Any], message: str) -> None:
    X, y = load_iris(return_X_y=True)
    model = forest(2, random_state=0).fit(X, y)
    before = model.predict(X).tolist()
    with pytest.raises(ValueError, match=message):
        model.set_params(**settings).fit(X, y)
    if "n_jobs" not in settings:
        assert model.predict(X).tolist() == before


@pytest.mark.parametrize("q", [[-0.1], [1.1], [np.nan], [[0.5]]])
def test_quantiles_outside_zero_and_one_are_refused(q: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(ValueError, match=r"q is .* must be one or several numbers in \[0, 1\]"):
        ForestRegressor(2, random_state=0).fit(X, y).predict_quantiles(X, q)


@pytest.mark.parametrize("coverage", [0, 1, 1.5, "wide", True])
def test_coverage_outside_zero_and_one_is_refused(coverage: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(ValueError, match="coverage is"):
        ForestRegressor(2, random_state=0).fit(X, y).predict_interval(X, coverage=coverage)
