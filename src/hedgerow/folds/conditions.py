"""Linear conditions on folded tables: what must hold for a class to be the answer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Conditions", "leads"]

Floats = NDArray[np.float64]


class Conditions(NamedTuple):
    """An answer needs folded @ weights + offset ≥ 0 in every column.

    They are necessary, and sufficient but for ties and rounding. The columns of the table are summed over the trees.
    """

    weights: Floats
    """(m, n_conditions)"""
    offset: Floats
    """(n_conditions,)"""


def leads(weights: Floats, offset: Floats, code: int) -> Conditions:
    """Conditions for class `code` to have the largest of the scores folded @ weights + offset, one for each class.

    Parameters
    ----------
    weights : array of shape (m, n_classes)
        Weight of each folded column in the score of each class.
    offset : array
        What is added.
    code : int
        Position of the class.
    """
    others = np.arange(len(offset)) != code
    return Conditions(weights[:, [code]] - weights[:, others], offset[code] - offset[others])
