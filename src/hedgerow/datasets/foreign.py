"""Files of other programs, recognised by their first bytes, and how to convert them."""

from __future__ import annotations

import re

__all__ = ["foreign_format"]

_BEGINNINGS = (
    (b"ARROW1", "a Feather or Arrow file: write it as Parquet, with pandas.read_feather(...).to_parquet(...)"),
    (b"FEA1", "an old Feather file: write it as Parquet, with pandas.read_feather(...).to_parquet(...)"),
    (b"\x80", "a Python pickle, which is not read since it may run code: write its table as CSV or Parquet"),
    (b"\xd0\xcf\x11\xe0", "an old Excel file (.xls): save it as .xlsx or CSV"),
    (b"PK\x03\x04", "a zip archive: unpack it first"),
    (b"BZh", "packed by bzip2: unpack it with bunzip2, or use gzip"),
    (b"\xfd7zXZ\x00", "packed by xz: unpack it with unxz, or use gzip"),
    (b"\x28\xb5\x2f\xfd", "packed by zstd: unpack it with unzstd, or use gzip"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive: unpack it first"),
    (b"\x89HDF", "an HDF5 file: write its table as CSV or Parquet"),
    (b"SQLite format 3", "an SQLite database: write a table of it as CSV"),
    (b"\x93NUMPY", "a NumPy array: write it as CSV with the names of its columns"),
    (b"%PDF", "a PDF: save the table as CSV"),
    (b"RDX", "an R data file: write its table with write.csv"),
    (b"$FL2", "an SPSS file: save it as CSV"),
    (b"<!DOCTYPE", "a web page: was the address wrong? Save the data as CSV"),
    (b"<html", "a web page: was the address wrong? Save the data as CSV"),
)

_JSON = re.compile(rb'\s*(\{\s*["}]|\[\s*[\[{])')


def foreign_format(head: bytes) -> str | None:
    """Name the format of a file that is none of the known ones, and how to convert it.

    >>> foreign_format(b"%PDF-1.7")
    'a PDF: save the table as CSV'
    """
    for beginning, what in _BEGINNINGS:
        if head.startswith(beginning) and (beginning != b"\x80" or head[1:2] in (b"\2", b"\3", b"\4", b"\5")):
            return what
    if _JSON.match(head):
        return (
            "JSON, and not one object in each line: write it as .jsonl, with "
            'pandas.read_json(...).to_json(..., "records", lines=True)'
        )
    return None
