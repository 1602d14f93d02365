"""Hashes of global row numbers: draws and samples that do not depend on how rows are divided."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Whole

__all__ = ["hash_rows", "mix"]

_U = np.uint64
_GOLDEN_GAMMA = _U(0x9E3779B97F4A7C15)


def mix(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's finaliser (Steele, Lea, Flood 2014), as ``core/base/hash.hpp`` has it."""
    z = (z ^ (z >> _U(30))) * _U(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> _U(27))) * _U(0x94D049BB133111EB)
    mixed: NDArray[np.uint64] = z ^ (z >> _U(31))
    return mixed


def hash_rows(numbers: Whole, seed: int) -> NDArray[np.uint64]:
    """Hash of each row number: distinct for distinct numbers, in an order that looks drawn.

    It is the number's output of SplitMix64 from the mixed seed.
    """
    start = mix(np.array([seed], np.uint64) + _GOLDEN_GAMMA)
    return mix(start + (numbers.astype(np.uint64) + _U(1)) * _GOLDEN_GAMMA)
