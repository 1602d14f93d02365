"""Drawn splits: one threshold or category of each tried column, in all trees or in every second."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import examples
from hedgerow import Forest, ForestClassifier, ForestRegressor
from hedgerow.forest.kinds import NodeKind

several = settings(max_examples=examples(8, 30), deadline=None)


def data(n_rows: int = 200, n_columns: int = 6, seed: int = 0) -> tuple[Any, Any]:
    """Numbers with ties, three classes."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n_rows, n_columns)), 1)
    return X, np.digitize(X[:, 0] + X[:, 1] + rng.normal(size=n_rows), [-0.5, 0.5])


def plain(**settings: Any) -> ForestClassifier:
    return ForestClassifier(**{"calibration": None, "min_samples_split": 2, "random_state": 3, **settings})


def tree_arrays(forest: Forest, tree: int) -> tuple[list[Any], ...]:
    first, last = forest.tree_start[tree : tree + 2]
    parts = (forest.kind[first:last], forest.feature[first:last], forest.threshold[first:last])
    return tuple(np.nan_to_num(part, nan=-1.0).tolist() for part in parts)


@pytest.mark.parametrize("estimator", [ForestClassifier, ForestRegressor])
def test_binned_and_exact_growth_draw_the_same_trees(estimator: Any) -> None:
    """Where every value has a bin of its own, the two growers are two independent computations of one definition."""
    X, y = data()
    found = [
        estimator(8, splitter="random", min_samples_split=2, max_bins=bins, random_state=0).fit(X, y).forest_
        for bins in (255, None)
    ]
    for tree in range(8):
        assert tree_arrays(found[0], tree) == tree_arrays(found[1], tree)


def test_every_second_tree_of_a_mixed_forest_draws_and_tries_twice_as_many_columns() -> None:
    X, y = data()
    mixed = plain(n_estimators=6, splitter="mixed", max_features=2).fit(X, y).forest_
    best = plain(n_estimators=6, splitter="best", max_features=2).fit(X, y).forest_
    drawn = plain(n_estimators=6, splitter="random", max_features=4).fit(X, y).forest_
    for tree in range(6):
        assert tree_arrays(mixed, tree) == tree_arrays((best, drawn)[tree % 2], tree)


def test_thresholds_are_uniform_between_the_least_and_the_greatest_value() -> None:
    n = 400
    forest = plain(n_estimators=n, splitter="random", bootstrap=False).fit([[2.0], [6.0]], [0, 1]).forest_
    thresholds = np.sort(forest.threshold[forest.tree_start[:-1]])
    assert thresholds.min() >= 2.0
    assert thresholds.max() < 6.0
    # Kolmogorov–Smirnov: P(√n·D > 1.95) < 0.001, and the seed is fixed.
    distance = np.abs((thresholds - 2.0) / 4.0 - (np.arange(n) + 0.5) / n).max() + 0.5 / n
    assert np.sqrt(n) * distance < 1.95


def test_a_category_is_drawn_from_those_at_the_node() -> None:
    X, y = np.repeat(np.arange(3.0), 20)[:, np.newaxis], np.repeat([0, 1, 1], 20)
    for nominal, kind in (("binary", NodeKind.ONE_AGAINST_REST), ("subset", NodeKind.SUBSET)):
        for bins in (255, None):
            model = plain(
                n_estimators=60, splitter="random", nominal=nominal, max_bins=bins, categorical_features=[0]
            ).fit(X, y)
            roots = model.forest_.tree_start[:-1]
            assert set(model.forest_.kind[roots]) == {kind}
            if nominal == "binary":
                assert set(model.forest_.threshold[roots]) == {0.0, 1.0, 2.0}
            assert (model.predict(X) == y).all()


@several
@given(
    cells=st.lists(
        st.tuples(*[st.one_of(st.integers(0, 3).map(float), st.floats(-1e308, 1e308), st.just(np.nan))] * 2),
        min_size=2,
        max_size=25,
    ),
    seed=st.integers(0, 3),
    bins=st.sampled_from([2, 255, None]),
    leaf=st.sampled_from([1, 3]),
)
def test_odd_data_grow_valid_trees(cells: Any, seed: int, bins: int | None, leaf: int) -> None:
    X = np.array(cells)
    y = np.arange(len(X)) % 2
    model = plain(
        n_estimators=3, splitter="random", max_bins=bins, min_samples_leaf=leaf, random_state=seed, bootstrap=False
    ).fit(X, y)
    model.forest_.check()
    thresholds = model.forest_.threshold[model.forest_.kind == NodeKind.THRESHOLD]
    assert np.isfinite(thresholds).all()
    if leaf > 1 and not np.isnan(X).any():
        assert model.forest_.counts.sum(axis=1).min() >= min(leaf, len(X))


def test_the_same_bits_for_any_number_of_threads() -> None:
    X, y = data(2000)
    one, two = (plain(n_estimators=9, splitter="mixed", n_jobs=jobs).fit(X, y).forest_ for jobs in (1, 2))
    assert one == two


def test_an_unknown_splitter_is_named() -> None:
    with pytest.raises(ValueError, match="splitter is 'extra', must be one of 'best', 'random', 'mixed'"):
        ForestClassifier(splitter="extra").fit([[0.0], [1.0]], [0, 1])
