"""The kernels, compiled as C++, find the bits of the CPU's walk in every forest."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import oracles
from effort import examples
from gpu.host_device import HostArray, HostDevice, host_kernels
from hedgerow import Forest, ForestClassifier
from hedgerow.gpu import DeviceWalk
from hedgerow.gpu.launch import COUNTERS, FIELDS, source
from hedgerow.walk import LeafTable, fold, route, spread
from strategies import forests, rows_of

Floats = NDArray[np.float64]
STAGED, NOT_STAGED = 0, 10**9

few = settings(max_examples=examples(16, 60), deadline=None)


def walk(forest: Forest, rows_to_stage: int = NOT_STAGED, **options: Any) -> DeviceWalk:
    return DeviceWalk(forest, HostDevice(**options), rows_to_stage)


def some_table(forest: Forest, n_columns: int = 3, seed: int = 0) -> LeafTable:
    values = np.random.default_rng(seed).lognormal(0, 2, (forest.n_leaves, n_columns))
    links = ["identity", "log", "entropy"]
    ops = ["sum", "min", "max"]
    return LeafTable.of(
        values,
        link=[links[i % 3] for i in range(n_columns)],  # type: ignore[misc]
        op=[ops[i // 3 % 3] for i in range(n_columns)],  # type: ignore[misc]
    )


def equal(found: Any, expected: Any) -> bool:
    """Bit for bit, signs of zeros included."""
    return found.dtype == expected.dtype and found.shape == expected.shape and found.tobytes() == expected.tobytes()


@few
@given(st.data())
def test_the_fold_has_the_bits_of_the_cpu(data: st.DataObject) -> None:
    forest = data.draw(forests())
    X = data.draw(rows_of(forest, max_rows=16))
    table = some_table(forest, data.draw(st.integers(1, 20)))
    (expected,) = fold(forest, X, [table])
    for rows_to_stage in (STAGED, NOT_STAGED):
        assert equal(walk(forest, rows_to_stage).fold(X, [table])[0], expected)


@few
@given(st.data())
def test_the_fold_is_what_the_definition_says(data: st.DataObject) -> None:
    forest = data.draw(forests())
    X = data.draw(rows_of(forest, max_rows=8))
    values = np.random.default_rng(0).lognormal(0, 2, (forest.n_leaves, 3))
    table = LeafTable.of(values, op=("sum", "min", "max"))
    expected, _ = oracles.fold(forest, X, values, ["identity"] * 3, ["sum", "min", "max"])
    assert np.array_equal(walk(forest).fold(X, [table])[0], expected)


@few
@given(st.data())
def test_routes_and_spreads_are_those_of_the_cpu(data: st.DataObject) -> None:
    forest = data.draw(forests())
    X = data.draw(rows_of(forest, max_rows=16))
    engine = walk(forest)
    assert equal(engine.route(X), route(forest, X))
    found, expected = engine.spread(X), spread(forest, X)
    assert found.shape == expected.shape
    assert found.indptr.tolist() == expected.indptr.tolist()
    assert found.indices.tolist() == expected.indices.tolist()
    assert equal(found.data, expected.data)


@few
@given(st.data())
def test_weights_masks_and_trees_apart(data: st.DataObject) -> None:
    forest = data.draw(forests(max_trees=6))
    X = data.draw(rows_of(forest, max_rows=20))
    weight = st.sampled_from([0.0, 1.0, 0.3, 2.5])
    weights = np.array(data.draw(st.lists(weight, min_size=forest.n_trees, max_size=forest.n_trees)))
    mask = np.random.default_rng(data.draw(st.integers(0, 9))).random((forest.n_trees, len(X))) < 0.3
    skip = np.packbits(mask, axis=1, bitorder="little")
    table, sums = some_table(forest, 4), LeafTable.of(some_table(forest, 2, 1).values)
    given_skip = skip if data.draw(st.booleans()) else None
    options: dict[str, Any] = {"per_tree": [False, True], "skip": given_skip}
    expected = fold(forest, X, [table, sums], tree_weights=weights, **options)
    found = walk(forest, data.draw(st.sampled_from([STAGED, NOT_STAGED]))).fold(X, [table, sums], weights, **options)
    assert all(map(equal, found, expected))


@few
@given(st.data())
def test_forests_larger_than_cache_shared_memory_or_device(data: st.DataObject) -> None:
    forest = data.draw(forests(max_trees=6))
    X = data.draw(rows_of(forest, max_rows=16))
    own = some_table(forest)
    in_pairs = replace(own, row_of=np.arange(forest.n_leaves, dtype=np.uint32) // 2)  # leaves share rows
    table = data.draw(st.sampled_from([own, in_pairs]))
    (expected,) = fold(forest, X, [table])
    in_ranges = walk(forest, cache_bytes=1)
    assert equal(in_ranges.fold(X, [table])[0], expected)
    in_groups = walk(forest, memory=16000)
    in_groups._tree_groups[:] = [(tree, tree + 1) for tree in range(forest.n_trees)]
    assert equal(in_groups.fold(X, [table])[0], expected)
    assert equal(in_groups.route(X), route(forest, X))
    assert in_groups.spread(X).toarray().tolist() == spread(forest, X).toarray().tolist()
    without_shared_memory = walk(forest, STAGED, shared_bytes=0, most_shared_bytes=0)
    assert equal(without_shared_memory.fold(X, [table])[0], expected)
    keyless = {"make_keys", "fold_rows_of_many_columns", "fold_parts_of_many_columns"}
    assert keyless.issuperset(without_shared_memory.device.launched)  # type: ignore[attr-defined]


def noisy_forest(n_rows: int = 600) -> tuple[Forest, Floats]:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal((n_rows, 5)), rng.integers(0, 12, (n_rows, 2))])
    y = (X[:, 0] + X[:, 1] + (X[:, 5] % 3) > 1).astype(int) + (X[:, 2] > 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    return ForestClassifier(9, categorical_features=[5, 6], random_state=0).fit(X, y).forest_, X


def test_parts_of_rows_and_tables_that_share_rows() -> None:
    forest, X = noisy_forest()
    shares = LeafTable.by_counts(forest.distinct_counts, lambda c: LeafTable.of((c + 0.1) / (c + 0.1).sum(1)[:, None]))
    logs = LeafTable.by_counts(forest.distinct_counts, lambda c: LeafTable.of(c + 0.1, link="log", op="min"))
    alone = LeafTable.of(forest.counts)
    tables = [shares, alone, logs]
    expected = fold(forest, X, tables)
    for engine in (walk(forest, memory=2**17), walk(forest, STAGED), walk(forest, n_threads=1)):
        assert all(map(equal, engine.fold(X, tables), expected))
        assert all(map(equal, engine.fold(X[::-1].copy(), tables), [one[::-1].copy() for one in expected]))


def test_few_trees_fit_into_shared_memory_at_a_time() -> None:
    forest, X = noisy_forest()
    whole = X[~np.isnan(X).any(axis=1)]
    engine = walk(forest, STAGED, most_shared_bytes=14 * 1024)
    table = some_table(forest, 2)
    assert equal(engine.fold(whole, [table])[0], fold(forest, whole, [table])[0])
    trees = engine._all_trees
    staged = engine._batch(trees, whole, None).staged
    assert staged is not None
    assert len(staged.slots) > 2
    assert "fold_staged" in engine.device.launched  # type: ignore[attr-defined]


def test_rows_of_the_device_stay_there() -> None:
    forest, X = noisy_forest()
    table = some_table(forest)
    (found,) = walk(forest).fold(X.view(HostArray), [table])
    assert equal(found, fold(forest, X, [table])[0])
    with pytest.raises(ValueError, match=r"X is float32 .*, this forest needs float64 \(n_rows, 7\)"):
        walk(forest).route(X.astype(np.float32).view(HostArray))


def test_no_rows() -> None:
    forest, X = noisy_forest(60)
    table = some_table(forest)
    assert walk(forest).fold(X[:0], [table])[0].shape == (0, 3)
    assert walk(forest).route(X[:0]).shape == (0, 9)


def test_what_does_not_fit_is_refused() -> None:
    forest, X = noisy_forest(60)
    with pytest.raises(MemoryError, match=r"the device has 64 bytes left, too few for rows of \d+ bytes"):
        walk(forest, memory=64).fold(X, [some_table(forest)])
    with pytest.raises(ValueError, match="a table has 2 rows, the forest has"):
        walk(forest).fold(X, [LeafTable.of(np.ones((2, 1)))])
    with pytest.raises(ValueError, match="only sums without a link can be kept apart"):
        walk(forest).fold(X, [some_table(forest)], per_tree=[True])


def test_the_struct_has_the_fields_that_python_fills() -> None:
    text = source()
    body = re.search(r"^struct Walk \{(.*?)^\};", text, re.DOTALL | re.MULTILINE)
    assert body is not None
    names = re.findall(r"(\w+);", re.sub(r"//.*", "", body.group(1)))
    assert names == list(FIELDS)
    counters = re.search(r"enum Counter \{([^}]*)\}", text)
    assert counters is not None
    assert [name.strip() for name in counters.group(1).split(",")] == list(COUNTERS)


def test_kernels_wait_for_nothing_that_one_thread_does_not_do() -> None:
    """What lets threads run one after the other in these tests."""
    assert source().count("__syncthreads()") == 3
    assert host_kernels() is host_kernels()
