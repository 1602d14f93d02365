"""The amount of shrinkage that a tree chooses in `fit`, and the folds that it is chosen by."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss

from hedgerow import TreeClassifier
from hedgerow.data.training import Training
from hedgerow.estimators.fitting.held_out import held_out_weights, select, weighted
from hedgerow.folds.leaf_probability import shrunken_shares
from hedgerow.probability import Shrinkage
from hedgerow.pruning.training_rows import hash_positions
from hedgerow.walk import spread
from oracles import shrinkage as truth


def training(values: Any, labels: Any, weights: Any) -> Training:
    X = np.asfortranarray(np.asarray(values, dtype=float)[:, np.newaxis])
    labels = np.asarray(labels, dtype=np.int32)
    return Training(X, np.zeros(1, dtype=np.int32), np.asarray(weights, dtype=float), labels, None, 3)


_rows = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(1, 5)), min_size=1, max_size=12)


@given(_rows, st.integers(2, 4), st.integers(0, 9))
def test_rows_are_dealt_to_the_folds_in_turn(rows: list[tuple[int, int, int]], n_folds: int, seed: int) -> None:
    values, labels, weights = zip(*rows, strict=True)
    given_ = training(values, labels, weights)
    found, place = held_out_weights(given_, n_folds, seed), hash_positions(given_, seed)
    np.testing.assert_array_equal(found.sum(axis=0), weights)
    assert (found == np.rint(found)).all()
    for c in set(labels):
        of_class = [i for i in range(len(rows)) if labels[i] == c]
        order = list(dict.fromkeys(values[i] for i in sorted(of_class, key=lambda i: place[i])))
        expected = truth.dealt([(values[i], weights[i]) for i in of_class], order, n_folds)
        for value in order:
            equal = [i for i in of_class if values[i] == value]
            assert found[:, equal].sum(axis=1).tolist() == expected[value]


@given(_rows, st.integers(2, 4))
def test_a_weight_is_a_number_of_copies_and_order_does_not_matter(rows: list[tuple[int, int, int]], n: int) -> None:
    values, labels, weights = (np.array(one) for one in zip(*rows, strict=True))

    def held_out(order: Any, copied: Any) -> Any:
        """Of each value and class in each fold."""
        times = weights[order] if copied else np.ones(len(rows), dtype=int)
        given_ = [np.repeat(one[order], times) for one in (values, labels, np.where(copied, 1, weights))]
        found, kinds = held_out_weights(training(*given_), n, 0), 3 * given_[0] + given_[1]
        return np.array([np.bincount(kinds, weights=one, minlength=12) for one in found])

    forward, back = np.arange(len(rows)), np.arange(len(rows))[::-1]
    expected = held_out(forward, False)
    for order, copied in ((forward, True), (back, False), (back, True)):
        np.testing.assert_array_equal(held_out(order, copied), expected)


@given(st.lists(st.floats(0.01, 9), min_size=1, max_size=9), st.integers(2, 4))
def test_weights_that_are_not_whole_add_up(weights: list[float], n_folds: int) -> None:
    found = held_out_weights(training(np.arange(len(weights)) // 2, [0] * len(weights), weights), n_folds, 0)
    np.testing.assert_allclose(found.sum(axis=0), weights, rtol=1e-8)
    assert (found >= 0).all()


@pytest.mark.parametrize("make", [np.asarray, list, pd.DataFrame, pl.DataFrame, pa.table])
def test_rows_are_selected_from_tables_of_any_library(make: Any) -> None:
    columns = {"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 6.0]}
    rows = list(zip(*columns.values(), strict=True))
    X = make(rows if make in (np.asarray, list) else columns)
    assert np.asarray(select(X, np.array([True, False, True]))).tolist() == [[1.0, 4.0], [3.0, 6.0]]


def test_the_amount_has_the_least_loss_of_held_out_rows() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :4]
    tree = TreeClassifier().fit(X, y)
    rows = Training(np.asfortranarray(X), np.zeros(4, dtype=np.int32), np.ones(len(y)), y.astype(np.int32), None, 2)
    losses = dict.fromkeys(Shrinkage.AMOUNTS, 0.0)
    for held_out in held_out_weights(rows, 3, 0):
        test, rest = weighted(rows, held_out), held_out == 0
        grown = TreeClassifier(leaf_probability="frequency").fit(X[rest], y[rest]).forest_
        reached = spread(grown, np.ascontiguousarray(test.values))
        for amount in losses:
            losses[amount] += log_loss(test.labels, reached @ shrunken_shares(grown, amount), normalize=False)
    assert tree.leaf_probability_ == Shrinkage(min(losses, key=losses.__getitem__))
    assert tree.leaf_probability_.amount not in (1.0, 500.0)


def test_on_coin_flips_it_is_no_worse_than_the_class_frequencies() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 5)), rng.integers(0, 2, size=400)
    tree = TreeClassifier(pruning=None).fit(X[:200], y[:200])
    assert tree.get_n_leaves() > 30
    # log 2 = 0.693; frequencies of such leaves have about 15. The standard error over 200 rows is below 0.01, as
    # nearly all probabilities are within 0.1 of a half.
    assert log_loss(y[200:], tree.predict_proba(X[200:])) < 0.72


def test_rows_that_occur_often_are_in_all_folds() -> None:
    X = np.repeat([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], 50, axis=0)
    y = X[:, 0].astype(int) ^ X[:, 1].astype(int) | (np.arange(200) % 10 == 0)
    tree = TreeClassifier("entropy", pruning=None).fit(X, y)
    assert tree.leaf_probability_.amount <= 2
    np.testing.assert_allclose(tree.predict_proba([[0, 0], [0, 1]])[:, 1], [0.1, 1.0], atol=0.03)


def test_labels_are_those_of_the_counts() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    default, plain = TreeClassifier(pruning=None).fit(X, y), TreeClassifier(pruning=None, leaf_probability="frequency")
    np.testing.assert_array_equal(default.predict(X), plain.fit(X, y).predict(X))


def test_it_can_be_changed_after_fit_but_only_fit_chooses_an_amount() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    tree = TreeClassifier(max_depth=3).fit(X, y)
    chosen = tree.predict_proba(X)
    assert not np.array_equal(tree.set_params(leaf_probability=Shrinkage(7)).predict_proba(X), chosen)
    np.testing.assert_array_equal(tree.set_params(leaf_probability="shrinkage").predict_proba(X), chosen)
    tree.set_params(leaf_probability="laplace").fit(X, y).set_params(leaf_probability="shrinkage")
    with pytest.raises(ValueError, match=r"leaf_probability is 'shrinkage', whose amount is chosen in fit: fit again"):
        tree.predict(X)


def test_the_presets_keep_the_frequencies() -> None:
    for preset in (TreeClassifier.cart(), TreeClassifier.c45()):
        tree = preset.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
        np.testing.assert_array_equal(tree.predict_proba([[0.0], [3.0]]), np.eye(2))


@pytest.mark.parametrize(("X", "y"), [([[1.0]], [0]), ([[1.0], [1.0]], [0, 1]), ([[1.0], [2.0]], [0, 0])])
def test_data_too_small_for_folds(X: Any, y: Any) -> None:
    tree = TreeClassifier().fit(X, y)
    np.testing.assert_allclose(tree.predict_proba(X), np.tile(tree.class_prior_, (len(X), 1)))
