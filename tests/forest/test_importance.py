from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_classification, make_friedman1
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import oracles
from effort import examples
from hedgerow import Forest, TreeClassifier, TreeRegressor
from hedgerow.forest.build import build_forest, leaf, multiway, oblique, threshold, value
from hedgerow.forest.importance import impurity_importances, impurity_of
from hedgerow.forest.kinds import NodeKind
from strategies import forests

several = settings(max_examples=examples(8, 25), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def literal_importances(forest: Forest, impurity: str) -> tuple[list[float], float]:
    """Share of each feature in the decrease of impurity, tree by tree and node by node.

    And the smallest decrease of a whole tree: shares in next to nothing are made of rounding. Trees without a
    split have none to share.
    """

    def rows_below(tree: int, node: int) -> np.ndarray[Any, Any]:
        values = forest.leaf_counts if forest.leaf_stats is None else forest.leaf_stats
        assert values is not None
        return values[oracles.leaves_below(forest, tree, node)]

    def weighted_impurity(tree: int, node: int) -> float:
        rows = rows_below(tree, node)
        if impurity == "squared_error":
            weight, mean, squares = rows.T
            total = weight.sum()
            if total == 0:
                return 0.0
            centre = (weight * mean).sum() / total
            return float((squares + weight * (mean - centre) ** 2).sum())
        counts = rows.sum(axis=0)
        total = counts.sum()
        shares = [count / total for count in counts if count > 0 and count / total > 0]
        per_unit = 1 - sum(p * p for p in shares) if impurity == "gini" else -sum(p * math.log2(p) for p in shares)
        return float(total * per_unit) if shares else 0.0

    by_tree = np.zeros((forest.n_trees, forest.n_features))
    for tree, node in oracles.nodes_of(forest):
        if forest.kind[node] == NodeKind.LEAF:
            continue
        below = sum(weighted_impurity(tree, child) for child in oracles.children(forest, tree, node))
        columns = [forest.feature[node]]
        if forest.kind[node] == NodeKind.OBLIQUE:
            columns = [forest.payload_codes[i] for i in oracles.payload(forest, node)]
        for column in columns:
            by_tree[tree, column] += max(weighted_impurity(tree, node) - below, 0.0) / len(columns)
    shares = [row / row.sum() if row.sum() > 0 else row for row in by_tree]
    mean = np.mean(shares, axis=0)
    smallest = min((row.sum() for row in by_tree if row.any()), default=1.0)
    return list(mean / mean.sum() if mean.sum() > 0 else mean), smallest


def test_importance_by_hand() -> None:
    # The root takes 8 of the Gini index from 8·(1 − 1/2) = 4 to 4·0 + 4·(3/8) = 1.5, the right child that to 0.
    tree = threshold(1, 0, leaf([4, 0]), threshold(0, 0, leaf([0, 3]), leaf([1, 0])))
    found = impurity_importances(build_forest([tree], 3), "gini")
    root = 8 * (1 - (25 + 9) / 64)
    right = 4 * (1 - (1 + 9) / 16)
    np.testing.assert_allclose(found, [right / root, (root - right) / root, 0], rtol=1e-12)


def test_entropy_importance_of_a_multiway_split_by_hand() -> None:
    # One bit for each of four rows at the root; x1 keeps two of them, x0 takes the rest.
    tree = multiway(1, {0: leaf([1, 0]), 1: leaf([0, 1]), 2: threshold(0, 0, leaf([1, 0]), leaf([0, 1]))})
    np.testing.assert_allclose(impurity_importances(build_forest([tree], 2), "entropy"), [0.5, 0.5], rtol=1e-12)


def test_squared_error_importance_by_hand() -> None:
    # Means 0 (weight 2), 6 and 10: squares about 4 are 32 + 4 + 36 = 72, of which 8 lie between 6 and 10.
    tree = threshold(0, 0, value(0, weight=2), threshold(1, 0, value(6), value(10)))
    found = impurity_importances(build_forest([tree], 2, regression=True), "squared_error")
    np.testing.assert_allclose(found, [64 / 72, 8 / 72], rtol=1e-12)


def test_trees_count_the_same_whatever_their_size() -> None:
    small = threshold(0, 0, leaf([1, 0]), leaf([0, 1]))
    large = threshold(1, 0, leaf([1000, 0]), leaf([0, 1000]))
    np.testing.assert_allclose(impurity_importances(build_forest([small, large], 2), "gini"), [0.5, 0.5])


def test_a_tree_of_one_leaf_has_no_say() -> None:
    small = threshold(0, 0, leaf([1, 0]), leaf([0, 1]))
    assert impurity_importances(build_forest([small, leaf([3, 3])], 2), "gini").tolist() == [1, 0]
    assert impurity_importances(build_forest([leaf([3, 3])], 2), "entropy").tolist() == [0, 0]


def test_an_oblique_split_counts_for_its_columns_by_what_they_move() -> None:
    forest = build_forest([oblique({0: 1.0, 2: -3.0}, 0, leaf([1, 0]), leaf([0, 1]))], 3)
    assert impurity_importances(forest, "gini").tolist() == [0.5, 0, 0.5]
    np.testing.assert_allclose(impurity_importances(forest, "gini", np.array([6.0, 1.0, 1.0])), [2 / 3, 0, 1 / 3])


def test_empty_leaves_do_no_harm() -> None:
    tree = threshold(0, 0, leaf([0, 0]), threshold(1, 0, leaf([2, 0]), leaf([0, 2])))
    for impurity in ("gini", "entropy"):
        assert impurity_importances(build_forest([tree], 2), impurity).tolist() == [0, 1]  # type: ignore[arg-type]


@st.composite
def countable_forests(draw: st.DrawFn, regression: bool) -> Forest:
    """Drawn forests with whole numbers in their leaves: a decrease is nothing, or more than rounding."""
    forest = draw(forests(regression=regression))
    n_columns = 3 if regression else forest.n_classes
    rows = draw(st.lists(st.integers(0, 9), min_size=forest.n_leaves * n_columns, max_size=forest.n_leaves * n_columns))
    values = np.array(rows, dtype=np.float64).reshape(-1, n_columns)
    if regression:
        values[values[:, 0] == 0, 2] = 0  # no weight, no squares
    return replace(forest, **{"leaf_stats" if regression else "leaf_counts": values})


def check_importances(forest: Forest, impurity: Any) -> None:
    expected, smallest = literal_importances(forest, impurity)
    assume(smallest > 1e-9)
    found = impurity_importances(forest, impurity)
    assert found.shape == (forest.n_features,)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@several
@given(countable_forests(regression=False), st.sampled_from(["gini", "entropy"]))
def test_importances_agree_with_the_definition(forest: Forest, impurity: str) -> None:
    check_importances(forest, impurity)


@several
@given(countable_forests(regression=True))
def test_importances_of_regression_agree_with_the_definition(forest: Forest) -> None:
    check_importances(forest, "squared_error")


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_importances_are_scikit_learns_on_the_same_classification_tree(criterion: str) -> None:
    X, y = make_classification(600, 6, n_informative=4, flip_y=0.2, random_state=5)
    X = X.astype(np.float32).astype(np.float64)
    limits = {"criterion": criterion, "max_depth": 4, "min_samples_leaf": 20}
    ours = TreeClassifier.cart(**limits).fit(X, y)
    theirs = DecisionTreeClassifier(**limits, random_state=0).fit(X, y)
    # The same structure, or the comparison means nothing.
    assert sorted(ours.forest_.threshold[ours.forest_.feature >= 0]) == sorted(
        theirs.tree_.threshold[theirs.tree_.feature >= 0]
    )
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, rtol=1e-9)
    assert (ours.feature_importances_ > 0).sum() >= 3


def test_importances_are_scikit_learns_on_the_same_regression_tree() -> None:
    X, y = make_friedman1(500, noise=1, random_state=1)
    X = X.astype(np.float32).astype(np.float64)
    ours = TreeRegressor(max_depth=4, pruning=None).fit(X, y)
    theirs = DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, y)
    assert sorted(ours.forest_.threshold[ours.forest_.feature >= 0]) == sorted(
        theirs.tree_.threshold[theirs.tree_.feature >= 0]
    )
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, rtol=1e-9)
    np.testing.assert_allclose(ours.feature_importances_.sum(), 1)


@pytest.mark.parametrize("criterion", ["log_loss", "squared_error", None, ["gini"]])
def test_an_unknown_criterion_has_no_impurity(criterion: Any) -> None:
    with pytest.raises(ValueError, match=r"criterion is .*, must be one of 'gini', 'entropy', 'gain_ratio', 'c45'"):
        impurity_of(criterion)
