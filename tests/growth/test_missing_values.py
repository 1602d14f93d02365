"""Rows with missing values: the leaves that they reach, the majority class of those, and a class drawn by chance."""

from __future__ import annotations

import math

import numpy as np
import pytest

import oracles
from effort import daily_pairs
from hedgerow import ForestClassifier, RandomTreesClassifier, TreeClassifier
from hedgerow.forest.kinds import MissingPolicy
from hedgerow.growth import Fractional
from hedgerow.walk import tally

NAN = math.nan


def lecture_tree() -> TreeClassifier:
    """B = 1 in 40 of 50 rows, as on the lecture's slide; then A decides where B = 1, and nearly nothing where B = 0."""
    rows = [(1, 0, "yes")] * 22 + [(1, 1, "no")] * 18 + [(0, 0, "no")] * 10
    X = np.array([row[:2] for row in rows], dtype=float)
    return TreeClassifier("entropy", categorical_features=[0, 1]).fit(X, np.array([row[2] for row in rows]))


def test_the_lectures_shares() -> None:
    tree = TreeClassifier("gini", categorical_features=[0], max_depth=1).fit(
        [[1.0]] * 40 + [[0.0]] * 10, [1] * 40 + [0] * 10
    )
    np.testing.assert_allclose(tree.predict_proba([[NAN]]), [[10 / 50, 40 / 50]])
    assert tree.predict_most_likely([[NAN]]).tolist() == [1]


def test_a_row_is_divided_in_proportion_to_the_known_rows() -> None:
    branch, weight = np.array([-1, 0, 2, 2, -1]), np.array([0.5, 1.0, 1.0, 2.0, 1 / 100])
    n_fractions, target, fraction = Fractional().divide(branch, weight, 3)
    assert n_fractions.tolist() == [3, 1, 1, 1, 1]
    assert target.tolist() == [0, 1, 2, 0, 2, 2, 2]  # the last row is too small to divide: it follows the heaviest
    np.testing.assert_allclose(fraction, [1 / 8, 0, 3 / 8, 1, 1, 2, 1 / 100])
    n_fractions, target, _ = Fractional(min_fraction=0).divide(branch, weight, 3)
    assert n_fractions.tolist() == [3, 1, 1, 1, 3]


def test_the_core_divides_rows_as_the_policy_does() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(60, 1)).astype(float)
    y = (X[:, 0] > 0).astype(int)
    X[::7] = NAN
    tree = TreeClassifier("gini", categorical_features=[0], max_depth=1, pruning=None).fit(X, y)
    branch = np.where(np.isnan(X[:, 0]), -1, X[:, 0]).astype(np.int64)
    n_fractions, target, weight = Fractional().divide(branch, np.ones(60), 3)
    counts = np.zeros((3, 2))
    np.add.at(counts, (target, np.repeat(y, n_fractions)), weight)
    np.testing.assert_allclose(tree.forest_.counts, counts, rtol=1e-12)


def test_growth_divides_rows_by_hand_computed_fractions() -> None:
    # Six rows know x: four at 0 (class 0), two at 1 (class 1). Two do not: 4/6 of each goes left, 2/6 right.
    X = [[0.0]] * 4 + [[1.0]] * 2 + [[NAN]] * 2
    tree = TreeClassifier("gini", categorical_features=[0], max_depth=1).fit(X, [0, 0, 0, 0, 1, 1, 1, 1])
    np.testing.assert_allclose(tree.forest_.counts, [[4, 2 * 4 / 6], [0, 2 + 2 * 2 / 6]])
    left, right = np.array([4, 8 / 6]), np.array([0, 2 + 4 / 6])
    # A new row without x takes both ways, 5 1/3 to 2 2/3, and mixes their shares.
    mixed = left.sum() / 8 * left / left.sum() + right.sum() / 8 * right / right.sum()
    np.testing.assert_allclose(tree.predict_proba([[NAN]])[0], mixed)


def test_missing_as_a_value_of_its_own() -> None:
    X = [[0.0]] * 4 + [[1.0]] * 2 + [[NAN]] * 3
    for column in ([0], None):
        tree = TreeClassifier("gini", categorical_features=column, missing="category", leaf_probability="frequency")
        tree.fit(X, [0] * 4 + [1] * 2 + [2] * 3)
        np.testing.assert_array_equal(tree.predict_proba([[NAN], [0.0], [1.0]]), np.eye(3)[[2, 0, 1]])


def test_the_most_likely_class_counts_ways_and_not_shares() -> None:
    # Without the first column a row goes 6:5 to a leaf of 6 against 5 and to one that is pure.
    X = np.array([[0.0]] * 11 + [[1.0]] * 9)
    y = ["a"] * 6 + ["b"] * 5 + ["b"] * 9
    tree = TreeClassifier("gini", max_depth=1, categorical_features=[0], pruning=None).fit(X, y)
    assert tree.predict_most_likely([[NAN]]).tolist() == ["a"]
    assert tree.predict([[NAN]]).tolist() == ["b"]  # 6/20 against 14/20


@pytest.mark.parametrize("missing", ["fractional", "category", "learned", "random"])
def test_the_most_likely_class_against_every_way(missing: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (150, 4)).astype(float)
    y = (X[:, 0] + X[:, 1] * X[:, 2]).astype(int) % 3
    X[rng.random(X.shape) < 0.15] = NAN
    tree = TreeClassifier(missing=missing, max_depth=4, random_state=0, categorical_features=[0, 1]).fit(X, y)
    labels = tree.predict_most_likely(X)
    probabilities = tree.forest_.counts / tree.forest_.counts.sum(axis=1, keepdims=True)
    for row, label in zip(X, labels, strict=True):
        votes = np.zeros(3)
        for leaf, share in oracles.spread(tree.forest_, row, 0).items():
            votes[probabilities[leaf].argmax()] += share
        assert votes[label] >= votes.max() - 1e-12
    known = ~np.isnan(X).any(axis=1)
    assert (tree.predict(X[known]) == labels[known]).all()


@pytest.mark.parametrize("model", [TreeClassifier(max_depth=2), ForestClassifier(20), RandomTreesClassifier(20)])
def test_classes_are_drawn_with_their_probabilities(model: TreeClassifier) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.array(["no", "perhaps", "yes"])[rng.integers(0, 3, 300)]
    model.fit(X, y)
    row = np.repeat(X[:1], 20_000, axis=0)
    drawn = model.predict_drawn(row, rng=0)
    assert (drawn == model.predict_drawn(row, rng=np.random.default_rng(0))).all()
    shares = np.array([(drawn == label).mean() for label in model.classes_])
    p = model.predict_proba(X[:1])[0]
    # five standard errors
    np.testing.assert_array_less(np.abs(shares - p), 5 * np.sqrt(p * (1 - p) / len(row)) + 1e-12)


def test_a_certain_class_is_always_drawn() -> None:
    tree = TreeClassifier(leaf_probability="frequency").fit([[0.0], [1.0]] * 5, ["a", "b"] * 5)
    assert (tree.predict_drawn([[0.0]] * 100) == "a").all()
    assert (tree.predict_drawn([[1.0]] * 100) == "b").all()


# -- random trees that take missing for a value


def mixed_rows(seed: int, n_rows: int = 80) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [rng.normal(size=n_rows), rng.integers(0, 4, n_rows), rng.integers(0, 3, n_rows), np.ones(n_rows)]
    )
    X[rng.random(X.shape) < 0.2] = NAN
    X[:, 2] = np.nan_to_num(X[:, 2])  # nominal, nothing missing
    return X, rng.integers(0, 3, n_rows)


@pytest.mark.parametrize(("seed", "min_samples_leaf"), daily_pairs(range(5), [1, 4]))
def test_random_trees_count_every_row_in_one_leaf_if_missing_is_a_value(seed: int, min_samples_leaf: int) -> None:
    X, y = mixed_rows(seed)
    nominal = {"categorical_features": [1, 2], "missing": "category", "min_samples_leaf": min_samples_leaf}
    model = RandomTreesClassifier(10, random_state=seed, **nominal).fit(X, y)
    model.forest_.check()
    spread = shares_of_ways(model, X)
    assert set(spread.tolist()) == {1.0}
    np.testing.assert_array_equal(model.forest_.counts, tally(model.forest_, X, y.astype(np.int32), np.ones(len(y))))
    kinds = set(model.forest_.missing[model.forest_.feature >= 0].tolist())
    assert kinds >= {MissingPolicy.LAST_CHILD, MissingPolicy.OWN_BRANCH}
    divided = RandomTreesClassifier(10, random_state=seed, **{**nominal, "missing": "fractional"}).fit(X, y)
    assert (shares_of_ways(divided, X) < 1).any()


def shares_of_ways(model: RandomTreesClassifier, X: np.ndarray) -> np.ndarray:
    """Of every way of every row in every tree."""
    forest = model.forest_
    ways = [oracles.spread(forest, row, tree) for row in X for tree in range(forest.n_trees)]
    return np.array([share for way in ways for share in way.values()])


@pytest.mark.parametrize("column", [[0], None])
def test_random_trees_learn_from_what_is_missing(column: list[int] | None) -> None:
    X = np.array([[0.0]] * 5 + [[1.0]] * 5 + [[NAN]] * 5)
    y = ["a"] * 5 + ["b"] * 5 + ["gone"] * 5
    model = RandomTreesClassifier(
        20, missing="category", categorical_features=column, rule="probability", random_state=0
    )
    model.fit(X, y)
    np.testing.assert_array_equal(model.predict_proba([[0.0], [1.0], [NAN]]), np.eye(3))
    # A number beyond all that were seen is known: it is not taken for a missing one.
    if column is None:
        assert model.predict([[1e300]]).tolist() == ["b"]
    before = model.forest_.counts.sum()
    model.partial_fit([[NAN]], ["gone"])
    assert model.forest_.counts.sum() == before + 20


def test_a_column_that_is_missing_everywhere_is_a_constant() -> None:
    X = np.column_stack([np.full(20, NAN), np.arange(20.0)])
    model = RandomTreesClassifier(5, missing="category", random_state=0).fit(X, [0, 1] * 10)
    assert not (model.forest_.feature == 0).any()


def test_the_largest_number_can_be_told_from_a_missing_one() -> None:
    largest = np.finfo(float).max
    X = np.array([[0.0]] * 4 + [[largest]] * 4 + [[NAN]] * 4)
    model = RandomTreesClassifier(30, missing="category", rule="probability", random_state=0).fit(
        X, [0] * 4 + [1] * 4 + [2] * 4
    )
    np.testing.assert_array_equal(model.predict_proba([[0.0], [largest], [NAN]]), np.eye(3))


def test_random_trees_refuse_other_ways() -> None:
    with pytest.raises(ValueError, match="missing is 'learned', must be 'fractional' or 'category'"):
        RandomTreesClassifier(missing="learned").fit([[0.0], [1.0]], [0, 1])
