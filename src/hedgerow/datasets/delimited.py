"""CSV and TSV by pyarrow: a header with the names, then rows of as many fields."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from hedgerow._core import plain_numbers
from hedgerow.datasets.blocks import Block, in_order, row_blocks
from hedgerow.datasets.rows import As, DataFileError, Reading
from hedgerow.datasets.streams import Stream, open_stream

__all__ = ["DelimitedRows"]

_LONGEST_HEADER = 1 << 24
_BOM = "\ufeff"
_DELIMITERS = ",;\t|"
_ARROW_TYPES = {"number": pa.float64(), "text": pa.dictionary(pa.int32(), pa.string())}
_NOT_CONVERTED = re.compile(
    r"In CSV column #(\d+): (?:Row #\d+: )?CSV conversion error to (.+?): invalid value '(.*)'", re.S
)
_NOT_UTF8 = re.compile(r"In CSV column #(\d+):.*invalid UTF8", re.S)


class DelimitedRows:
    """Rows of a text file whose fields stand between delimiters."""

    def __init__(self, stream: Stream, reading: Reading, delimiter: str | None) -> None:
        self._stream = stream
        self._reading = reading
        self.label = stream.label
        before, header, self._header_bytes = self._header()
        self._first_line = 1 + (before + header).count("\n") + 1
        self._delimiter = reading.delimiter or delimiter or _likely_delimiter(header)
        self.names = tuple(next(csv.reader(io.StringIO(header), delimiter=self._delimiter)))
        twice = [name for name, n in Counter(self.names).items() if n > 1]
        if twice:
            raise DataFileError(f"{self.label} has the column {twice[0]!r} more than once: rename or drop the copies")

    def table(self) -> pa.Table:
        text = {name: pa.string() for name in self._reading.text}
        try:
            with self._stream as stream:
                stream.read(self._header_bytes)
                table = pacsv.read_csv(
                    stream,
                    read_options=pacsv.ReadOptions(column_names=list(self.names), block_size=1 << 23),
                    parse_options=self._parsing(),
                    convert_options=self._converting(column_types=text),
                )
        except pa.ArrowInvalid as error:
            if "Empty CSV" in str(error):
                raise self._without_rows() from None
            raise self._explained(str(error), self._again(), self._first_line) from None
        except EOFError:
            raise self._cut_off() from None
        for field in table.schema:
            if pa.types.is_binary(field.type):  # what pyarrow takes text for that is not UTF-8
                raise self._no_utf8(f"column {field.name!r}")
        return table

    def batches(self, wanted: Mapping[str, As]) -> Iterator[pa.Table]:
        types = {name: _ARROW_TYPES[how] for name, how in wanted.items()}
        reading = pacsv.ReadOptions(column_names=list(self.names), use_threads=False)
        parsing, converting = self._parsing(), self._converting(column_types=types, include_columns=list(types))

        plain = self._plain_reader(wanted)

        def parsed(block: Block) -> pa.Table:
            if plain is not None and (numbers := plain(block)) is not None:
                return numbers
            try:
                return pacsv.read_csv(
                    pa.BufferReader(block.data),
                    read_options=reading,
                    parse_options=parsing,
                    convert_options=converting,
                )
            except pa.ArrowInvalid as error:
                raise self._explained(str(error), io.BytesIO(block.data.data), block.first_line) from None

        found = False
        try:
            with self._stream as stream:
                stream.read(self._header_bytes)
                for table in in_order(parsed, row_blocks(stream, self._first_line)):
                    if table.num_rows:
                        found = True
                        yield table
        except EOFError:
            raise self._cut_off() from None
        if not found:
            raise self._without_rows()

    def _plain_reader(self, wanted: Mapping[str, As]) -> Callable[[Block], pa.Table | None] | None:
        """Reads a block of nothing but plain numbers, three times as fast as pyarrow, and gives up on any other."""
        if not all(how == "number" for how in wanted.values()) or not self._delimiter.isascii():
            return None
        order = {name: column for column, name in enumerate(wanted)}
        column_of = np.array([order.get(name, -1) for name in self.names], dtype=np.int32)
        missing = ["", *self._reading.missing]

        def read(block: Block) -> pa.Table | None:
            out = np.empty((len(order), block.n_lines))
            n_rows = plain_numbers(block.data, self._delimiter, column_of, missing, out)
            return None if n_rows < 0 else pa.table({name: out[column, :n_rows] for name, column in order.items()})

        return read

    def _header(self) -> tuple[str, str, int]:
        """What stands before the first line that is not empty, that line, and the bytes of both with the line end.

        A name in quotes may go over several lines.
        """
        n_bytes = 1 << 16
        while True:
            head = self._stream.head(n_bytes)
            if b"\0" in head[:4096]:
                raise DataFileError(f"{self.label} is no text: is it another kind of file, or UTF-16? Save it as UTF-8")
            start = len(head) - len(head.removeprefix(_BOM.encode()).lstrip(b"\r\n"))
            end = start
            while (end := head.find(b"\n", end)) >= 0 and head.count(b'"', start, end) % 2:
                end += 1
            if end >= 0 or len(head) < n_bytes:
                return self._decoded(head, start, len(head) if end < 0 else end)
            if n_bytes > _LONGEST_HEADER:
                raise DataFileError(f"{self.label} has no end of line in its first {n_bytes} bytes: is it a table?")
            n_bytes *= 4

    def _decoded(self, head: bytes, start: int, end: int) -> tuple[str, str, int]:
        try:
            before, header = head[:start].decode(), head[start:end].decode().rstrip("\r")
        except UnicodeDecodeError:
            raise self._no_utf8("its header") from None
        if not header.strip():
            raise DataFileError(f"{self.label} is empty")
        if end == len(head):
            raise self._without_rows()
        return before, header, end + 1

    def _parsing(self) -> Any:
        return pacsv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True)

    def _converting(self, **options: Any) -> Any:
        missing = sorted({"", *self._reading.missing})
        return pacsv.ConvertOptions(null_values=missing, strings_can_be_null=True, **options)

    # -- what can be wrong

    def _explained(self, words: str, rows: IO[bytes] | None, first_line: int) -> DataFileError:
        """pyarrow's words with the names of columns and the number of the line; the rows are read again to tell it."""
        if found := _NOT_CONVERTED.search(words):
            column, kind, value = int(found[1]), found[2], found[3]
            place = f"column {self.names[column]!r}" + self._line_of(rows, first_line, column, value)
            what = "a number" if kind in ("double", "float", "int64") else f"a {kind}"
            return DataFileError(
                f"{self.label}: {place}: {value!r} is not {what}; if it is a missing value, name it with --missing"
            )
        if found := _NOT_UTF8.search(words):
            return self._no_utf8(f"column {self.names[int(found[1])]!r}")
        if "Expected" in words and "columns, got" in words:
            return DataFileError(f"{self.label}: {self._odd_line(rows, first_line)}")
        return DataFileError(f"{self.label}: {' '.join(words.split())[:300]}")

    def _line_of(self, rows: IO[bytes] | None, first_line: int, column: int, value: str) -> str:
        for line, fields in self._fields(rows, first_line):
            if len(fields) > column and fields[column] == value:
                return f", line {line}"
        return ""

    def _odd_line(self, rows: IO[bytes] | None, first_line: int) -> str:
        n = len(self.names)
        for line, fields in self._fields(rows, first_line):
            if fields and len(fields) != n:
                return f"line {line} has {len(fields)} fields, the header has {n}"
        return f"a line has another number of fields than the header, {n}"

    def _fields(self, rows: IO[bytes] | None, first_line: int) -> Iterator[tuple[int, list[str]]]:
        """Rows as they are written, each with the number of its last line."""
        if rows is not None:
            with io.TextIOWrapper(rows, encoding="utf-8", errors="replace", newline="") as text:
                reader = csv.reader(text, delimiter=self._delimiter)
                for fields in reader:
                    yield first_line + reader.line_num - 1, fields

    def _again(self) -> IO[bytes] | None:
        """The rows once more; None of standard input."""
        if self._stream.path is None:
            return None
        again = open_stream(self._stream.path)
        again.read(self._header_bytes)
        return io.BufferedReader(again)

    def _no_utf8(self, what: str) -> DataFileError:
        return DataFileError(f"{self.label}: {what} is not UTF-8; convert it: iconv -f latin1 -t utf-8 FILE > NEW")

    def _without_rows(self) -> DataFileError:
        return DataFileError(f"{self.label} has a header and no rows")

    def _cut_off(self) -> DataFileError:
        return DataFileError(f"{self.label} is cut off: its gzip ends too early")


def _likely_delimiter(header: str) -> str:
    """The one that the header has most of, outside of quotes; a comma if it has none."""
    bare = re.sub(r'"[^"]*"', "", header)
    return max(_DELIMITERS, key=bare.count)
