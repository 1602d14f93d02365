"""Read DATA, a file or a named dataset, with the options of the command line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from hedgerow.cli.errors import UsageError
from hedgerow.cli.options import FileOptions
from hedgerow.datasets import FORMATS, MISSING, Reading, Rows, load, open_rows
from hedgerow.datasets.number_columns import recognise_numbers
from hedgerow.datasets.rows import As, convert

__all__ = ["Source", "make_reading", "open_data", "read_all", "to_notes"]

_NAME = re.compile(r"[\w+-]+")  # without dot and slash: the name of a dataset, not of a file


@dataclass(frozen=True)
class Source:
    """All rows of DATA, and its default target if it has one."""

    label: str
    table: pa.Table
    target: str | None
    reading: Reading
    remarks: tuple[tuple[str, str], ...] = ()
    """Notes on columns, by name; "" for all of them."""


def make_reading(files: FileOptions, text: list[str], notes: Mapping[str, Any] | None = None) -> Reading:
    """Combine the options with the notes of a model; options win."""
    format_name, delimiter, missing, notes = files.format_name, files.delimiter, files.missing, notes or {}
    if format_name is not None and format_name not in FORMATS:
        raise UsageError(f"--format is {format_name!r}, must be one of {', '.join(FORMATS)}")
    if delimiter is not None:
        delimiter = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
        if len(delimiter) != 1:
            raise UsageError(f"--delimiter is {delimiter!r}, must be one character")
    known = MISSING if "missing" not in notes else tuple(notes["missing"])
    return Reading(
        missing=known if missing is None else ("", *(marker.strip() for marker in missing.split(","))),
        text=frozenset(text),
        format=format_name,
        delimiter=delimiter,
        encoding=files.encoding,
        header=notes.get("header", True) if files.header is None else files.header,
        decimal=files.decimal or notes.get("decimal"),
        units=notes.get("units", {}),
    )


def to_notes(reading: Reading) -> dict[str, Any]:
    """Return the notes of a model file by which later rows are read."""
    return {
        "missing": list(reading.missing),
        "decimal": reading.decimal or ".",
        "units": dict(reading.units),
        "header": reading.header,
    }


def read_all(data: str, folder: str | None, reading: Reading) -> Source:
    """Read all rows of a file or of a named dataset."""
    if _is_name(data):
        dataset = load(data, data=folder)
        return Source(dataset.name, dataset.table, dataset.target, reading)
    rows = open_rows(data, reading)
    table = rows.table()
    found = recognise_numbers(table, rows.reading)
    remarks = found.remarks
    if reading.decimal is None and found.reading.decimal == ",":
        remarks = (
            ("", f"numbers in {rows.label} are read with a decimal comma; if that is wrong: --decimal ."),
            *remarks,
        )
    return Source(rows.label, found.table, None, found.reading, remarks)


def open_data(data: str, folder: str | None, reading: Reading) -> Rows:
    """Open a file or a named dataset, to be read some rows at a time."""
    if _is_name(data):
        return _TableRows(read_all(data, folder, reading))
    return open_rows(data, reading)


def _is_name(data: str) -> bool:
    return _NAME.fullmatch(data) is not None and data != "-" and not os.path.exists(data)


class _TableRows:
    """A dataset in memory, as rows of a file."""

    def __init__(self, source: Source) -> None:
        self.label = source.label
        self._table = source.table
        self.reading = source.reading
        self.names = tuple(source.table.column_names)

    def table(self) -> pa.Table:
        return self._table

    def batches(self, wanted: Mapping[str, As]) -> Iterator[pa.Table]:
        yield pa.table({name: convert(self._table[name], how, MISSING, name) for name, how in wanted.items()})
