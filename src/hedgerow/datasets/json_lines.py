"""JSON lines: an object in each line, whose members are columns."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

from hedgerow.datasets.cells import CellRows
from hedgerow.datasets.encodings import not_utf8, to_utf8
from hedgerow.datasets.rows import DataFileError, Reading
from hedgerow.datasets.streams import Stream

__all__ = ["open_json_lines"]

_N_SAMPLE = 1000  # lines that are looked at for the names of columns


def open_json_lines(stream: Stream, reading: Reading) -> CellRows:
    """Rows of a file of JSON lines; a member that an object lacks is missing."""
    lines = _objects(to_utf8(stream, reading.encoding))
    first = [row for _, row in zip(range(_N_SAMPLE), lines, strict=False)]
    names = dict.fromkeys(name for _, row in first for name in row)
    if not names:
        raise DataFileError(f"{stream.label} has no rows")
    return CellRows(stream.label, list(names), _cells(first, lines, list(names), stream.label), reading)


def _cells(
    first: list[tuple[int, dict[str, Any]]], lines: Iterator[tuple[int, dict[str, Any]]], names: list[str], label: str
) -> Iterator[list[Any]]:
    known = set(names)
    for rows in (first, lines):
        for number, row in rows:
            if not known.issuperset(row):
                late = next(name for name in row if name not in known)
                raise DataFileError(
                    f"{label}: line {number} has {late!r}, which is in none of the first {_N_SAMPLE} lines: add it "
                    "there, as null where it is missing"
                )
            yield [row.get(name) for name in names]


def _objects(stream: Stream) -> Iterator[tuple[int, dict[str, Any]]]:
    """Objects, each with the number of its line."""
    with io.TextIOWrapper(io.BufferedReader(stream), encoding="utf-8-sig") as text:
        try:
            for number, line in enumerate(text, start=1):
                if line.strip():
                    yield number, _object(line, stream.label, number)
        except UnicodeDecodeError:
            raise not_utf8(stream.label) from None


def _object(line: str, label: str, number: int) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError as error:
        raise DataFileError(f"{label}: line {number} is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise DataFileError(f"{label}: line {number} is not an object {{...}}: each line must be one")
    for name, value in found.items():
        if isinstance(value, dict | list):
            raise DataFileError(
                f"{label}: line {number}: {name!r} holds a list or an object: make columns of its parts"
            )
    return found
