"""Counterfactuals: the nearest change, proven by enumeration, and what may change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier

import strategies
from effort import daily
from hedgerow import (
    BoundaryClassifier,
    CautiousForestClassifier,
    ForestClassifier,
    ForestRegressor,
    NaiveBayesTreeClassifier,
    RandomTreesClassifier,
    RuleClassifier,
    TreeClassifier,
    TreeRegressor,
    load,
    save,
)
from hedgerow.counterfactual import Space
from hedgerow.rules import Calibrated, Probability
from oracles import counterfactual as oracle

SEVEN = daily(range(2), range(7))


def _space(model: Any, **limits: Any) -> Space:
    arguments = {"immutable": (), "monotone": None, "ranges": None, "costs": np.ones(model.n_features_in_)}
    return Space.of(model.schema_, model.forest_, model._training_range(), **(arguments | limits))


def _small(seed: int, n_classes: int = 2, digits: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 3)).round(digits)
    noisy = X @ rng.normal(size=3) + rng.normal(size=50) / 2
    return X, np.searchsorted(np.quantile(noisy, np.linspace(0, 1, n_classes + 1)[1:-1]), noisy)


def _check_exact(model: Any, X: Any, labels: Any, **limits: Any) -> None:
    """Every record is as near as the nearest of all rows, and a class without one is out of reach."""
    n_changes = limits.get("max_changes")
    space = _space(model, **{name: limits[name] for name in limits if name != "max_changes"})
    for i, found in enumerate(model.counterfactual(X, max_nodes=100_000, **limits)):
        distance = {one.target: one.distance for one in found}
        assert all(one.gap == 0 for one in found)
        candidates = space.candidates(model._read(X[i : i + 1])[0])
        for label in labels:
            if hasattr(model, "predict_set"):
                alone = model.classes_ == label

                def accepted(rows: Any, alone: Any = alone) -> Any:
                    return (model._respond(rows, {"predict_set": {}})["predict_set"] == alone).all(axis=1)

            else:

                def accepted(rows: Any, label: Any = label) -> Any:
                    return model._respond(rows, {"predict": {}})["predict"] == label

            expected = oracle.exhaustive(candidates, accepted, n_changes)
            assert not np.isnan(expected)
            if expected > 0:
                assert distance.get(label, np.inf) == pytest.approx(expected, rel=1e-9)
            else:
                assert label not in distance


# -- the nearest


@pytest.mark.parametrize("seed", SEVEN)
@pytest.mark.parametrize("nominal", ["multiway", "binary", "subset"])
def test_single_trees_equal_brute_force_over_leaf_boxes(seed: int, nominal: str) -> None:
    X, y = strategies.mixed_data()
    X = np.nan_to_num(X)
    tree = TreeClassifier(nominal=nominal, categorical_features=[3], pruning=None, max_depth=5).fit(X, y)
    space, answers = _space(tree), tree.leaf_probabilities().argmax(axis=1)
    rows = X[seed * 4 : seed * 4 + 4]
    for row, found in zip(rows, tree.counterfactual(rows), strict=True):
        candidates = space.candidates(tree._read(row[np.newaxis])[0])
        for one in found:
            code = int(np.searchsorted(tree.classes_, one.target))
            expected = oracle.over_leaves(tree.forest_, candidates, lambda leaf, code=code: answers[leaf] == code)
            assert one.distance == pytest.approx(expected, rel=1e-9)
            assert one.gap == 0


@pytest.mark.parametrize("seed", SEVEN)
def test_forests_of_20_trees_equal_exhaustive_search(seed: int) -> None:
    X, y = _small(seed)
    calibration = None if seed % 2 else "auto"
    forest = ForestClassifier(20, max_depth=3, max_bins=6, calibration=calibration, random_state=seed).fit(X, y)
    _check_exact(forest, X[:3], [0, 1])


def test_several_classes_and_most_changes() -> None:
    X, y = _small(1, n_classes=3)
    forest = ForestClassifier(20, max_depth=3, max_bins=6, random_state=0).fit(X, y)
    _check_exact(forest, X[:3], [0, 1, 2])
    _check_exact(forest, X[:3], [0, 1, 2], max_changes=1)
    _check_exact(forest, X[:3], [0, 1, 2], immutable=["x1"], monotone={"x0": 1, 2: -1})
    _check_exact(forest, X[:3], [0, 1, 2], ranges={"x0": (-1, 1.5)})


@pytest.mark.parametrize("rule", ["vote", "pool", "laplace", "plausibility", "confidence", "evidence", "dempster"])
def test_rules_that_add_up_over_the_trees(rule: str) -> None:
    X, y = _small(2)
    model = RandomTreesClassifier(12, rule=rule, max_depth=3, random_state=0).fit(X, y)
    _check_exact(model, X[:2], [0, 1])


@pytest.mark.parametrize("rule", [Calibrated(Probability(), 0.4, 0.02), "plausibility", "evidence", "tempered"])
def test_rules_of_several_classes(rule: Any) -> None:
    X, y = _small(3, n_classes=3)
    model = RandomTreesClassifier(12, rule=rule, max_depth=3, random_state=0).fit(X, y)
    _check_exact(model, X[:2], [0, 1, 2])


@pytest.mark.parametrize("aggregate", ["average", "belief", "vote"])
@pytest.mark.parametrize("weighting", ["epistemic", "uniform"])
def test_sets_become_single(aggregate: str, weighting: str) -> None:
    X, y = _small(4, n_classes=3)
    forest = CautiousForestClassifier(
        12, aggregate=aggregate, weighting=weighting, s=2.0, max_depth=3, max_bins=6, random_state=0
    ).fit(X, y)
    _check_exact(forest, X[:3], [0, 1, 2])


def test_weights_of_trees_and_costs_of_classes_count() -> None:
    X, y = _small(5)
    forest = ForestClassifier(12, max_depth=3, max_bins=6, tree_weights=np.arange(12.0), random_state=0).fit(X, y)
    _check_exact(forest, X[:3], [0, 1])
    tree = TreeClassifier(cost_matrix=[[0, 5], [1, 0]], pruning=None, max_depth=4).fit(X, y)
    _check_exact(tree, X[:3], [0, 1])


@pytest.mark.parametrize("rule", ["probability", "evidence"])
def test_missing_values_stay_missing(rule: str) -> None:
    X, y = _small(6)
    X[::3, 1] = np.nan
    forest = ForestClassifier(10, rule=rule, max_depth=3, max_bins=6, calibration=None, random_state=0).fit(X, y)
    _check_exact(forest, X[:4], [0, 1])
    assert np.isnan(X[[0, 3], 1]).all()
    for row, found in zip(X[:4], forest.counterfactual(X[:4]), strict=True):
        assert found
        assert all(np.isnan(one.row[1]) == np.isnan(row[1]) for one in found)
        assert not np.isnan(row[1]) or all("x1" not in one.changes for one in found)


@pytest.mark.parametrize("regressor", [TreeRegressor(), ForestRegressor(10, random_state=0)])
def test_regressors_reach_an_interval(regressor: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    model = regressor.fit(X, y)
    for target in [(150.0, 160.0), (None, 120), (180, None)]:
        found = model.counterfactual(X[:3], target)
        low, high = found[0][0].target
        for (one,) in found:
            assert low <= model.predict([one.row])[0] <= high
            assert one.target == (low, high)


# -- what comes out


def test_the_row_is_answered_as_said_in_the_units_of_the_user() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, 200).astype(float),
            "grade": pd.Categorical.from_codes(rng.integers(0, 3, 200), ["low", "mid", "high"], ordered=True),
            "colour": rng.choice(["red", "green", "blue"], 200),
            "smoker": rng.random(200) < 0.5,
        }
    )
    score = frame["age"] / 30 + 2 * (frame["colour"] == "red") + frame["grade"].cat.codes + frame["smoker"]
    y = np.where(score + rng.normal(size=200) > 4.5, "ill", "well")
    forest = ForestClassifier(30, random_state=0).fit(frame, y)
    for i, found in enumerate(forest.counterfactual(frame[:12])):
        (one,) = found
        changed = pd.DataFrame([one.row], columns=frame.columns).astype(frame.dtypes)
        assert forest.predict(changed)[0] == one.target != forest.predict(frame[i : i + 1])[0]
        for name, (before, after) in one.changes.items():
            assert before == frame[name].iloc[i]
            assert after == changed[name].iloc[0] != before
        assert {"age", "grade", "colour", "smoker"} >= set(one.changes)
        assert one.row[0].is_integer()
        assert f"{one.target}: " in str(one)


def test_the_text_of_a_record() -> None:
    tree = TreeClassifier.cart().fit([[1.0], [2.0], [8.0], [9.0]], ["a\x1b", "a\x1b", "b", "b"])
    ((one,),) = tree.counterfactual([[2.0]])
    assert str(one) == "b: x0 2 → 6 (distance 0.5, none is nearer)"
    ((one,),) = tree.counterfactual([[9.0]])
    assert str(one) == r"a\x1b: x0 9 → 5 (distance 0.5, none is nearer)"


def test_an_answer_that_is_there_needs_no_change() -> None:
    X, y = load_iris(return_X_y=True)
    forest = ForestClassifier(10, random_state=0).fit(X, y)
    assert [one.target for one in forest.counterfactual(X[:1], target=0)[0]] == [0]
    assert forest.counterfactual(X[:1], target=0)[0][0].changes == {}
    assert sorted(one.target for one in forest.counterfactual(X[:1])[0]) == [1, 2]


def test_a_stopped_search_says_how_far_it_got_and_a_longer_one_is_no_worse() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    forest = ForestClassifier(25, random_state=0).fit(X, y)
    short, long = (forest.counterfactual(X[:2], max_nodes=n) for n in (1, 1500))
    for (first,), (second,) in zip(short, long, strict=True):
        assert 0 < first.gap < 1
        assert second.distance <= first.distance
        assert (1 - first.gap) * first.distance <= (1 - second.gap) * second.distance <= second.distance
        assert "none is nearer than" in str(first)
    assert forest.counterfactual(X[:2], max_nodes=1) == short


def test_changes_stay_within_the_training_range_and_what_is_allowed() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    forest = ForestClassifier(25, random_state=0).fit(X, y)
    outside = X[:3].copy()
    outside[:, 0] *= 10
    for row, (one,) in zip(outside, forest.counterfactual(outside, immutable=range(5), monotone={9: -1}), strict=True):
        moved = np.array(one.row) != row
        assert not moved[:5].any()
        assert (np.array(one.row)[moved] >= X.min(axis=0)[moved]).all()
        assert (np.array(one.row)[moved] <= X.max(axis=0)[moved]).all()
        assert one.row[9] <= row[9]


def test_dear_columns_change_less() -> None:
    X, y = _small(7)
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    forest = ForestClassifier(20, max_features=None, random_state=0).fit(X, y)
    for column, name in enumerate(("x0", "x1")):
        costs = {name: 1000.0}
        dear, usual = forest.counterfactual(X[:6], feature_costs=costs), forest.counterfactual(X[:6])
        moved = [np.abs([one.row[column] for (one,) in each] - X[:6, column]).sum() for each in (dear, usual)]
        assert moved[0] < moved[1]


def test_plausible_rows_reach_leaves_with_rows() -> None:
    X, y = _small(8)
    model = RandomTreesClassifier(8, rule="vote", max_depth=6, random_state=0).fit(X, y)
    for (one,) in model.counterfactual(X[:4], plausible=True):
        assert (model.leaf_counts([one.row]).sum(axis=2) > 0).all()


def test_models_of_others_need_ranges() -> None:
    X, y = load_iris(return_X_y=True)
    theirs = RandomForestClassifier(10, random_state=0).fit(X, y)
    model = RuleClassifier.from_fitted(theirs, rule="probability")
    with pytest.raises(ValueError, match=r"training range of column 'x0' is unknown.*pass ranges="):
        model.counterfactual(X[:1])
    ranges = dict(enumerate(zip(X.min(axis=0), X.max(axis=0), strict=True)))
    for one in model.counterfactual(X[:1], ranges=ranges)[0]:
        assert theirs.predict([one.row])[0] == one.target


def test_a_file_keeps_what_regressors_need(tmp_path: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    model = ForestRegressor(5, random_state=0).fit(X, y)
    save(model, tmp_path / "model.hedgerow")
    again = load(tmp_path / "model.hedgerow")
    assert again.counterfactual(X[:1], (150, 160)) == model.counterfactual(X[:1], (150, 160))


# -- refusals


def _iris_tree() -> tuple[Any, Any]:
    iris = load_iris(as_frame=True)
    return TreeClassifier().fit(iris.data, iris.target_names[iris.target]), iris.data[:1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"target": "rose"}, "target is 'rose', must be one of the classes 'setosa', 'versicolor', 'virginica'"),
        ({"immutable": ["petal"]}, "immutable names 'petal', which is not a column of X: they are sepal length"),
        ({"immutable": "petal width (cm)"}, "immutable is 'petal width"),
        ({"immutable": range(4)}, "immutable leaves nothing to change: the model splits on no column but 'sepal"),
        ({"time_limit": 0}, "time_limit is 0, must be a positive number of seconds, or None"),
        ({"max_nodes": 0}, "max_nodes is 0, must be a whole number of at least 1"),
        ({"max_changes": 0}, "max_changes is 0, must be a whole number of at least 1"),
        ({"monotone": {"petal width (cm)": 2}}, r"monotone of column 'petal width \(cm\)' is 2, must be 1"),
        ({"monotone": ["petal width (cm)"]}, "monotone is .* must map columns"),
        ({"ranges": {3: (2, 1)}}, r"ranges of column 'petal width \(cm\)' is \(2, 1\), must be \(low, high\)"),
        ({"plausible": 1}, "plausible is 1, must be True or False"),
        ({"feature_costs": [1, 2]}, "feature_costs has shape"),
    ],
)
def test_one_line_says_what_is_wrong(arguments: dict[str, Any], said: str) -> None:
    tree, X = _iris_tree()
    with pytest.raises(ValueError, match=said) as caught:
        tree.counterfactual(X, **arguments)
    assert "\n" not in str(caught.value)


def test_out_of_reach_is_said() -> None:
    tree, X = _iris_tree()
    fixed = {"immutable": ["petal width (cm)"], "monotone": {"petal length (cm)": -1}}
    with pytest.raises(ValueError, match="row 0 can't be changed to 'virginica' within the training range"):
        tree.counterfactual(X, "virginica", **fixed)
    assert tree.counterfactual(X, **fixed) == [[]]


def test_a_row_outside_the_schema_is_refused() -> None:
    tree, X = _iris_tree()
    with pytest.raises(ValueError, match="feature names should match"):
        tree.counterfactual(X.iloc[:, :2])


def test_estimators_whose_answers_vary_within_a_leaf_refuse() -> None:
    X, y = load_iris(return_X_y=True)
    for model in (NaiveBayesTreeClassifier(random_state=0), BoundaryClassifier()):
        with pytest.raises(ValueError, match="has no counterfactuals: its answers vary within a leaf"):
            model.fit(X, y).counterfactual(X[:1])
    cautious = CautiousForestClassifier(5, aggregate="conjunction", random_state=0, s=1).fit(X, y)
    with pytest.raises(ValueError, match="aggregate 'conjunction' has no counterfactuals"):
        cautious.counterfactual(X[:1])
    median = RandomTreesClassifier(5, rule="cautious", random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="rule 'cautious' of 3 classes has no counterfactuals"):
        median.counterfactual(X[:1])
    with pytest.raises(ValueError, match=r"target is None, must be an interval"):
        TreeRegressor().fit(X, y).counterfactual(X[:1])
