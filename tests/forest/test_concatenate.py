from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from effort import examples
from hedgerow import Forest, ForestClassifier, ForestRegressor, RandomTreesClassifier
from hedgerow.forest.build import build_forest, leaf, multiway, oblique, threshold, value
from hedgerow.walk import gather
from strategies import forests

SPLIT = threshold(0, 0.5, leaf([2, 0]), leaf([0, 3]))
SLANTED = oblique({0: 1.0, 1: -1.0}, 0.5, leaf([2, 0]), leaf([0, 2]))
NOMINAL = multiway(1, {0: leaf([3, 1]), 2: leaf([0, 1])}, own=leaf([1, 0]))


@pytest.mark.parametrize(
    "pieces",
    [
        [[SPLIT], [leaf([1, 1])]],
        [[NOMINAL, SPLIT], [NOMINAL]],
        [[NOMINAL], [SLANTED, NOMINAL]],
        [[SLANTED], [SPLIT], [NOMINAL, SLANTED]],
    ],
)
def test_concatenated_trees_are_those_of_one_forest(pieces: list[list[Any]]) -> None:
    joined = Forest.concatenate([build_forest(trees, 2) for trees in pieces])
    joined.check()
    assert joined == build_forest([tree for trees in pieces for tree in trees], 2)


@settings(max_examples=examples(8, 20), deadline=None)
@given(forests())
def test_a_forest_twice_has_each_tree_twice(forest: Forest) -> None:
    twice = Forest.concatenate([forest, forest])
    twice.check()
    assert twice.n_trees == 2 * forest.n_trees
    X = np.zeros((3, forest.n_features))
    values = np.arange(forest.n_leaves, dtype=float)[:, np.newaxis]
    apart = gather(forest, X, values)
    assert np.array_equal(gather(twice, X, np.concatenate([values, values])), np.concatenate([apart, apart], axis=1))


@pytest.mark.parametrize(
    "estimator",
    [ForestClassifier(min_samples_split=2), ForestRegressor(), RandomTreesClassifier(rule="pool", min_samples_leaf=1)],
    ids=lambda estimator: type(estimator).__name__,
)
def test_trees_fitted_piecewise_predict_like_trees_fitted_at_once(estimator: Any) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((60, 3)), rng.integers(0, 2, 60)
    whole, few, other = (
        estimator.set_params(n_estimators=n, random_state=seed).fit(X, y).forest_
        for n, seed in ((5, 0), (2, 0), (3, 1))
    )
    joined = Forest.concatenate([few, other])
    joined.check()

    def leaf_values(forest: Forest) -> Any:
        return gather(forest, X, forest.counts if forest.leaf_stats is None else forest.stats)

    assert joined.n_trees == whole.n_trees
    assert np.array_equal(leaf_values(joined)[:, :2], leaf_values(whole)[:, :2])
    assert np.array_equal(leaf_values(joined)[:, 2:], leaf_values(other))


def test_derived_arrays_stay_derived() -> None:
    X = np.arange(40.0).reshape(-1, 1)
    model = RandomTreesClassifier(n_estimators=2, rule="pool", min_samples_leaf=1, random_state=0)
    forest = model.fit(X, X[:, 0] > 9).forest_
    assert forest.parts()["weight"] is None
    joined = Forest.concatenate([forest, forest])
    assert joined.parts()["weight"] is joined.parts()["payload"] is joined.parts()["missing"] is None
    assert joined.weight.tolist() == [*forest.weight, *forest.weight]


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ([build_forest([leaf([1, 1])], 3)], r"forests\[0\] has 2 features, 2 classes and forests\[1\] has 3 features"),
        ([build_forest([SPLIT], 2), build_forest([leaf([1, 1, 1])], 2)], r"forests\[2\] has 2 features, 3 classes"),
        ([build_forest([value(1.0)], 2, regression=True)], r"forests\[1\] has 2 features, means \(regression\)"),
    ],
)
def test_forests_that_do_not_match_are_refused(others: list[Forest], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Forest.concatenate([build_forest([SPLIT], 2), *others])


def test_no_forests_are_refused() -> None:
    with pytest.raises(ValueError, match="forests is empty: pass at least one Forest"):
        Forest.concatenate([])
