"""Columns of polars frames, read without narwhals where they are numbers or text."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, final

import numpy as np
from narwhals.dependencies import get_polars
from numpy.typing import NDArray

from hedgerow._lazy import lazy
from hedgerow.data.sources import Frame, Source

__all__ = ["PolarsFrame"]

_FLOATS = ("Float32", "Float64")
_WHOLE = ("Boolean", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")
_TEXTS = ("Categorical", "String")


@final
class PolarsFrame(Frame):
    """A polars.DataFrame."""

    def __init__(self, native: Any) -> None:
        self._native = native
        self.labels = native.columns
        self.shape = native.shape

    @lazy
    def sources(self) -> list[Source]:
        return [_source(native) for native in self._native.get_columns()]

    def float_block(self) -> NDArray[np.float64] | None:
        if any(dtype != get_polars().Float64 for dtype in self._native.dtypes):
            return None
        return self._native.to_numpy()

    def only_row(self) -> tuple[Any, ...] | None:
        known = _dtypes((*_FLOATS, *_WHOLE, *_TEXTS, "Enum"))
        return self._native.row(0) if all(dtype.base_type() in known for dtype in self._native.dtypes) else None


def _source(native: Any) -> Source:
    dtype = native.dtype.base_type()
    # A missing float becomes NaN; NumPy has nothing for a missing integer or truth value.
    if dtype in _dtypes(_FLOATS) or (dtype in _dtypes(_WHOLE) and not native.null_count()):
        return Source(native, numbers=native.to_numpy())
    return Source(native, texts=native.to_list if dtype in _dtypes(_TEXTS) else None)


@lru_cache(maxsize=4)
def _dtypes(names: tuple[str, ...]) -> frozenset[Any]:
    """Data types of these names, without importing polars before a frame of its comes."""
    return frozenset(getattr(get_polars(), name) for name in names)
