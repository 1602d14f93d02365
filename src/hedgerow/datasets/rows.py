"""A file of rows, whatever its format: its columns, all of it as a table, or some rows at a time, in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["MISSING", "As", "DataFileError", "Reading", "Rows", "converted", "without_markers"]

# What stands for a missing value in a file of text, unless one says otherwise.
MISSING = ("", "?", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null")

As = Literal["number", "text"]


class DataFileError(ValueError):
    """A file of data that can't be read; the message is one line that names the file and says what to do."""


@dataclass(frozen=True)
class Reading:
    """How a file is to be read; what is None is found out from its name and its first lines."""

    missing: tuple[str, ...] = MISSING
    text: frozenset[str] = frozenset()
    """Columns that are text, whatever they look like: so 01234 stays 01234."""
    format: str | None = None
    delimiter: str | None = None


class Rows(Protocol):
    """An opened file of rows. It can be read once, in one of two ways."""

    @property
    def label(self) -> str:
        """The file's name, for messages."""

    @property
    def names(self) -> Sequence[str]:
        """The names of its columns."""

    def table(self) -> pa.Table:
        """All rows, each column with the type that its values have."""

    def batches(self, wanted: Mapping[str, As]) -> Iterator[pa.Table]:
        """Some rows at a time, in order: the columns `wanted`, as numbers (float64) or as text (a dictionary)."""


def converted(array: pa.ChunkedArray, how: As, missing: Sequence[str], what: str) -> pa.ChunkedArray:
    """A column as numbers or as text; `what` names it in errors."""
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if how == "text":
        text = _as_text(array)
        return without_markers(text, missing).dictionary_encode()
    if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        array = without_markers(array, missing)
    try:
        return array.cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise DataFileError(f"{what} holds {_no_number(array)!r}, which is not a number") from None


def _as_text(array: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_floating(array.type):
        try:  # 3.0 is a 3 that had a missing neighbour
            return array.cast(pa.float64()).cast(pa.int64()).cast(pa.string())
        except pa.ArrowInvalid:
            pass
    return array.cast(pa.string())


def _no_number(array: pa.ChunkedArray) -> str:
    for value in array.to_pylist():
        try:
            float(0 if value is None else value)
        except (TypeError, ValueError):
            return str(value)
    return str(array.type)


def without_markers(text: pa.ChunkedArray, missing: Sequence[str]) -> pa.ChunkedArray:
    """Text with nulls for what stands for a missing value."""
    marked = pc.is_in(text, value_set=pa.array(missing, text.type))
    return pc.if_else(marked, pa.scalar(None, text.type), text)
