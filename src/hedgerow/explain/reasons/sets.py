"""Doubt where answers are sets: an undecided row, one that is decided, and one that no class fits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow.explain.reasons.levels import Levels
from hedgerow.explain.reasons.record import NO_DOUBT

__all__ = ["SetSizes"]


@dataclass(frozen=True, eq=False)
class SetSizes:
    """Number of classes in the set of each row.

    A row whose set has one class is in doubt only where it is so far outside the training range that half of what the
    leaves say, or more, is not about it. An empty set, which a conformal classifier may give, says that the row is
    unlike all calibration rows.
    """

    sizes: NDArray[np.intp]
    least: float = 0.0
    """Doubt about rows without a single class that the model itself has no doubt about: 1 − coverage."""

    def limit(self, levels: Levels, about: Floats, certainty: Floats) -> tuple[Levels, Floats]:
        """Levels, and the doubt that is divided among the reasons, (n,).

        `about` is the probability that the leaves are about a row, `certainty` that of the likeliest class.
        """
        now = np.where(levels.now > NO_DOUBT, levels.now, self.least)
        outside = np.where(about <= 0.5, (1.0 - about) * certainty, 0.0)
        limited = levels.only_outside(self.sizes <= 1, np.where(self.sizes == 0, now, outside))
        return limited, np.where(self.sizes > 1, now, limited.now)
