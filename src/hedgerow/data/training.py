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
    """Training rows: values, column-major except for random trees, and either labels or targets.

    Parameters
    ----------
    values : array
        Matrix of the rows, (n_rows, n_features).
    n_categories : Codes
        Number of categories of each column; 0 for numeric ones.
    sample_weight : array of shape (n_samples,)
        Weight of each row.
    labels : Codes or None, default=None
        Code of each row's class; None of numbers.
    targets : array or None, default=None
        Number of each row; None of classes.
    n_classes : int, default=0
        Number of classes; 0 of numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.growth import Training
    >>> values = np.asfortranarray([[1.0, 5.0], [2.0, 5.0]])
    >>> rows = Training(values, np.zeros(2, np.int32), np.ones(2), np.array([0, 1], np.int32), n_classes=2)
    >>> rows.ranges
    array([[1., 2.],
           [5., 5.]])
    """

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
        return column_ranges(self.values, self.n_categories)

    @property
    def deviations(self) -> Floats:
        """Standard deviation of each numeric column, (n_features,); 0 for nominal ones, and where it overflows."""
        known = ~np.isnan(self.values)
        weight = np.where(known, self.sample_weight[:, np.newaxis], 0.0)
        total = weight.sum(axis=0)
        total = np.where(total > 0, total, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            values = np.where(known, self.values, 0.0)
            mean = (weight * values).sum(axis=0) / total
            found: Floats = np.sqrt((weight * (values - mean) ** 2).sum(axis=0) / total)
        return np.where(np.isfinite(found) & (self.n_categories == 0), found, 0.0)


def column_ranges(values: Floats, n_categories: Codes) -> Floats:
    """Least and largest value of each column, (n_features, 2); NaN for nominal columns, and without any value."""
    found = np.stack([np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)], axis=1)
    found[n_categories > 0] = np.nan
    return found + 0.0  # -0.0 is 0.0, whatever the order of rows
