"""Numbers whose sums do not depend on the order of their terms."""

from __future__ import annotations

import numpy as np

from hedgerow._arrays import Floats

__all__ = ["UNIT", "round_shares"]

UNIT = 2.0**-20
"""Multiples of it add up exactly in doubles, in any order, as long as the sum is below 2**33."""


def round_shares(values: Floats) -> Floats:
    """The nearest multiples of 2**-20; -0.0 becomes 0.0.

    >>> round_shares(np.array([1 / 3, 3.0, -0.0])).tolist()
    [0.33333301544189453, 3.0, 0.0]
    """
    return np.rint(values / UNIT) * UNIT + 0.0
