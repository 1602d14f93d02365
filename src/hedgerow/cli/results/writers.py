"""Writers of answers: to a file, replaced only when it is complete, or to standard output."""

from __future__ import annotations

import csv
import gzip
import io
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np
import pyarrow as pa

from hedgerow._printable import printable
from hedgerow.cli.results.destinations import STANDARD, table_format

if TYPE_CHECKING:
    from hedgerow.cli.results.answer_columns import Answers

__all__ = ["answer_writer"]

_GZIP_LEVEL = 6  # gzip's own default; Python's, 9, takes three times as long for one per cent less

Write = Callable[["Answers"], None]


@contextmanager
def answer_writer(path: str) -> Iterator[Write]:
    """A function that writes the answers of one part of a file after the other."""
    if path == STANDARD:
        file = sys.stdout.buffer
        shown = cast(BinaryIO, _Terminal(file)) if file.isatty() else file
        with _writer(shown, "csv") as write:
            yield _flushing(write, file)
        return
    from hedgerow.storage.replace import replaced

    chosen = table_format(path)
    zipped = _zipped if chosen.gzip else nullcontext
    with replaced(path) as file, zipped(file) as goal, _writer(goal, chosen.kind) as write:
        yield write


class _Terminal(io.RawIOBase):
    """Lines for a terminal, which obeys control characters: they are escaped. A file or a pipe gets the bytes as is."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, data: Any) -> int:
        lines = bytes(data).decode().split("\n")
        return self._file.write("\n".join(map(printable, lines)).encode())


def _flushing(write: Write, file: BinaryIO) -> Write:
    """Flush, so that the reader of a pipe need not wait for a full buffer."""

    def write_now(answers: Answers) -> None:
        write(answers)
        file.flush()

    return write_now


def _zipped(file: BinaryIO) -> AbstractContextManager[BinaryIO]:
    """Without name and time in the header: the same answers give the same bytes."""
    return cast(BinaryIO, gzip.GzipFile("", "wb", _GZIP_LEVEL, file, mtime=0))


def _writer(file: BinaryIO, kind: str) -> AbstractContextManager[Write]:
    if kind == "parquet":
        return _parquet_writer(file)
    return _text_writer(file, "\t" if kind == "tsv" else ",")


@contextmanager
def _parquet_writer(file: BinaryIO) -> Iterator[Write]:
    import pyarrow.parquet as pq

    opened: list[Any] = []

    def write(answers: Answers) -> None:
        table = answers.table()
        if not opened:
            opened.append(pq.ParquetWriter(file, table.schema))
        opened[0].write_table(table)

    yield write
    for writer in opened:
        writer.close()


@contextmanager
def _text_writer(file: BinaryIO, delimiter: str) -> Iterator[Write]:
    n_written = 0

    def write(answers: Answers) -> None:
        nonlocal n_written
        if not n_written:
            file.write(_header(answers.names, delimiter))
        n_written += answers.n_rows
        file.write(_lines(answers, delimiter))

    yield write


def _lines(answers: Answers, delimiter: str) -> pa.Buffer:
    """Answers as text; where many are the same they are put in words once."""
    if answers.which is None or answers.kept is not None:
        return _text(answers.table(), delimiter)
    text = _text(answers.different, delimiter)
    ends = np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == ord("\n")) + 1
    if len(ends) != answers.different.num_rows:  # a label goes over several lines
        return _text(answers.table(), delimiter)
    starts = pa.py_buffer(np.concatenate([[0], ends]).astype(np.int32))
    lines = pa.Array.from_buffers(pa.binary(), len(ends), [None, starts, text])
    return lines.take(pa.array(answers.which)).buffers()[2]


def _text(table: pa.Table, delimiter: str) -> pa.Buffer:
    import pyarrow.csv as pacsv

    stream = pa.BufferOutputStream()
    # What pyarrow calls needed is quotes around all text, which it writes faster than it looks.
    pacsv.write_csv(
        table, stream, pacsv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style="needed")
    )
    return stream.getvalue()


def _header(names: list[str], delimiter: str) -> bytes:
    line = io.StringIO()
    csv.writer(line, delimiter=delimiter, lineterminator="\n").writerow(names)
    return line.getvalue().encode()
