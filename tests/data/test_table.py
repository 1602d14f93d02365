from __future__ import annotations

import datetime as dt
import math
import pickle
import re
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import estimator_checks
from sklearn.utils.validation import validate_data

from effort import examples
from hedgerow.data.table import Column, Kind, Schema, read_table
from strategies import LIBRARIES, LogicalColumn, LogicalTable, logical_tables

NAN = math.nan
EACH_LIBRARY = pytest.mark.parametrize("library", LIBRARIES)


class TreeClassifier:
    """Stands in for the estimator that messages name."""


def frame_of(library: str, **columns: tuple[str, list[Any]] | tuple[str, list[Any], list[str]]) -> Any:
    """frame_of("polars", a=("text", ["x", None])): the same data in any library."""
    table = [
        LogicalColumn(name, storage, tuple(values), tuple(levels[0]) if levels else ())
        for name, (storage, values, *levels) in columns.items()
    ]
    return LIBRARIES[library](table)


def assert_same_values(actual: Any, expected: Any) -> None:
    np.testing.assert_array_equal(actual, np.asarray(expected, dtype=np.float64), strict=True)


# --- The same data gives the same bits in every library -----------------------------------------------------


def expected_column(column: LogicalColumn) -> Column:
    seen = sorted({value for value in column.values if value is not None})
    match column.storage:
        case "text" | "category":
            return Column(column.name, Kind.NOMINAL, tuple(seen))
        case "ordered":
            return Column(column.name, Kind.ORDINAL, column.levels)
        case "boolean":
            return Column(column.name, Kind.NUMERIC, (False, True))
    return Column(column.name, Kind.NUMERIC)


def expected_values(table: LogicalTable, schema: Schema) -> np.ndarray[Any, np.dtype[np.float64]]:
    def number(value: Any, column: Column) -> float:
        if value is None:
            return NAN
        if column.kind is Kind.NUMERIC:
            return float(value)
        return float(column.categories.index(value)) if value in column.categories else NAN

    pairs = zip(table, schema.columns, strict=True)
    return np.array([[number(value, kept) for value in column.values] for column, kept in pairs]).T


@settings(max_examples=examples(14, 60), deadline=None)
@given(logical_tables())
def test_every_library_gives_the_same_bits(table: LogicalTable) -> None:
    schema = Schema(tuple(expected_column(column) for column in table), named=True)
    for build in LIBRARIES.values():
        result = read_table(build(table))
        assert result.schema == schema
        assert_same_values(result.values, expected_values(table, schema))
        assert result.values.flags.f_contiguous


@settings(max_examples=examples(14, 60), deadline=None)
@given(logical_tables(min_rows=2))
def test_later_rows_are_read_as_fit_read_them_and_unseen_categories_are_missing(table: LogicalTable) -> None:
    half = len(table[0].values) // 2
    known = tuple(column.rows(0, half) for column in table)
    for build in LIBRARIES.values():
        schema = read_table(build(known)).schema
        values = schema.read(build(table))
        assert_same_values(values, expected_values(table, schema))
        assert values.flags.c_contiguous


@settings(max_examples=examples(14, 60), deadline=None)
@given(logical_tables())
def test_codes_lead_back_to_categories(table: LogicalTable) -> None:
    for build in LIBRARIES.values():
        result = read_table(build(table))
        for j, (column, kept) in enumerate(zip(table, result.schema.columns, strict=True)):
            if kept.kind is not Kind.NUMERIC:
                codes = result.values[:, j]
                back = [None if math.isnan(code) else kept.categories[int(code)] for code in codes]
                assert back == list(column.values)


@settings(max_examples=examples(11, 40), deadline=None)
@given(logical_tables())
def test_columns_named_as_nominal_have_plain_python_categories(table: LogicalTable) -> None:
    schemas = [
        read_table(build(table), categorical_features=list(range(len(table)))).schema for build in LIBRARIES.values()
    ]
    assert schemas[0] == schemas[1] == schemas[2]
    for column in schemas[0].columns:
        assert column.kind is Kind.NOMINAL
        assert {type(category) for category in column.categories} <= {str, int, float, bool}


@EACH_LIBRARY
def test_categories_are_sorted_by_value_and_only_those_seen(library: str) -> None:
    X = frame_of(library, a=("category", ["m", "b", None, "m"], ["z", "m", "b"]), b=("text", ["é", "z", "a", "a"]))
    result = read_table(X)
    assert [column.categories for column in result.schema.columns] == [("b", "m"), ("a", "z", "é")]
    assert_same_values(result.values, [[1, 2], [0, 1], [NAN, 0], [1, 0]])


@EACH_LIBRARY
def test_ordinal_columns_keep_all_declared_levels_in_their_order(library: str) -> None:
    X = frame_of(library, size=("ordered", ["l", "s", None], ["s", "m", "l"]))
    result = read_table(X)
    assert result.schema.columns == (Column("size", Kind.ORDINAL, ("s", "m", "l")),)
    assert_same_values(result.values, [[2], [0], [NAN]])
    assert result.schema.n_categories.tolist() == [0]


@EACH_LIBRARY
def test_an_ordered_column_named_as_nominal_keeps_its_order(library: str) -> None:
    X = frame_of(library, size=("ordered", ["l", "s"], ["s", "m", "l"]))
    schema = read_table(X, categorical_features=["size"]).schema
    assert schema.columns == (Column("size", Kind.NOMINAL, ("s", "m", "l")),)
    assert schema.n_categories.tolist() == [3]


@EACH_LIBRARY
def test_undeclared_levels_are_missing_later(library: str) -> None:
    schema = read_table(frame_of(library, a=("ordered", ["s", "l"], ["s", "l"]))).schema
    assert_same_values(schema.read(frame_of(library, a=("text", ["l", "xl", "s"]))), [[1], [NAN], [0]])


@EACH_LIBRARY
def test_numbers_and_truth_values_can_be_nominal(library: str) -> None:
    X = frame_of(
        library,
        i=("integer", [7, -1, None]),
        b=("boolean", [True, True, None]),
        f=("float", [0.5, -0.0, None]),
    )
    result = read_table(X, categorical_features=["i", "b", "f"])
    assert repr([column.categories for column in result.schema.columns]) == "[(-1, 7), (True,), (0.0, 0.5)]"
    assert_same_values(result.values, [[1, 0, 1], [0, 0, 0], [NAN, NAN, NAN]])


@EACH_LIBRARY
def test_huge_identifiers_can_be_nominal(library: str) -> None:
    X = frame_of(library, key=("integer", [2**60 + 1, 2**60]))
    assert_same_values(read_table(X, categorical_features=[0]).values, [[1], [0]])


@EACH_LIBRARY
def test_a_typed_text_column_without_values_stays_nominal(library: str) -> None:
    schema = read_table(frame_of(library, a=("text", [None, None]))).schema
    assert schema.columns == (Column("a", Kind.NOMINAL),)
    assert_same_values(schema.read(frame_of(library, a=("text", ["x"]))), [[NAN]])


# --- Every dtype converts, or is refused by name ------------------------------------------------------------

DAY = dt.date(2024, 2, 29)


def pandas_column(values: Any, dtype: Any = None) -> pd.DataFrame:
    return pd.DataFrame({"a": pd.Series(values, dtype=dtype)})


def polars_column(values: Any, dtype: Any = None) -> pl.DataFrame:
    return pl.DataFrame({"a": pl.Series(values, dtype=dtype)})


def pyarrow_column(values: Any, dtype: Any = None) -> pa.Table:
    if dtype == pa.float16():  # old pyarrow makes it only of NumPy's numbers
        values = [None if value is None else np.float16(value) for value in values]
    return pa.table({"a": pa.array(values, dtype)})


def arrow_dtype(name: Any) -> pd.ArrowDtype:
    return pd.ArrowDtype(name)


def polars_number_types() -> list[Any]:
    """Also those that only newer releases have."""
    names = ["Int8", "Int16", "Int32", "Int64", "Int128", "UInt8", "UInt16", "UInt32", "UInt64", "UInt128"]
    names += ["Float16", "Float32", "Float64"]
    return [getattr(pl, name) for name in names if hasattr(pl, name)]


PANDAS_WHOLE = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
PANDAS_PLAIN = [
    *PANDAS_WHOLE,
    "float16",
    "float32",
    "float64",
    "longdouble",
    "Sparse[int]",
    "Sparse[float]",
    "object",
]
PANDAS_NULLABLE = [
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "UInt8",
    "UInt16",
    "UInt32",
    "UInt64",
    "Float32",
    "Float64",
]
ARROW_WHOLE = [
    pa.int8(),
    pa.int16(),
    pa.int32(),
    pa.int64(),
    pa.uint8(),
    pa.uint16(),
    pa.uint32(),
    pa.uint64(),
]
ARROW_NUMBERS = [*ARROW_WHOLE, pa.float16(), pa.float32(), pa.float64()]
ARROW_DECIMALS = [pa.decimal128(5, 2), pa.decimal256(5, 2)]

NUMERIC = [
    *((f"pandas {name}", pandas_column([1, 2], name), [1, 2]) for name in PANDAS_PLAIN),
    *((f"pandas {name}", pandas_column([1, None], name), [1, NAN]) for name in PANDAS_NULLABLE),
    *((f"pandas {t}[pyarrow]", pandas_column([1, None], arrow_dtype(t)), [1, NAN]) for t in ARROW_WHOLE),
    ("pandas double[pyarrow]", pandas_column([1, None], arrow_dtype(pa.float64())), [1, NAN]),
    (
        "pandas decimal[pyarrow]",
        pandas_column([Decimal("1.5"), None], arrow_dtype(ARROW_DECIMALS[0])),
        [1.5, NAN],
    ),
    ("pandas bool", pandas_column([True, False]), [1, 0]),
    ("pandas boolean", pandas_column([True, None], "boolean"), [1, NAN]),
    ("pandas bool[pyarrow]", pandas_column([True, None], arrow_dtype(pa.bool_())), [1, NAN]),
    ("pandas Sparse NaN", pandas_column(pd.arrays.SparseArray([1.5, NAN])), [1.5, NAN]),
    (
        "pandas object numbers",
        pandas_column([1, 2.5, None, NAN, Decimal("0.5")], object),
        [1, 2.5, NAN, NAN, 0.5],
    ),
    ("pandas object booleans", pandas_column([True, None, pd.NA], object), [1, NAN, NAN]),
    ("pandas object nothing", pandas_column([None, NAN, pd.NA], object), [NAN, NAN, NAN]),
    ("pandas null[pyarrow]", pandas_column([None, None], arrow_dtype(pa.null())), [NAN, NAN]),
    *((f"polars {t}", polars_column([1, None], t), [1, NAN]) for t in polars_number_types()),
    ("polars Decimal", polars_column([Decimal("1.5"), None], pl.Decimal(5, 2)), [1.5, NAN]),
    ("polars Boolean", polars_column([True, None]), [1, NAN]),
    ("polars NaN", polars_column([NAN, None, 1.0]), [NAN, NAN, 1]),
    ("polars Null", polars_column([None, None]), [NAN, NAN]),
    ("polars Object numbers", polars_column([1, 2.5], pl.Object), [1, 2.5]),
    ("polars Object nothing", polars_column([None, None], pl.Object), [NAN, NAN]),
    *((f"pyarrow {t}", pyarrow_column([1, None], t), [1, NAN]) for t in ARROW_NUMBERS),
    *((f"pyarrow {t}", pyarrow_column([Decimal("1.5"), None], t), [1.5, NAN]) for t in ARROW_DECIMALS),
    ("pyarrow bool", pyarrow_column([True, None], pa.bool_()), [1, NAN]),
    ("pyarrow null", pyarrow_column([None, None], pa.null()), [NAN, NAN]),
    ("pyarrow run ends", pa.table({"a": pa.RunEndEncodedArray.from_arrays([2, 3], [4, 5])}), [4, 4, 5]),
]

NOMINAL = [
    ("pandas str", pandas_column(["b", None, "a"]), ("a", "b")),
    ("pandas object", pandas_column(["b", None, "a"], object), ("a", "b")),
    ("pandas object NumPy text", pandas_column([np.str_("b"), np.str_("a")], object), ("a", "b")),
    ("pandas string", pandas_column(["b", None, "a"], "string"), ("a", "b")),
    ("pandas string[pyarrow]", pandas_column(["b", None, "a"], arrow_dtype(pa.string())), ("a", "b")),
    (
        "pandas category",
        pandas_column(pd.Categorical(["b", None, "a"], categories=["b", "a", "z"])),
        ("a", "b"),
    ),
    ("pandas category of int", pandas_column(pd.Categorical([10, None, 9])), (9, 10)),
    ("pandas category of float", pandas_column(pd.Categorical([1.5, None, 0.5])), (0.5, 1.5)),
    ("pandas category of bool", pandas_column(pd.Categorical([True, None, False])), (False, True)),
    (
        "pandas dictionary[pyarrow]",
        pandas_column(["b", "a"], arrow_dtype(pa.dictionary(pa.int8(), pa.string()))),
        ("a", "b"),
    ),
    ("polars String", polars_column(["b", None, "a"]), ("a", "b")),
    ("polars Categorical", polars_column(["b", None, "a"], pl.Categorical), ("a", "b")),
    ("polars Object", polars_column(["b", None, "a"], pl.Object), ("a", "b")),
    *(
        (f"pyarrow {t}", pyarrow_column(["b", None, "a"], t), ("a", "b"))
        for t in (pa.string(), pa.large_string(), pa.string_view())
    ),
    ("pyarrow dictionary", pa.table({"a": pa.array(["b", None, "a"]).dictionary_encode()}), ("a", "b")),
    ("pyarrow dictionary of int", pa.table({"a": pa.array([10, None, 9]).dictionary_encode()}), (9, 10)),
    (
        "pyarrow dictionary of float",
        pa.table({"a": pa.array([1.5, NAN, 0.5]).dictionary_encode()}),
        (0.5, 1.5),
    ),
]

ORDINAL = [
    (
        "pandas category",
        pandas_column(pd.Categorical(["b"], categories=["b", "a"], ordered=True)),
        ("b", "a"),
    ),
    (
        "pandas category of int",
        pandas_column(pd.Categorical([3], categories=[3, 1, 2], ordered=True)),
        (3, 1, 2),
    ),
    (
        "pandas dictionary[pyarrow]",
        pandas_column(pd.arrays.ArrowExtensionArray(pa.DictionaryArray.from_arrays([0], ["b"], ordered=True))),
        ("b",),
    ),
    ("polars Enum", polars_column(["b"], pl.Enum(["b", "a"])), ("b", "a")),
    (
        "pyarrow dictionary",
        pa.table({"a": pa.DictionaryArray.from_arrays([0], ["b", "a"], ordered=True)}),
        ("b", "a"),
    ),
]

UNUSABLE = [
    ("pandas datetime", pandas_column(pd.to_datetime(["2024-02-29"]))),
    ("pandas datetime with zone", pandas_column(pd.to_datetime(["2024-02-29"]).tz_localize("UTC"))),
    ("pandas timedelta", pandas_column(pd.to_timedelta([1], unit="s"))),
    ("pandas period", pandas_column(pd.period_range("2024", periods=1, freq="D"))),
    ("pandas interval", pandas_column(pd.interval_range(0, 1))),
    ("pandas complex", pandas_column([1j])),
    ("pandas object dates", pandas_column([DAY], object)),
    ("pandas object lists", pandas_column([[1], [2]], object)),
    ("pandas object bytes", pandas_column([b"x"], object)),
    ("pandas date[pyarrow]", pandas_column([DAY], arrow_dtype(pa.date32()))),
    ("pandas category of dates", pandas_column(pd.Categorical(pd.to_datetime(["2024-02-29"])))),
    ("pandas cut", pandas_column(pd.cut([1, 2], [0, 1, 2]))),
    ("polars Date", polars_column([DAY])),
    ("polars Datetime", polars_column([dt.datetime(2024, 2, 29)])),
    ("polars Duration", polars_column([dt.timedelta(1)])),
    ("polars Time", polars_column([dt.time(1)])),
    ("polars List", polars_column([[1]])),
    ("polars Array", polars_column([[1]], pl.Array(pl.Int64, 1))),
    ("polars Struct", polars_column([{"x": 1}])),
    ("polars Binary", polars_column([b"x"])),
    ("polars Object", polars_column([object()], pl.Object)),
    ("pyarrow date32", pyarrow_column([DAY], pa.date32())),
    ("pyarrow date64", pyarrow_column([DAY], pa.date64())),
    ("pyarrow timestamp", pyarrow_column([dt.datetime(2024, 2, 29)], pa.timestamp("us"))),
    ("pyarrow duration", pyarrow_column([dt.timedelta(1)], pa.duration("s"))),
    ("pyarrow interval", pyarrow_column([(1, 2, 3)], pa.month_day_nano_interval())),
    ("pyarrow time32", pyarrow_column([dt.time(1)], pa.time32("s"))),
    ("pyarrow time64", pyarrow_column([dt.time(1)], pa.time64("us"))),
    ("pyarrow list", pyarrow_column([[1]], pa.list_(pa.int64()))),
    ("pyarrow large_list", pyarrow_column([[1]], pa.large_list(pa.int64()))),
    ("pyarrow fixed list", pyarrow_column([[1]], pa.list_(pa.int64(), 1))),
    ("pyarrow struct", pyarrow_column([{"x": 1}], pa.struct([("x", pa.int64())]))),
    ("pyarrow map", pyarrow_column([[("x", 1)]], pa.map_(pa.string(), pa.int64()))),
    ("pyarrow binary", pyarrow_column([b"x"], pa.binary())),
    ("pyarrow fixed binary", pyarrow_column([b"x"], pa.binary(1))),
    ("pyarrow dictionary of dates", pa.table({"a": pa.array([DAY]).dictionary_encode()})),
]


def cases(table: list[Any]) -> Any:
    names, *columns = zip(*table, strict=True)
    return {"argvalues": list(zip(*columns, strict=True)), "ids": names}


@pytest.mark.parametrize(("X", "expected"), **cases(NUMERIC))
def test_numeric_dtypes(X: Any, expected: list[float]) -> None:
    result = read_table(X)
    (column,) = result.schema.columns
    assert (column.name, column.kind) == ("a", Kind.NUMERIC)
    assert column.categories in ((), (False, True))
    assert_same_values(result.values[:, 0], expected)
    assert_same_values(result.schema.read(X)[:, 0], expected)


@pytest.mark.parametrize(("X", "categories"), **cases(NOMINAL))
def test_nominal_dtypes(X: Any, categories: tuple[Any, ...]) -> None:
    result = read_table(X)
    # The representation also tells True from 1, and str from NumPy's.
    assert repr(result.schema.columns) == repr((Column("a", Kind.NOMINAL, categories),))
    assert result.values[0, 0] == 1
    assert result.values[-1, 0] == 0
    assert_same_values(result.schema.read(X), result.values)


@pytest.mark.parametrize(("X", "levels"), **cases(ORDINAL))
def test_ordinal_dtypes(X: Any, levels: tuple[Any, ...]) -> None:
    result = read_table(X)
    assert repr(result.schema.columns) == repr((Column("a", Kind.ORDINAL, levels),))
    assert_same_values(result.schema.read(X), [[0]])


@pytest.mark.parametrize(("X",), **cases(UNUSABLE))
@pytest.mark.parametrize("categorical_features", ["from_dtype", None, ["a"]])
def test_other_dtypes_are_refused_by_name(X: Any, categorical_features: Any) -> None:
    with pytest.raises(ValueError, match=r"column 'a' (has dtype .*convert|holds categories .*convert)"):
        read_table(X, categorical_features=categorical_features)


def test_the_refusal_of_a_date_names_its_dtype_and_the_fix() -> None:
    with pytest.raises(ValueError, match=r"column 'a' has dtype Date, .*days since a reference date"):
        read_table(polars_column([DAY]))


@pytest.mark.parametrize(
    ("values", "mixture"),
    [(["x", 1], "str and int"), ([True, "x"], "bool and str"), ([True, 2], "bool and int")],
)
def test_mixed_types_are_refused(values: list[Any], mixture: str) -> None:
    with pytest.raises(ValueError, match=f"column 'a' mixes {mixture}; convert it to one type"):
        read_table(pandas_column(values, object))


def test_mixed_categories_are_refused() -> None:
    with pytest.raises(ValueError, match=r"column 'a' mixes (str and int|int and str); convert"):
        read_table(pandas_column(pd.Categorical(["x", 1])))


@pytest.mark.parametrize("categorical_features", [None, ["b"]])
@EACH_LIBRARY
def test_text_that_is_not_nominal_is_refused(library: str, categorical_features: Any) -> None:
    X = frame_of(library, a=("text", ["x", "y"]), b=("float", [1.0, 2.0]))
    with pytest.raises(ValueError, match=r"column 'a' holds categories .*add it there"):
        read_table(X, categorical_features=categorical_features)


def test_float32_is_converted_exactly() -> None:
    values = np.array([[0.1], [1e-40]], dtype=np.float32)
    for X in (values, pd.DataFrame(values), pl.DataFrame(values)):
        assert_same_values(read_table(X).values, values.astype(np.float64))


def test_columns_of_differently_stored_floats_are_read() -> None:
    X = pd.DataFrame({"a": pd.Series([1.5, None], dtype=arrow_dtype(pa.float64())), "b": [1.0, 2.0]})
    assert_same_values(read_table(X).values, [[1.5, 1], [NAN, 2]])


# --- Values that float64 can't hold -------------------------------------------------------------------------

TOO_LARGE = 2**53 + 1


@pytest.mark.parametrize(
    "X",
    [
        pandas_column([1, TOO_LARGE]),
        pandas_column([None, TOO_LARGE], "Int64"),
        pandas_column([1, TOO_LARGE], object),
        polars_column([None, TOO_LARGE]),
        polars_column([1, TOO_LARGE], pl.UInt64),
        pyarrow_column([None, TOO_LARGE]),
    ],
)
def test_integers_that_float64_would_merge_are_refused(X: Any) -> None:
    with pytest.raises(ValueError, match=rf"column 'a' holds the integer {TOO_LARGE}, .*subtract an offset"):
        read_table(X)


@pytest.mark.parametrize(
    "X",
    [
        np.array([[0, 1], [2, -TOO_LARGE]]),
        [[0, 1], [2, -TOO_LARGE]],
        np.array([[0.5, -TOO_LARGE]], dtype=object),
    ],
)
def test_arrays_of_integers_that_float64_would_merge_are_refused(X: Any) -> None:
    with pytest.raises(ValueError, match=rf"column 'x1' holds the integer -{TOO_LARGE}, .*text"):
        read_table(X)


def test_the_largest_exact_integers_are_fine() -> None:
    X = np.array([[2**53, -(2**53)]])
    assert_same_values(read_table(X).values, X)
    assert_same_values(read_table(pd.DataFrame(X)).values, X)
    assert_same_values(read_table(pa.table({"a": [2**53]})).values, [[2**53]])


@pytest.mark.parametrize("sign", [1, -1])
def test_infinity_is_refused_with_its_place(sign: int) -> None:
    X = np.zeros((3, 2))
    schema = read_table(X).schema
    X[1, 0], X[2, 1] = NAN, sign * np.inf
    message = rf"Input X contains infinity: column '{{}}' has {sign * np.inf} in row 2.*NaN"
    with pytest.raises(ValueError, match=message.format("x1")):
        read_table(X)
    with pytest.raises(ValueError, match=message.format("x1")):
        schema.read(X)
    for build in (pd.DataFrame, pl.DataFrame):
        with pytest.raises(ValueError, match=message.format("b")):
            read_table(build({"a": X[:, 0], "b": X[:, 1]}))


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray, lambda X: np.repeat(X, 2, axis=1)[:, ::2]])
@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (4, 1), (3, 5), (5, 3)])
def test_infinity_is_found_in_every_layout(layout: Any, shape: tuple[int, int]) -> None:
    schema = read_table(np.zeros(shape)).schema
    for row, j in np.ndindex(shape):
        X = np.zeros(shape)
        X[row, j] = -np.inf
        for read in (read_table, schema.read):
            with pytest.raises(ValueError, match=rf"column 'x{j}' has -inf in row {row}\."):
                read(layout(X))


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_is_refused_in_nominal_columns_too(value: float) -> None:
    message = rf"infinity: column '{{}}' has {value} in row 2\."
    for order in ("C", "F"):
        X = np.array([[0, 1], [1, NAN], [0, value]], order=order)
        schema = read_table(X[:2], categorical_features=[1]).schema
        for read in (schema.read, lambda X: read_table(X, categorical_features=[1])):
            with pytest.raises(ValueError, match=message.format("x1")):
                read(X)


@pytest.mark.parametrize("known", [[1.0, 2.0, None], [None, None, None]])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
@EACH_LIBRARY
def test_infinity_is_refused_in_nominal_columns_of_frames_too(library: str, value: float, known: list[Any]) -> None:
    schema = read_table(frame_of(library, a=("float", known)), categorical_features=["a"]).schema
    X = frame_of(library, a=("float", [1.0, None, value]))
    for read in (schema.read, lambda X: read_table(X, categorical_features=["a"])):
        with pytest.raises(ValueError, match=rf"infinity: column 'a' has {value} in row 2\."):
            read(X)


@pytest.mark.parametrize(
    "X",
    [
        pandas_column([1.0, pd.NA, np.float32(np.inf)], object),
        pandas_column([1, None, Decimal("Infinity")], object),
        pandas_column(pd.Categorical([1.0, None, np.inf])),
        pandas_column([1.0, None, np.inf], arrow_dtype(pa.float64())),
        polars_column([1.0, None, np.inf], pl.Float32),
    ],
)
def test_infinity_is_refused_however_a_category_is_stored(X: Any) -> None:
    with pytest.raises(ValueError, match=r"infinity: column 'a' has inf in row 2\."):
        read_table(X, categorical_features=["a"])


@pytest.mark.skipif(np.finfo(np.longdouble).max == np.finfo(np.float64).max, reason="long double is float64 here")
def test_a_long_double_beyond_float64_is_infinite() -> None:
    with pytest.raises(ValueError, match="infinity: column 'x0'"):
        read_table(np.array([["1e4000"]]).astype(np.longdouble))


# --- Arrays -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", ">f8", "longdouble", "int8", "uint64", "bool", "object"]
)
def test_array_dtypes(dtype: str) -> None:
    X = np.array([[1, 0], [0, 1]]).astype(dtype)
    result = read_table(X)
    assert result.schema == Schema((Column("x0", Kind.NUMERIC), Column("x1", Kind.NUMERIC)), named=False)
    assert_same_values(result.values, [[1, 0], [0, 1]])
    assert_same_values(result.schema.read(X), [[1, 0], [0, 1]])


def test_missing_values_of_arrays() -> None:
    assert_same_values(read_table([[None, 1], [NAN, 2.5]]).values, [[NAN, 1], [NAN, 2.5]])


def test_objects_that_turn_into_arrays_are_read() -> None:
    class Lookalike:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.array([[1.0, 2.0]], dtype=dtype)

    assert_same_values(read_table(Lookalike()).values, [[1, 2]])


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ([1.0, 2.0], ValueError, "Reshape your data"),
        (np.zeros((1, 1, 1)), ValueError, "dim 3"),
        ([[1j]], ValueError, "Complex data not supported"),
        (np.array([[1j]]), ValueError, "Complex data not supported"),
        (
            np.empty((0, 3)),
            ValueError,
            r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required by Tree",
        ),
        (np.empty((3, 0)), ValueError, r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required"),
        (sparse.csr_array(np.array([[1j]])), ValueError, "Complex data not supported"),
        (np.array([[{}]]), TypeError, "argument must be .* string.* number"),
        ([["x"]], ValueError, "could not convert string to float: .*'x'.*pandas, polars or pyarrow"),
        (np.array([["2024-02-29"]], dtype="M8[D]"), ValueError, "datetime64.*days since a reference date"),
    ],
)
def test_what_is_no_array_of_numbers_is_refused_in_known_words(X: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        read_table(X, estimator=TreeClassifier())
    schema = read_table(np.zeros((2, max(np.shape(X)[-1], 1)))).schema
    with pytest.raises(error, match=message):
        schema.read(X, estimator=TreeClassifier())


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array, sparse.dok_matrix])
def test_sparse_matrices_are_read_as_dense_ones(container: Any) -> None:
    X = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 0.0], [0.0, 3.0, 4.0]])
    table = read_table(container(X), categorical_features=[1])
    expected = read_table(X, categorical_features=[1])
    assert table.schema == expected.schema
    assert_same_values(table.values, expected.values)
    assert_same_values(table.schema.read(container(X)), expected.schema.read(X))


def test_a_sparse_matrix_that_would_fill_the_memory_is_refused() -> None:
    X = sparse.csr_array((10**6, 10**5))
    message = r"X is sparse, .* 1,000,000 x 100,000 it would take 745.1 GiB, more than 4 GiB: pass categories"
    with pytest.raises(ValueError, match=message):
        read_table(X)
    with pytest.raises(ValueError, match=message):
        read_table(np.zeros((1, 10**5))).schema.read(X)


def test_nominal_columns_of_arrays() -> None:
    X = np.array([[3.0, 0.5], [NAN, 0.7], [-1.0, 0.9], [3.0, NAN]])
    original = X.copy()
    result = read_table(X, categorical_features=[0])
    assert result.schema.columns == (Column("x0", Kind.NOMINAL, (-1.0, 3.0)), Column("x1", Kind.NUMERIC))
    assert result.schema.n_categories.tolist() == [2, 0]
    assert result.schema.n_categories.dtype == np.int32
    assert_same_values(result.values, [[1, 0.5], [NAN, 0.7], [0, 0.9], [1, NAN]])
    later = np.array([[-5.0, 1.0], [-1.0, 1.0], [0.0, 1.0], [3.0, 1.0], [9.0, 1.0], [NAN, 1.0]])
    assert_same_values(result.schema.read(later)[:, 0], [NAN, 0, NAN, 1, NAN, NAN])
    assert_same_values(X, original)


def test_a_nominal_column_of_an_array_may_be_all_missing() -> None:
    result = read_table(np.array([[NAN], [NAN]]), categorical_features=[True])
    assert result.schema.columns == (Column("x0", Kind.NOMINAL),)
    assert_same_values(result.schema.read(np.array([[1.0], [NAN]])), [[NAN], [NAN]])


def test_arrays_are_coded_by_the_levels_of_a_frame() -> None:
    levels = pd.Categorical([3], categories=[3, 1, 2], ordered=True)
    schema = read_table(pandas_column(levels)).schema
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        values = schema.read(np.array([[1.0], [2.0], [3.0], [4.0], [NAN]]))
    assert_same_values(values[:, 0], [1, 2, 0, NAN, NAN])


# --- The fast door ------------------------------------------------------------------------------------------


def test_a_ready_array_passes_untouched() -> None:
    X = np.arange(6.0).reshape(3, 2)
    X[0, 0] = NAN
    assert read_table(X).schema.read(X) is X


def test_a_ready_array_passes_a_named_schema_with_a_warning() -> None:
    schema = read_table(pd.DataFrame({"a": [1.0], "b": [2.0]})).schema
    X = np.zeros((1, 2))
    with pytest.warns(UserWarning, match="X does not have valid feature names, but TreeClassifier was fitted with"):
        assert schema.read(X, estimator=TreeClassifier()) is X


def test_arrays_in_column_order_are_turned() -> None:
    X = np.asfortranarray(np.arange(6.0).reshape(3, 2))
    result = read_table(X)
    assert np.shares_memory(result.values, X)
    values = result.schema.read(X)
    assert values.flags.c_contiguous
    assert_same_values(values, X)


def test_no_rows_are_refused_also_at_the_fast_door() -> None:
    schema = read_table(np.zeros((1, 3))).schema
    with pytest.raises(
        ValueError,
        match=r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required by TreeClassifier\.",
    ):
        schema.read(np.empty((0, 3)), estimator=TreeClassifier())


# --- Frames in general --------------------------------------------------------------------------------------


def test_lazy_frames_are_to_be_collected() -> None:
    with pytest.raises(ValueError, match=r"lazy frame.*collect\(\)"):
        read_table(pl.LazyFrame({"a": [1]}))


def test_relations_of_duckdb_are_to_be_fetched() -> None:
    duckdb = pytest.importorskip("duckdb")
    with pytest.raises(ValueError, match=r"lazy frame.*pass X\.df\(\) or X\.arrow\(\) instead"):
        read_table(duckdb.sql("SELECT 1 AS a"))


def test_frames_of_dask_are_to_be_computed() -> None:
    dask = pytest.importorskip("dask.dataframe")
    with pytest.raises(ValueError, match=r"lazy frame.*pass X\.compute\(\) instead"):
        read_table(dask.from_pandas(pd.DataFrame({"a": [1.0]}), npartitions=1))


@pytest.mark.parametrize(
    ("library", "call"), [("DASK", "X.compute()"), ("DUCKDB", "X.df() or X.arrow()"), ("POLARS", "X.collect()")]
)
def test_lazy_frames_of_each_library_get_their_own_advice(
    monkeypatch: pytest.MonkeyPatch, library: str, call: str
) -> None:
    lazy = nw.from_native(pl.LazyFrame({"a": [1]}))
    monkeypatch.setattr(type(lazy), "implementation", nw.Implementation[library])
    with pytest.raises(ValueError, match=re.escape(f"pass {call} instead")):
        read_table(lazy.to_native())


@pytest.mark.parametrize("X", [pd.Series([1.0]), pl.Series(["x"]), pa.chunked_array([[1.0]])])
def test_single_columns_are_to_be_reshaped(X: Any) -> None:
    with pytest.raises(ValueError, match="Reshape your data"):
        read_table(X)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (
            pd.DataFrame({"a": []}),
            r"0 sample\(s\) \(shape=\(0, 1\)\) while a minimum of 1 is required by TreeClassifier\.",
        ),
        (pl.DataFrame({"a": []}), r"0 sample\(s\) \(shape=\(0, 1\)\)"),
        (pa.table({"a": pa.array([], pa.float64())}), r"0 sample\(s\) \(shape=\(0, 1\)\)"),
        (pd.DataFrame(index=range(3)), r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required"),
    ],
)
def test_empty_frames_are_refused_as_empty_arrays_are(X: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_table(X, estimator=TreeClassifier())


def test_narwhals_frames_are_frames() -> None:
    assert_same_values(read_table(nw.from_native(pl.DataFrame({"a": [1]}))).values, [[1]])


def test_chunks_with_different_dictionaries_are_one_column() -> None:
    chunks = [pa.array(["b", "a"]).dictionary_encode(), pa.array(["c", None, "a"]).dictionary_encode()]
    assert_same_values(read_table(pa.table({"a": pa.chunked_array(chunks)})).values[:, 0], [1, 0, 2, NAN, 0])


def test_a_schema_survives_pickling() -> None:
    schema = read_table(pl.DataFrame({"a": ["x", "y"], "b": [1, 2]})).schema
    copy = pickle.loads(pickle.dumps(schema))
    assert copy == schema
    assert_same_values(copy.read(pl.DataFrame({"a": ["y"], "b": [3]})), [[1, 3]])


# --- What may change between fit and predict ----------------------------------------------------------------


@EACH_LIBRARY
def test_text_in_a_numeric_column_is_refused(library: str) -> None:
    schema = read_table(frame_of(library, a=("float", [1.0]))).schema
    with pytest.raises(ValueError, match=r"column 'a' was numeric in fit, but now holds the category 'x'"):
        schema.read(frame_of(library, a=("text", [None, "x"])))


@EACH_LIBRARY
def test_a_numeric_column_may_lose_all_values(library: str) -> None:
    schema = read_table(frame_of(library, a=("float", [1.0]))).schema
    for storage in ("integer", "text", "nothing"):
        assert_same_values(schema.read(frame_of(library, a=(storage, [None, None]))), [[NAN], [NAN]])


@EACH_LIBRARY
def test_categories_that_change_their_type_are_refused(library: str) -> None:
    schema = read_table(frame_of(library, a=("text", ["x", "y"]))).schema
    with pytest.raises(
        ValueError, match=r"column 'a' changed its type: .* 'x', now it holds 1; pass values of the same"
    ):
        schema.read(frame_of(library, a=("integer", [None, 1])))
    with (
        pytest.warns(UserWarning, match="valid feature names"),
        pytest.raises(ValueError, match=r"column 'a' changed its type: .* now it holds 1\.0"),
    ):
        schema.read(np.array([[NAN], [1.0]]))


@EACH_LIBRARY
def test_unseen_categories_of_the_same_type_are_missing(library: str) -> None:
    schema = read_table(frame_of(library, a=("text", ["x", "y"]))).schema
    assert_same_values(schema.read(frame_of(library, a=("category", ["z", None], ["z"]))), [[NAN], [NAN]])
    assert_same_values(schema.read(frame_of(library, a=("nothing", [None]))), [[NAN]])


@EACH_LIBRARY
def test_numbers_match_categories_by_value_whatever_their_type(library: str) -> None:
    schema = read_table(frame_of(library, a=("integer", [1, 2])), categorical_features=["a"]).schema
    assert_same_values(schema.read(frame_of(library, a=("float", [2.0, 1.5, None]))), [[1], [NAN], [NAN]])


def test_dates_in_a_nominal_column_are_refused() -> None:
    schema = read_table(polars_column(["x"])).schema
    with pytest.raises(ValueError, match="column 'a' has dtype Date"):
        schema.read(polars_column([DAY]))


# --- Names --------------------------------------------------------------------------------------------------


@EACH_LIBRARY
def test_names_must_match(library: str) -> None:
    def frame(*names: str) -> Any:
        return frame_of(library, **{name: ("float", [1.0]) for name in names})

    schema = read_table(frame("a", "b")).schema
    assert schema.names == ("a", "b")
    assert schema.n_features == 2
    start = "The feature names should match those that were passed during fit.\n"
    for names, message in [
        (("b", "a"), "Feature names must be in the same order as they were in fit.\n"),
        (("a", "b", "c"), "Feature names unseen at fit time:\n- c\n"),
        (("a",), "Feature names seen at fit time, yet now missing:\n- b\n"),
        (
            ("a", *"rstuvw"),
            "Feature names unseen at fit time:\n- r\n- s\n- t\n- u\n- v\n- ...\n"
            "Feature names seen at fit time, yet now missing:\n- b\n",
        ),
    ]:
        with pytest.raises(ValueError, match=f"^{re.escape(start + message)}$"):
            schema.read(frame(*names))


def test_names_that_fit_did_not_see_are_warned_about() -> None:
    schema = read_table(np.zeros((1, 1))).schema
    with pytest.warns(UserWarning, match="X has feature names, but TreeClassifier was fitted without feature names"):
        values = schema.read(pl.DataFrame({"a": [1.0]}), estimator=TreeClassifier())
    assert_same_values(values, [[1]])


def test_the_number_of_columns_must_match() -> None:
    message = "X has 3 features, but TreeClassifier is expecting 4 features as input."
    schema = read_table(np.zeros((1, 4))).schema
    for X in (np.zeros((1, 3)), pd.DataFrame(np.zeros((1, 3)))):
        with pytest.raises(ValueError, match=re.escape(message)):
            schema.read(X, estimator=TreeClassifier())


def test_numbered_columns_count_as_unnamed() -> None:
    schema = read_table(pd.DataFrame([[1.0, "x"]], columns=[5, 7])).schema
    assert schema == Schema((Column("x0", Kind.NUMERIC), Column("x1", Kind.NOMINAL, ("x",))), named=False)
    assert_same_values(schema.read(pd.DataFrame([[2.0, "x"]])), [[2, 0]])


def test_some_names_of_text_and_some_not_are_refused() -> None:
    with pytest.raises(TypeError, match="Feature names are only supported if all input features have string names"):
        read_table(pd.DataFrame([[1, 2]], columns=["a", 1]))


@pytest.mark.parametrize(
    "X",
    [pd.DataFrame([[1, 2]], columns=["a", "a"]), pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])],
)
def test_duplicate_names_are_refused(X: Any) -> None:
    with pytest.raises(
        ValueError, match=r"^X has duplicate column names; rename or drop the copies\. .*: 'a' 2 times$"
    ):
        read_table(X)


# --- categorical_features -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("choice", "nominal"),
    [
        ("from_dtype", []),
        (None, []),
        ([], []),
        ([0, 2], ["a", "c"]),
        (np.array([2]), ["c"]),
        ([True, False, True], ["a", "c"]),
        (np.array([False, True, False]), ["b"]),
        (["c", "a"], ["a", "c"]),
        (pd.Index(["b"]), ["b"]),
    ],
)
def test_categorical_features_choose_nominal_columns(choice: Any, nominal: list[str]) -> None:
    X = pl.DataFrame({"a": [1, 2], "b": [1.5, 2.5], "c": [True, False]})
    schema = read_table(X, categorical_features=choice).schema
    assert [column.name for column in schema.columns if column.kind is Kind.NOMINAL] == nominal


def test_ordinal_columns_need_no_choice() -> None:
    X = pl.DataFrame({"a": pl.Series(["s"], dtype=pl.Enum(["s", "l"]))})
    assert read_table(X, categorical_features=None).schema.columns[0].kind is Kind.ORDINAL


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ([0, 3], "index 3, but X has 3 columns; indices go from 0 to 2"),
        ([-1], "index -1, but X has 3 columns"),
        ([True, False], "mask of 2 values, but X has 3 columns; give one value for each"),
        (["colour", "weigth"], "names 'weigth', which is not a column of X; did you mean one of 'weight'"),
        (["zzz"], "names 'zzz'.*'colour', 'height', 'weight'"),
        ("colour", "must be None.*got 'colour'"),
        ([0.5], r"must be None.*got \[0.5\]"),
        ([0, "colour"], "must be None.*a list of indices, of booleans or of column names"),
        (3, "must be None.*got 3"),
    ],
)
def test_wrong_categorical_features_are_explained(choice: Any, message: str) -> None:
    X = pl.DataFrame({"colour": [1], "height": [1], "weight": [1]})
    with pytest.raises(ValueError, match=f"categorical_features.*{message}"):
        read_table(X, categorical_features=choice)


@pytest.mark.parametrize("X", [np.zeros((1, 1)), pd.DataFrame([[1.0]])])
def test_names_can_be_chosen_only_where_there_are_names(X: Any) -> None:
    with pytest.raises(ValueError, match=r"names columns \('a'\), but X has no column names; give indices"):
        read_table(X, categorical_features=["a"])


# --- scikit-learn's own checks, on an estimator that only reads ---------------------------------------------


class Reader(RegressorMixin, BaseEstimator):
    """Predicts 0 for every row.

    Attributes
    ----------
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
    """

    def fit(self, X: Any, y: Any) -> Reader:
        schema = read_table(X, estimator=self).schema
        validate_data(self, X, y, skip_check_array=True)
        self.schema_ = schema
        return self

    def predict(self, X: Any) -> Any:
        return np.zeros(len(self.schema_.read(X, estimator=self)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


@pytest.mark.parametrize(
    "check",
    [
        estimator_checks.check_dataframe_column_names_consistency,
        estimator_checks.check_n_features_in_after_fitting,
        estimator_checks.check_dtype_object,
        estimator_checks.check_complex_data,
        estimator_checks.check_estimators_dtypes,
        estimator_checks.check_estimators_empty_data_messages,
        estimator_checks.check_estimator_sparse_tag,
        estimator_checks.check_fit1d,
        estimator_checks.check_fit2d_predict1d,
        estimator_checks.check_readonly_memmap_input,
    ],
)
def test_scikit_learn_finds_its_own_words(check: Any) -> None:
    check("Reader", Reader())
