"""Rows apart, for growing and for judging, by what they hold and not by where they stand."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import places_in_line as place_rows
from hedgerow.data.training import Training

__all__ = ["places_in_line"]


def places_in_line(training: Training, seed: int) -> NDArray[np.float64]:
    """The rows of each class (of all, if there are none) in a line of length 1, in a drawn order: where each stands.

    The order is that of hashes of the rows. Equal rows (NaN equals NaN) stand at one place, and a row takes as much of
    the line as its weight: so weights and repeated rows are the same, and the order of the rows has no influence.
    """
    return place_rows(*training.arrays, seed)
