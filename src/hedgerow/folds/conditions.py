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

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.folds import Conditions
    >>> more_than_half = Conditions(np.array([[-0.5], [0.5]]), np.array([0.0]))  # of the votes for the second class
    >>> votes = np.array([[4.0, 6.0], [7.0, 3.0]])
    >>> (votes @ more_than_half.weights + more_than_half.offset >= 0).all(axis=1)
    array([ True, False])
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

    Returns
    -------
    Conditions
        One condition for each other class.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.folds import leads
    >>> conditions = leads(np.eye(3), np.zeros(3), code=1)
    >>> np.array([[0.2, 0.5, 0.3]]) @ conditions.weights + conditions.offset  # ahead of class 0, and of class 2
    array([[0.3, 0.2]])
    """
    others = np.arange(len(offset)) != code
    return Conditions(weights[:, [code]] - weights[:, others], offset[code] - offset[others])
