"""Growth from one-byte codes: the same bits as from the values, also of some rows, or of a part of a tree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from effort import examples
from hedgerow import Forest
from hedgerow._core import DrawScheme, grow_codes, row_draws, split_node
from hedgerow.growth import Growth, Training, grow_forest
from hedgerow.growth.codes import MISSING_CODE, Bins, CodedRows, bin_training, grow_coded_tree
from hedgerow.growth.poisson import PoissonDraws, round_targets, tree_key
from oracles.forests import bins as bins_of_definition
from strategies import mixed_data

Floats = NDArray[np.float64]
_ARRAYS = (
    "threshold",
    "feature",
    "first_child",
    "kind",
    "weight",
    "payload",
    "missing",
    "payload_start",
    "payload_codes",
    "leaf_start",
)


def training_of(regression: bool, n_rows: int = 300, weights: bool = False) -> Training:
    X, y = mixed_data(n_rows)
    weight = np.ones(n_rows)
    if weights:
        weight = np.rint(np.random.default_rng(1).random(n_rows) * 2**20 + 1) / 2**20
    categories = np.array([0, 0, 0, 5], np.int32)
    truth: dict[str, Any] = (
        {"targets": y + X[:, 1].round(2)} if regression else {"labels": y.astype(np.int32), "n_classes": 3}
    )
    if regression:
        truth["targets"] = np.nan_to_num(truth["targets"])
    return Training(np.asfortranarray(X), categories, weight, **truth)


def options_of(training: Training, **settings: Any) -> Any:
    regression = training.targets is not None
    growth = Growth("squared_error" if regression else "gini", missing="random", max_features=2, **settings)
    criteria = ("squared_error",) if regression else ("gini",)
    options = growth.options(training.sample_weight, training.values.shape[1], criteria, 11)
    options.n_trees, options.max_bins, options.n_draws = 4, 20, len(training.sample_weight)
    options.draw_scheme = DrawScheme.poisson
    options.keep_leaf_rows = regression
    if training.targets is not None:
        round_targets(options, training.targets.min(), training.targets.max())
    return options


def drawn(training: Training, options: Any) -> PoissonDraws:
    weight = training.sample_weight
    return PoissonDraws(options.seed, options.n_draws, len(weight), float(weight.sum()))


def assert_same(one: Forest, other: Forest) -> None:
    for name in _ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    values = "leaf_counts" if one.leaf_stats is None else "leaf_stats"
    np.testing.assert_array_equal(getattr(one, values), getattr(other, values))


SETTINGS = [
    {},
    {"nominal": "binary", "splitter": "mixed"},
    {"nominal": "subset", "splitter": "random", "min_samples_leaf": 3},
    {"max_leaf_nodes": 12, "min_samples_split": 0.1},
    {"max_depth": 4, "min_impurity_decrease": 0.01},
]


@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("only_drawn", [False, True])
def test_trees_are_those_of_the_values(regression: bool, settings: dict[str, Any], only_drawn: bool) -> None:
    training = training_of(regression, weights=True)
    options = options_of(training, **settings)
    expected = grow_forest(training, options)
    codes, bins = bin_training(training, 20)
    trees, rows_of_leaves = [], []
    for tree in range(options.n_trees):
        counts = drawn(training, options).counts(tree, 0, len(training.sample_weight), training.sample_weight)
        taken = np.flatnonzero(counts > 0) if only_drawn else np.arange(len(counts))
        truth: Any = {"targets": training.targets[taken]} if training.targets is not None else {"n_classes": 3}
        if training.labels is not None:
            truth["labels"] = training.labels[taken]
        rows = CodedRows(np.asfortranarray(codes[taken]), counts[taken], numbers=taken, **truth)
        options_of_tree = options.of_tree(tree)
        grown = grow_coded_tree(rows, bins, options_of_tree, tree_key(options.seed, tree))
        trees.append(grown.forest)
        rows_of_leaves.append(taken[grown.leaf_rows])
    assert_same(Forest.concatenate(trees), expected.forest)
    np.testing.assert_array_equal(np.concatenate(rows_of_leaves), expected.leaf_rows)


@given(st.integers(0, 2**32), st.integers(1, 60), st.integers(2, 12), st.booleans())
@settings(max_examples=examples(16, 60), deadline=None)
def test_bins_and_codes_are_those_of_the_definition(seed: int, n_rows: int, max_bins: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    values = rng.choice([-2.5, -0.0, 0.0, 1.0, np.nan, *rng.normal(size=20).tolist()], size=n_rows)
    weight = rng.integers(1, 9, size=n_rows) / 4 if weighted else np.ones(n_rows)
    training = Training(
        values[:, np.newaxis].copy(order="F"), np.zeros(1, np.int32), weight, np.zeros(n_rows, np.int32), None, 2
    )
    codes, bins = bin_training(training, max_bins)
    expected = bins_of_definition(values, weight, max_bins)
    assert list(zip(bins.least.tolist(), bins.greatest.tolist(), strict=True)) == expected
    np.testing.assert_array_equal(bins.encode(np.ascontiguousarray(training.values)), codes)
    for value, code in zip(values, codes[:, 0], strict=True):
        inside = [number for number, (low, high) in enumerate(expected) if low <= value <= high]
        assert [code] == (inside or [MISSING_CODE])


def test_columns_of_any_layout_are_coded_alike() -> None:
    training = training_of(False)
    codes, bins = bin_training(training, 20)
    wide = np.full((300, 9), np.nan)
    wide[:, 1::2] = training.values
    for X in (training.values, np.ascontiguousarray(training.values), wide[:, 1::2]):
        np.testing.assert_array_equal(bins.encode(X), codes)


def test_unknown_categories_are_missing() -> None:
    bins = Bins(np.zeros(2, np.int64), np.zeros(0), np.zeros(0), np.array([3], np.int32))
    assert bins.encode(np.array([[0.0], [2.0], [3.0], [np.nan], [1.5]])).ravel().tolist() == [0, 2, 255, 255, 255]


def test_the_core_refuses_what_does_not_fit() -> None:
    training = training_of(False)
    options = options_of(training)
    codes, bins = bin_training(training, 20)
    labels, counts = training.labels, np.ones(300, np.uint32)

    def grow(codes: Any = codes, arrays: Any = bins.arrays, counts: Any = counts, labels: Any = labels) -> Any:
        return grow_codes(codes, arrays, bins.n_categories, counts, labels, None, 3, None, options, 1, 0, -1.0)

    assert "forest" in grow()
    wrong = codes.copy(order="F")
    wrong[7, 3] = 5
    with pytest.raises(ValueError, match="a code has no bin"):
        grow(codes=wrong)
    with pytest.raises(ValueError, match="no row was drawn"):
        grow(counts=np.zeros(300, np.uint32))
    with pytest.raises(ValueError, match="wrong shape"):
        grow(counts=counts[1:])
    with pytest.raises(ValueError, match="bins of the wrong shape"):
        grow(arrays=(bins.start[:-1], bins.least, bins.greatest))
    with pytest.raises(ValueError, match="class numbers"):
        grow(labels=np.full(300, 3, np.int32))


def test_a_split_needs_histograms_that_fit() -> None:
    training = training_of(False)
    options = options_of(training, min_samples_leaf=2)
    _, bins = bin_training(training, 20)
    draws, rows = np.ones((4, 256, 3), np.uint32), np.ones((4, 256), np.uint32)

    def split(draws: Any = draws, rows: Any = rows, n_categories: Any = bins.n_categories) -> Any:
        return split_node(draws, rows, 256.0, bins.arrays, n_categories, options, 1, 0, 768.0)

    for wrong in ({"draws": draws[:3]}, {"draws": draws[:, :9].copy()}, {"rows": rows[1:]}, {"rows": None}):
        with pytest.raises(ValueError, match="histograms of the wrong shape"):
            split(**wrong)
    with pytest.raises(ValueError, match="a code has no bin"):
        split()
    with pytest.raises(ValueError, match="differ in length"):
        row_draws(1, np.arange(3), np.empty(2))
