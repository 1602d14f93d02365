"""Open a file of rows in the format that its name and its first bytes say."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from hedgerow.datasets.arff import ArffRows
from hedgerow.datasets.delimited import DelimitedRows
from hedgerow.datasets.excel import open_excel
from hedgerow.datasets.foreign import foreign_format
from hedgerow.datasets.json_lines import open_json_lines
from hedgerow.datasets.parquet import MAGIC, ParquetRows
from hedgerow.datasets.rows import DataFileError, Reading, Rows
from hedgerow.datasets.streams import Stream, open_stream

__all__ = ["FORMATS", "open_rows"]

FORMATS = ("csv", "tsv", "parquet", "arff", "xlsx", "jsonl")

_BY_ENDING = {
    ".csv": "csv",
    ".txt": "csv",
    ".data": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arff": "arff",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
_READERS: dict[str, Callable[[Stream, Reading], Rows]] = {
    "csv": lambda stream, reading: DelimitedRows(stream, reading, None),
    "tsv": lambda stream, reading: DelimitedRows(stream, reading, "\t"),
    "parquet": ParquetRows,
    "arff": ArffRows,
    "xlsx": open_excel,
    "jsonl": open_json_lines,
}
_ZIP = b"PK\x03\x04"
_OF_EXCEL = (b"[Content_Types].xml", b"xl/", b"_rels/", b"docProps/")
_ARFF_START = re.compile(rb"\s*(%[^\n]*\n\s*)*@relation\b", re.I)


def open_rows(path: str, reading: Reading | None = None) -> Rows:
    """Open a CSV, TSV, Parquet, ARFF, Excel or JSON lines file, packed by gzip or not; ``-`` is standard input.

    Parameters
    ----------
    path : str
        Name of the file.
    reading : Reading or None, default=None
        Options; None infers all.

    Returns
    -------
    Rows
        The opened file.

    Raises
    ------
    DataFileError
        If the file can't be read, or its format is not known.
    OSError
        If it can't be opened.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from hedgerow.datasets import open_rows
    >>> path = pathlib.Path(tempfile.mkdtemp(), "patients.csv")
    >>> _ = path.write_text("age;ill\\n30;no\\n?;yes\\n")
    >>> open_rows(str(path)).table()["age"].to_pylist()
    [30, None]
    """
    reading = reading or Reading()
    stream = open_stream(path)
    try:
        return _opened(stream, path, reading)
    except BaseException:
        stream.close()
        raise


def _opened(stream: Stream, path: str, reading: Reading) -> Rows:
    if not stream.head(1):
        raise DataFileError(f"{stream.label} is empty")
    seen = _seen_format(stream)
    chosen = reading.format or _format_of(path) or seen or "csv"
    if seen is None and (foreign := foreign_format(stream.head())) and (chosen != "jsonl" or reading.format is None):
        raise DataFileError(f"{stream.label} is {foreign}")
    _check_name(stream, chosen, seen)
    return _READERS[chosen](stream, reading)


def _format_of(path: str) -> str | None:
    name = path.lower().removesuffix(".gz")
    return next((found for ending, found in _BY_ENDING.items() if name.endswith(ending)), None)


def _seen_format(stream: Stream) -> str | None:
    """Recognise a format by the first bytes."""
    head = stream.head()
    if head.startswith(MAGIC):
        return "parquet"
    if _ARFF_START.match(head):
        return "arff"
    if head.startswith(_ZIP) and head[30:].startswith(_OF_EXCEL):  # the name of the first file in the archive
        return "xlsx"
    return "jsonl" if _is_json_line(head) else None


def _is_json_line(head: bytes) -> bool:
    """Whether the first line is a JSON object, or the beginning of a long one."""
    line, end, _ = head.lstrip().partition(b"\n")
    if not line.startswith(b"{"):
        return False
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return not end and len(head) >= _LONG_LINE


_LONG_LINE = 1 << 16


def _check_name(stream: Stream, chosen: str, seen: str | None) -> None:
    if seen is not None and seen != chosen:
        raise DataFileError(
            f"{stream.label} is not {chosen.upper()} but {seen.upper()}: rename it, or say --format {seen}"
        )
    if chosen in ("parquet", "xlsx") and seen is None:
        kind = "a Parquet" if chosen == "parquet" else "an Excel"
        raise DataFileError(f"{stream.label} is not {kind} file: its first bytes are wrong")
