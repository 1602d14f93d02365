"""Pruning by description length, bit by bit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from effort import examples
from hedgerow import TreeClassifier
from hedgerow.forest.build import build_forest, leaf, multiway, oblique, one_against_rest, subset, threshold, value
from hedgerow.pruning import description_length
from oracles import pruning as truth
from pruning_strategies import Grown, grown_from, grown_trees, noisy_rows

several = settings(max_examples=examples(22, 100), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@several
@given(grown=grown_trees())
def test_the_description_is_the_shortest_that_can_be_had_bottom_up(grown: Grown) -> None:
    forest, n_categories = grown.forest, grown.training.n_categories

    def as_leaf(node: int) -> float:
        return 1 + math.log2(forest.n_classes) + truth.exception_bits(truth.node_values(forest, node))

    def split(node: int) -> float:
        bits = truth.split_bits(forest, node, grown.X, n_categories.tolist())
        return 1 + math.log2(forest.n_features) + bits

    cuts = truth.cheapest(forest, as_leaf, split)[1]
    truth.check_cut(forest, cuts, description_length(forest, grown.X, n_categories))


def test_bits_by_hand() -> None:
    # Two columns; the tree takes 1 + 1 + log2(3) for the split, and 1 + 1 + log2(n + 1) for each pure leaf. As a
    # leaf: 1 + 1 + log2(n + 1) + log2 of the ways to choose the exceptions.
    def tree_bits(a: int, b: int) -> float:
        return 2 + math.log2(3) + 2 + math.log2(a + 1) + 2 + math.log2(b + 1)

    def leaf_bits(a: int, b: int) -> float:
        return 2 + math.log2(a + b + 1) + math.log2(math.comb(a + b, b))

    X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]])
    for a, b in ((4, 3), (5, 4), (6, 5), (40, 1), (40, 2), (40, 4)):
        forest = build_forest([threshold(0, 0.5, leaf([a, 0]), leaf([0, b]))], 2)
        n_nodes = 1 if leaf_bits(a, b) <= tree_bits(a, b) else 3
        assert description_length(forest, X).n_nodes == n_nodes
    assert leaf_bits(4, 3) < tree_bits(4, 3)
    assert leaf_bits(40, 4) > tree_bits(40, 4)


@pytest.mark.parametrize("kind", ["one_against_rest", "subset", "multiway"])
def test_categories_have_their_price(kind: str) -> None:
    # 12 rows of each class; the split must be told among those of a column with k categories.
    a, b = leaf([12, 0]), leaf([0, 12])
    node = {
        "one_against_rest": one_against_rest(0, 1, a, b),
        "subset": subset(0, [1], 3, a, b),
        "multiway": multiway(0, {0: a, 1: b}),
    }[kind]
    forest = build_forest([node], 1)
    saved = (2 + math.log2(25) + math.log2(math.comb(24, 12))) - (1 + 2 * (2 + math.log2(13)))
    price = {"one_against_rest": math.log2, "subset": lambda k: k - 1, "multiway": lambda _: 0.0}[kind]
    for k in (2, 5, 13, 14, 15, 2**13, 2**14, 2**15):
        pruned = description_length(forest, [[0.0], [1.0]], [k])
        assert pruned.n_nodes == (1 if saved <= price(k) else 3)
    assert 1 < saved < 16


def test_noise_is_not_worth_its_description() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 5)), rng.integers(0, 2, 300)
    assert TreeClassifier(pruning="description_length").fit(X, y).get_n_leaves() <= 2
    y = (X[:, 0] > 0).astype(int)
    assert TreeClassifier(pruning="description_length").fit(X, y).get_n_leaves() == 2


def test_by_default_the_categories_are_those_that_occur() -> None:
    grown = grown_from(noisy_rows(0, 100, 4, 2), criterion="entropy", nominal="binary")
    present = [len(np.unique(column)) for column in grown.X.T]
    assert description_length(grown.forest, grown.X) == description_length(grown.forest, grown.X, present)


def test_what_has_no_code_is_refused() -> None:
    forest = build_forest([oblique({0: 1.0, 1: -1.0}, 0.5, leaf([1, 0]), leaf([0, 1]))], 2)
    with pytest.raises(ValueError, match="no code for oblique splits"):
        description_length(forest, [[0.0, 1.0]])
    numbers = build_forest([threshold(0, 0.5, value(1), value(2))], 1, regression=True)
    with pytest.raises(ValueError, match="a regression forest has none"):
        description_length(numbers, [[0.0]])
    with pytest.raises(ValueError, match=r"X has shape \(1, 1\), this forest needs \(n_rows, 2\)"):
        description_length(forest, [[0.0]])
