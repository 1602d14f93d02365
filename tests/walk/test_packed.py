"""Packed walks: every kind of node takes them, and finds what the definitions say."""

from __future__ import annotations

import copy
import math
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import oracles
from effort import daily_pairs, examples
from hedgerow import Forest, ForestClassifier
from hedgerow._core import count_paths
from hedgerow.forest.build import build_forest, leaf, multiway, oblique, one_against_rest, subset, threshold
from hedgerow.forest.kinds import NodeKind
from hedgerow.walk import LeafTable, fold, route, spread, tally
from strategies import forests, rows_of

NAN = math.nan
Matrix = NDArray[np.float64]

few = settings(max_examples=examples(11, 40), deadline=None)


def enough(forest: Forest, X: Matrix) -> tuple[Matrix, int]:
    """The same rows again and again: so many that packing pays; and how often."""
    n_copies = max(-(-forest.n_nodes // (4 * len(X) * forest.n_trees)), -(-8 // len(X)))
    many = np.tile(X, (n_copies, 1))
    n_packed, n_unpacked, _ = count_paths(forest.core_with_weight, many)
    assert (n_packed, n_unpacked) == (len(many) * forest.n_trees, 0)
    return many, n_copies


@few
@given(st.data())
def test_packed_walks_of_every_kind_find_what_the_definitions_say(data: st.DataObject) -> None:
    forest = data.draw(forests())
    X = data.draw(rows_of(forest, max_rows=16))
    many, n_copies = enough(forest, X)
    leaves = [[oracles.route(forest, x, tree) for tree in range(forest.n_trees)] for x in X]
    assert route(forest, many).tolist() == leaves * n_copies
    values = np.random.default_rng(0).lognormal(0, 2, (forest.n_leaves, 3))
    table = LeafTable.of(values, op=("sum", "min", "max"))
    expected, _ = oracles.fold(forest, X, values, ["identity"] * 3, ["sum", "min", "max"])
    (folded,) = fold(forest, many, [table])
    assert np.array_equal(folded, np.tile(expected, (n_copies, 1)))


@few
@given(st.data())
def test_packed_counts_are_those_of_one_row_at_a_time(data: st.DataObject) -> None:
    forest = data.draw(forests(regression=False))
    X, _ = enough(forest, data.draw(rows_of(forest, max_rows=16)))
    labels = (np.arange(len(X)) % forest.n_classes).astype(np.int32)
    expected = np.zeros((forest.n_leaves, forest.n_classes))
    shares = spread(forest, X)  # on the forest's own arrays
    for i, label in enumerate(labels):
        begin, end = shares.indptr[i : i + 2]
        expected[shares.indices[begin:end], label] += shares.data[begin:end]
    assert np.array_equal(tally(forest, X, labels, np.ones(len(X))), expected)


@few
@given(st.data())
def test_a_row_alone_finds_on_packed_trees_what_it_finds_among_others(data: st.DataObject) -> None:
    forest = data.draw(forests())
    X = data.draw(rows_of(forest, max_rows=16))
    table = LeafTable.of(np.random.default_rng(0).lognormal(0, 2, (forest.n_leaves, 3)), op=("sum", "min", "max"))
    (expected,) = fold(forest, enough(forest, X)[0], [table])
    assert count_paths(forest.core_for(X), X[:1])[0] == forest.n_trees
    assert np.array_equal([fold(forest, X[i : i + 1], [table])[0][0] for i in range(len(X))], expected[: len(X)])


def chain(depth: int) -> Any:
    """Every node spreads a row without a value of its feature, of which there are two."""
    tree = leaf([1.0, 2.0])
    for level in range(depth):
        tree = threshold(level % 2, level - 20.0, leaf([level + 1.0, 3.0]), tree)
    return tree


@pytest.mark.parametrize("share_missing", [0.02, 0.5, 1.0])
def test_rows_that_many_nodes_of_a_path_spread_have_the_bits_of_one_row_at_a_time(share_missing: float) -> None:
    forest = build_forest([chain(5), chain(31), chain(50), chain(70)], 2)
    rng = np.random.default_rng(0)
    X = rng.integers(-25, 50, (300, 2)).astype(float)
    X[rng.random(X.shape) < share_missing] = NAN
    table = LeafTable.of(rng.lognormal(0, 2, (forest.n_leaves, 3)), link=("identity", "log", "entropy"))
    assert count_paths(forest.core_with_weight, X)[0] == len(X) * forest.n_trees
    (folded,) = fold(forest, X, [table])
    one_by_one = [fold(forest, X[i : i + 1], [table])[0][0] for i in range(len(X))]
    assert folded.tobytes() == np.array(one_by_one).tobytes()
    counts = tally(forest, X, np.zeros(len(X), dtype=np.int32), np.ones(len(X)))
    expected = np.zeros(forest.n_leaves)
    shares = spread(forest, X)
    for i in range(len(X)):
        here = slice(shares.indptr[i], shares.indptr[i + 1])
        expected[shares.indices[here]] += shares.data[here]
    assert np.array_equal(counts[:, 0], expected)


# -- how long packed trees are kept


def packed_now(forest: Forest) -> bool:
    """Whether a single row, which would not be worth it, takes packed trees."""
    return count_paths(forest.core, np.zeros((1, forest.n_features)))[0] > 0


def test_trees_are_packed_once_single_rows_have_visited_them_often_and_kept() -> None:
    forest = build_forest([KINDS["threshold"]()] * 4, 3)  # 508 nodes
    table = LeafTable.of(np.ones((forest.n_leaves, 1)))
    X = np.zeros((1, 3))
    for _ in range(30):
        fold(forest, X, [table])
    assert not packed_now(forest)
    fold(forest, X, [table])
    assert packed_now(forest)


def test_packed_trees_are_not_copied_or_stored() -> None:
    forest = build_forest([KINDS["threshold"]()] * 4, 3)
    before = pickle.dumps(forest)
    route(forest, np.zeros((100, 3)))
    assert packed_now(forest)
    assert pickle.dumps(forest) == before
    assert not packed_now(pickle.loads(before))
    assert not packed_now(copy.deepcopy(forest))


def test_threads_that_walk_a_new_forest_at_the_same_time_find_the_same() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 8, (200, 3)).astype(float)
    X[rng.random(X.shape) < 0.2] = NAN
    make = KINDS["missing: spread"]
    table = LeafTable.of(rng.random((4 * 64, 2)))
    (expected,) = fold(build_forest([make()] * 4, 3), X, [table])
    for _ in range(5):
        forest = build_forest([make()] * 4, 3)
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda _, forest=forest: fold(forest, X, [table])[0], range(8)))
        assert all(np.array_equal(one, expected) for one in found)


# -- which path is taken


def deep(split: Any, depth: int = 6) -> Any:
    """A tree of splits `split(level, children)` with two children each."""
    return leaf([depth + 1.0, 1.0]) if depth == 0 else split(depth, deep(split, depth - 1), deep(split, depth - 1))


def threes(depth: int = 4) -> Any:
    if depth == 0:
        return leaf([1.0, 2.0])
    return multiway(depth % 2, {0: threes(depth - 1), 2: threes(depth - 1), 5: threes(depth - 1)})


KINDS = {
    "threshold": lambda: deep(lambda level, a, b: threshold(level % 3, level - 3.5, a, b)),
    "one against rest": lambda: deep(lambda level, a, b: one_against_rest(level % 3, level, a, b)),
    "subset": lambda: deep(lambda level, a, b: subset(level % 3, [0, 2, 3, level], 9, a, b)),
    "multiway": threes,
    **{
        f"missing: {policy}": lambda policy=policy: deep(
            lambda level, a, b: threshold(0, level - 3.5, a, b, missing=policy)
        )
        for policy in ("spread", "first_child", "last_child")
    },
}


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS.keys())
@pytest.mark.parametrize("share_missing", [0.0, 0.3])
def test_every_kind_of_split_is_decided_by_keys(make: Any, share_missing: float) -> None:
    forest = build_forest([make()] * 4, 3)
    rng = np.random.default_rng(0)
    X = rng.integers(0, 8, (500, 3)).astype(float)
    X[rng.random(X.shape) < share_missing] = NAN
    assert count_paths(forest.core_with_weight, X) == (2000, 0, 0)


@pytest.mark.parametrize(("policy", "n_codes"), daily_pairs(["spread", "first_child", "last_child"], [12, 20, 40]))
def test_categories_are_decided_by_keys_whether_they_have_a_column_or_not(policy: Any, n_codes: int) -> None:
    def split(feature: int, codes: range) -> Any:  # one category after the other
        tree = leaf([1.0, 2.0])
        for code in codes:
            tree = one_against_rest(feature, code, leaf([code + 1.0, 1.0]), tree, missing=policy)
        return tree

    both = threshold(2, 0.5, split(0, range(12)), split(1, range(n_codes)))
    forest = build_forest([both] * 16, 3)  # 32 columns at most
    rng = np.random.default_rng(0)
    X = rng.integers(0, 45, (400, 3)).astype(float)
    X[:, 2] %= 2
    X[:, :2][rng.random((400, 2)) < 0.1] = NAN
    assert count_paths(forest.core_with_weight, X) == (6400, 0, 0)
    assert route(forest, X)[:, 0].tolist() == [oracles.route(forest, x, 0) for x in X]
    table = LeafTable.of(np.random.default_rng(0).lognormal(0, 2, (forest.n_leaves, 2)))
    one_by_one = [fold(forest, X[i : i + 1], [table])[0][0] for i in range(len(X))]
    assert fold(forest, X, [table])[0].tobytes() == np.array(one_by_one).tobytes()


@pytest.mark.parametrize("missing", ["random", "fractional", "category", "learned"])
@pytest.mark.parametrize("nominal", ["binary", "multiway", "subset"])
def test_forests_that_grow_on_columns_of_every_type_are_walked_on_keys_alone(missing: str, nominal: str) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((300, 2)), columns=["a", "b"])
    X["size"] = pd.Categorical.from_codes(rng.integers(0, 4, 300), ["s", "m", "l", "xl"], ordered=True)
    X["colour"] = pd.Categorical.from_codes(rng.integers(0, 6, 300), list("uvwxyz"))
    y = X["a"] + X["size"].cat.codes + (X["colour"] == "x") > 1
    X = X.mask(rng.random(X.shape) < 0.1)
    forest = ForestClassifier(4, missing=missing, nominal=nominal, random_state=0).fit(X, y)
    rows = forest._read(X)
    assert count_paths(forest.forest_.core_with_weight, rows) == (1200, 0, 0)


def test_oblique_splits_are_evaluated_and_the_walk_goes_on() -> None:
    below = deep(lambda level, a, b: threshold(level % 2, level - 3.5, a, b))
    forest = build_forest([threshold(0, 2.5, oblique({0: 1, 1: -1}, 0.5, below, below), below)] * 4, 2)
    X = np.random.default_rng(0).integers(0, 8, (500, 2)).astype(float)
    assert count_paths(forest.core_with_weight, X) == (2000, 0, 4 * int((X[:, 0] <= 2.5).sum()))


@pytest.mark.parametrize("policies", [("first_child", "last_child"), ("first_child", "own_branch", "spread")])
def test_nodes_of_a_feature_that_send_missing_values_different_ways_are_decided_by_keys(
    policies: tuple[str, ...],
) -> None:
    def split(level: int, low: Any, high: Any) -> Any:
        policy = policies[level % len(policies)]
        own = [leaf([9.0, level])] if policy == "own_branch" else []
        return threshold(level % 2, level - 3.5, low, high, *own, missing=policy)

    forest = build_forest([deep(split)] * 4, 2)
    rng = np.random.default_rng(0)
    complete = rng.integers(0, 8, (500, 2)).astype(float)
    X = np.where(rng.random(complete.shape) < 0.3, NAN, complete)
    table = LeafTable.of(rng.lognormal(0, 2, (forest.n_leaves, 2)))
    for rows in (complete, X, complete):  # these have packed trees of their own
        assert count_paths(forest.core_with_weight, rows) == (2000, 0, 0)
        assert route(forest, rows)[:, 0].tolist() == [oracles.route(forest, x, 0) for x in rows]
        one_by_one = [fold(forest, rows[i : i + 1], [table])[0][0] for i in range(len(rows))]
        assert fold(forest, rows, [table])[0].tobytes() == np.array(one_by_one).tobytes()


def test_subsets_of_many_codes_are_evaluated() -> None:
    forest = build_forest([subset(0, range(0, 200, 2), 200, leaf([1, 2]), leaf([2, 1]))] * 4, 1)
    X = np.arange(240.0)[:, None]
    assert count_paths(forest.core_with_weight, X) == (960, 0, 4 * 224)  # seven words of bits; the others are spread
    assert route(forest, X)[:, 0].tolist() == [oracles.route(forest, x, 0) for x in X]


def test_children_out_of_reach_of_sixteen_bits_stop_a_walk_once() -> None:
    depth = 17
    n_inner = 2**depth - 1
    kind = np.repeat([NodeKind.THRESHOLD, NodeKind.LEAF], [n_inner, n_inner + 1]).astype(np.uint8)
    inner = kind == NodeKind.THRESHOLD
    level = np.floor(np.log2(np.arange(1, 2 * n_inner + 2))).astype(int)
    at = (np.arange(2 * n_inner + 1) + 1 - 2**level + 0.5) / 2.0**level  # level l cuts (0, 1) into 2^l
    forest = Forest(
        n_features=1,
        threshold=np.where(inner, at, NAN),
        weight=np.ones(len(kind)),
        feature=np.where(inner, 0, -1).astype(np.int32),
        first_child=np.concatenate([2 * np.arange(n_inner) + 1, np.arange(n_inner + 1)]).astype(np.int32),
        payload=np.full(len(kind), -1, dtype=np.int32),
        kind=kind,
        missing=np.zeros(len(kind), dtype=np.uint8),
        tree_start=np.array([0, len(kind)]),
        leaf_start=np.array([0, n_inner + 1]),
        payload_start=np.zeros(1, dtype=np.int64),
        payload_codes=np.zeros(0, dtype=np.int32),
        payload_weights=np.zeros(0),
        leaf_counts=np.ones((n_inner + 1, 1)),
    )
    X = np.random.default_rng(0).random((n_inner, 1))
    n_packed, n_unpacked, n_exact = count_paths(forest.core, X)
    assert (n_packed, n_unpacked) == (len(X), 0)
    assert 0 < n_exact <= len(X)
    assert np.array_equal(route(forest, X)[:, 0], np.floor(X[:, 0] * 2**depth))
