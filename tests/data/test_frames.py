"""How the core reads what libraries keep of a column, against plain loops."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow._core import codes_in_use, place_codes, text_codes
from hedgerow.data.frames import as_frame
from hedgerow.data.table import read_table

CODE_TYPES = (np.int8, np.int16, np.int32, np.int64)


@st.composite
def coded(draw: st.DrawFn) -> tuple[np.ndarray, int]:
    n_levels = draw(st.integers(0, 100))
    codes = draw(st.lists(st.integers(-1, n_levels - 1), max_size=50))
    return np.array(codes, dtype=draw(st.sampled_from(CODE_TYPES))), n_levels


@given(coded())
def test_levels_in_use_are_those_that_some_code_names(given: tuple[np.ndarray, int]) -> None:
    codes, n_levels = given
    assert codes_in_use(codes, n_levels).tolist() == [level in codes.tolist() for level in range(n_levels)]


@given(coded())
def test_codes_are_replaced_by_the_entries_of_a_table(given: tuple[np.ndarray, int]) -> None:
    codes, n_levels = given
    table = np.arange(n_levels) * 1.5
    out = np.zeros(len(codes))
    place_codes(codes, table, out)
    expected = [np.nan if code == -1 else table[code] for code in codes.tolist()]
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("dtype", CODE_TYPES)
@pytest.mark.parametrize("code", [-2, 3, 100])
def test_codes_without_a_level_are_refused(dtype: type, code: int) -> None:
    codes = np.array([0, code, 1], dtype=dtype)
    with pytest.raises(ValueError, match="a category code has no level"):
        codes_in_use(codes, 3)
    with pytest.raises(ValueError, match="a category code has no level"):
        place_codes(codes, np.zeros(3), np.zeros(3))


def test_codes_must_be_signed_integers_of_the_right_number() -> None:
    with pytest.raises(ValueError, match="signed integers"):
        codes_in_use(np.zeros(3), 1)
    with pytest.raises(ValueError, match="out has the wrong shape"):
        place_codes(np.zeros(3, dtype=np.int8), np.zeros(1), np.zeros(2))


@given(st.lists(st.text(max_size=3), max_size=60))
def test_texts_are_numbered_in_their_order(texts: list[str]) -> None:
    copies = ["".join(list(text)) for text in texts]  # equal, but not the same objects
    found = text_codes(texts + copies)
    assert found is not None
    distinct, codes = found
    assert distinct == sorted(set(texts))
    assert [distinct[code] for code in codes.tolist()] == texts + copies


@pytest.mark.parametrize("odd", [None, 1, 1.5, np.nan, b"a", np.str_("a"), ["a"]])
def test_what_is_not_all_text_is_left_to_others(odd: object) -> None:
    assert text_codes(["a", "b", odd]) is None


def held(frame: object) -> list[str]:
    """How each column of a frame is read."""
    taken = as_frame(frame)
    assert taken is not None
    kinds = ("dictionary", "numbers", "texts")
    return [next((kind for kind in kinds if getattr(one, kind) is not None), "series") for one in taken.sources]


def test_a_pandas_frame_is_taken_apart_without_a_change_to_it() -> None:
    frame = pd.DataFrame({"a": pd.Categorical(["x", None, "y"]), "b": [1, 2, 3], "c": ["u", "v", "u"]})
    taken = as_frame(frame)
    assert taken is not None
    assert held(frame) == ["dictionary", "numbers", "texts"]
    assert [source.series.to_list() for source in taken.sources[1:]] == [[1, 2, 3], ["u", "v", "u"]]
    assert list(frame.columns) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("values", "read"),
    [
        (["u", "v"], "texts"),
        (["u", None], "texts"),
        (["u", np.nan], "texts"),
        (["u", pd.NA], "series"),
        (["u", 1.5], "series"),
        (["u", 1], "series"),
        ([None, None], "series"),
        ([np.str_("u"), "v"], "series"),
    ],
)
def test_objects_are_texts_if_all_values_are(values: list[object], read: str) -> None:
    assert held(pd.DataFrame({"a": pd.Series(values, dtype=object)})) == [read]


def test_a_polars_frame_is_read_without_wrapping_its_columns() -> None:
    columns = {
        "float": pl.Series([1.0, None]),
        "whole": pl.Series([1, 2]),
        "truth": pl.Series([True, False]),
        "text": pl.Series(["u", None]),
        "category": pl.Series(["u", None], dtype=pl.Categorical),
        "gaps": pl.Series([1, None]),
        "level": pl.Series(["u", None], dtype=pl.Enum(["u", "v"])),
    }
    assert held(pl.DataFrame(columns)) == ["numbers", "numbers", "numbers", "texts", "texts", "series", "series"]


def test_numbers_of_several_types_are_read_at_once() -> None:
    frame = pd.DataFrame({"a": [1.5, np.nan], "b": [2, 3], "c": [True, False], "d": np.array([4, 5], dtype="float32")})
    taken = as_frame(frame)
    assert taken is not None
    block = taken.float_block()
    assert block is not None
    np.testing.assert_array_equal(block, [[1.5, 2, 1, 4], [np.nan, 3, 0, 5]])


def test_a_large_float_beside_integers_is_no_rounded_integer() -> None:
    frame = pd.DataFrame({"a": [1e300, 2.0**53 + 2], "b": [1, 2]})
    np.testing.assert_array_equal(read_table(frame).values, [[1e300, 1], [2.0**53 + 2, 2]])
    with pytest.raises(ValueError, match=r"column 'b' holds the integer 9007199254740993, beyond 2\*\*53"):
        read_table(frame.assign(b=2**53 + 1))


@pytest.mark.parametrize("library", [pd, pl])
def test_a_frame_that_was_read_is_freed_at_once(library: Any) -> None:
    taken = as_frame(library.DataFrame({"a": [1.0], "b": ["u"]}))
    assert taken is not None
    assert len(taken.sources) == 2
    gone = weakref.ref(taken)
    del taken
    assert gone() is None


@pytest.mark.parametrize("dtype", ["float32", "int16", "uint8", "bool", "int64", "float64"])
def test_numbers_that_numpy_keeps_are_read_as_they_are(dtype: str) -> None:
    frame = pd.DataFrame({"a": np.array([0, 1, 1], dtype=dtype), "b": pd.Categorical(["x", "y", "x"])})
    np.testing.assert_array_equal(read_table(frame).values, [[0, 0], [1, 1], [1, 0]])


MIXED = {
    "float": [0.5, None, -0.0],
    "single": [1.5, 2.5, 0.1],
    "whole": [1, -(2**53) + 1, 3],
    "truth": [True, False, True],
    "text": ["a", None, "b"],
    "category": ["x", "y", None],
}


@pytest.mark.parametrize("library", [pd, pl])
def test_a_single_row_is_read_as_it_is_among_others(library: Any) -> None:
    frame = library.DataFrame(MIXED)
    if library is pd:
        frame = frame.astype({"single": np.float32, "category": "category"})
    else:
        frame = frame.with_columns(pl.col("single").cast(pl.Float32), pl.col("category").cast(pl.Categorical))
    table = read_table(frame)
    alone = [table.schema.read(frame[i : i + 1]) for i in range(3)]
    assert np.array_equal(np.vstack(alone), table.values, equal_nan=True)
    assert all(as_frame(frame[i : i + 1]).only_row() is not None for i in range(3))


@pytest.mark.parametrize("library", [pd, pl])
@pytest.mark.parametrize(
    ("name", "odd", "message"),
    [
        ("float", np.inf, "contains infinity: column 'float'"),
        ("whole", 2**53 + 1, "column 'whole'"),
        ("float", "a", "column 'float' was numeric in fit"),
        ("text", 1, "column 'text'"),
    ],
)
def test_a_single_row_is_refused_as_a_column_is(library: Any, name: str, odd: Any, message: str) -> None:
    schema = read_table(library.DataFrame(MIXED)).schema
    with pytest.raises(ValueError, match=message):
        schema.read(library.DataFrame({key: [odd if key == name else values[0]] for key, values in MIXED.items()}))


@pytest.mark.parametrize("library", [pd, pl])
def test_an_unseen_category_of_a_single_row_is_missing(library: Any) -> None:
    frame = library.DataFrame(MIXED)
    row = library.DataFrame({key: ["new" if key == "text" else values[0]] for key, values in MIXED.items()})
    read = read_table(frame).schema.read(row)[0]
    assert np.isnan(read[4])
    assert not np.isnan(np.delete(read, 4)).any()
