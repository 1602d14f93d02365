"""Bytes of a file or of standard input, whose beginning can be peeked at; gzip is unpacked."""

from __future__ import annotations

import gzip
import io
import os
import stat
import sys
import zlib
from typing import IO, Any

from hedgerow.datasets.rows import DataFileError

__all__ = ["STANDARD", "Stream", "open_stream"]

STANDARD = "-"  # standard input

_HEAD_BYTES = 1 << 16
_GZIP = b"\x1f\x8b"


class Stream(io.RawIOBase):
    """Binary stream with a peek at its beginning."""

    def __init__(
        self, file: IO[bytes], label: str, path: str | None, below: Stream | None = None, *, owned: bool = True
    ) -> None:
        self._file = file
        self._owned = owned
        self._below = below  # the stream that the file unpacks or recodes
        self._seen = b""
        self.label = label
        self.path = path
        """Path to read the same bytes from again; None for standard input and pipes."""

    def head(self, at_least: int = _HEAD_BYTES) -> bytes:
        """Return the first bytes without consuming them: at least so many, if there are."""
        while len(self._seen) < at_least:
            more = self._read(at_least - len(self._seen))
            if not more:
                break
            self._seen += more
        return self._seen

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._seen:
            try:
                return self._file.readinto(buffer)  # type: ignore[attr-defined]
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise self._damaged(error) from None
        data = self._take(min(len(self._seen), len(buffer)))
        buffer[: len(data)] = data
        return len(data)

    def read(self, size: int | None = -1) -> bytes:
        if size is None or size < 0:
            data, self._seen = self._seen, b""
            return data + self._read(-1)
        return self._take(size)

    def check_packed(self) -> None:
        """Read packed bytes to their end, where gzip compares its checksum: damage may be why rows can't be read."""
        if self._packed:
            while self.read(_HEAD_BYTES):
                pass

    @property
    def _packed(self) -> bool:
        return isinstance(self._file, gzip.GzipFile) or (self._below is not None and self._below._packed)

    def _take(self, size: int) -> bytes:
        data, self._seen = self._seen[:size], self._seen[size:]
        return data if len(data) == size else data + self._read(size - len(data))

    def _read(self, size: int) -> bytes:
        try:
            return self._file.read(size)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> DataFileError:
        if isinstance(error, EOFError):
            return DataFileError(f"{self.label} is truncated: its gzip data end too early")
        return DataFileError(f"{self.label} is a damaged gzip file: {error}; fetch or write it again")

    def close(self) -> None:
        if self._owned:
            self._file.close()
        if self._below is not None:
            self._below.close()
        super().close()


def open_stream(path: str) -> Stream:
    """Open a file, or standard input for ``-``; an OSError names a file that can't be read."""
    if path == STANDARD:
        return _unzipped(Stream(sys.stdin.buffer, "standard input", None, owned=False))
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        raise DataFileError(f"{path} is a folder: give the name of a file")
    return _unzipped(Stream(open(path, "rb"), path, path if stat.S_ISREG(mode) else None))


def _unzipped(stream: Stream) -> Stream:
    if not stream.head().startswith(_GZIP):
        return stream
    plain: Any = gzip.GzipFile(fileobj=stream)
    return Stream(plain, stream.label, stream.path, below=stream)
