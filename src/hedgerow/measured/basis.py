"""An orthonormal basis of the columns that a tree's answers are made of, which grows by one column a split."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Basis"]

Floats = NDArray[np.float64]

_ROUNDING = 1e-12  # of a column's squared length: no more than that is new of a column in the span


class Basis:
    """Columns by Gram and Schmidt, twice over, so that they stay orthogonal to the last digits."""

    def __init__(self, first: Floats) -> None:
        self._columns = np.empty((len(first), 8), order="F")
        self._columns[:, 0] = first / np.linalg.norm(first)
        self._size = 1

    @property
    def columns(self) -> Floats:
        """(n, size)."""
        return self._columns[:, : self._size]

    def add(self, column: Floats) -> Floats | None:
        """The new direction that a column brings, which is now part of the basis; None if it is in the span."""
        new = column.copy()
        for _ in range(2):
            new -= self.columns @ (self.columns.T @ new)
        length = np.linalg.norm(new)
        if not length**2 > _ROUNDING * (column @ column):
            return None
        new /= length
        if self._size == self._columns.shape[1]:
            larger = np.empty((len(new), 2 * self._size), order="F")
            larger[:, : self._size] = self._columns
            self._columns = larger
        self._columns[:, self._size] = new
        self._size += 1
        return new
