"""Uniform numbers that belong to rows: a function of a seed and of the row's values, not of the rows beside it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["draw_for_rows"]

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def draw_for_rows(rows: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Number in (0, 1) for each row, by the hash of its values; equal rows (NaN equals NaN) get the same.

    >>> import numpy as np
    >>> draws = draw_for_rows(np.arange(20_000.0).reshape(-1, 2), seed=1)
    >>> bool(0 < draws.min() and draws.max() < 1 and abs(draws.mean() - 0.5) < 0.01)
    True
    """
    values = rows + 0.0  # -0.0 is 0.0
    values[np.isnan(values)] = np.nan
    bits = values.view(np.uint64)
    found = np.full(len(rows), _mixed(np.array([seed], dtype=np.uint64))[0])
    for column in bits.T:
        found = _mixed(found ^ column)
    return (_mixed(found) >> np.uint64(11)).astype(np.float64) * 2.0**-53 + 2.0**-54


def _mixed(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, 2014: the finaliser of SplitMix64."""
    found = bits + _STEP
    found = (found ^ (found >> np.uint64(30))) * _FIRST
    found = (found ^ (found >> np.uint64(27))) * _SECOND
    return found ^ (found >> np.uint64(31))
