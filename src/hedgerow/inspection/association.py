"""How much two columns tell of each other, whatever their kinds: 0 nothing, 1 all."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

__all__ = ["associations"]

Floats = NDArray[np.float64]


def associations(values: Floats, n_categories: NDArray[np.int32]) -> Floats:
    """Association of every pair of columns, (n_columns, n_columns), over the rows that have both.

    Of numbers and ordered categories the absolute rank correlation (Spearman); with a nominal column the square root of
    the share of the variance of ranks between its categories (correlation ratio); of two nominal columns Cramér's V.
    """
    n = values.shape[1]
    found = np.eye(n)
    for i in range(n):
        for j in range(i):
            both = ~np.isnan(values[:, i]) & ~np.isnan(values[:, j])
            pair = values[both, i], values[both, j]
            if both.sum() > 1:
                found[i, j] = found[j, i] = _association(*pair, n_categories[i] > 0, n_categories[j] > 0)
    return found


def _association(x: Floats, y: Floats, x_nominal: bool, y_nominal: bool) -> float:
    if x_nominal and y_nominal:
        return _cramers_v(x, y)
    if y_nominal:
        x, y, x_nominal = y, x, True
    ranks = rankdata(y)
    spread = ((ranks - ranks.mean()) ** 2).sum()
    if spread == 0:
        return 0.0
    if x_nominal:
        groups = np.unique(x, return_inverse=True)[1]
        size = np.bincount(groups)
        means = np.bincount(groups, weights=ranks) / size
        return float(np.sqrt((size * (means - ranks.mean()) ** 2).sum() / spread))
    others = rankdata(x)
    across = ((others - others.mean()) ** 2).sum()
    if across == 0:
        return 0.0
    return float(abs(((others - others.mean()) * (ranks - ranks.mean())).sum()) / np.sqrt(across * spread))


def _cramers_v(x: Floats, y: Floats) -> float:
    rows, columns = np.unique(x, return_inverse=True)[1], np.unique(y, return_inverse=True)[1]
    table = np.zeros((rows.max() + 1, columns.max() + 1))
    np.add.at(table, (rows, columns), 1.0)
    if min(table.shape) < 2:
        return 0.0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    chi2 = ((table - expected) ** 2 / expected).sum()
    return float(np.sqrt(chi2 / table.sum() / (min(table.shape) - 1)))
