"""Which format a file has: by its name, and by a look at whether that can be true."""

from __future__ import annotations

import re

from hedgerow.datasets.arff import ArffRows
from hedgerow.datasets.delimited import DelimitedRows
from hedgerow.datasets.parquet import MAGIC, ParquetRows
from hedgerow.datasets.rows import DataFileError, Reading, Rows
from hedgerow.datasets.streams import Stream, open_stream

__all__ = ["FORMATS", "open_rows"]

FORMATS = ("csv", "tsv", "parquet", "arff")

_BY_ENDING = {
    ".csv": "csv",
    ".txt": "csv",
    ".data": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arff": "arff",
}
_ARFF_START = re.compile(rb"\s*(%[^\n]*\n\s*)*@relation\b", re.I)


def open_rows(path: str, reading: Reading | None = None) -> Rows:
    """A CSV, TSV, Parquet or ARFF file, zipped by gzip or not; ``-`` is standard input."""
    reading = reading or Reading()
    stream = open_stream(path)
    try:
        return _opened(stream, path, reading)
    except EOFError:
        stream.close()
        raise DataFileError(f"{stream.label} is cut off: its gzip ends too early") from None
    except BaseException:
        stream.close()
        raise


def _opened(stream: Stream, path: str, reading: Reading) -> Rows:
    if not stream.head(1):
        raise DataFileError(f"{stream.label} is empty")
    seen = _seen_format(stream)
    chosen = reading.format or _format_of(path) or seen or "csv"
    _check_name(stream, chosen, seen)
    if chosen == "parquet":
        return ParquetRows(stream, reading)
    if chosen == "arff":
        return ArffRows(stream, reading)
    return DelimitedRows(stream, reading, "\t" if chosen == "tsv" else None)


def _format_of(path: str) -> str | None:
    name = path.lower().removesuffix(".gz")
    return next((found for ending, found in _BY_ENDING.items() if name.endswith(ending)), None)


def _seen_format(stream: Stream) -> str | None:
    """What its first bytes give away."""
    head = stream.head()
    if head.startswith(MAGIC):
        return "parquet"
    if _ARFF_START.match(head):
        return "arff"
    return None


def _check_name(stream: Stream, chosen: str, seen: str | None) -> None:
    if seen is not None and seen != chosen:
        raise DataFileError(
            f"{stream.label} is not {chosen.upper()} but {seen.upper()}: rename it, or say --format {seen}"
        )
    if chosen == "parquet" and seen is None:
        raise DataFileError(f"{stream.label} is no Parquet file: it does not start as one")
