from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import examples
from hedgerow import Forest
from hedgerow.forest.build import build_forest, leaf, multiway, threshold, value
from hedgerow.walk import spread, tally
from oracles import random_growth as random_oracles
from strategies import forests, rows_of

several = settings(max_examples=examples(16, 60), deadline=None)


@st.composite
def forests_with_labels(draw: st.DrawFn, **options: Any) -> tuple[Forest, Any, Any, Any]:
    forest = draw(forests(regression=False, **options))
    X = draw(rows_of(forest, max_rows=20))
    labels = draw(st.lists(st.integers(0, forest.n_classes - 1), min_size=len(X), max_size=len(X)))
    weights = draw(st.lists(st.sampled_from([0.0, 1.0, 0.3, 7.0]), min_size=len(X), max_size=len(X)))
    return forest, X, np.array(labels, dtype=np.int32), np.array(weights)


@given(forests_with_labels())
@several
def test_tally_is_that_of_the_slow_truth(case: tuple[Forest, Any, Any, Any]) -> None:
    assert np.array_equal(tally(*case), random_oracles.tally(*case))


@given(forests_with_labels(splits=("threshold",)))
@several
def test_tally_of_forests_of_thresholds_is_that_of_the_slow_truth(case: tuple[Forest, Any, Any, Any]) -> None:
    assert np.array_equal(tally(*case), random_oracles.tally(*case))


@given(forests_with_labels())
@several
def test_every_tree_counts_every_row_once(case: tuple[Forest, Any, Any, Any]) -> None:
    forest, _, labels, weights = case
    by_tree = np.add.reduceat(tally(*case), forest.leaf_start[:-1])
    expected = np.bincount(labels, weights=weights, minlength=forest.n_classes)
    assert by_tree == pytest.approx(np.tile(expected, (forest.n_trees, 1)), rel=1e-12)


def test_threads_and_blocks_do_not_change_a_bit() -> None:
    rng = np.random.default_rng(0)
    nodes = [
        threshold(0, at, multiway(1, {0: leaf([3.0, 0.0]), 2: leaf([1.0, 4.0])}), leaf([1.0, 1.0]))
        for at in rng.normal(size=37)
    ]
    plain = [
        threshold(0, at, threshold(1, 1.0, leaf([2.0, 0.0]), leaf([1.0, 4.0])), leaf([1.0, 1.0]))
        for at in rng.normal(size=37)
    ]
    X = np.column_stack([rng.normal(size=9_000), rng.integers(0, 4, 9_000)])
    X[rng.random(X.shape) < 0.1] = math.nan
    labels, weights = rng.integers(0, 2, 9_000).astype(np.int32), rng.random(9_000)
    for roots in (nodes, plain):
        forest = build_forest(roots, 2)
        alone = tally(forest, X, labels, weights)
        assert all(np.array_equal(tally(forest, X, labels, weights, n_jobs=n), alone) for n in (2, 3, 50))
        shares = spread(forest, X)
        expected = np.column_stack([shares.T @ (weights * (labels == k)) for k in range(2)])
        assert alone == pytest.approx(expected, rel=1e-9)


def test_no_rows_add_nothing() -> None:
    forest = build_forest([threshold(0, 0.5, leaf([1.0]), leaf([2.0]))], 1)
    empty = tally(forest, np.zeros((0, 1)), np.zeros(0, dtype=np.int32), np.zeros(0))
    assert empty.tolist() == [[0.0], [0.0]]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X": np.zeros((2, 3))}, "this forest needs"),
        ({"labels": np.zeros(2)}, "labels is float64"),
        ({"labels": np.zeros(3, dtype=np.int32)}, "labels is int32"),
        ({"labels": np.array([0, 2], dtype=np.int32)}, "labels holds 2, must be class numbers in 0 .. 1"),
        ({"labels": np.array([-1, 0], dtype=np.int32)}, "labels holds -1"),
        ({"weights": np.ones(1)}, "weights is float64"),
        ({"weights": np.array([1.0, -1.0])}, "weights must be finite and not negative"),
        ({"weights": np.array([1.0, math.nan])}, "weights must be finite and not negative"),
    ],
)
def test_what_cannot_be_tallied_is_refused(changes: dict[str, Any], message: str) -> None:
    forest = build_forest([threshold(0, 0.5, leaf([1.0, 0.0]), leaf([2.0, 1.0]))], 1)
    given = {"X": np.zeros((2, 1)), "labels": np.zeros(2, dtype=np.int32), "weights": np.ones(2), **changes}
    with pytest.raises(ValueError, match=message):
        tally(forest, **given)


def test_a_regression_forest_has_no_classes_to_tally() -> None:
    forest = build_forest([threshold(0, 0.5, value(1.0), value(2.0))], 1, regression=True)
    with pytest.raises(ValueError, match="regression forest"):
        tally(forest, np.zeros((1, 1)), np.zeros(1, dtype=np.int32), np.ones(1))
