"""Columns of pandas frames, read without narwhals where pandas has their numbers, texts or dictionary at hand."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, final

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from hedgerow._lazy import lazy
from hedgerow.data.sources import LARGEST_EXACT_INTEGER, Dictionary, Frame, Source, arrow_dictionary

__all__ = ["PandasFrame"]

# NumPy dtypes that narwhals too treats as numeric, and those of them with integers that float64 does not have.
_NUMBERS = frozenset(map(np.dtype, ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")))
_LONG_INTEGERS = frozenset(map(np.dtype, ("i8", "u8")))

# Types of the entries of an object column of text. A float among them must be NaN, pandas' sign for a missing value.
_TEXT_OR_MISSING = frozenset({str, float, type(None)})


@final
class PandasFrame(Frame):
    """A pandas.DataFrame with distinct labels."""

    def __init__(self, native: Any) -> None:
        self._native = native
        self.labels = native.columns.tolist()
        self.shape = native.shape

    @lazy
    def sources(self) -> list[Source]:
        # Numbered columns save pandas' lookup of each name, a third of the time.
        numbered = self._native.copy(deep=False)
        numbered.columns = range(len(self.labels))
        return [_source(native) for _, native in numbered.items()]

    def float_block(self) -> NDArray[np.float64] | None:
        dtypes = set(self._native.dtypes.tolist())
        if not dtypes <= _NUMBERS:
            return None
        block: NDArray[np.float64] = self._native.to_numpy(dtype=np.float64)
        if dtypes & _LONG_INTEGERS and _largest(block) >= LARGEST_EXACT_INTEGER:
            return None  # reading columns one by one tells a large float from a rounded integer
        return block

    def only_row(self) -> list[Any]:
        at = self._native.iat  # half as long as making a Series of each column
        return [at[0, j] for j in range(self.shape[1])]


def _largest(block: NDArray[np.float64]) -> float:
    """Largest absolute value, NaN left out; -inf without any. No array of absolute values is made."""
    values = block.ravel(order="K")
    return max(float(np.fmax.reduce(values, initial=-np.inf)), -float(np.fmin.reduce(values, initial=np.inf)))


def _source(native: Any) -> Source:
    dtype = native.dtype
    if isinstance(dtype, np.dtype):
        if dtype in _NUMBERS:
            return Source(native, numbers=native.to_numpy())
        return Source(native, texts=_object_texts(native) if dtype.hasobject else None)
    if type(dtype).__name__ == "CategoricalDtype":  # without importing pandas
        kept = native.array
        levels = _index_values(kept.categories)
        return Source(native, dictionary=Dictionary(levels, kept.codes, bool(kept.ordered)))
    if _is_arrow_text(dtype):
        return Source(native, texts=partial(_arrow_texts, native.array))
    return Source(native, dictionary=arrow_dictionary(nw.from_native(native, series_only=True)))


def _object_texts(native: Any) -> Callable[[], list[str | None]] | None:
    """Entries of an object column of text; None for a column of something else, or without a value."""
    values: list[Any] = native.tolist()
    types = set(map(type, values))
    if str not in types or not types <= _TEXT_OR_MISSING:
        return None
    if float in types and any(type(value) is float and value == value for value in values):
        return None
    return lambda: [value if type(value) is str else None for value in values]


def _index_values(index: Any) -> list[Any]:
    """Values of a pandas index without missing ones; its own `tolist` is slow for Arrow strings."""
    return _arrow_texts(index.array) if _is_arrow_text(index.dtype) else list(index.tolist())


def _is_arrow_text(dtype: Any) -> bool:
    return type(dtype).__name__ == "StringDtype" and dtype.storage == "pyarrow"


def _arrow_texts(array: Any) -> list[Any]:
    return array.__arrow_array__().to_numpy().tolist()
