"""What mistakes and measurements cost: in growth, in predictions, and in all."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_iris

import oracles
from effort import examples
from hedgerow import ForestClassifier, ForestRegressor, ObliqueForestClassifier, TreeClassifier, load, save
from hedgerow.metrics import total_cost

COSTS = [[0.0, 1.0, 50.0], [1.0, 0.0, 200.0], [2.0, 3.0, 0.0]]
IRIS = load_iris(as_frame=True)


def noisy_iris() -> tuple[pd.DataFrame, NDArray[Any]]:
    y = IRIS.target_names[IRIS.target]
    y[::7] = "setosa"
    return IRIS.data, y


# -- mistakes


def test_predict_gives_the_class_of_least_expected_cost() -> None:
    X, y = noisy_iris()
    tree = TreeClassifier(cost_matrix=COSTS, max_depth=2).fit(X, y)
    for probabilities, label in zip(tree.predict_proba(X), tree.predict(X), strict=True):
        expected = [sum(p * COSTS[i][j] for i, p in enumerate(probabilities)) for j in range(3)]
        assert label == tree.classes_[expected.index(min(expected))]
    assert (tree.predict(X) != TreeClassifier(max_depth=2).fit(X, y).predict(X)).any()


def test_a_cost_matrix_can_be_changed_after_fit() -> None:
    X, y = noisy_iris()
    tree = TreeClassifier(max_depth=2).fit(X, y)
    before = tree.predict(X)
    tree.set_params(cost_matrix=COSTS)
    assert (tree.predict(X) != before).any()
    tree.set_params(cost_matrix=None)
    assert (tree.predict(X) == before).all()


def test_costs_that_are_all_alike_change_nothing() -> None:
    X, y = noisy_iris()
    for criterion in ("gini", "entropy", "gain_ratio", "c45"):
        plain = TreeClassifier(criterion).fit(X, y)
        alike = TreeClassifier(criterion, cost_matrix=3 * (1 - np.eye(3))).fit(X, y)
        assert (plain.predict(X) == alike.predict(X)).all()
        assert plain.forest_ == alike.forest_


def test_cost_priors_make_a_costly_class_count_more() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    costs = [[0, 10], [1, 0]]
    settings = {"cost_matrix": costs, "pruning": None, "leaf_probability": "frequency"}
    plain = TreeClassifier("gini", **settings).fit(X, y)
    heavier = TreeClassifier("gini", cost_priors=True, **settings).fit(X, y)
    # Counts ten times as large would be surer, and be pruned less.
    by_weight = TreeClassifier("gini", class_weight={0: 10, 1: 1}, **settings).fit(X, y)
    assert plain.forest_ != heavier.forest_
    assert heavier.forest_.counts.sum() == pytest.approx(len(y))
    np.testing.assert_allclose(heavier.predict_proba(X), by_weight.predict_proba(X))
    np.testing.assert_allclose(heavier.class_prior_, by_weight.class_prior_)


@pytest.mark.parametrize(
    ("cost_matrix", "message"),
    [
        (
            [[0, 1], [1, 0]],
            r"cost_matrix has shape \(2, 2\), must be square with a row and a column for each of 3 classes",
        ),
        ([[0, 1, 1], [1, 0, 1]], r"cost_matrix has shape \(2, 3\), must be square"),
        ([[0, 1, 1], [1, 2, 1], [1, 1, 0]], r"cost_matrix\[1, 1\] is 2.0: a right answer must cost 0"),
        ([[0, 1, 1], [1, 0, -1], [1, 1, 0]], r"cost_matrix\[1, 2\] is -1.0: costs must be finite and not negative"),
        ([[0, 1, 1], [1, 0, math.nan], [1, 1, 0]], r"cost_matrix\[1, 2\] is nan"),
        (np.zeros((3, 3)), "cost_matrix is 0 everywhere"),
    ],
)
def test_a_cost_matrix_that_is_none_is_refused(cost_matrix: Any, message: str) -> None:
    X, y = noisy_iris()
    tree = TreeClassifier().fit(X, y)
    before = tree.predict(X)
    with pytest.raises(ValueError, match=message):
        tree.set_params(cost_matrix=cost_matrix).fit(X, y)
    with pytest.raises(ValueError, match=message):
        tree.predict(X)
    assert (tree.set_params(cost_matrix=None).predict(X) == before).all()


def test_cost_priors_need_costs() -> None:
    X, y = noisy_iris()
    with pytest.raises(ValueError, match="cost_priors=True needs a cost_matrix"):
        TreeClassifier(cost_priors=True).fit(X, y)
    with pytest.raises(ValueError, match="the row of 'versicolor' in cost_matrix is 0"):
        TreeClassifier(cost_priors=True, cost_matrix=[[0, 1, 1], [0, 0, 0], [1, 1, 0]]).fit(X, y)


# -- measurements


@settings(max_examples=examples(8, 20), deadline=None)
@given(seed=st.integers(0, 2**31), some_missing=st.booleans())
def test_every_column_on_the_way_is_paid_once(seed: int, some_missing: bool) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3))
    X[rng.random(X.shape) < 0.1 * some_missing] = np.nan
    y = (np.nan_to_num(X[:, 0] * X[:, 1]) > 0).astype(int)
    prices = [1.0, 10.0, 100.0]
    tree = TreeClassifier(feature_costs=prices).fit(X, y)
    forest = tree.forest_
    spent = []
    for row in X:
        cost = 0.0
        for leaf, share in oracles.spread(forest, row, 0).items():
            node, asked = int(forest.leaf_nodes[leaf]), set()
            while (node := int(forest.parent[node])) >= 0:
                asked.add(int(forest.feature[node]))
            cost += share * sum(prices[feature] for feature in asked)
        spent.append(cost)
    np.testing.assert_allclose(tree.cost_of(X), spent, rtol=1e-12)


def test_without_costs_columns_are_counted() -> None:
    tree = TreeClassifier(max_depth=1).fit(IRIS.data, IRIS.target)
    assert (tree.cost_of(IRIS.data) == 1).all()


def test_costly_columns_are_avoided() -> None:
    free = TreeClassifier("entropy", max_depth=3).fit(IRIS.data, IRIS.target)
    used = IRIS.data.columns[free.feature_importances_.argmax()]
    costly = TreeClassifier("entropy", max_depth=3, feature_costs={used: 1e9}).fit(IRIS.data, IRIS.target)
    assert free.feature_importances_[IRIS.data.columns.get_loc(used)] > 0
    assert costly.feature_importances_[IRIS.data.columns.get_loc(used)] == 0
    priced = free.set_params(feature_costs={used: 1e9})  # the same tree at these prices
    assert costly.cost_of(IRIS.data).mean() < priced.cost_of(IRIS.data).mean()


def test_only_ratios_of_costs_matter() -> None:
    cheap = TreeClassifier(feature_costs=[1, 2, 3, 4]).fit(IRIS.data, IRIS.target)
    dear = TreeClassifier(feature_costs=[1e200, 2e200, 3e200, 4e200]).fit(IRIS.data, IRIS.target)
    assert cheap.forest_ == dear.forest_


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ([1, 2], r"feature_costs has shape \(2,\), must have a cost for each of 4 columns"),
        ([1, 2, 0, 1], r"feature_costs of 'petal length \(cm\)' is 0.0: costs must be positive"),
        ([1, 2, -3, 1], r"feature_costs of 'petal length \(cm\)' is -3.0"),
        ([1, 2, math.inf, 1], r"feature_costs of 'petal length \(cm\)' is inf"),
        ({"petal": 3}, "feature_costs has 'petal', which is not a column of X"),
    ],
)
def test_feature_costs_that_are_none_are_refused(costs: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TreeClassifier(feature_costs=costs).fit(IRIS.data, IRIS.target)


def test_costs_are_stored(tmp_path: Any) -> None:
    X, y = noisy_iris()
    tree = TreeClassifier(cost_matrix=np.array(COSTS), feature_costs={"petal width (cm)": 7.0}, stopping="chi_square")
    tree.fit(X, y)
    save(tree, tmp_path / "tree.hedgerow")
    again = load(tmp_path / "tree.hedgerow")
    assert (again.predict(X) == tree.predict(X)).all()
    assert (again.cost_of(X) == tree.cost_of(X)).all()


# -- in forests


@pytest.mark.parametrize("make", [ForestClassifier, ObliqueForestClassifier])
def test_a_forest_predicts_the_class_of_least_expected_cost(make: Any) -> None:
    X, y = noisy_iris()
    plain, forest = (make(10, cost_matrix=costs, random_state=0).fit(X, y) for costs in (None, COSTS))
    expected = []
    for probabilities in forest.predict_proba(X).tolist():
        costs = [sum(p * COSTS[i][j] for i, p in enumerate(probabilities)) for j in range(3)]
        expected.append(forest.classes_[costs.index(min(costs))])
    assert forest.predict(X).tolist() == expected
    spent = [total_cost(y, one.predict(X), cost_matrix=COSTS, classes=one.classes_) for one in (plain, forest)]
    assert spent[1] < spent[0]
    plain.set_params(cost_matrix=COSTS)
    assert total_cost(y, plain.predict(X), cost_matrix=COSTS, classes=plain.classes_) < spent[0]


def test_out_of_bag_scores_are_those_of_the_cheapest_classes() -> None:
    X, y = noisy_iris()
    forest = ForestClassifier(40, cost_matrix=COSTS, oob_score=True, random_state=0).fit(X, y)
    cheapest = (forest.oob_decision_function_ @ np.array(COSTS)).argmin(axis=1)
    assert forest.oob_score_ == (forest.classes_[cheapest] == y).mean()


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_a_forest_of_one_tree_is_the_tree_that_its_costs_grow(criterion: str) -> None:
    X, y = noisy_iris()
    prices = {"petal width (cm)": 7.0, "petal length (cm)": 3.0}
    same = {"criterion": criterion, "cost_matrix": COSTS, "feature_costs": prices, "nominal": "binary"}
    tree = TreeClassifier(**same, pruning=None, missing="random").fit(X, y)
    forest = ForestClassifier(
        1, **same, bootstrap=False, splitter="best", max_features=None, min_samples_split=2, random_state=0
    ).fit(X, y)
    assert forest.forest_ == tree.forest_
    other = ForestClassifier(
        1, criterion=criterion, bootstrap=False, splitter="best", max_features=None, min_samples_split=2, random_state=0
    ).fit(X, y)
    assert other.forest_ != tree.forest_


def test_dear_columns_are_used_less_in_forests() -> None:
    X, y = IRIS.data, IRIS.target
    for make, target in ((ForestClassifier, y), (ObliqueForestClassifier, y), (ForestRegressor, y.astype(float))):
        cheap, dear = (
            make(20, feature_costs=prices, max_features=None, random_state=0).fit(X, target).feature_importances_
            for prices in (None, {"petal width (cm)": 1e6})
        )
        assert dear[3] < cheap[3] / 2


def test_forests_refuse_costs_that_are_none() -> None:
    with pytest.raises(ValueError, match=r"feature_costs has shape \(2,\)"):
        ForestRegressor(2, feature_costs=[1, 2]).fit(IRIS.data, IRIS.target)
    with pytest.raises(ValueError, match="cost_matrix has shape"):
        ForestClassifier(2, cost_matrix=[[0, 1]]).fit(IRIS.data, IRIS.target)


def test_costs_of_a_forest_are_stored(tmp_path: Any) -> None:
    X, y = noisy_iris()
    forest = ForestClassifier(3, cost_matrix=np.array(COSTS), feature_costs=[1, 2, 3, 4], random_state=0).fit(X, y)
    save(forest, tmp_path / "forest.hedgerow")
    assert (load(tmp_path / "forest.hedgerow").predict(X) == forest.predict(X)).all()


# -- in all


def test_the_total_cost_is_that_of_mistakes_and_measurements() -> None:
    truth, told = ["a", "b", "c", "a"], ["a", "c", "a", "b"]
    spent = {"cost_matrix": COSTS, "classes": ["a", "b", "c"]}
    assert total_cost(truth, told, **spent) == 0 + 200 + 2 + 1
    assert total_cost(truth, told, **spent, measurements=[1, 1, 1, 2]) == 203 + 5
    assert total_cost(truth, told, **spent, sample_weight=[1, 0, 1, 3]) == 2 + 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y_pred": ["a", "z"]}, "y_pred has 'z', which is not in classes"),
        ({"y_true": ["a"]}, "y_pred has shape"),
        ({"measurements": [1]}, "measurements must hold a cost that is not negative for each of 2 rows"),
        ({"measurements": [1, -1]}, "measurements must hold"),
        ({"cost_matrix": [[0, 1]]}, "cost_matrix has shape"),
        ({"sample_weight": [1]}, "sample_weight has shape"),
    ],
)
def test_total_cost_refuses_what_does_not_fit(changes: dict[str, Any], message: str) -> None:
    given_ = {"y_true": ["a", "b"], "y_pred": ["a", "b"], "cost_matrix": [[0, 1], [1, 0]], "classes": ["a", "b"]}
    arguments = {**given_, **changes}
    with pytest.raises(ValueError, match=message):
        total_cost(arguments.pop("y_true"), arguments.pop("y_pred"), **arguments)
