"""Columns of dataframes of any library: read directly where that is fast, through narwhals otherwise."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from itertools import compress
from typing import Any, TypeAlias, final

import narwhals as nw
import numpy as np
from narwhals.dependencies import get_pandas
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from hedgerow._core import codes_in_use
from hedgerow._lazy import lazy

__all__ = ["Dictionary", "Frame", "Series", "Source", "as_frame"]

Series: TypeAlias = nw.Series[Any]

# NumPy dtypes that narwhals too treats as numeric.
_NUMBERS = frozenset(map(np.dtype, ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")))


# Calls that compute lazy frames of each library.
_COLLECT = "X.collect()"
_TO_VALUES = {
    nw.Implementation.DASK: "X.compute()",
    nw.Implementation.DUCKDB: "X.df() or X.arrow()",
    nw.Implementation.IBIS: "X.to_pyarrow()",
    nw.Implementation.PYSPARK: "X.toArrow() or X.toPandas()",
    nw.Implementation.PYSPARK_CONNECT: "X.toArrow() or X.toPandas()",
    nw.Implementation.SQLFRAME: "X.toPandas()",
}


@dataclass(frozen=True)
class Dictionary:
    """Dictionary-encoded column: `levels[codes]`, with code -1 for missing."""

    levels: list[Any]
    codes: NDArray[np.signedinteger[Any]]
    ordered: bool

    @property
    def present(self) -> list[Any]:
        """Levels that occur."""
        return list(compress(self.levels, codes_in_use(self.codes, len(self.levels)).tolist()))


@final
class Source:
    """A column of a frame with its dictionary or numbers, if it has either; `series` serves all other columns.

    `series` is made on demand: wrapping a column in narwhals takes longer than reading a few thousand rows.
    """

    __slots__ = ("_find_series", "_series", "dictionary", "numbers")

    def __init__(
        self,
        find_series: Callable[[], Series],
        dictionary: Dictionary | None = None,
        numbers: NDArray[Any] | None = None,
    ) -> None:
        self._find_series = find_series
        self._series: Series | None = None
        self.dictionary = dictionary
        self.numbers = numbers
        """Values of a NumPy-backed column, in which only NaN is missing."""

    @property
    def series(self) -> Series:
        """The column as narwhals sees it."""
        if self._series is None:
            self._series = self._find_series()
        return self._series

    @property
    def dtype_name(self) -> str:
        return str(self.series.dtype)


def _pandas_source(native: Any, find_series: Callable[[], Series]) -> Source:
    dtype = native.dtype
    if type(dtype).__name__ == "CategoricalDtype":  # without importing pandas
        kept = native.array
        levels = _index_values(kept.categories)
        return Source(find_series, dictionary=Dictionary(levels, kept.codes, bool(kept.ordered)))
    if isinstance(dtype, np.dtype):
        return Source(find_series, numbers=native.to_numpy() if dtype in _NUMBERS else None)
    return Source(find_series, dictionary=_arrow_dictionary(find_series()))


def _index_values(index: Any) -> list[Any]:
    """Values of a pandas index without missing ones; its own `tolist` is slow for Arrow strings."""
    if getattr(index.dtype, "storage", None) == "pyarrow":
        values: list[Any] = index.array.__arrow_array__().to_numpy().tolist()
        return values
    return list(index.tolist())


def _arrow_dictionary(series: Series) -> Dictionary | None:
    """Dictionary of a pyarrow DictionaryArray, also inside pandas; narwhals does not expose whether it is ordered."""
    if series.dtype != nw.Categorical:
        return None
    if not series.implementation.is_pyarrow() and not hasattr(series.to_native().dtype, "pyarrow_dtype"):
        return None
    arrow = series.to_arrow()
    levels = arrow.dictionary.to_pylist()
    codes = arrow.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    gone = [number for number, level in enumerate(levels) if level is None]
    return Dictionary(levels, np.where(np.isin(codes, gone), -1, codes) if gone else codes, arrow.type.ordered)


class Frame(ABC):
    """Abstract: a table whose columns have labels."""

    labels: list[Any]
    shape: tuple[int, int]

    @lazy
    @abstractmethod
    def sources(self) -> list[Source]:
        """Columns, cached: extracting them may take longer than reading them."""

    @abstractmethod
    def float_block(self) -> NDArray[np.float64] | None:
        """The whole frame as one float64 array; None if its library can't convert it at once."""


@final
class _PandasFrame(Frame):
    def __init__(self, native: Any) -> None:
        self._native = native
        self.labels = native.columns.tolist()
        self.shape = native.shape

    @lazy
    def sources(self) -> list[Source]:
        # Numbered columns save pandas' lookup of each name, a third of the time.
        numbered = self._native.copy(deep=False)
        numbered.columns = range(len(self.labels))
        columns = zip(numbered.items(), self.labels, strict=True)
        return [_pandas_source(native, self._later(label)) for (_, native), label in columns]

    def _later(self, label: Any) -> Callable[[], Series]:
        return lambda: self._narwhals.get_column(label)

    @lazy
    def _narwhals(self) -> nw.DataFrame[Any]:
        frame: nw.DataFrame[Any] = nw.from_native(self._native)
        return frame

    def float_block(self) -> NDArray[np.float64] | None:
        if any(dtype != np.float64 for dtype in self._native.dtypes):
            return None
        block: NDArray[np.float64] = self._native.to_numpy()
        return block


@final
class _NarwhalsFrame(Frame):
    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        self._frame = frame
        self.labels = frame.columns
        self.shape = frame.shape

    @lazy
    def sources(self) -> list[Source]:
        return [Source(_at_hand(one), dictionary=_arrow_dictionary(one)) for one in self._frame.iter_columns()]

    def float_block(self) -> NDArray[np.float64] | None:
        if any(dtype != nw.Float64 for dtype in self._frame.schema.values()):
            return None
        block = self._frame.to_numpy()
        return block if block.dtype == np.float64 else None


def _at_hand(series: Series) -> Callable[[], Series]:
    return lambda: series


def as_frame(X: Any) -> Frame | None:
    """Wrap X if it is a dataframe; None for input that scikit-learn's `check_array` converts."""
    if type(X) is np.ndarray:
        return None
    pandas = get_pandas()  # None unless it is imported
    if pandas is not None and isinstance(X, pandas.DataFrame) and X.columns.is_unique:
        return _PandasFrame(X)
    try:
        native = nw.from_native(X, pass_through=True, allow_series=True)
    except DuplicateError as error:
        raise ValueError(f"X has duplicate column names; rename or drop the copies. {error}") from error
    if isinstance(native, nw.LazyFrame):
        call = _TO_VALUES.get(native.implementation, _COLLECT)
        raise ValueError(f"X is a lazy frame, which holds no values yet; pass {call} instead.")
    if isinstance(native, nw.Series):
        raise ValueError(
            "Expected a table, got a single column instead. Reshape your data: pass a frame with one column, "
            "for example X.to_frame(), or with one row."
        )
    return _NarwhalsFrame(native) if isinstance(native, nw.DataFrame) else None
