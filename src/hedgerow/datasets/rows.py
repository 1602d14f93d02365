"""Files of rows in any format: all of it as a table, or some rows at a time, in order; and conversion of columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hedgerow.data.sources import LARGEST_EXACT_INTEGER
from hedgerow.datasets.numerals import MISSING_NUMBERS, integer_literals, read_numerals

__all__ = [
    "LARGEST_EXACT",
    "MISSING",
    "As",
    "DataFileError",
    "Reading",
    "Rows",
    "check_names",
    "convert",
    "convert_column",
    "convert_columns",
    "decode",
    "has_huge",
    "is_text",
    "markers_to_null",
    "name_columns",
    "refuse_huge_integers",
    "trim",
]

LARGEST_EXACT = float(LARGEST_EXACT_INTEGER)

# Default markers of missing values in text files.
MISSING = ("", "?", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null")

As = Literal["number", "text"]


class DataFileError(ValueError):
    """A file of data that can't be read; the message is one line that names the file and says what to do.

    Examples
    --------
    >>> from hedgerow.datasets import DataFileError, load
    >>> try:
    ...     load("irsi")
    ... except DataFileError as error:
    ...     print(error)
    there is no dataset 'irsi'; did you mean 'iris'?...
    """


@dataclass(frozen=True)
class Reading:
    """Options for reading a file; those that are None are inferred from its name and first lines.

    Parameters
    ----------
    missing : tuple[str, ...], default=("", "?", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null")
        Words that stand for a missing value.
    format : str or None, default=None
        Format, such as "csv"; None: by the name of the file.
    delimiter : str or None, default=None
        What stands between fields; None: guessed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from hedgerow.datasets import Reading, open_rows
    >>> path = pathlib.Path(tempfile.mkdtemp(), "shops.csv")
    >>> _ = path.write_text("postcode,sales\\n01234,5\\n04109,-9\\n")
    >>> open_rows(str(path), Reading(text=frozenset({"postcode"}), missing=("-9",))).table().to_pylist()
    [{'postcode': '01234', 'sales': 5}, {'postcode': '04109', 'sales': None}]
    """

    missing: tuple[str, ...] = MISSING
    text: frozenset[str] = frozenset()
    """Columns that are text, whatever they look like: so 01234 stays 01234."""
    format: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    """None: UTF-8, or UTF-16 where a byte order mark says so."""
    header: bool = True
    """Whether the first line has the names of columns; without it they are "column 1", "column 2", ..."""
    decimal: str | None = None
    """``.`` or ``,``."""
    units: Mapping[str, str] = field(default_factory=dict)
    """The unit (such as %) that stands with the numbers of a column."""


class Rows(Protocol):
    """An opened file of rows, which can be read once: by `table` or by `batches`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from hedgerow.datasets import open_rows
    >>> path = pathlib.Path(tempfile.mkdtemp(), "patients.csv")
    >>> _ = path.write_text("age;ill\\n30;no\\n41;yes\\n")
    >>> rows = open_rows(str(path))
    >>> rows.names
    ('age', 'ill')
    >>> sum(batch.num_rows for batch in rows.batches({"age": "number"}))
    2
    """

    @property
    def label(self) -> str:
        """The file's name, for messages."""

    @property
    def names(self) -> Sequence[str]:
        """Names of its columns."""

    @property
    def reading(self) -> Reading:
        """Options that it is read with, including the inferred ones."""

    def table(self) -> pa.Table:
        """Read all rows; the type of a column is that of its values.

        Returns
        -------
        pyarrow.Table
            All rows.

        Raises
        ------
        DataFileError
            If the file is damaged.
        """

    def batches(self, wanted: Mapping[str, As]) -> Iterator[pa.Table]:
        """Read some rows at a time, in order: the columns `wanted`, as numbers (float64) or text (a dictionary).

        Parameters
        ----------
        wanted : mapping of names to As
            Columns to read, as numbers or text.

        Yields
        ------
        pyarrow.Table
            Some rows, with the columns `wanted`.

        Raises
        ------
        DataFileError
            If a cell is not what its column is read as; the message names the line.
        """


def check_names(names: Sequence[str], label: str) -> None:
    """Refuse a file that has a column name more than once."""
    for name, n in Counter(names).items():
        if n > 1:
            raise DataFileError(f"{label} has the column {name!r} more than once: rename or drop the copies")


def name_columns(names: Sequence[str]) -> tuple[str, ...]:
    """Remove spaces around names, and name columns without a name by their position.

    >>> name_columns(["", " age"])
    ('column 1', 'age')
    """
    return tuple(name.strip() or f"column {i}" for i, name in enumerate(names, start=1))


def convert(
    array: pa.ChunkedArray, how: As, missing: Sequence[str], what: str, decimal: str = ".", unit: str = ""
) -> pa.ChunkedArray:
    """Convert a column to numbers or to text; `what` names it in errors."""
    array = decode(array)
    if how == "text":
        return markers_to_null(_as_text(array), missing).dictionary_encode()
    if is_text(array.type):
        return _numbers_of_text(array, missing, what, decimal, unit)
    refuse_huge_integers(array, what)
    try:
        return array.cast(pa.float64(), safe=not pa.types.is_decimal(array.type))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise DataFileError(f"{what} holds values of type {array.type}, which are not numbers") from None


def decode(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the values of a column that may be a dictionary."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def convert_columns(columns: Any, wanted: Mapping[str, As], reading: Reading, label: str) -> pa.Table:
    """Convert some columns, looked up by name, of the file `label`."""
    return pa.table({name: convert_column(columns[name], how, reading, label, name) for name, how in wanted.items()})


def convert_column(column: pa.ChunkedArray, how: As, reading: Reading, label: str, name: str) -> pa.ChunkedArray:
    """Convert a column of the file `label` as its `reading` says."""
    decimal, unit = reading.decimal or ".", reading.units.get(name, "")
    return convert(column, how, reading.missing, f"{label}: column {name!r}", decimal, unit)


def _numbers_of_text(
    text: pa.ChunkedArray, missing: Sequence[str], what: str, decimal: str, unit: str
) -> pa.ChunkedArray:
    text = markers_to_null(text, missing)
    try:
        if decimal != "." or unit:
            raise pa.ArrowInvalid("not written as Arrow writes numbers")
        numbers = pc.utf8_trim_whitespace(text).cast(pa.float64())
    except pa.ArrowInvalid:
        found = read_numerals(text, decimal, (*MISSING, *missing))
        if found.n_strange:
            raise DataFileError(f"{what}: {found.complaint()}") from None
        if found.unit and found.unit != unit:
            raise DataFileError(
                f"{what} holds values with the unit {found.unit!r}, and had {unit or 'none'} in fit: convert them"
            ) from None
        numbers = pa.chunked_array([pa.array(found.values, from_pandas=True)])
    if has_huge(numbers):
        written = markers_to_null(text, (*MISSING, *MISSING_NUMBERS))
        if integer_literals(written):
            refuse_huge_integers(written, what)
    return numbers


def has_huge(numbers: pa.ChunkedArray) -> bool:
    """Whether there are numbers of 2**53 or more, which an integer beyond may be rounded to."""
    return bool((np.abs(numbers.to_numpy()) >= LARGEST_EXACT).any())


def refuse_huge_integers(array: pa.ChunkedArray, what: str) -> None:
    """Refuse integers (as such, as decimals or as text) that float64 can't represent exactly."""
    if pa.types.is_integer(array.type):
        ends = pc.min_max(array)
        values = [ends["min"].as_py(), ends["max"].as_py()]
    elif is_text(array.type) or (pa.types.is_decimal(array.type) and array.type.scale <= 0):
        values = pc.unique(array).to_pylist()
    else:
        return
    for value in values:
        if value is not None and abs(int(value)) > LARGEST_EXACT_INTEGER:
            raise DataFileError(
                f"{what} holds the integer {int(value)}, beyond 2**53, where float64 can't tell neighbours apart; "
                "subtract an offset, leave the column out with --ignore, or take it for categories with --nominal"
            )


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is that of strings."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _as_text(array: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_floating(array.type):
        try:  # 3.0 is a 3 that had a missing neighbour
            return array.cast(pa.float64()).cast(pa.int64()).cast(pa.string())
        except pa.ArrowInvalid:
            pass
    return array.cast(pa.string())


def trim(column: pa.ChunkedArray, missing: Sequence[str]) -> pa.ChunkedArray:
    """Remove spaces around values of text, or of a dictionary of text."""
    encoded = pa.types.is_dictionary(column.type)
    words = [chunk.dictionary for chunk in column.chunks] if encoded else column.chunks
    if all(pc.utf8_trim_whitespace(some).equals(some) for some in words):
        return column
    text = column.cast(pa.string()) if encoded else column
    text = markers_to_null(pc.utf8_trim_whitespace(text), missing)
    return text.dictionary_encode() if encoded else text


def markers_to_null(text: pa.ChunkedArray, missing: Sequence[str]) -> pa.ChunkedArray:
    """Replace what stands for a missing value by null."""
    marked = pc.is_in(text, value_set=pa.array(missing, text.type))
    return pc.if_else(marked, pa.scalar(None, text.type), text)
