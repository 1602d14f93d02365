"""Numbers and labels as JSON values of the page."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hedgerow._printable import printable

__all__ = ["rounded", "rounded_list", "to_label"]

_DIGITS = 6


def rounded(value: Any, digits: int = _DIGITS) -> float | int | None:
    """A number with so many significant digits; None where it is not finite.

    >>> rounded(0.123456789), rounded(float("nan")), rounded(3.0)
    (0.123457, None, 3)
    """
    number = float(value)
    if not math.isfinite(number):
        return None
    short = float(f"{number:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def rounded_list(values: ArrayLike, digits: int = _DIGITS) -> list[Any]:
    """Numbers of an array of any rank, rounded, as nested lists."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim > 1:
        return [rounded_list(part, digits) for part in array]
    return [rounded(value, digits) for value in array.tolist()]


def to_label(value: Any) -> str:
    """Text of a class or category; control characters are escaped, whole floats lose their ".0"."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return printable(str(value))
