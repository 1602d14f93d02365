"""Shrunken leaf probabilities: the paper's equation, and the class of a leaf, which never changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow import Forest
from hedgerow.folds.leaf_probability import Frequency, Shrinkage, leaf_probability, shrunken_shares
from hedgerow.forest.build import build_forest, leaf, threshold
from oracles import shrinkage as truth
from strategies import forests

_single_trees = forests(regression=False, max_trees=1)
_amounts = st.floats(1e-3, 1e6)


def estimate(forest: Forest, amount: float) -> Any:
    strategy = Shrinkage(amount)
    prior = np.full(forest.n_classes, 1 / forest.n_classes)
    return strategy(strategy.evidence(forest), prior)


def example() -> Forest:
    """30 rows, of which the split sends 10 to a leaf with (9, 1)."""
    return build_forest([threshold(0, 0.0, leaf([9, 1]), leaf([6, 14]))], n_features=1)


def test_a_worked_example() -> None:
    # The root has ½ and ½; with 30 rows in it and the amount 30 each step counts half: ½ + (0.9 - ½)/2 = 0.7.
    np.testing.assert_allclose(estimate(example(), 30), [[0.7, 0.3], [0.4, 0.6]], rtol=1e-15)


@given(_single_trees, _amounts)
def test_shares_are_those_of_the_equation_where_the_majority_leads(forest: Forest, amount: float) -> None:
    expected, counts = truth.shrunken(forest, amount), forest.answer_counts()
    found = shrunken_shares(forest, amount)
    leads = np.take_along_axis(counts, expected.argmax(axis=1)[:, np.newaxis], axis=1)[:, 0] == counts.max(axis=1)
    np.testing.assert_allclose(found[leads], expected[leads], rtol=1e-9, atol=1e-12)


@given(_single_trees, _amounts)
def test_the_most_probable_class_of_a_leaf_is_a_majority_of_its_rows(forest: Forest, amount: float) -> None:
    found, counts = estimate(forest, amount), forest.answer_counts()
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-9)
    chosen = np.take_along_axis(counts, found.argmax(axis=1)[:, np.newaxis], axis=1)[:, 0]
    # Counts that differ by less than rounding are equal.
    np.testing.assert_allclose(chosen, counts.max(axis=1), rtol=1e-9)


def test_a_minority_above_is_brought_level_with_the_leafs_majority() -> None:
    forest = build_forest([threshold(0, 0.0, leaf([0, 1]), leaf([99, 0]))], n_features=1)
    small, large = estimate(forest, 1e9)
    # 1e-3 of the lead of the leaf, 1, beyond equality.
    np.testing.assert_allclose(small[1] - small[0], 1e-3, rtol=1e-3)
    np.testing.assert_allclose(large, [0.99, 0.01], atol=1e-6)


def test_nodes_above_decide_between_classes_with_equal_counts() -> None:
    forest = build_forest([threshold(0, 0.0, leaf([2, 2, 0]), leaf([0, 8, 1]))], n_features=1)
    assert estimate(forest, 5).argmax(axis=1).tolist() == [1, 1]
    assert Frequency()(forest.counts, np.full(3, 1 / 3)).argmax(axis=1).tolist() == [0, 1]


@given(_single_trees)
def test_little_shrinkage_gives_the_frequencies_and_a_lot_the_root(forest: Forest) -> None:
    prior = np.full(forest.n_classes, 1 / forest.n_classes)
    some = forest.counts.sum(axis=1) > 1e-3
    least = estimate(forest, 1e-12)
    np.testing.assert_allclose(least[some], Frequency()(forest.counts, prior)[some], atol=1e-6)
    root, answer = forest.counts.sum(axis=0), forest.answer_counts()
    expected = root / root.sum() if root.sum() > 0 else prior
    agrees = (answer.argmax(axis=1) == root.argmax()) & (root.sum() > 1e-3)
    most = estimate(forest, 1e15)
    np.testing.assert_allclose(most[agrees], np.tile(expected, (agrees.sum(), 1)), atol=2e-3)


def test_an_empty_leaf_has_the_estimate_of_its_parent() -> None:
    inner = threshold(0, -1.0, leaf([0, 0]), leaf([9, 1]))
    forest = build_forest([threshold(0, 0.0, inner, leaf([6, 14]))], n_features=1)
    np.testing.assert_allclose(estimate(forest, 30), [[0.4, 0.6], [0.7, 0.3], [0.7, 0.3]], rtol=1e-15)


@pytest.mark.parametrize("amount", [0, -1, float("nan"), float("inf"), "loo", None, True])
def test_the_amount_must_be_cv_or_a_positive_number(amount: Any) -> None:
    with pytest.raises(ValueError, match=r"Shrinkage: amount is .*, must be 'cv' or a positive number of rows"):
        Shrinkage(amount)


@pytest.mark.parametrize("folds", [1, 2.0, None])
def test_there_must_be_two_folds(folds: Any) -> None:
    with pytest.raises(ValueError, match=r"Shrinkage: folds is .*, must be a whole number of at least 2"):
        Shrinkage(folds=folds)


def test_its_alias_leaves_the_amount_to_cross_validation() -> None:
    assert leaf_probability("shrinkage") == Shrinkage("cv", 3)
