"""Where tables of answers go: a file, replaced only when it is complete, or standard output."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from hedgerow.cli.errors import CommandError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["STANDARD", "check_writable", "table_writer"]

STANDARD = "-"

Write = Callable[["pa.Table"], None]


def check_writable(path: str) -> None:
    """An error before the work and not after it, where it can be told by then."""
    goal = Path(os.path.realpath(path))
    if goal.is_dir():
        raise CommandError(f"{path} is a folder: give the name of a file")
    if not goal.parent.is_dir():
        raise CommandError(f"{path}: there is no folder {str(goal.parent)!r}")
    if not os.access(goal.parent, os.W_OK):
        raise CommandError(f"{path}: the folder {str(goal.parent)!r} can't be written to")


@contextmanager
def table_writer(path: str) -> Iterator[Write]:
    """A function that writes one part of a table after the other."""
    if path == STANDARD:
        with _writer(sys.stdout.buffer, "csv") as write:
            yield write
        return
    from hedgerow.replacing import replaced

    with replaced(path) as file, _writer(file, _format(path)) as write:
        yield write


def _format(path: str) -> str:
    ending = Path(path).suffix.lower()
    return {".parquet": "parquet", ".pq": "parquet", ".tsv": "tsv"}.get(ending, "csv")


@contextmanager
def _writer(file: BinaryIO, kind: str) -> Iterator[Write]:
    import pyarrow.csv as pacsv
    import pyarrow.parquet as pq

    opened: list[Any] = []

    def write(table: pa.Table) -> None:
        if not opened and kind == "parquet":
            opened.append(pq.ParquetWriter(file, table.schema))
        elif not opened:
            delimiter = "\t" if kind == "tsv" else ","
            file.write(_header(table.column_names, delimiter))
            # What pyarrow calls needed is quotes around all text, which it writes faster than it looks.
            options = pacsv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style="needed")
            opened.append(pacsv.CSVWriter(file, table.schema, write_options=options))
        opened[0].write_table(table)
        file.flush()

    yield write
    for writer in opened:
        writer.close()


def _header(names: list[str], delimiter: str) -> bytes:
    line = io.StringIO()
    csv.writer(line, delimiter=delimiter, lineterminator="\n").writerow(names)
    return line.getvalue().encode()
