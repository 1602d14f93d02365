"""What hypothesis draws: small tables with every oddity that real ones have, as any library holds them.

And forests of every shape that the core must walk, with rows that look for trouble in them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st
from numpy.typing import NDArray

from hedgerow import Forest
from hedgerow.forest.build import (
    Node,
    build_forest,
    leaf,
    multiway,
    oblique,
    one_against_rest,
    subset,
    threshold,
    value,
)
from hedgerow.forest.kinds import NodeKind

STORAGES = ("float", "integer", "boolean", "text", "category", "ordered", "nothing")


@dataclass(frozen=True)
class LogicalColumn:
    """A column before any library holds it: None is missing, and only categories have levels."""

    name: str
    storage: str
    values: tuple[Any, ...]
    levels: tuple[str, ...] = ()

    def rows(self, start: int, stop: int | None = None) -> LogicalColumn:
        return replace(self, values=self.values[start:stop])


LogicalTable = tuple[LogicalColumn, ...]


def as_pandas(table: Sequence[LogicalColumn]) -> pd.DataFrame:
    def series(column: LogicalColumn) -> Any:
        values = list(column.values)
        if column.storage in ("category", "ordered"):
            return pd.Categorical(values, categories=list(column.levels), ordered=column.storage == "ordered")
        dtypes = {"float": "float64", "integer": "Int64", "boolean": "boolean", "text": "string"}
        return pd.Series(values, dtype=dtypes.get(column.storage, "object"))

    return pd.DataFrame({column.name: series(column) for column in table})


def as_polars(table: Sequence[LogicalColumn]) -> pl.DataFrame:
    def series(column: LogicalColumn) -> pl.Series:
        dtypes: dict[str, Any] = {
            "float": pl.Float64,
            "integer": pl.Int64,
            "boolean": pl.Boolean,
            "text": pl.String,
            "category": pl.Categorical,
            "ordered": pl.Enum(column.levels),
            "nothing": pl.Null,
        }
        return pl.Series(column.name, column.values, dtype=dtypes[column.storage])

    return pl.DataFrame([series(column) for column in table])


def as_pyarrow(table: Sequence[LogicalColumn]) -> pa.Table:
    def array(column: LogicalColumn) -> pa.Array:
        if column.storage in ("category", "ordered"):
            codes = [None if value is None else column.levels.index(value) for value in column.values]
            return pa.DictionaryArray.from_arrays(
                pa.array(codes, pa.int32()),
                pa.array(column.levels, pa.string()),
                ordered=column.storage == "ordered",
            )
        types = {"float": pa.float64(), "integer": pa.int64(), "boolean": pa.bool_(), "text": pa.string()}
        return pa.array(column.values, types.get(column.storage, pa.null()))

    return pa.table({column.name: array(column) for column in table})


LIBRARIES: dict[str, Callable[[Sequence[LogicalColumn]], Any]] = {
    "pandas": as_pandas,
    "polars": as_polars,
    "pyarrow": as_pyarrow,
}

_numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-3, 3).map(float)
_integers = st.integers(-(2**53), 2**53) | st.integers(-3, 3)
# Surrogates have no UTF-8, which is what polars and Arrow keep text in.
_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=3)


@st.composite
def logical_columns(draw: st.DrawFn, name: str, n_rows: int) -> LogicalColumn:
    storage = draw(st.sampled_from(STORAGES))
    levels: tuple[str, ...] = ()
    present: st.SearchStrategy[Any]
    if storage in ("category", "ordered"):
        levels = tuple(draw(st.lists(_texts, min_size=1, max_size=5, unique=True)))
        present = st.sampled_from(levels)
    else:
        present = {
            "float": _numbers,
            "integer": _integers,
            "boolean": st.booleans(),
            "text": _texts,
            "nothing": st.none(),
        }[storage]
    constant = draw(st.booleans()) and draw(st.booleans())
    if constant:
        return LogicalColumn(name, storage, (draw(present | st.none()),) * n_rows, levels)
    values = draw(st.lists(present | st.none(), min_size=n_rows, max_size=n_rows))
    return LogicalColumn(name, storage, tuple(values), levels)


@st.composite
def logical_tables(draw: st.DrawFn, min_rows: int = 1, max_rows: int = 8) -> LogicalTable:
    """One to four columns of any storage; missing values, constant columns and single rows are common."""
    n_rows = draw(st.integers(min_rows, max_rows))
    n_columns = draw(st.integers(1, 4))
    return tuple(draw(logical_columns(f"c{j}", n_rows)) for j in range(n_columns))


# -- forests, and rows that look for trouble in them

_THRESHOLDS = (
    *(0.0, -0.0, 0.5, 1.0, math.nextafter(1.0, 2.0), math.nextafter(1.0, 0.0), -1.0, 2.5, 31.0),
    *(5e-324, -5e-324, 2.3e-308, 1e308, -1e308, 1.7976931348623157e308, math.inf),
)
_thresholds = st.sampled_from(_THRESHOLDS) | st.floats(allow_nan=False, allow_infinity=False)
# Weights stay far from overflow: the sum of all must be finite. Zeros are common.
_amounts = st.sampled_from((0.0, 0.0, 1.0, 2.0, 3.0, 0.1, 1e-300, 1e6)) | st.floats(0, 1e6)
_amounts_or_none = st.none() | _amounts
_coefficients = st.sampled_from((1.0, -1.0, 0.0, 0.5, 1e300, -1e-300)) | st.floats(-1e6, 1e6)
_MISSING = ("spread", "spread", "first_child", "last_child", "own_branch")
_SPLITS = ("threshold", "one_against_rest", "subset", "multiway", "oblique")


@dataclass(frozen=True)
class ForestShape:
    """What all nodes of a forest have in common."""

    n_features: int
    n_classes: int  # 0: regression
    splits: tuple[str, ...]


# Functions that draw, not strategies: hypothesis takes as long to set up a strategy as to draw a leaf.


def draw_leaf(draw: st.DrawFn, shape: ForestShape) -> Node:
    if shape.n_classes == 0:
        mean = draw(st.floats(-1e9, 1e9))
        weight = draw(_amounts)
        return value(mean, weight=weight, squares=weight * draw(_amounts))
    counts = [draw(_amounts) for _ in range(shape.n_classes)]
    # Counts that came after growth do not change the training weight, so that the two may differ.
    return leaf(counts, weight=draw(_amounts_or_none))


def draw_split(draw: st.DrawFn, shape: ForestShape, make_child: Callable[[], Node]) -> Node:
    """A node of any kind and policy; `make_child` is called once for each of its children."""
    kind, missing = draw(st.sampled_from(shape.splits)), draw(st.sampled_from(_MISSING))
    feature = draw(st.integers(0, shape.n_features - 1))
    if kind == "multiway":
        return draw_multiway(draw, feature, missing, make_child)
    nodes = [make_child() for _ in range(2 + (missing == "own_branch"))]
    if kind == "one_against_rest":
        return one_against_rest(feature, draw(st.integers(0, 5)), *nodes, missing=missing)
    if kind == "subset":
        n_categories = draw(st.sampled_from((1, 2, 5, 31, 32, 33, 64, 70)))
        members = draw(st.sets(st.integers(0, n_categories - 1), min_size=1))
        return subset(feature, members, n_categories, *nodes, missing=missing)
    if kind == "oblique":
        weights = draw(st.dictionaries(st.integers(0, shape.n_features - 1), _coefficients, min_size=1))
        means = draw(st.none() | st.fixed_dictionaries({j: st.just(np.nan) | _coefficients for j in weights}))
        return oblique(weights, draw(_thresholds), *nodes, missing=missing, means=means)
    return threshold(feature, draw(_thresholds), *nodes, missing=missing)


def draw_multiway(draw: st.DrawFn, feature: int, missing: str, make_child: Callable[[], Node]) -> Node:
    """Codes without a branch, several codes to a child and, once in a while, very many children."""
    nodes = [make_child() for _ in range(draw(st.integers(2, 4)))]
    if draw(st.integers(0, 5)) == 0 and nodes[-1].kind == NodeKind.LEAF:
        nodes += [replace(nodes[-1]) for _ in range(36)]  # an object each, so a child each
    n = len(nodes)
    codes = draw(st.lists(st.integers(0, 2 * n), min_size=n, max_size=n + 3, unique=True))
    branches = {code: nodes[i % n] for i, code in enumerate(codes)}
    return multiway(feature, branches, own=make_child() if missing == "own_branch" else None, missing=missing)


def draw_tree(draw: st.DrawFn, shape: ForestShape) -> Node:
    form = draw(st.sampled_from(("leaf", "bush", "bush", "chain")))
    if form == "chain":
        node = draw_leaf(draw, shape)
        for _ in range(draw(st.integers(1, 25))):
            below = [node]  # one child goes on, the others are leaves
            node = draw_split(draw, shape, lambda below=below: below.pop() if below else draw_leaf(draw, shape))
        return node

    def grow(depth: int) -> Node:
        if depth == 0 or draw(st.integers(0, 3)) == 0:
            return draw_leaf(draw, shape)
        return draw_split(draw, shape, lambda: grow(depth - 1))

    return grow(0 if form == "leaf" else 3)


@st.composite
def forests(
    draw: st.DrawFn, splits: tuple[str, ...] = _SPLITS, regression: bool | None = None, max_trees: int = 4
) -> Forest:
    """Valid forests: every kind of node and policy, single leaves, chains, wide nodes, weights of 0."""
    is_regression = draw(st.booleans()) if regression is None else regression
    n_classes = 0 if is_regression else draw(st.integers(1, 4))
    shape = ForestShape(draw(st.integers(1, 5)), n_classes, splits)
    roots = [draw_tree(draw, shape) for _ in range(draw(st.integers(1, max_trees)))]
    return build_forest(roots, shape.n_features, regression=is_regression)


def _awkward_values(forest: Forest, feature: int) -> list[float]:
    """At, just below and just above each threshold; codes, seen and not; what is no code; the extremes."""
    of_feature = (forest.feature == feature) | (forest.kind == NodeKind.OBLIQUE)
    at = [t for t in forest.threshold[of_feature].tolist() if math.isfinite(t)]
    near = [x for t in at for x in (t, math.nextafter(t, -math.inf), math.nextafter(t, math.inf))]
    codes = [*range(-1, 9), 31, 32, 33, 63, 64, 69, 70, 95, 96, 200, 0.5, 1.5, 31.5, 2.0**40, 2.0**63]
    extremes = [-0.0, 5e-324, -5e-324, 1e308, -1e308]
    return [float(x) for x in (*near, *codes, *extremes) if math.isfinite(x)]


@st.composite
def rows_of(
    draw: st.DrawFn, forest: Forest, min_rows: int = 1, max_rows: int = 12, missing: bool = True
) -> NDArray[np.float64]:
    """Rows that fit a forest, float64 and row-major; NaN is common unless `missing` is False."""
    columns = []
    n_rows = draw(st.integers(min_rows, max_rows))
    for feature in range(forest.n_features):
        entry = st.sampled_from(_awkward_values(forest, feature))
        if missing:
            entry = st.just(math.nan) | entry
        columns.append(draw(st.lists(entry, min_size=n_rows, max_size=n_rows)))
    return np.array(columns, dtype=np.float64).T.copy()


@st.composite
def forests_with_rows(draw: st.DrawFn, **options: Any) -> tuple[Forest, NDArray[np.float64]]:
    forest = draw(forests(**options))
    return forest, draw(rows_of(forest))


# -- leaves that a row reached, for combination rules

_few = st.sampled_from([0, 0, 0, 1, 1, 2, 3, 5]) | st.integers(0, 40)
_fractions = st.integers(0, 60).map(lambda quarters: quarters / 4) | st.floats(1e-3, 40)
_many = st.sampled_from([0, 1, 0.25, 7, 900, 1e5, 1e5 + 1, 5e8, 1e9])


@st.composite
def leaf_rows(
    draw: st.DrawFn,
    n_classes: int | tuple[int, int] = (1, 6),
    max_trees: int = 8,
    large: bool = False,
) -> list[list[float]]:
    """The class counts of the leaf that one row reaches in each tree; often whole, often a leaf without any."""
    classes = draw(st.integers(*n_classes)) if isinstance(n_classes, tuple) else n_classes
    count = _many if large else draw(st.sampled_from([_few, _few, _fractions]))
    filled = st.lists(count.map(float), min_size=classes, max_size=classes)
    return draw(st.lists(st.just([0.0] * classes) | filled | filled, min_size=1, max_size=max_trees))


@st.composite
def priors(draw: st.DrawFn, n_classes: int) -> list[float]:
    parts = draw(st.lists(st.floats(0.01, 1), min_size=n_classes, max_size=n_classes))
    return [part / math.fsum(parts) for part in parts]


# -- data for estimators


def mixed_data(n_rows: int = 120) -> tuple[Any, Any]:
    """Numbers, categories, missing values, three classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4))
    X[:, 3] = rng.integers(0, 5, size=n_rows)
    y = np.digitize(X[:, 0] + X[:, 3] % 3 + rng.normal(size=n_rows), [0, 2.5])
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y
