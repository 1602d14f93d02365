"""Variance of the numbers that a row may have, by what it comes from: between trees, between leaves, within leaves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgerow._arrays import Floats
from hedgerow.walk import LeafTable, Query

__all__ = ["NumberSpread", "number_spread", "variance_of_trees"]


@dataclass(frozen=True, eq=False)
class NumberSpread:
    """Moments of the leaves of some rows, means over the trees and their leaves, (n,) each."""

    mean: Floats
    square: Floats
    """Of the squared mean of a leaf."""
    within: Floats
    """Variance of the training targets in a leaf."""
    error: Floats
    """Squared standard error of the mean of a leaf: its variance over its number of rows."""
    n_rows: Floats

    @property
    def between(self) -> Floats:
        """Variance of the means of all leaves of all trees."""
        return np.maximum(self.square - self.mean**2, 0.0)


def number_spread(stats: Floats) -> Query[NumberSpread]:
    """Query from weight, mean and sum of squared deviations of each leaf, (n_leaves, 3)."""
    weight, mean, squares = stats.T
    some = np.where(weight > 0, weight, 1.0)
    table = LeafTable.of(np.stack([mean, mean**2, squares / some, squares / some**2, weight], axis=1))
    return Query(table, lambda folded, n_trees: NumberSpread(*(folded / n_trees).T))


def variance_of_trees(means: Floats) -> Floats:
    """Variance of the trees' means, (n,), from (n, n_trees)."""
    total, square = np.zeros(len(means)), np.zeros(len(means))
    for column in means.T:  # in the order of the trees, as the core adds
        total += column
        square += column**2
    n_trees = means.shape[1]
    return np.maximum(square / n_trees - (total / n_trees) ** 2, 0.0)
