"""The walk on a GPU, where there is one: `make gpu-test`."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.datasets import make_classification

from hedgerow import Forest, ForestClassifier, ForestRegressor
from hedgerow.gpu import CudaDevice, DeviceWalk, open_device
from hedgerow.gpu.cuda import NoGPUError
from hedgerow.walk import LeafTable, fold, route, spread
from strategies import forests, rows_of

Floats = NDArray[np.float64]

cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
try:
    open_device()
except NoGPUError as reason:
    pytest.skip(f"no GPU: {reason}", allow_module_level=True)

few = settings(max_examples=40, deadline=None)


@cache
def device() -> CudaDevice:
    return open_device()


def equal(found: Any, expected: Any) -> bool:
    return found.dtype == expected.dtype and found.shape == expected.shape and found.tobytes() == expected.tobytes()


def table_of(forest: Forest, n_columns: int, links: tuple[str, ...] = ("identity",)) -> LeafTable:
    values = np.random.default_rng(0).lognormal(0, 2, (forest.n_leaves, n_columns))
    ops: list[Any] = [("sum", "min", "max")[i % 3] for i in range(n_columns)]
    names: list[Any] = [links[i % len(links)] for i in range(n_columns)]
    return LeafTable.of(values, op=ops, link=names)


@few
@given(st.data())
def test_every_kind_of_forest_has_the_bits_of_the_cpu(data: st.DataObject) -> None:
    forest = data.draw(forests())
    X = data.draw(rows_of(forest, max_rows=16))
    table = table_of(forest, data.draw(st.sampled_from([1, 2, 3, 11])))
    (expected,) = fold(forest, X, [table])
    for rows_to_stage in (0, 10**9):
        walk = DeviceWalk(forest, device(), rows_to_stage)
        assert equal(walk.fold(X, [table])[0], expected)
        assert equal(walk.fold(cupy.asarray(X), [table])[0].get(), expected)
        assert equal(walk.route(X), route(forest, X))
        found, right = walk.spread(X), spread(forest, X)
        assert found.indices.tolist() == right.indices.tolist()
        assert equal(found.data, right.data)


@few
@given(st.data())
def test_links_of_rows_that_are_spread_differ_in_the_last_bits_at_most(data: st.DataObject) -> None:
    forest = data.draw(forests())
    X = data.draw(rows_of(forest, max_rows=16))
    table = table_of(forest, 3, ("log", "entropy"))
    (expected,) = fold(forest, X, [table])
    (found,) = DeviceWalk(forest, device()).fold(X, [table])
    # A logarithm is correct to 2 ulp on either side; a sum of as many as 4 trees rounds 4 times.
    scale = np.abs(expected) + np.abs(table.linked).max() * forest.n_trees
    assert (np.abs(found - expected) <= 8 * np.finfo(float).eps * scale).all()


@pytest.mark.parametrize("missing", [0.0, 0.1, 0.6])
def test_full_forests(missing: float) -> None:
    X, y = make_classification(60_000, 20, n_informative=9, random_state=0)
    X[np.random.default_rng(0).random(X.shape) < missing] = np.nan
    forest = ForestClassifier(20, random_state=0).fit(X[:10_000], y[:10_000]).forest_
    table = LeafTable.by_counts(forest.distinct_counts, lambda c: LeafTable.of(c / c.sum(1, keepdims=True)))
    rows = X if missing < 0.5 else X[:2000]
    (expected,) = fold(forest, rows, [table], n_jobs=-1)
    for rows_to_stage in (0, 10**9):
        walk = DeviceWalk(forest, device(), rows_to_stage)
        assert equal(walk.fold(rows, [table])[0], expected)
    in_groups = DeviceWalk(forest, device())
    in_groups._tree_groups[:] = [(0, 7), (7, 20)]
    assert equal(in_groups.fold(rows, [table])[0], expected)


def test_regression_means() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50_000, 8))
    y = X[:, 0] + X[:, 1] * X[:, 2]
    model = ForestRegressor(20, random_state=0).fit(X[:5000], y[:5000])
    table = LeafTable.of(model.forest_.stats[:, 1:2])
    assert equal(DeviceWalk(model.forest_, device()).fold(X, [table])[0], fold(model.forest_, X, [table])[0])


@pytest.mark.parametrize("n_rows", [1, 700, 20_000])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"splitter": "best", "min_samples_leaf": 3},
        {"splitter": "random", "categorical_features": [3], "max_depth": 9},
        {"bootstrap": False, "max_features": None, "max_bins": 20, "n_estimators": 3},
    ],
    ids=str,
)
@pytest.mark.parametrize(("n_classes", "missing"), [(2, 0.0), (2, 0.2), (7, 0.0), (7, 0.2)])
def test_forests_are_fitted_as_on_the_cpu(
    n_rows: int, parameters: dict[str, Any], n_classes: int, missing: float
) -> None:
    X, y = make_classification(n_rows + 50, 20, n_informative=8, n_classes=n_classes, random_state=0)
    X, y = X[:n_rows], y[:n_rows]
    X[:, 3] = np.abs(X[:, 3]).astype(int)
    X[np.random.default_rng(0).random(X.shape) < missing] = np.nan
    model = ForestClassifier(**{"n_estimators": 12, "random_state": 0, "n_jobs": -1} | parameters)
    found, expected = model.to("cuda").fit(X, y), model.fit(X, y)
    for name in ("threshold", "feature", "first_child", "kind", "weight", "tree_start", "leaf_start", "leaf_counts"):
        assert equal(getattr(found.forest_, name), getattr(expected.forest_, name)), name
    assert getattr(found, "rule_", None) == getattr(expected, "rule_", None)
