"""Values that a number changes to: one for each cell between neighbouring thresholds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Cells", "cells_of", "readable"]

Floats = NDArray[np.float64]

_SHARE = 0.05  # of a cell, within which a changed value is rounded
_COARSER = 2  # decimals tried beyond those that always fit


class Cells(NamedTuple):
    """Cells (t_{i−1}, t_i] of a column with thresholds t_0 < … < t_{k−1}: k + 1 of them; the last is above all."""

    thresholds: Floats
    from_below: Floats
    """The value that a smaller one is changed to, (k + 1,): NaN where none is in the range."""
    from_above: Floats
    """The value that a larger one is changed to, (k + 1,)."""

    def candidates(self, x: float, direction: int) -> tuple[Floats, int]:
        """Values that x may change to, x among them, ascending, and the position of x; `direction` 1: no smaller."""
        home = int(np.searchsorted(self.thresholds, x))
        smaller = self.from_above[:home] if direction <= 0 else self.from_above[:0]
        larger = self.from_below[home + 1 :] if direction >= 0 else self.from_below[:0]
        smaller, larger = smaller[smaller < x], larger[larger > x]  # NaN is neither
        return np.concatenate([smaller, [x], larger]), len(smaller)


def cells_of(thresholds: Floats, low: float, high: float, *, whole: bool) -> Cells:
    """Cells of a column whose values stay within [low, high]; those of a `whole` column are whole numbers."""
    upper = np.concatenate([thresholds, [np.inf]])
    lower = np.concatenate([[-np.inf], thresholds])
    if whole:
        below = np.maximum(np.floor(lower) + 1, np.ceil(low))
        above = np.minimum(np.floor(upper), np.floor(high))
    else:
        width = np.minimum(upper, high) - np.maximum(lower, low)
        inside = width > 0
        below, above = np.full(len(upper), low), np.full(len(upper), high)
        enters, leaves = inside & (lower >= low), inside & (upper <= high)
        below[enters] = readable(lower[enters], lower[enters] + _SHARE * width[enters])
        above[leaves] = -readable(-upper[leaves], -upper[leaves] + _SHARE * width[leaves], closed=True)
    return Cells(
        thresholds,
        np.where((lower < below) & (below <= upper) & (below <= high), below, np.nan),
        np.where((lower < above) & (above <= upper) & (above >= low), above, np.nan),
    )


def readable(low: Floats, high: Floats, *, closed: bool = False) -> Floats:
    """Number of few digits in (low, high], near to low; `closed` admits low itself.

    >>> readable(np.array([127.5, 0.0123456]), np.array([128.9, 0.0124]))
    array([1.28e+02, 1.24e-02])
    """
    found = low.copy() if closed else np.nextafter(low, np.inf)
    width = high - low
    some = width > 0
    digits = np.zeros(len(low), dtype=np.int64)
    digits[some] = np.floor(np.log10(width[some])).astype(np.int64)
    open_ = some & (np.abs(digits) < 15)
    for coarser in range(_COARSER, -1, -1):
        for exponent in np.unique(digits[open_]).tolist():
            of_size = np.flatnonzero(open_ & (digits == exponent))
            decimals = -(exponent + coarser)
            unit = 10.0 ** abs(decimals)
            steps = low[of_size] * unit if decimals > 0 else low[of_size] / unit
            steps = np.ceil(steps) if closed else np.floor(steps) + 1
            value = steps / unit if decimals > 0 else steps * unit
            fits = (value >= low[of_size] if closed else value > low[of_size]) & (value <= high[of_size])
            found[of_size[fits]] = value[fits] + 0.0  # not -0.0
            open_[of_size[fits]] = False
    return found
