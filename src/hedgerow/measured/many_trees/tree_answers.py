"""Uncertainty of the mean of several soft trees."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.folds.uncertainty import Uncertainty, all_aleatoric
from hedgerow.walk import LeafTable, Query

__all__ = ["soft_variance"]

Floats = NDArray[np.float64]


def soft_variance(stats: Floats) -> Query[Uncertainty]:
    """Variance of rows like this one about the answers of single trees (aleatoric), and of these answers (epistemic).

    `stats` of a leaf: expected rows, γ, and the squared errors of the tree's answers to them. Between the regions of a
    tree nothing is added: how they differ is in those errors.
    """
    weight, mean, squares = stats.T
    table = LeafTable.of(np.stack([mean, squares / np.where(weight > 0, weight, 1.0)], axis=1))
    return Query(table, _finish, per_tree=True)


def _finish(folded: Floats, n_trees: int) -> Uncertainty:
    means, squares = folded[:, :, 0], folded[:, :, 1]
    within = squares.mean(axis=1)
    if n_trees == 1:
        return all_aleatoric(within, "variance")
    between = means.var(axis=1)
    return Uncertainty(within + between, within, between, "variance")
