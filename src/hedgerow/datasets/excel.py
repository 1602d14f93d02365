"""Excel by openpyxl: the first sheet of an .xlsx file, with the names of columns in its first row."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from itertools import chain
from typing import Any

from hedgerow.datasets.cells import CellRows
from hedgerow.datasets.rows import DataFileError, Reading, name_columns
from hedgerow.datasets.streams import Stream

__all__ = ["open_excel"]


def open_excel(stream: Stream, reading: Reading) -> CellRows:
    """The first sheet; cells with formulas have the values that were computed when the file was saved."""
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise DataFileError(
            f"{stream.label} is an Excel file, which needs openpyxl: pip install 'hedgerow[excel]'; or save it as CSV"
        ) from None
    with stream:
        content = io.BytesIO(stream.read())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # styles that openpyxl does not know
            book = load_workbook(content, read_only=True, data_only=True)
            rows = _cells(book.worksheets[0])
            first = next(rows, None)
    except Exception as error:  # whatever a damaged file leads to: a bad archive, bad XML, missing parts
        raise DataFileError(f"{stream.label} is not an Excel file (.xlsx), or is damaged: {error}") from None
    if first is None:
        raise DataFileError(f"{stream.label} is empty: its first sheet has no cells")
    names = name_columns(["" if cell is None or not reading.header else str(cell) for cell in first])
    below = rows if reading.header else chain([first], rows)
    return CellRows(stream.label, names, _of_width(below, len(names)), reading)


def _cells(sheet: Any) -> Iterator[tuple[Any, ...]]:
    """Rows that are not empty, without empty cells at the end of the first."""
    for row in sheet.iter_rows(values_only=True):
        if any(cell is not None for cell in row):
            yield row


def _of_width(rows: Iterator[tuple[Any, ...]], width: int) -> Iterator[tuple[Any, ...]]:
    """Rows of as many cells as there are columns: openpyxl leaves out empty cells at the end."""
    for row in rows:
        yield row[:width] + (None,) * (width - len(row))
