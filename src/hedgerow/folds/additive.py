"""Answers that are sums over the leaves that a row reaches, and so can be divided among its columns."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

__all__ = ["Additive"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Additive:
    """An answer as a linear function of a fold: offset + folded @ scale, (n, outputs).

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.folds import Additive
    >>> mean = Additive.mean("probability", n_outputs=2, n_trees=4, by_class=True)
    >>> mean.offset + np.array([[3.0, 1.0]]) @ mean.scale  # sums over four trees
    array([[0.75, 0.25]])
    """

    of: str
    """Name of the answer."""
    scale: Floats
    """(m, outputs) for a fold of m columns."""
    offset: Floats
    """(outputs,)"""
    by_class: bool
    """Whether there is an output for each class; else there is one."""

    @classmethod
    def mean(cls, of: str, n_outputs: int, n_trees: int, *, by_class: bool) -> Additive:
        """Mean over the trees of each column of the fold.

        Parameters
        ----------
        of : str
            Name of the answer that is divided.
        n_outputs : int
            Number of answers.
        n_trees : int or array of shape (n_samples,)
            Number of trees, or their total weight, in the fold.
        by_class : bool
            Whether there is an answer for each class.

        Returns
        -------
        Additive
            The mean.
        """
        return cls(of, np.eye(n_outputs) / n_trees, np.zeros(n_outputs), by_class)

    def named(self, of: str) -> Additive:
        """Return a copy with another name.

        Parameters
        ----------
        of : str
            Name of the answer that is divided.

        Returns
        -------
        Additive
            The copy.
        """
        return replace(self, of=of)
