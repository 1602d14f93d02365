"""Encodings of text other than UTF-8."""

from __future__ import annotations

import codecs
import io
from typing import Any

from hedgerow.datasets.rows import DataFileError
from hedgerow.datasets.streams import Stream

__all__ = ["not_utf8", "to_utf8"]

_CHUNK = 1 << 20
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def not_utf8(what: str) -> DataFileError:
    """Make the error for text that is not UTF-8."""
    return DataFileError(f"{what} is not UTF-8; if it is Western European: --encoding latin1")


def to_utf8(stream: Stream, encoding: str | None) -> Stream:
    """Recode a stream as UTF-8; without an encoding only UTF-16 is recognised, by its byte order mark."""
    if encoding is None:
        if not stream.head().startswith(_UTF16_MARKS):
            return stream
        encoding = "utf-16"
    try:
        decoder = codecs.getincrementaldecoder(encoding)()
    except LookupError:
        raise DataFileError(f"{encoding!r} is not the name of an encoding (--encoding); try latin1 or cp1252") from None
    recoded = io.BufferedReader(_Recoder(stream, decoder, encoding), _CHUNK)
    return Stream(recoded, stream.label, stream.path, below=stream)


class _Recoder(io.RawIOBase):
    """Recode a stream as UTF-8, piece by piece."""

    def __init__(self, stream: Stream, decoder: codecs.IncrementalDecoder, encoding: str) -> None:
        self._stream = stream
        self._decoder = decoder
        self._encoding = encoding
        self._ready = b""
        self._complete = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready and not self._complete:
            data = self._stream.read(_CHUNK)
            self._complete = not data
            try:
                self._ready = self._decoder.decode(data, final=self._complete).encode()
            except UnicodeDecodeError as error:
                raise DataFileError(
                    f"{self._stream.label} is not {self._encoding} (--encoding): {error.reason}"
                ) from None
        n = min(len(buffer), len(self._ready))
        buffer[:n] = self._ready[:n]
        self._ready = self._ready[n:]
        return n
