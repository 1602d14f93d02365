"""CSV and TSV by pyarrow: a header with the names, then rows of as many fields."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.csv as pacsv

from hedgerow.datasets.rows import As, DataFileError, Reading
from hedgerow.datasets.streams import Stream, open_stream

__all__ = ["DelimitedRows"]

_BLOCK_BYTES = 1 << 23  # what is parsed at once: a few times this much memory
_LONGEST_HEADER = 1 << 24
_BOM = "\ufeff"
_DELIMITERS = ",;\t|"
_ARROW_TYPES = {"number": pa.float64(), "text": pa.dictionary(pa.int32(), pa.string())}
_NOT_CONVERTED = re.compile(
    r"In CSV column #(\d+): (?:Row #(\d+): )?CSV conversion error to (.+?): invalid value '(.*)'", re.S
)
_NOT_UTF8 = re.compile(r"In CSV column #(\d+):.*invalid UTF8", re.S)


class DelimitedRows:
    """Rows of a text file whose fields stand between delimiters."""

    def __init__(self, stream: Stream, reading: Reading, delimiter: str | None) -> None:
        self._stream = stream
        self._reading = reading
        self.label = stream.label
        header = self._header()
        self._delimiter = reading.delimiter or delimiter or _likely_delimiter(header)
        self.names = tuple(next(csv.reader(io.StringIO(header), delimiter=self._delimiter)))
        twice = [name for name, n in Counter(self.names).items() if n > 1]
        if twice:
            raise DataFileError(f"{self.label} has the column {twice[0]!r} more than once: rename or drop the copies")

    def table(self) -> pa.Table:
        text = {name: pa.string() for name in self._reading.text}
        with self._told():
            table = pacsv.read_csv(
                self._stream,
                read_options=pacsv.ReadOptions(block_size=_BLOCK_BYTES),
                parse_options=self._parsing(),
                convert_options=self._converting(column_types=text),
            )
        if not table.num_rows:
            raise DataFileError(f"{self.label} has a header and no rows")
        return table

    def batches(self, wanted: Mapping[str, As]) -> Iterator[pa.Table]:
        types = {name: _ARROW_TYPES[how] for name, how in wanted.items()}
        with self._told():
            reader = pacsv.open_csv(
                self._stream,
                read_options=pacsv.ReadOptions(block_size=_BLOCK_BYTES),
                parse_options=self._parsing(),
                convert_options=self._converting(column_types=types, include_columns=list(types)),
            )
        while True:
            with self._told():
                try:
                    batch = reader.read_next_batch()
                except StopIteration:
                    return
            if batch.num_rows:
                yield pa.Table.from_batches([batch])

    def _header(self) -> str:
        """The first line that is not empty; a name in quotes may go over several."""
        n_bytes = 1 << 16
        while True:
            head = self._stream.head(n_bytes)
            if b"\0" in head[:4096]:
                raise DataFileError(f"{self.label} is no text: is it another kind of file, or UTF-16? Save it as UTF-8")
            try:
                text = head.decode("utf-8", errors="strict" if len(head) < n_bytes else "ignore").removeprefix(_BOM)
            except UnicodeDecodeError as error:
                text = head[: error.start].decode().removeprefix(_BOM)
                if "\n" not in text:
                    raise self._no_utf8("its header") from None
            text = text.lstrip("\r\n")
            for at, character in enumerate(text):
                if character in "\r\n" and text.count('"', 0, at) % 2 == 0:
                    return text[:at]
            if len(head) < n_bytes:
                if not text.strip():
                    raise DataFileError(f"{self.label} is empty")
                return text
            if n_bytes > _LONGEST_HEADER:
                raise DataFileError(f"{self.label} has no end of line in its first {n_bytes} bytes: is it a table?")
            n_bytes *= 4

    def _parsing(self) -> Any:
        return pacsv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True)

    def _converting(self, **options: Any) -> Any:
        missing = sorted({"", *self._reading.missing})
        return pacsv.ConvertOptions(null_values=missing, strings_can_be_null=True, timestamp_parsers=None, **options)

    # -- what can be wrong

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except pa.ArrowInvalid as error:
            self._explain(str(error))
        except EOFError:
            raise DataFileError(f"{self.label} is cut off: its gzip ends too early") from None

    def _explain(self, words: str) -> NoReturn:
        if "Empty CSV" in words:
            raise DataFileError(f"{self.label} is empty") from None
        if found := _NOT_CONVERTED.search(words):
            column, row, kind, value = found.groups()
            place = f"column {self.names[int(column)]!r}" + (f", line {row}" if row else "")
            raise DataFileError(
                f"{self.label}: {place}: {value!r} is not {_article(kind)}; if it stands for a missing value, say so "
                "with --missing"
            ) from None
        if found := _NOT_UTF8.search(words):
            raise self._no_utf8(f"column {self.names[int(found[1])]!r}") from None
        if "Expected" in words and "columns, got" in words:
            raise DataFileError(f"{self.label}: {self._odd_line(words)}") from None
        raise DataFileError(f"{self.label}: {' '.join(words.split())[:300]}") from None

    def _odd_line(self, words: str) -> str:
        """Which line has another number of fields; the file is read once more to tell."""
        n = len(self.names)
        if self._stream.path is not None:
            with open_stream(self._stream.path) as again:
                text = io.TextIOWrapper(io.BufferedReader(again), encoding="utf-8", errors="replace", newline="")
                lines = csv.reader(text, delimiter=self._delimiter)
                for fields in lines:
                    if fields and len(fields) != n:
                        return f"line {lines.line_num} has {len(fields)} fields, the header has {n}"
        found = re.search(r"(?:Row #(\d+): )?Expected \d+ columns, got (\d+)(?:: (.*))?", words, re.S)
        if found is None:
            return f"a line has another number of fields than the header, {n}"
        place = f"line {found[1]}" if found[1] else f"the line {(found[3] or '')[:60].strip()!r}"
        return f"{place} has {found[2]} fields, the header has {n}"

    def _no_utf8(self, what: str) -> DataFileError:
        return DataFileError(f"{self.label}: {what} is not UTF-8; convert it: iconv -f latin1 -t utf-8 FILE > NEW")


def _likely_delimiter(header: str) -> str:
    """The one that the header has most of, outside of quotes; a comma if it has none."""
    bare = re.sub(r'"[^"]*"', "", header)
    return max(_DELIMITERS, key=bare.count)


def _article(kind: str) -> str:
    return "a number" if kind in ("double", "float", "int64") else f"a {kind}"
