"""Thresholds of libraries that compare in float32, for rows in float64."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["thresholds_below", "widened_thresholds"]

_BEYOND_FLOAT32 = 2.0**128  # where the next float32 would be, if there were one: rounding looks at it so


def widened_thresholds(thresholds: ArrayLike) -> NDArray[np.float64]:
    """Return for each t the largest double T that rounds to a float32 ≤ t, so that x ≤ T iff float32(x) ≤ t.

    Let f be the largest float32 ≤ t and m the middle between f and its successor. Doubles below m round to f or less,
    those above to more than t, and m itself to the one of the two whose last bit is 0. So T is m where that is f, and
    the double below m elsewhere. +∞ stays +∞.

    >>> widened_thresholds([1.0, 0.5 + 2**-40])
    array([1.00000006, 0.50000003])
    """
    given = np.asarray(thresholds, dtype=np.float64)
    with np.errstate(all="ignore"):  # beyond the range of float32, and at its smallest numbers
        nearest = given.astype(np.float32)
        below = np.where(nearest > given, np.nextafter(nearest, np.float32(-np.inf)), nearest)
        above = np.nextafter(below, np.float32(np.inf))
    middle = (_as_double(below) + _as_double(above)) / 2  # exact: one bit more than a float32 has
    even = below.view(np.uint32) % 2 == 0
    largest = np.where(even, middle, np.nextafter(middle, -np.inf))
    return np.where(given == np.inf, np.inf, largest)


def thresholds_below(thresholds: ArrayLike) -> NDArray[np.float64]:
    """Return for each float32 t the largest double T that rounds to a float32 < t, so that x ≤ T iff float32(x) < t."""
    with np.errstate(all="ignore"):
        before = np.nextafter(np.asarray(thresholds, dtype=np.float32), np.float32(-np.inf))
    return widened_thresholds(before)


def _as_double(values: NDArray[np.float32]) -> NDArray[np.float64]:
    return np.clip(values.astype(np.float64), -_BEYOND_FLOAT32, _BEYOND_FLOAT32)
