"""Missing as a value, for growers without missing values: impute it, grow, and restore missing in the trees.

A missing number becomes larger than all known ones, so that a random threshold separates it from some or all of them; a
missing category becomes one more category (Honavar, Decision Trees and Forests, the first slide on missing values).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.training import Training
from hedgerow.forest.forest import Forest
from hedgerow.forest.splits import restore_missing

__all__ = ["MissingAsValue"]

_ROOM_ABOVE = np.nextafter(np.finfo(np.float64).max, 0.0)  # the largest number with a finite one above it


@dataclass(frozen=True)
class MissingAsValue:
    """Values that replace missing ones in training data, by column."""

    largest: NDArray[np.float64]
    """Largest known value of numeric columns with missing ones, at most `_ROOM_ABOVE`; NaN for other columns."""
    code: NDArray[np.int64]
    """Code of missing in nominal columns with missing values; -1 for other columns."""

    @classmethod
    def of(cls, training: Training) -> MissingAsValue:
        """Choose the values from the rows to be imputed."""
        gaps = np.isnan(training.values)
        any_gaps = gaps.any(axis=0)
        nominal = training.n_categories > 0
        known = np.minimum(np.where(gaps, -np.inf, training.values).max(axis=0), _ROOM_ABOVE)
        return cls(
            np.where(any_gaps & ~nominal, known, np.nan), np.where(any_gaps & nominal, training.n_categories, -1)
        )

    def impute(self, training: Training) -> Training:
        """Replace missing values."""
        beyond = np.nextafter(self.largest, np.inf)
        beyond[np.isneginf(self.largest)] = 0.0  # no known value: a constant column
        value = np.where(self.code >= 0, self.code, beyond)
        values = np.where(np.isnan(training.values), value, np.fmin(training.values, self.largest))
        n_categories = training.n_categories + (self.code >= 0).astype(np.int32)
        return replace(training, values=np.asfortranarray(values), n_categories=n_categories)

    def to_missing_policy(self, forest: Forest) -> Forest:
        """Convert a forest grown from imputed rows to one that routes missing values by each node's policy."""
        return restore_missing(forest, self.largest, self.code)
