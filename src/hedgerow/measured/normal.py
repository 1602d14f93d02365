"""The distribution function of the standard normal law, which soft thresholds ask for most of all."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import normal_cdf as _into

__all__ = ["normal_cdf"]

Floats = NDArray[np.float64]


def normal_cdf(z: Floats) -> Floats:
    """P(Z ≤ z), of any shape."""
    out = np.empty(z.shape)
    _into(z.reshape(-1), out.reshape(-1))
    return out
