"""Rows to grow trees from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats

__all__ = ["Training"]

Codes: TypeAlias = NDArray[np.int32]


@dataclass(frozen=True)
class Training:
    """Training rows: values, column-major except for random trees, and either labels or targets."""

    values: Floats
    n_categories: Codes
    sample_weight: Floats
    labels: Codes | None = None
    targets: Floats | None = None
    n_classes: int = 0

    @property
    def arrays(self) -> tuple[Floats, Codes, Floats, Codes | None, Floats | None, int]:
        """Arguments of the core, in its order."""
        return self.values, self.n_categories, self.sample_weight, self.labels, self.targets, self.n_classes

    @property
    def ranges(self) -> Floats:
        """Least and largest value of each column, (n_features, 2); NaN for nominal columns, and without any value."""
        found = np.stack([np.fmin.reduce(self.values, axis=0), np.fmax.reduce(self.values, axis=0)], axis=1)
        found[self.n_categories > 0] = np.nan
        return found
