"""Hashes of global row numbers: draws and samples that do not depend on how rows are divided."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Whole
from hedgerow._hashing import GOLDEN_GAMMA, mix

__all__ = ["hash_rows", "mix"]


def hash_rows(numbers: Whole, seed: int) -> NDArray[np.uint64]:
    """Hash of each row number: distinct for distinct numbers, in an order that looks drawn.

    It is the number's output of SplitMix64 from the mixed seed.
    """
    start = mix(np.array([seed], np.uint64) + GOLDEN_GAMMA)
    return mix(start + (numbers.astype(np.uint64) + np.uint64(1)) * GOLDEN_GAMMA)
