"""The container of model files and pickles: JSON and arrays in one block of bytes; see ``docs/model_file.md``.

Positions follow from sizes: there are no offsets that could overlap or point elsewhere, and nothing is allocated before
the sizes add up to the length of the block. Checksums are XXH64, which runs at memory speed: CRC-32 by zlib would take
longer than the rest of loading.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from math import isfinite, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import checksum
from hedgerow._registry import ModelFileError

__all__ = [
    "FORMAT_VERSION",
    "PROLOGUE_BYTES",
    "Layout",
    "Prologue",
    "header_notes",
    "layout_of",
    "pack",
    "pieces",
    "unpack",
]

Bytes = NDArray[np.uint8]

MAGIC = b"\x89HDGRW\r\n"  # not text, and broken by line-ending conversion
FORMAT_VERSION = 1
ALIGNMENT = 64
_LARGEST_ITEM = 16  # bytes
PROLOGUE_BYTES = 64
_PROLOGUE = struct.Struct("<8sIIQQQ")  # magic, version, reserved, length, header's length, header's checksum
_CHECKSUM = struct.Struct("<Q")  # of all bytes before it
_DTYPE = re.compile(r"\|[biu]1|<[iu][248]|<f[248]|<[mM]8\[\d{0,9}[a-zA-Z]{1,2}\]|<U\d{1,9}|\|S\d{1,9}", re.ASCII)
_MAX_DIMENSIONS = 8
_MAX_DIGITS = 20
_LARGEST_CHARACTER = 0x10FFFF
_FREE_BRACKETS, _BYTES_PER_BRACKET = 10_000, 16  # an empty list: two bytes of header, 64 of memory


# --- Writing ------------------------------------------------------------------------------------------------


def pieces(content: Any, arrays: Sequence[NDArray[Any]], notes: Mapping[str, Any] | None = None) -> Iterator[Bytes]:
    """Yield the block of `content` and `notes` (JSON values) and `arrays`, piece by piece."""
    stored = [_storable(array) for array in arrays]
    table = [[_dtype_name(array), list(array.shape), f"{checksum(_raw(array)):016x}"] for array in stored]
    entries = {"hedgerow": _own_version(), "arrays": table, "content": content}
    header = _to_json(entries | ({"notes": notes} if notes else {}))
    length = _padded(PROLOGUE_BYTES + len(header)) + sum(_padded(array.nbytes) for array in stored)
    start = _PROLOGUE.pack(MAGIC, FORMAT_VERSION, 0, length, len(header), checksum(_raw_bytes(header)))
    start += _CHECKSUM.pack(checksum(_raw_bytes(start)))
    for raw in (_raw_bytes(start.ljust(PROLOGUE_BYTES, b"\0")), _raw_bytes(header), *map(_raw, stored)):
        yield raw
        yield np.zeros(_padded(len(raw)) - len(raw), dtype=np.uint8)


def pack(content: Any, arrays: Sequence[NDArray[Any]]) -> Bytes:
    """Return the block as one array."""
    return np.concatenate(list(pieces(content, arrays)))


def _storable(array: NDArray[Any]) -> NDArray[Any]:
    """Convert to a little-endian, row-major array of a plain type."""
    plain = np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
    if not _DTYPE.fullmatch(_dtype_name(plain)) or plain.dtype.itemsize == 0 or plain.ndim > _MAX_DIMENSIONS:
        raise ModelFileError(
            f"an array of dtype {array.dtype} and {array.ndim} dimensions can't be stored: convert it to numbers, "
            "truth values, dates or text"
        )
    return plain


def _dtype_name(array: NDArray[Any]) -> str:
    return array.dtype.newbyteorder("<").str


def _raw(array: NDArray[Any]) -> Bytes:
    return array.reshape(-1).view(np.uint8)


def _raw_bytes(data: bytes) -> Bytes:
    return np.frombuffer(data, dtype=np.uint8)


def _padded(length: int) -> int:
    return -(-length // ALIGNMENT) * ALIGNMENT


def _to_json(value: Any) -> bytes:
    return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()


@cache
def _own_version() -> str:
    return version("hedgerow")


# --- Reading ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Prologue:
    """Checked first bytes of a block: its length, and the length and checksum of its header."""

    length: int
    header_length: int
    header_checksum: int

    @classmethod
    def of(cls, start: bytes, length: int) -> Prologue:
        """Read `start`, the first bytes of a block of `length` bytes."""
        if not start.startswith(MAGIC):
            raise ModelFileError("not a hedgerow model file (bad magic number)")
        if len(start) < PROLOGUE_BYTES:
            raise ModelFileError(f"truncated: it has {length} bytes, and a model file has at least {PROLOGUE_BYTES}")
        _, format_version, reserved, stated, header_length, header_checksum = _PROLOGUE.unpack_from(start)
        if format_version > FORMAT_VERSION:
            raise ModelFileError(
                f"it is in format version {format_version}, and this hedgerow ({_own_version()}) reads versions up to "
                f"{FORMAT_VERSION}: install a newer hedgerow"
            )
        (own_checksum,) = _CHECKSUM.unpack_from(start, _PROLOGUE.size)
        rest = start[_PROLOGUE.size + _CHECKSUM.size : PROLOGUE_BYTES]
        if checksum(_raw_bytes(start[: _PROLOGUE.size])) != own_checksum or any(rest) or reserved or not format_version:
            raise ModelFileError("the first bytes are damaged (wrong checksum)")
        if stated != length:
            what = "truncated" if length < stated else "followed by other data"
            raise ModelFileError(f"{what}: the stated length is {stated} bytes, the actual length {length}")
        if _padded(PROLOGUE_BYTES + header_length) > length:
            raise ModelFileError(f"the stated length of the header is {header_length} bytes, more than the file has")
        return cls(length, header_length, header_checksum)

    @property
    def data_start(self) -> int:
        """Start of the arrays."""
        return _padded(PROLOGUE_BYTES + self.header_length)


@dataclass(frozen=True)
class _Location:
    """Type, shape and position of an array in a block."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    start: int
    checksum: int

    @property
    def stop(self) -> int:
        return self.start + self.dtype.itemsize * prod(self.shape)


@dataclass(frozen=True)
class Layout:
    """Checked header of a block: its content, and the locations of its arrays."""

    content: Any
    locations: list[_Location]

    @classmethod
    def of(cls, prologue: Prologue, raw: Bytes) -> Layout:
        """Read the header `raw`; raise unless the arrays fill the block, one after the other."""
        header = _entries(prologue, raw)
        if not isinstance(header["arrays"], list):
            raise ModelFileError("the header has no list of arrays")
        locations, start = [], prologue.data_start
        for number, entry in enumerate(header["arrays"]):
            location = _read_location(entry, number, start, prologue.length)
            locations.append(location)
            start = _padded(location.stop)
        if start != prologue.length:
            raise ModelFileError(f"the arrays end at byte {start} of {prologue.length}")
        return cls(header["content"], locations)

    def arrays(self, block: Bytes, *, verify: bool = True) -> list[NDArray[Any]]:
        """Return read-only views of the block; their checksums are compared only if `verify`."""
        block = block.view()
        block.flags.writeable = False
        return [_array(block, location, number, verify) for number, location in enumerate(self.locations)]


def layout_of(block: Bytes) -> Layout:
    """Read the layout of a complete block."""
    prologue = Prologue.of(block[:PROLOGUE_BYTES].tobytes(), len(block))
    return Layout.of(prologue, block[PROLOGUE_BYTES : prologue.data_start])


def unpack(block: Bytes) -> tuple[Any, list[NDArray[Any]]]:
    """Return the content and the arrays, as read-only views of the block, or of a copy if it is not aligned."""
    if block.ctypes.data % _LARGEST_ITEM:  # received in the middle of a message, as Dask's
        block = block.copy()
        block.flags.writeable = False
    layout = layout_of(block)
    return layout.content, layout.arrays(block)


def header_notes(prologue: Prologue, raw: Bytes) -> dict[str, Any]:
    """Return the notes of a header; empty if it has none."""
    notes = _entries(prologue, raw).get("notes", {})
    if not isinstance(notes, dict):
        raise ModelFileError("the notes are not a JSON object")
    return notes


def _entries(prologue: Prologue, raw: Bytes) -> dict[str, Any]:
    text = raw[: prologue.header_length]
    if checksum(text) != prologue.header_checksum or raw[prologue.header_length :].any():
        raise ModelFileError("the header is damaged (wrong checksum)")
    header = _from_json(text.tobytes())
    if not isinstance(header, dict) or not {"arrays", "content"} <= header.keys():
        raise ModelFileError("the header has no arrays and content")
    return header


def _read_location(entry: Any, number: int, start: int, length: int) -> _Location:
    match entry:
        case [str() as name, list() as shape, str() as digits] if re.fullmatch("[0-9a-f]{16}", digits):
            pass
        case _:
            raise ModelFileError(f"array {number} is not described by a type, a shape and a checksum")
    dtype = _dtype(name, number)
    if len(shape) > _MAX_DIMENSIONS or not all(type(n) is int and 0 <= n <= length for n in shape):
        raise ModelFileError(f"array {number} has shape {_short(shape)}, impossible in {length} bytes")
    location = _Location(dtype, tuple(shape), start, int(digits, 16))
    if _padded(location.stop) > length:
        raise ModelFileError(f"array {number} ends at byte {location.stop} of {length}")
    return location


def _dtype(name: str, number: int) -> np.dtype[Any]:
    try:
        dtype = np.dtype(name) if _DTYPE.fullmatch(name) else None
    except (TypeError, ValueError, OverflowError):
        dtype = None
    if dtype is None or dtype.itemsize == 0:
        raise ModelFileError(f"array {number} has type {_short(name)}, not allowed in model files")
    return dtype


def _array(block: Bytes, location: _Location, number: int, verify: bool) -> NDArray[Any]:
    raw = block[location.start : location.stop]
    if verify and (checksum(raw) != location.checksum or block[location.stop : _padded(location.stop)].any()):
        raise ModelFileError(f"array {number} is damaged (wrong checksum)")
    if location.dtype.kind == "b" and raw.size and raw.max() > 1:
        raise ModelFileError(f"array {number} holds booleans that are neither 0 nor 1")
    if location.dtype.kind == "U" and raw.size and raw.view("<u4").max() > _LARGEST_CHARACTER:
        raise ModelFileError(f"array {number} holds text with invalid characters")
    stored: NDArray[Any] = raw.view(location.dtype).reshape(location.shape)
    if stored.dtype.isnative:
        return stored
    native = stored.astype(stored.dtype.newbyteorder("="))
    native.flags.writeable = False
    return native


def _from_json(text: bytes) -> Any:
    """Parse strict JSON: no NaN, no duplicate keys, no oversized numbers."""
    if text.count(b"[") + text.count(b"{") > _FREE_BRACKETS + len(text) // _BYTES_PER_BRACKET:
        raise ModelFileError("the header is mostly brackets, which would take many times its length in memory")
    try:
        return json.loads(
            text.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_constant=_refuse_number,
            parse_int=_whole,
            parse_float=_real,
        )
    except ModelFileError:
        raise
    except RecursionError:
        raise ModelFileError("the header is nested too deeply") from None
    except ValueError as error:
        raise ModelFileError(f"the header is not JSON: {error}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ModelFileError("the header has a duplicate key")
    return found


def _whole(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        _refuse_number(digits)
    return int(digits)


def _real(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        _refuse_number(digits)
    return number


def _refuse_number(digits: str) -> None:
    raise ModelFileError(f"the header has the number {_short(digits)}, which is out of bounds")


def _short(value: Any, at_most: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= at_most else f"{text[:at_most]}..."
