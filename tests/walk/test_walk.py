from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import oracles
from effort import examples
from hedgerow import Forest
from hedgerow.forest.build import build_forest, leaf, multiway, oblique, one_against_rest, subset, threshold
from hedgerow.forest.kinds import LEAF_FEATURE, NodeKind
from hedgerow.walk import LeafTable, fold, n_threads, route, spread
from strategies import forests, forests_with_rows, rows_of

NAN = math.nan
Matrix = NDArray[np.float64]

# A drawn forest costs about 30 ms, so that the default of 100 examples is too many for the slower properties.
several = settings(max_examples=examples(14, 50), deadline=None)
few = settings(max_examples=examples(8, 25), deadline=None)


# -- forests made at once from arrays, for sizes that nested nodes are too slow for


def forest_of_thresholds(
    feature: NDArray[np.int32],
    first_child: NDArray[np.int32],
    at: Matrix,
    tree_start: NDArray[np.int64],
    n_features: int,
    weight: Matrix | None = None,
) -> Forest:
    """Only threshold nodes and leaves; leaf i of the forest counts i + 1 rows."""
    is_leaf = feature == LEAF_FEATURE
    leaf_start = np.concatenate([[0], np.cumsum(np.add.reduceat(is_leaf, tree_start[:-1], dtype=np.int64))])
    n = len(feature)
    return Forest(
        n_features=n_features,
        threshold=at,
        weight=np.ones(n) if weight is None else weight,
        feature=feature,
        first_child=first_child,
        payload=np.full(n, -1, dtype=np.int32),
        kind=np.where(is_leaf, NodeKind.LEAF, NodeKind.THRESHOLD).astype(np.uint8),
        missing=np.zeros(n, dtype=np.uint8),
        tree_start=tree_start,
        leaf_start=leaf_start,
        payload_start=np.zeros(1, dtype=np.int64),
        payload_codes=np.zeros(0, dtype=np.int32),
        payload_weights=np.zeros(0),
        leaf_counts=np.arange(1.0, leaf_start[-1] + 1)[:, None],
    )


def balanced_tree(at: Matrix) -> Forest:
    """A full tree with the 2^d - 1 ascending thresholds `at`: the leaf of x is np.searchsorted(at, x)."""
    n_inner = len(at)
    depth = (n_inner + 1).bit_length() - 1
    assert n_inner == 2**depth - 1
    # Breadth first, level l holds the thresholds at odd multiples of 2^(depth - l - 1), counted from 1.
    in_order = np.concatenate(
        [np.arange(2 ** (depth - l - 1), n_inner + 1, 2 ** (depth - l)) for l in range(depth)]  # noqa: E741
    )
    n_leaves = n_inner + 1
    return forest_of_thresholds(
        feature=np.repeat(np.array([0, LEAF_FEATURE], dtype=np.int32), [n_inner, n_leaves]),
        first_child=np.concatenate([2 * np.arange(n_inner) + 1, np.arange(n_leaves)]).astype(np.int32),
        at=np.concatenate([at[in_order - 1], np.full(n_leaves, NAN)]),
        tree_start=np.array([0, n_inner + n_leaves]),
        n_features=1,
    )


def chain(n_inner: int) -> Forest:
    """Thresholds 0, 1, 2, …: the first child is a leaf, the second the rest of the chain."""
    node = np.arange(2 * n_inner + 1)
    inner = (node % 2 == 0) & (node < 2 * n_inner)
    leaf_number = np.cumsum(~inner) - 1
    return forest_of_thresholds(
        feature=np.where(inner, 0, LEAF_FEATURE).astype(np.int32),
        first_child=np.where(inner, node + 1, leaf_number).astype(np.int32),
        at=np.where(inner, node / 2, NAN),
        tree_start=np.array([0, len(node)]),
        n_features=1,
    )


def random_forest(n_trees: int, n_features: int, seed: int = 0, missing: str = "spread") -> Forest:
    """Trees of depth up to 6, thresholds at multiples of 0.1."""
    rng = np.random.default_rng(seed)

    def grow(depth: int) -> Any:
        if depth == 0 or rng.random() < 0.1:
            return leaf(rng.integers(0, 9, 3) + 0.1)
        at = rng.integers(-20, 21) / 10
        return threshold(rng.integers(n_features), at, grow(depth - 1), grow(depth - 1), missing=missing)

    return build_forest([grow(6) for _ in range(n_trees)], n_features)


def random_rows(n_rows: int, n_features: int, share_missing: float = 0.0, seed: int = 1) -> Matrix:
    """Multiples of 0.1, so that many are equal to a threshold."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-25, 26, (n_rows, n_features)) / 10
    X[rng.random(X.shape) < share_missing] = NAN
    return X


def mixed_forest(n_trees: int = 20) -> Forest:
    """Every kind of node, on features 0 .. 2; rows with a missing value spread."""

    def tree(i: int) -> Any:
        low = subset(1, [0, i % 5], 5, leaf([i + 1, 2]), leaf([1, 3 + i]))
        high = multiway(1, {0: leaf([2, 2]), 1: leaf([i + 4, 1]), 3: leaf([1, 1])})
        middle = one_against_rest(1, i % 4, low, high)
        return threshold(0, i / 10 - 1, middle, oblique({0: 1, 2: -0.5}, 0.3, leaf([5, 1]), leaf([1, i + 1])))

    return build_forest([tree(i) for i in range(n_trees)], 3)


def mixed_rows(n_rows: int, share_missing: float = 0.2) -> Matrix:
    X = random_rows(n_rows, 3, share_missing)
    X[:, 1] = np.where(np.isnan(X[:, 1]), NAN, np.floor(np.abs(X[:, 1]) * 2))
    return X


def counts_table(forest: Forest, **options: Any) -> LeafTable:
    assert forest.leaf_counts is not None
    return LeafTable.of(forest.leaf_counts, **options)


def same_bits(a: NDArray[Any], b: NDArray[Any]) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def oracle_routes(forest: Forest, X: Matrix) -> list[list[int]]:
    return [[oracles.route(forest, x, tree) for tree in range(forest.n_trees)] for x in X]


# -- the oracles


@several
@given(forests_with_rows())
def test_route_finds_the_leaf_of_the_definition(drawn: tuple[Forest, Matrix]) -> None:
    forest, X = drawn
    leaves = route(forest, X)
    assert leaves.dtype == np.int32
    assert leaves.tolist() == oracle_routes(forest, X)


@several
@given(forests_with_rows())
def test_route_can_leave_out_the_rows_that_are_spread(drawn: tuple[Forest, Matrix]) -> None:
    forest, X = drawn
    for x, leaves in zip(X, route(forest, X, heaviest=False), strict=True):
        for tree, number in enumerate(leaves.tolist()):
            reached = oracles.spread(forest, x, tree)
            assert reached == {number: 1.0} or number == -1
            complete = not np.isnan(x).any() and not np.isin(forest.kind, [NodeKind.MULTIWAY, NodeKind.SUBSET]).any()
            assert number >= 0 or not complete


@several
@given(forests_with_rows())
def test_spread_weights_are_those_of_the_definition_and_add_up_to_one(drawn: tuple[Forest, Matrix]) -> None:
    forest, X = drawn
    weights = spread(forest, X)
    assert weights.shape == (len(X), forest.n_leaves)
    for i, x in enumerate(X):
        expected = {
            int(forest.leaf_start[tree]) + number: weight
            for tree in range(forest.n_trees)
            for number, weight in oracles.spread(forest, x, tree).items()
        }
        begin, end = weights.indptr[i : i + 2]
        found = dict(zip(weights.indices[begin:end].tolist(), weights.data[begin:end].tolist(), strict=True))
        assert found == expected
        assert list(found) == sorted(found)
        assert min(found.values()) > 0
    for begin, end in pairwise(forest.leaf_start):
        np.testing.assert_allclose(weights[:, begin:end].sum(axis=1), 1, rtol=0, atol=1e-12)


@st.composite
def fold_cases(draw: st.DrawFn) -> dict[str, Any]:
    """A forest, rows, a table and every option of fold."""
    forest, X = draw(forests_with_rows())
    links = draw(st.lists(st.sampled_from(("identity", "log", "entropy")), max_size=4))
    ops = [draw(st.sampled_from(("sum", "min", "max"))) for _ in links]
    first = draw(st.integers(0, forest.n_trees))
    last = draw(st.integers(first, forest.n_trees))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_leaves = forest.leaf_start[last] - forest.leaf_start[first]
    values = rng.lognormal(0, 3, (n_leaves, len(links)))
    values[:, [link == "identity" for link in links]] *= rng.choice([-1, 0, 1])
    weights = st.lists(st.sampled_from((0.0, 1.0, 0.3, 7.0)), min_size=forest.n_trees, max_size=forest.n_trees)
    skip = rng.random((forest.n_trees, len(X))) < 0.5
    return {
        "forest": forest,
        "X": X,
        "values": values,
        "links": links,
        "ops": ops,
        "trees": draw(st.sampled_from((None, (first, last)))) if n_leaves == forest.n_leaves else (first, last),
        "tree_weights": draw(st.none() | weights.map(np.array)),
        "skip": draw(st.sampled_from((None, skip))),
    }


def pack_bits(skip: NDArray[np.bool_]) -> NDArray[np.uint8]:
    return np.packbits(skip, axis=1, bitorder="little")


@several
@given(fold_cases())
def test_fold_is_what_its_contract_says(case: dict[str, Any]) -> None:
    expected, n_expected = oracles.fold(**case)
    forest, X, skip = case["forest"], case["X"], case["skip"]
    n_used = np.zeros(len(X), dtype=np.int64)
    table = LeafTable.of(case["values"], link=case["links"], op=case["ops"])
    # The same rows in another order, some twice, and one that no leaf has.
    order = np.random.default_rng(0).permutation(np.arange(2 * len(case["values"])) // 2)
    rows = np.vstack([case["values"][order], np.ones(len(case["links"]))])
    row_of = np.array([np.flatnonzero(order == leaf)[leaf % 2] for leaf in range(len(case["values"]))], dtype=np.uint32)
    shared = replace(LeafTable.of(rows, link=case["links"], op=case["ops"]), row_of=row_of)
    folded, of_shared = fold(
        forest,
        X,
        [table, shared],
        trees=case["trees"],
        tree_weights=case["tree_weights"],
        skip=None if skip is None else pack_bits(skip),
        n_used=n_used,
    )
    assert folded.shape == expected.shape
    assert same_bits(folded, of_shared)
    assert n_used.tolist() == n_expected.tolist()
    plain = [link == "identity" for link in case["links"]]
    assert np.array_equal(folded[:, plain], expected[:, plain])
    # NumPy's logarithm of a table and that of the C library may differ in the last place. A sum over 4 trees
    # with weights up to 7 of logarithms below 20 can be off by 4 * 7 * 20 * 2^-52 < 2e-13.
    np.testing.assert_allclose(folded, expected, rtol=1e-15, atol=2e-13)


# -- packed walks: many rows, only thresholds


@few
@given(st.data())
def test_packed_walks_agree_with_walks_of_one_row(data: st.DataObject) -> None:
    forest = data.draw(forests(splits=("threshold",)))
    X = data.draw(rows_of(forest, min_rows=8, max_rows=24, missing=data.draw(st.booleans())))
    # The same rows again and again: enough of them that packing pays, whatever was drawn.
    n_copies = -(-forest.n_nodes // (4 * len(X) * forest.n_trees))
    many = np.tile(X, (n_copies, 1))
    assert forest.n_features <= 8 * forest.n_trees
    assert route(forest, many).tolist() == oracle_routes(forest, X) * n_copies
    table = LeafTable.of(np.arange(forest.n_leaves, dtype=float)[:, None] + 0.1)
    one_by_one = [fold(forest, X[i : i + 1], [table])[0] for i in range(len(X))]
    assert same_bits(fold(forest, many, [table])[0], np.tile(np.vstack(one_by_one), (n_copies, 1)))


def ascending_neighbours(start: float, n: int) -> Matrix:
    """`start` and the n - 1 doubles that follow it."""
    values = [start]
    while len(values) < n:
        values.append(math.nextafter(values[-1], math.inf))
    return np.array(values)


@pytest.mark.parametrize(
    "start",
    [
        1.0,
        -1.0,
        0.1,
        math.pi,
        -math.pi * 1e100,
        5e-324,
        -20 * 5e-324,  # from the negative subnormals through 0 to the positive ones
        2.2250738585072014e-308 - 20 * 5e-324,  # from the subnormals to the normal numbers
        1.0 - 20 * 2**-53,  # a new exponent
        1.0 + 2**-19 - 20 * 2**-52,  # a new key: 19 bits of mantissa are kept
        -1.0 - 2**-19 - 20 * 2**-52,
        1e308,
        -1.7976931348623157e308,
        1.7976931348623157e308 - 62 * 2.0**971,  # up to the largest double
    ],
)
def test_packed_walks_tell_neighbouring_doubles_apart(start: float) -> None:
    values = ascending_neighbours(start, 63)
    assert np.isfinite(values).all()
    at = values[::2][:31]
    forest = balanced_tree(at)
    X = np.concatenate([values, -values, [0.0, -0.0, start * 0.5]])[:, None]
    assert route(forest, X)[:, 0].tolist() == np.searchsorted(at, X[:, 0]).tolist()


def test_packed_walks_see_zero_and_minus_zero_as_one_number() -> None:
    tiny = 5e-324
    rows = np.array([-1.0, -tiny, -0.0, 0.0, tiny, 1.0, -1e308, 1e308])[:, None]
    for zero in (0.0, -0.0):
        forest = build_forest([threshold(0, zero, leaf([1]), leaf([2]))], 1)
        assert route(forest, rows)[:, 0].tolist() == [0, 0, 0, 0, 1, 1, 0, 1]


def test_a_threshold_of_infinity_takes_every_number() -> None:
    forest = build_forest([threshold(0, math.inf, leaf([1]), leaf([2]), missing="last_child")], 1)
    rows = np.array([0, -1e308, 1.7976931348623157e308, NAN, 5, 6, 7, 8])[:, None]
    assert route(forest, rows)[:, 0].tolist() == [0, 0, 0, 1, 0, 0, 0, 0]
    assert route(forest, rows[3:4])[0, 0] == 1


# Breadth first, the last inner node of a full tree of depth d is 2^(d-1) from its second child. The packed node has
# 16 bits for the offset of the first: depth 16 just fits, depth 17 does not.
@pytest.mark.parametrize("depth", [1, 2, 5, 16, 17])
def test_balanced_trees_of_any_size_find_the_right_interval(depth: int) -> None:
    rng = np.random.default_rng(depth)
    at = np.unique(rng.standard_normal(2**depth + 100))[: 2**depth - 1]
    forest = balanced_tree(at)
    n = max(8, forest.n_nodes // 4 + 1)
    x = np.concatenate([rng.choice(at, n // 2), rng.standard_normal(n - n // 2)])
    assert np.array_equal(route(forest, x[:, None], n_jobs=2)[:, 0], np.searchsorted(at, x))


def test_features_that_do_not_fit_sixteen_bits_are_read() -> None:
    n_features, n_trees = 65_540, 8_200  # packing wants n_features <= 8 * n_trees
    tree_feature = np.resize([65_539, 3, 65_536, 65_535], n_trees)
    nodes = np.tile(np.array([0, LEAF_FEATURE, LEAF_FEATURE], dtype=np.int32), n_trees)
    nodes[::3] = tree_feature
    forest = forest_of_thresholds(
        feature=nodes,
        first_child=np.tile(np.array([1, 0, 1], dtype=np.int32), n_trees),
        at=np.tile([0.5, NAN, NAN], n_trees),
        tree_start=3 * np.arange(n_trees + 1),
        n_features=n_features,
    )
    X = np.random.default_rng(0).random((9, n_features))
    assert np.array_equal(route(forest, X), X[:, tree_feature] > 0.5)


# -- the same bits, however the work is cut


FORESTS_AND_ROWS: dict[str, Callable[[int], tuple[Forest, Matrix]]] = {
    "packed": lambda n: (random_forest(20, 3), random_rows(n, 3)),
    "packed, some rows missing": lambda n: (random_forest(20, 3), random_rows(n, 3, 0.1)),
    "every kind": lambda n: (mixed_forest(20), mixed_rows(n)),
}
EACH_WALK = pytest.mark.parametrize("make", FORESTS_AND_ROWS.values(), ids=FORESTS_AND_ROWS.keys())


@EACH_WALK
def test_many_rows_give_the_bits_of_one_row_at_a_time(make: Callable[[int], tuple[Forest, Matrix]]) -> None:
    forest, X = make(200)
    table = counts_table(forest, link="log")
    rows = [X[i : i + 1] for i in range(len(X))]
    assert same_bits(route(forest, X), np.vstack([route(forest, row) for row in rows]))
    assert same_bits(fold(forest, X, [table])[0], np.vstack([fold(forest, row, [table])[0] for row in rows]))
    together, apart = spread(forest, X), [spread(forest, row) for row in rows]
    assert same_bits(together.data, np.concatenate([one.data for one in apart]))
    assert together.indices.tolist() == np.concatenate([one.indices for one in apart]).tolist()


@EACH_WALK
def test_every_number_of_threads_gives_the_same_bits(make: Callable[[int], tuple[Forest, Matrix]]) -> None:
    forest, X = make(13_001)  # 260 020 walks in four blocks: enough for threads to be started
    table = counts_table(forest, link="log", op="sum")
    one_leaf, one_spread, (one_fold,) = route(forest, X), spread(forest, X), fold(forest, X, [table])
    for n_jobs in (2, 3, -1):
        assert same_bits(route(forest, X, n_jobs=n_jobs), one_leaf)
        assert same_bits(fold(forest, X, [table], n_jobs=n_jobs)[0], one_fold)
        weights = spread(forest, X, n_jobs=n_jobs)
        assert same_bits(weights.data, one_spread.data)
        assert same_bits(weights.indices, one_spread.indices)
        assert same_bits(weights.indptr, one_spread.indptr)


@pytest.mark.parametrize("n_rows", [0, 1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 4095, 4096, 4097])
def test_every_number_of_rows_is_walked(n_rows: int) -> None:
    forest, X = mixed_forest(3), mixed_rows(4097)
    everything = fold(forest, X, [counts_table(forest)])[0]
    some = np.ascontiguousarray(X[:n_rows])
    assert same_bits(fold(forest, some, [counts_table(forest)])[0], everything[:n_rows])
    assert same_bits(route(forest, some), route(forest, X)[:n_rows])
    assert spread(forest, some).shape == (n_rows, forest.n_leaves)


@pytest.mark.parametrize("n_rows", [3, 300])
def test_several_tables_in_one_walk_give_the_bits_of_one_at_a_time(n_rows: int) -> None:
    forest, X = mixed_forest(), mixed_rows(n_rows)
    counts = forest.leaf_counts
    assert counts is not None
    tables = [
        LeafTable.of(counts[:, :1]),  # one, two and more columns of sums are added by different code
        LeafTable.of(counts, link="log"),
        LeafTable.of(np.hstack([counts, counts**2, 1 / counts])),
        LeafTable.of(counts, link=("log", "identity"), op=("min", "max")),
        LeafTable.of(np.empty((forest.n_leaves, 0))),
    ]
    together = fold(forest, X, tables)
    for table, folded in zip(tables, together, strict=True):
        assert same_bits(folded, fold(forest, X, [table])[0])
        assert folded.shape == (n_rows, table.values.shape[1])


@pytest.mark.parametrize("n_rows", [5, 100])
def test_ranges_of_trees_accumulate_to_the_bits_of_all_at_once(n_rows: int) -> None:
    forest, X = mixed_forest(10), mixed_rows(n_rows)
    assert forest.leaf_counts is not None
    columns = {"link": ("log", "identity"), "op": ("sum", "max")}
    all_used, used = np.zeros(n_rows, dtype=np.int64), np.zeros(n_rows, dtype=np.int64)
    (whole,) = fold(forest, X, [LeafTable.of(forest.leaf_counts, **columns)], n_used=all_used)
    out = np.tile([0.0, -np.inf], (n_rows, 1))
    for first, last in pairwise([0, 1, 1, 4, 10]):
        begin, end = forest.leaf_start[[first, last]]
        part = LeafTable.of(forest.leaf_counts[begin:end], **columns)
        (returned,) = fold(forest, X, [part], trees=(first, last), out=[out], n_used=used)
        assert returned is out
    assert same_bits(out, whole)
    assert same_bits(used, all_used)


# -- options of fold


def test_tree_weights_multiply_in_sums_and_zero_leaves_a_tree_out() -> None:
    trees = [leaf([1.0, 10.0]), leaf([2.0, 20.0]), leaf([4.0, 5.0])]
    forest = build_forest(trees, 1)
    table = counts_table(forest, op=("sum", "min"))
    for n_rows in (1, 9):
        used = np.zeros(n_rows, dtype=np.int64)
        weights = np.array([0.5, 3.0, 0.0])
        (folded,) = fold(forest, np.zeros((n_rows, 1)), [table], tree_weights=weights, n_used=used)
        assert folded.tolist() == [[6.5, 10.0]] * n_rows
        assert used.tolist() == [2] * n_rows


@pytest.mark.parametrize("n_rows", [1, 7, 8, 9, 20, 64, 1001])
def test_skipped_rows_are_left_out_of_their_trees(n_rows: int) -> None:
    forest = random_forest(7, 2)
    X = random_rows(n_rows, 2, 0.2)
    skip = np.random.default_rng(5).random((7, n_rows)) < 0.4
    used = np.full(n_rows, 100, dtype=np.int64)
    (folded,) = fold(forest, X, [counts_table(forest)], skip=pack_bits(skip), n_used=used)
    assert used.tolist() == (100 + 7 - skip.sum(axis=0)).tolist()
    expected = np.zeros((n_rows, 3))
    for tree in range(7):
        alone = np.zeros(7)
        alone[tree] = 1.0
        expected += np.where(skip[tree][:, None], 0, fold(forest, X, [counts_table(forest)], tree_weights=alone)[0])
    assert same_bits(folded, expected)


def test_a_row_that_every_tree_skips_keeps_the_neutral_elements() -> None:
    forest = random_forest(3, 1)
    table = counts_table(forest, op=("sum", "min", "max"))
    for n_rows in (1, 8):
        everything = np.full((3, 1), 255, dtype=np.uint8)
        (folded,) = fold(forest, np.zeros((n_rows, 1)), [table], skip=everything)
        assert folded.tolist() == [[0.0, math.inf, -math.inf]] * n_rows


def test_trees_are_counted_without_a_table() -> None:
    forest, used = random_forest(4, 1), np.zeros(10, dtype=np.int64)
    assert fold(forest, np.zeros((10, 1)), [], n_used=used) == []
    assert used.tolist() == [4] * 10


@pytest.mark.parametrize("n_rows", [1, 20])
def test_a_row_with_everything_missing_folds_to_the_log_of_the_mean(n_rows: int) -> None:
    tree = threshold(0, 0, leaf([0.9], weight=3), leaf([1e-6], weight=1))
    forest = build_forest([tree, tree], 1)
    X = np.full((n_rows, 1), NAN)
    log_of_mean = math.log(0.75 * 0.9 + 0.25 * 1e-6)
    summed, least = fold(forest, X, [counts_table(forest, link="log", op=op) for op in ("sum", "min")])
    assert summed.tolist() == [[2 * log_of_mean]] * n_rows
    assert least.tolist() == [[log_of_mean]] * n_rows
    mean_of_logs = 0.75 * math.log(0.9) + 0.25 * math.log(1e-6)
    assert log_of_mean - mean_of_logs > 3  # the mistake would be large


def test_one_row_finds_its_way_through_more_trees_than_are_in_flight() -> None:
    # Trees of very different depth, some of which spread the row: lanes are refilled and drained out of step.
    def tree(i: int) -> Any:
        node = leaf([i + 0.1])
        for level in range(i * 7 % 23):
            node = threshold(i % 2, -level, leaf([level + 1]), node)
        return node

    forest = build_forest([tree(i) for i in range(50)], 2)
    values = np.random.default_rng(0).random((forest.n_leaves, 2)) + 0.5
    table = LeafTable.of(values, op=("sum", "max"))
    for row in ([0.5, NAN], [NAN, 0.5], [0.5, -3.0], [NAN, NAN]):
        X = np.array([row])
        expected, _ = oracles.fold(forest, X, values, ["identity"] * 2, ["sum", "max"])
        assert same_bits(fold(forest, X, [table])[0], expected)
        assert same_bits(fold(forest, np.tile(X, (9, 1)), [table])[0], np.tile(expected, (9, 1)))


def test_shares_of_children_that_no_training_row_reached_are_equal() -> None:
    empty = multiway(0, {code: leaf([code], weight=0) for code in range(4)})
    forest = build_forest([empty], 1)
    assert spread(forest, np.array([[NAN]])).toarray().tolist() == [[0.25] * 4]
    assert route(forest, np.array([[NAN]])).tolist() == [[0]]


def test_rows_that_cannot_be_written_are_read() -> None:
    forest, X = random_forest(3, 2), random_rows(30, 2)
    before = route(forest, X), fold(forest, X, [counts_table(forest)])[0]
    X.flags.writeable = False
    assert same_bits(route(forest, X), before[0])
    assert same_bits(fold(forest, X, [counts_table(forest)])[0], before[1])
    assert spread(forest, X).sum() == 90


def test_a_million_nodes_in_a_chain_are_walked_without_recursion() -> None:
    n = 500_000
    forest = chain(n)
    assert forest.n_nodes == 1_000_001
    assert forest.depths.tolist() == [n]
    assert forest.node_counts()[0, 0] == (n + 1) * (n + 2) / 2
    X = np.array([[0.0], [n - 1.5], [n + 1.0], [NAN]])
    # Row 3 follows the heaviest child, the first of equals.
    assert route(forest, X)[:, 0].tolist() == [0, n - 1, n, 0]
    weights = spread(forest, X)
    assert weights[[3], :60].toarray()[0].tolist() == [0.5 ** (i + 1) for i in range(60)]
    assert weights.sum(axis=1).tolist() == [1.0] * 4
    (folded,) = fold(forest, X, [counts_table(forest)])
    assert folded[:3, 0].tolist() == [1.0, n, n + 1]
    assert folded[3, 0] == pytest.approx(2, rel=1e-12)  # Σ i / 2^i
    assert fold(forest, np.tile(X, (3, 1)), [counts_table(forest)])[0].tolist() == folded.tolist() * 3


# -- leaf tables


def test_a_leaf_table_takes_its_logarithms_once() -> None:
    table = LeafTable.of([[1, 2], [4, 0]], link=("log", "identity"), op=("min", "sum"))
    assert table.values.tolist() == [[1, 2], [4, 0]]
    assert table.linked.tolist() == [[0, 2], [math.log(4), 0]]
    assert table.links.tolist() == [1, 0]
    assert table.ops.tolist() == [1, 0]


def test_a_leaf_table_without_logarithms_costs_no_second_array() -> None:
    values = np.ones((3, 2))
    table = LeafTable.of(values)
    assert table.linked is table.values
    assert np.shares_memory(table.values, values)


def test_one_link_and_op_stand_for_all_columns() -> None:
    table = LeafTable.of(np.ones((2, 3)), link="log", op="max")
    assert table.links.tolist() == [1, 1, 1]
    assert table.ops.tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([1.0, 2.0], {}, "values of this table must be 2-D .* got 1-D"),
        ([[1.0]], {"link": "logit"}, "link is 'logit', must be one of identity, log"),
        ([[1.0]], {"op": "mean"}, "op is 'mean', must be one of sum, min, max"),
        ([[1.0, 1.0]], {"link": ["log"]}, "link names 1 columns, the table has 2"),
        ([[1.0]], {"op": ["sum", "min"]}, "op names 2 columns, the table has 1"),
        (
            [[1.0], [0.0]],
            {"link": "log", "name": "dempster"},
            "dempster: row 1 has 0.0 in a column under log",
        ),
        ([[-1.0]], {"link": "log"}, "this table: row 0 has -1.0 in a column under log"),
        (
            [[0.0, NAN]],
            {"link": ("identity", "log"), "name": "evidence"},
            "evidence: row 0 has nan in a column",
        ),
        ([[math.inf]], {"link": "log"}, "row 0 has inf .* must be finite and positive"),
    ],
)
def test_leaf_tables_that_cannot_be_folded_are_refused(
    values: list[Any], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        LeafTable.of(values, **options)


def test_entries_that_are_not_under_log_may_be_zero_or_negative() -> None:
    table = LeafTable.of([[1.0, 0.0], [2.0, -3.0]], link=("log", "identity"))
    assert table.linked[:, 1].tolist() == [0.0, -3.0]


# -- errors


SMALL = random_forest(3, 2)


@pytest.mark.parametrize("walk", [route, spread, lambda forest, X: fold(forest, X, [])])
@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((4, 3)), r"X has shape \(4, 3\), this forest needs \(n_rows, 2\)"),
        (np.zeros(2), r"X has shape \(2,\), this forest needs"),
        (np.zeros((4, 2), dtype=np.float32), "X is float32: pass numpy.ascontiguousarray"),
        (np.zeros((4, 2), dtype=np.int64), "X is int64: pass"),
        (np.zeros((4, 2), dtype=">f8"), "X is >f8: pass"),
        (np.zeros((4, 2), order="F"), "X is float64 that is not row-major: pass"),
        (np.zeros((8, 2))[::2], "X is float64 that is not row-major: pass"),
    ],
    ids=["too wide", "1-D", "float32", "int64", "big endian", "column-major", "every second row"],
)
def test_rows_in_the_wrong_form_are_refused(walk: Callable[..., Any], X: NDArray[Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        walk(SMALL, X)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"trees": (0, 4)}, r"trees is \(0, 4\), must be a range within 0 .. 3"),
        ({"trees": (-1, 2)}, r"trees is \(-1, 2\)"),
        ({"trees": (2, 1)}, r"trees is \(2, 1\)"),
        ({"trees": (0, 2)}, r"a table has \d+ rows, trees 0 .. 2 have \d+ leaves"),
        ({"out": []}, "out has 0 arrays for 1 tables"),
        ({"out": [np.zeros((9, 3))]}, r"out is float64 \(9, 3\), must be C-contiguous float64 \(10, 3\)"),
        ({"out": [np.zeros((10, 3), dtype=np.float32)]}, "out is float32"),
        ({"out": [np.zeros((10, 3), order="F")]}, "out is float64 .* must be C-contiguous"),
        (
            {"tree_weights": np.ones(2)},
            r"tree_weights is float64 \(2,\), must be C-contiguous float64 \(3,\)",
        ),
        ({"tree_weights": np.ones(3, dtype=int)}, "tree_weights is int64"),
        ({"tree_weights": np.array([1, -1e-9, 1])}, "tree_weights must be finite and not negative"),
        ({"tree_weights": np.array([1, NAN, 1])}, "tree_weights must be finite and not negative"),
        ({"tree_weights": np.array([1, math.inf, 1])}, "tree_weights must be finite and not negative"),
        ({"skip": np.zeros((3, 1), dtype=np.uint8)}, r"skip is uint8 \(3, 1\), must be .* uint8 \(3, 2\)"),
        ({"skip": np.zeros((2, 2), dtype=np.uint8)}, r"skip is uint8 \(2, 2\)"),
        ({"skip": np.zeros((3, 10), dtype=bool)}, "skip is bool"),
        (
            {"n_used": np.zeros(9, dtype=np.int64)},
            r"n_used is int64 \(9,\), must be C-contiguous int64 \(10,\)",
        ),
        ({"n_used": np.zeros(10)}, "n_used is float64"),
        ({"n_jobs": 0}, "n_jobs is 0"),
    ],
)
def test_options_of_fold_in_the_wrong_form_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fold(SMALL, np.zeros((10, 2)), [counts_table(SMALL)], **options)


@pytest.mark.parametrize("n_rows", [-1, 1])
def test_a_table_needs_a_row_for_each_leaf(n_rows: int) -> None:
    table = LeafTable.of(np.ones((SMALL.n_leaves + n_rows, 1)))
    with pytest.raises(ValueError, match=f"a table has {SMALL.n_leaves + n_rows} rows, trees 0 .. 3 have"):
        fold(SMALL, np.zeros((10, 2)), [table])


@pytest.mark.parametrize("walk", [route, spread])
def test_no_walk_runs_on_zero_threads(walk: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="n_jobs is 0, must be None, a positive number"):
        walk(SMALL, np.zeros((10, 2)), n_jobs=0)


def test_fold_refuses_zero_threads_for_one_row_too() -> None:
    with pytest.raises(ValueError, match="n_jobs is 0"):
        fold(SMALL, np.zeros((1, 2)), [counts_table(SMALL)], n_jobs=0)


def test_n_jobs_means_what_it_means_in_scikit_learn() -> None:
    assert n_threads(None) == 1
    assert n_threads(3) == 3
    assert n_threads(-1) >= 1
    assert n_threads(-1000) == 1
