"""CSV and TSV: a header with the names of columns, then rows with as many fields."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from hedgerow._core import plain_numbers
from hedgerow.datasets.blocks import Block, row_blocks
from hedgerow.datasets.encodings import not_utf8, to_utf8
from hedgerow.datasets.headers import find_header
from hedgerow.datasets.number_columns import exact_integers
from hedgerow.datasets.numerals import integer_literals, likely_decimal, read_numerals
from hedgerow.datasets.rows import (
    MISSING,
    As,
    DataFileError,
    Reading,
    check_names,
    convert_column,
    has_huge,
    is_text,
    name_columns,
    trim,
)
from hedgerow.datasets.streams import Stream, open_stream

__all__ = ["DelimitedRows"]

_ARROW_TYPES = {"number": pa.float64(), "text": pa.dictionary(pa.int32(), pa.string())}
_NOT_CONVERTED = re.compile(
    r"In CSV column #(\d+): (?:Row #\d+: )?CSV conversion error to (.+?): invalid value '(.*)'", re.S
)
_MAX_BYTES = (1 << 31) - 1  # of a block of pyarrow
_NUMBER_START = r"[+-]?\.?[0-9]"
_NOT_UTF8 = re.compile(r"In CSV column #(\d+):.*invalid UTF8", re.S)


class DelimitedRows:
    """Rows of delimited text."""

    def __init__(self, stream: Stream, reading: Reading, delimiter: str | None) -> None:
        self._stream = to_utf8(stream, reading.encoding)
        self.reading = reading
        self.label = stream.label
        header = find_header(self._stream)
        self._delimiter = reading.delimiter or delimiter or header.likely_delimiter()
        self._bytes: bytes | None = None  # of a stream that can't be read twice
        names = header.fields(self._delimiter)
        if reading.header:
            self._header_bytes, self._first_line = header.n_bytes, 1 + header.n_lines
        else:
            self._header_bytes, self._first_line = len(header.before.encode()), 1 + header.before.count("\n")
            names = [""] * len(names)
        self.names = name_columns(names)
        check_names(self.names, self.label)

    def table(self) -> pa.Table:
        """Read all rows; a decimal sign that is not given is guessed, and kept in `reading`."""
        if self._stream.path is None:
            with self._stream as stream:
                self._bytes = stream.read()
        table = self._read_table()
        if self.reading.decimal is None:
            table = self._guess_decimal(table)
        table = self._read_exact_integers(table)
        for at, field in enumerate(table.schema):
            if is_text(field.type):
                table = table.set_column(at, field.name, trim(table.column(at), self.reading.missing))
        return table

    def _read_table(self, columns: Sequence[str] | None = None, kind: Any = None) -> pa.Table:
        """Read all columns with the types that pyarrow infers, or some `columns` with the type `kind`."""
        types = (
            {name: pa.string() for name in self.reading.text} if kind is None else dict.fromkeys(columns or (), kind)
        )
        try:
            with self._reopen() as rows:
                table = pacsv.read_csv(
                    rows,
                    read_options=pacsv.ReadOptions(column_names=list(self.names), block_size=1 << 23),
                    parse_options=self._parsing(),
                    convert_options=self._converting(column_types=types, include_columns=columns),
                )
        except pa.ArrowInvalid as error:
            if self._bytes is None:
                self._stream.check_packed()
            if "Empty CSV" in str(error):
                raise self._no_rows() from None
            raise self._explain(str(error), self._reopen(), self._first_line) from None
        for field in table.schema:
            if pa.types.is_binary(field.type):  # the type that pyarrow infers for text that is not UTF-8
                raise not_utf8(f"{self.label}: column {field.name!r}")
        return table

    def _guess_decimal(self, table: pa.Table) -> pa.Table:
        """Read the table again if its text shows numbers with a decimal comma."""
        texts = [
            table[name]
            for name in self.names
            if is_text(table.schema.field(name).type) and name not in self.reading.text
        ]
        either = "," if self._delimiter == ";" else "."
        if likely_decimal(texts, (*MISSING, *self.reading.missing), either) == ".":
            return table
        pointed = self.reading
        self.reading = replace(pointed, decimal=",")
        again = self._read_table()
        if any(
            pa.types.is_floating(table.schema.field(name).type)
            and is_text(again.schema.field(name).type)
            and read_numerals(again[name], ",").n_strange
            for name in self.names
        ):  # another column has decimal points
            self.reading = pointed
            return table
        return again

    def _read_exact_integers(self, table: pa.Table) -> pa.Table:
        """Read integers beyond 64 bits, which pyarrow infers to be float64, as exact integers."""
        huge = [
            field.name
            for field in table.schema
            if pa.types.is_floating(field.type) and has_huge(table.column(field.name))
        ]
        if huge:
            for name, text in zip(huge, self._read_table(huge, pa.string()).columns, strict=True):
                if integer_literals(text):
                    table = table.set_column(self.names.index(name), name, exact_integers(text))
        return table

    def batches(self, wanted: Mapping[str, As]) -> Iterator[pa.Table]:
        found = False
        with self._stream as stream:
            stream.read(self._header_bytes)
            for block in row_blocks(stream, self._first_line):
                try:
                    table = self._read_block(block, wanted)
                except DataFileError:
                    stream.check_packed()
                    raise
                if table.num_rows:
                    found = True
                    yield table
        if not found:
            raise self._no_rows()

    def _read_block(self, block: Block, wanted: Mapping[str, As]) -> pa.Table:
        plain = self._read_plain(block, list(wanted)) if self._may_be_plain(wanted) else None
        return self._read_general(block, wanted) if plain is None else plain

    def _may_be_plain(self, wanted: Mapping[str, As]) -> bool:
        return (
            all(how == "number" for how in wanted.values())
            and self._delimiter.isascii()
            and self.reading.decimal != ","
            and not any(re.match(_NUMBER_START, marker) for marker in self.reading.missing)
        )

    def _read_plain(self, block: Block, names: Sequence[str]) -> pa.Table | None:
        """Read a block of nothing but plain numbers, in a third of pyarrow's time; None for any other."""
        column_of = np.array([names.index(name) if name in names else -1 for name in self.names], dtype=np.int32)
        out = np.empty((len(names), block.n_lines))
        text = np.frombuffer(block.data, dtype=np.uint8)
        n_rows = plain_numbers(text, self._delimiter, column_of, ["", *self.reading.missing], out)
        return None if n_rows < 0 else pa.table(dict(zip(names, out[:, :n_rows], strict=True)))

    def _read_general(self, block: Block, wanted: Mapping[str, As]) -> pa.Table:
        """Read a block with pyarrow, and numbers that it can't convert, or not exactly, as text to be converted."""
        types = {name: _ARROW_TYPES[how] for name, how in wanted.items()}
        numbers = [name for name, how in wanted.items() if how == "number"]
        try:
            try:
                table = self._read_columns(block, types)
                if not any(has_huge(table[name]) for name in numbers):
                    return self._trim_text(table, numbers)
            except pa.ArrowInvalid as error:
                if not _NOT_CONVERTED.search(str(error)):
                    raise
            table = self._read_columns(block, types | dict.fromkeys(numbers, pa.string()))
        except pa.ArrowInvalid as error:
            raise self._explain(str(error), io.BytesIO(block.data), block.first_line) from None
        for name in numbers:
            column = self._convert_numbers(table[name], name, block)
            table = table.set_column(table.column_names.index(name), name, column)
        return self._trim_text(table, numbers)

    def _read_columns(self, block: Block, types: Mapping[str, Any]) -> pa.Table:
        # In one piece: to cut it, pyarrow would look for row ends again, which takes a fifth of the time of reading.
        n_bytes = min(len(block.data) + 1, _MAX_BYTES)
        return pacsv.read_csv(
            pa.BufferReader(block.data),
            read_options=pacsv.ReadOptions(column_names=list(self.names), block_size=n_bytes),
            parse_options=self._parsing(),
            convert_options=self._converting(column_types=types, include_columns=list(types)),
        )

    def _trim_text(self, table: pa.Table, numbers: Sequence[str]) -> pa.Table:
        for at, name in enumerate(table.column_names):
            if name not in numbers:
                table = table.set_column(at, name, trim(table.column(at), self.reading.missing))
        return table

    def _convert_numbers(self, text: pa.ChunkedArray, name: str, block: Block) -> pa.ChunkedArray:
        found = read_numerals(text, self.reading.decimal or ".", (*MISSING, *self.reading.missing))
        if found.n_strange:
            line = self._line_of(io.BytesIO(block.data), block.first_line, self.names.index(name), found.strange[0])
            raise self._not_a_number(name, line, found.strange[0], found.other_decimal)
        return convert_column(text, "number", self.reading, self.label, name)

    def _parsing(self) -> Any:
        return pacsv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True)

    def _converting(self, **options: Any) -> Any:
        missing = sorted({"", *self.reading.missing})
        return pacsv.ConvertOptions(
            null_values=missing, strings_can_be_null=True, decimal_point=self.reading.decimal or ".", **options
        )

    # -- errors

    def _explain(self, words: str, rows: IO[bytes], first_line: int) -> DataFileError:
        """Translate an error of pyarrow; the rows are read again to find the line."""
        if found := _NOT_CONVERTED.search(words):
            column, value = int(found[1]), found[3]
            return self._not_a_number(self.names[column], self._line_of(rows, first_line, column, value), value)
        if found := _NOT_UTF8.search(words):
            return not_utf8(f"{self.label}: column {self.names[int(found[1])]!r}")
        if "Expected" in words and "columns, got" in words:
            return DataFileError(f"{self.label}: {self._ragged_line(rows, first_line)}")
        return DataFileError(f"{self.label}: {' '.join(words.split())[:300]}")

    def _not_a_number(self, name: str, line: str, value: str, other_decimal: str | None = None) -> DataFileError:
        remedy = "if it is a missing value, name it with --missing"
        if other_decimal:
            remedy = f"if {other_decimal!r} is the decimal sign: --decimal {other_decimal}"
        return DataFileError(f"{self.label}: column {name!r}{line}: {value!r} is not a number; {remedy}")

    def _line_of(self, rows: IO[bytes], first_line: int, column: int, value: str) -> str:
        for line, fields in self._fields(rows, first_line):
            if len(fields) > column and fields[column].strip() == value.strip():
                return f", line {line}"
        return ""

    def _ragged_line(self, rows: IO[bytes], first_line: int) -> str:
        n = len(self.names)
        for line, fields in self._fields(rows, first_line):
            if fields and len(fields) != n:
                return f"line {line} has {len(fields)} field{'s' * (len(fields) != 1)}, the header has {n}"
        return f"a line has another number of fields than the header, {n}"

    def _fields(self, rows: IO[bytes], first_line: int) -> Iterator[tuple[int, list[str]]]:
        """Yield the fields of each row with the number of its last line, up to a row that can't be read."""
        with io.TextIOWrapper(rows, encoding="utf-8", errors="replace", newline="") as text, suppress(csv.Error):
            reader = csv.reader(text, delimiter=self._delimiter)
            for fields in reader:
                yield first_line + reader.line_num - 1, fields

    def _reopen(self) -> IO[bytes]:
        """Open the rows once more from the first."""
        if self._bytes is not None:
            rows = io.BytesIO(self._bytes)
            rows.seek(self._header_bytes)
            return rows
        assert self._stream.path is not None
        again = to_utf8(open_stream(self._stream.path), self.reading.encoding)
        again.read(self._header_bytes)
        return io.BufferedReader(again, 1 << 20)

    def _no_rows(self) -> DataFileError:
        return DataFileError(f"{self.label} has {'a header and ' if self.reading.header else ''}no rows")
