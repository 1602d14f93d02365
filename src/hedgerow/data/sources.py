"""Columns of a frame as they are read: as numbers, as texts, by their dictionary, or through narwhals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, TypeAlias, final

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from hedgerow._core import codes_in_use
from hedgerow._lazy import lazy

__all__ = ["LARGEST_EXACT_INTEGER", "Dictionary", "Frame", "Series", "Source", "arrow_dictionary"]

Series: TypeAlias = nw.Series[Any]

# Above this, adjacent integers map to the same float64.
LARGEST_EXACT_INTEGER = 2**53


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
    """A column of a frame with its dictionary, numbers or texts, if it has one of them; `series` serves all others.

    `series` is made on demand: wrapping a column in narwhals takes longer than reading a few thousand rows. A source
    holds its column and not the frame, which has the sources: a cycle would wait for the garbage collector.
    """

    __slots__ = ("_native", "dictionary", "numbers", "texts")

    def __init__(
        self,
        native: Any,
        *,
        dictionary: Dictionary | None = None,
        numbers: NDArray[Any] | None = None,
        texts: Callable[[], list[str | None]] | None = None,
    ) -> None:
        self._native = native
        self.dictionary = dictionary
        self.numbers = numbers
        """Values of a column of numbers or truth values in which only NaN is missing."""
        self.texts = texts
        """Makes the values of a column of text, None where one is missing; on demand, because they take much memory."""

    @property
    def series(self) -> Series:
        """The column as narwhals sees it."""
        return nw.from_native(self._native, series_only=True)

    @property
    def dtype_name(self) -> str:
        return str(self.series.dtype)


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

    def only_row(self) -> Sequence[Any] | None:
        """Values of a frame of one row, where its library gives them sooner than its columns."""
        return None


def arrow_dictionary(series: Series) -> Dictionary | None:
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
