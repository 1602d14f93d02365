"""Rows of Python values, as Excel and JSON have them, in columns with one type each."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa

from hedgerow.datasets.rows import (
    As,
    DataFileError,
    Reading,
    check_names,
    convert_columns,
    is_text,
    markers_to_null,
    trim,
)

__all__ = ["CellRows"]

_ROWS_AT_ONCE = 20_000


class CellRows:
    """Rows whose cells are Python values; None is missing."""

    def __init__(self, label: str, names: Sequence[str], rows: Iterator[Sequence[Any]], reading: Reading) -> None:
        check_names(names, label)
        self.label = label
        self.names = tuple(names)
        self.reading = reading
        self._rows = rows

    def table(self) -> pa.Table:
        """All rows: numbers, truth values, dates or text; a column of several of them is text."""
        rows = list(self._rows)
        if not rows:
            raise DataFileError(f"{self.label} has no rows")
        columns = zip(*rows, strict=True)
        return pa.table({name: self._column(cells, name) for name, cells in zip(self.names, columns, strict=True)})

    def batches(self, wanted: Mapping[str, As]) -> Iterator[pa.Table]:
        positions = {name: self.names.index(name) for name in wanted}
        n_blocks = 0
        while rows := list(islice(self._rows, _ROWS_AT_ONCE)):
            n_blocks += 1
            columns = {name: self._column([row[at] for row in rows], name) for name, at in positions.items()}
            yield convert_columns(columns, wanted, self.reading, self.label)
        if not n_blocks:
            raise DataFileError(f"{self.label} has no rows")

    def _column(self, cells: Sequence[Any], name: str) -> pa.ChunkedArray:
        column = pa.chunked_array([_array(cells, as_text=name in self.reading.text)])
        if not is_text(column.type):
            return column
        missing = ("", *self.reading.missing)
        return trim(markers_to_null(column, missing), missing)


def _array(cells: Sequence[Any], as_text: bool) -> pa.Array:
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds <= {datetime.datetime, datetime.date, datetime.time} or kinds <= {bool}:
        return _text(cells) if as_text and kinds else pa.array(cells)
    if kinds <= {int, float} and not as_text:
        return _numbers(cells, float in kinds)
    return _text(cells)


def _numbers(cells: Sequence[Any], floating: bool) -> pa.Array:
    if floating:
        return pa.array([None if cell is None else float(cell) for cell in cells], pa.float64(), from_pandas=True)
    try:
        return pa.array(cells, pa.int64())
    except OverflowError:
        return pa.array([None if cell is None else str(cell) for cell in cells]).cast(pa.decimal256(76, 0))


def _text(cells: Sequence[Any]) -> pa.Array:
    return pa.array([None if cell is None else _written(cell) for cell in cells], pa.string())


def _written(cell: Any) -> str:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer():  # Excel keeps 3 as 3.0
        return str(int(cell))
    return str(cell)
