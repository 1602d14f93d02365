"""Arrays as JSON: base64 of little-endian numbers, in the smallest form that gives back every bit."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["pack"]

_WHOLE = ("u1", "u2", "i1", "i2", "i4")
_MOST_INDEXED = 1 << 16  # different numbers that an index of two bytes can tell apart


def pack(array: NDArray[Any]) -> dict[str, Any]:
    """Pack an array, flattened, for ``unpack`` of ``walker.js``; -0.0 becomes 0.0.

    Whole numbers take the narrowest type that holds them. Other numbers take 4 or 8 bytes each, or are an index into
    the different ones, whichever is shortest.

    >>> pack(np.array([3.0, 0.0, 255.0]))
    {'n': 3, 'type': 'u1', 'base64': 'AwD/'}
    """
    flat = np.asarray(array).ravel()
    plain = _plain(flat)
    if plain["type"] in _WHOLE[:1]:
        return plain
    values, index = np.unique(flat, return_inverse=True)  # one NaN for all
    if len(values) > _MOST_INDEXED or len(values) * 2 > len(flat):
        return plain
    indexed = {"n": len(flat), "of": _plain(values)} | ({"index": _plain(index)} if len(values) > 1 else {})
    return min(plain, indexed, key=_size)


def _plain(flat: NDArray[Any]) -> dict[str, Any]:
    kind = _narrowest(flat)
    return {"n": len(flat), "type": kind, "base64": b64encode(flat.astype(f"<{kind}").tobytes()).decode("ascii")}


def _narrowest(flat: NDArray[Any]) -> str:
    if not len(flat):
        return "u1"
    if np.isfinite(flat).all() and (flat == np.floor(flat)).all():
        low, high = flat.min(), flat.max()
        for kind in _WHOLE:
            if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
                return kind
    with np.errstate(over="ignore"):
        is_single = np.array_equal(flat.astype(np.float32).astype(np.float64), flat, equal_nan=True)
    return "f4" if is_single else "f8"


def _size(packed: dict[str, Any]) -> int:
    return sum(len(packed[name]["base64"]) for name in ("of", "index") if name in packed) + len(
        packed.get("base64", "")
    )
