"""What there is to learn from: rows measured with error, and numbers to fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.measured.laws import ColumnLaw

__all__ = ["Problem"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows of positive weight. `features` are the columns that may be asked about."""

    values: Floats
    """(n, n_features), column-major"""
    sigma: Floats
    """Of the same shape: standard deviations of the errors"""
    laws: tuple[ColumnLaw, ...]
    features: NDArray[np.intp]
    weight: Floats
    """(n,): how many rows each one stands for"""
    precision: Floats
    """(n,): 1/variance of y's error, up to a factor; 1 where that is not known"""
    targets: Floats
    """(n, n_outputs)"""

    @property
    def fit_weight(self) -> Floats:
        """What a squared residual counts."""
        return self.weight * self.precision

    def take(self, rows: NDArray[Any]) -> Problem:
        """Some of the rows."""
        return replace(
            self,
            values=np.asfortranarray(self.values[rows]),
            sigma=np.asfortranarray(self.sigma[rows]),
            weight=self.weight[rows],
            precision=self.precision[rows],
            targets=self.targets[rows],
        )
