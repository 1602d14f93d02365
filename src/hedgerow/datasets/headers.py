"""The header of delimited text: where it ends, its delimiter and its fields."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass

from hedgerow.datasets.encodings import not_utf8
from hedgerow.datasets.rows import DataFileError
from hedgerow.datasets.streams import Stream

__all__ = ["Header", "find_header"]

_LONGEST = 1 << 24
_BOM = b"\xef\xbb\xbf"
_DELIMITERS = ",;\t|"


@dataclass(frozen=True)
class Header:
    """The first line that is not empty; names in quotes can make it several lines."""

    before: str
    """Byte order mark and empty lines."""
    text: str
    n_bytes: int
    """Bytes up to the next line."""
    label: str

    @property
    def n_lines(self) -> int:
        """Lines up to the next one."""
        return (self.before + self.text).count("\n") + 1

    def likely_delimiter(self) -> str:
        """Return the delimiter that is most frequent outside quotes; a comma if there is none."""
        bare = re.sub(r'"[^"]*"', "", self.text)
        return max(_DELIMITERS, key=bare.count)

    def fields(self, delimiter: str) -> list[str]:
        try:
            return next(csv.reader(io.StringIO(self.text), delimiter=delimiter))
        except csv.Error as error:
            raise DataFileError(f"{self.label}: its header can't be read: {error}") from None


def find_header(stream: Stream) -> Header:
    """Find the header at the beginning of a stream, which is not consumed."""
    n_bytes = 1 << 16
    while True:
        head = stream.head(n_bytes)
        complete = len(head) < n_bytes
        if b"\0" in head[:4096]:
            raise DataFileError(f"{stream.label} is not text: is it another kind of file, or UTF-16? Save it as UTF-8")
        start = len(head) - len(head.removeprefix(_BOM).lstrip(b"\r\n"))
        end = _end_of_line(head, start)
        if end < 0 and (n_bytes > _LONGEST or complete) and head.count(b'"', start) % 2:
            raise DataFileError(f"{stream.label}: its header has an unclosed quote: delete or double it")
        if end >= 0 or complete:
            return _decode(head, start, len(head) if end < 0 else end, stream.label)
        if n_bytes > _LONGEST:
            raise DataFileError(f"{stream.label} has no end of line in its first {n_bytes} bytes: is it a table?")
        n_bytes *= 4


def _decode(head: bytes, start: int, end: int, label: str) -> Header:
    try:
        before, text = head[:start].decode(), head[start:end].decode().rstrip("\r")
    except UnicodeDecodeError:
        raise not_utf8(f"{label}: its header") from None
    if not text.strip():
        raise DataFileError(f"{label} is empty")
    return Header(before, text, min(end + 1, len(head)), label)


def _end_of_line(head: bytes, start: int) -> int:
    """Return the position of the first line end outside quotes, or -1."""
    n_quotes, at = 0, start
    while (end := head.find(b"\n", at)) >= 0:
        n_quotes += head.count(b'"', at, end)
        if n_quotes % 2 == 0:
            return end
        at = end + 1
    return -1
