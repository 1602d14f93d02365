"""Certainty of leaves about classes, folded over the trees: the source of the levels of doubt about classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow.forest.counts import DistinctCounts
from hedgerow.walk import LeafTable, Query

__all__ = ["ClassCertainty", "LeafCertainty", "rows_at_once", "tree_maxima"]

_BLOCK_BYTES = 1 << 26  # of the trees' certainties of some rows


@dataclass(frozen=True, eq=False)
class ClassCertainty:
    """Certainties about some rows: means over the trees, by their weights."""

    classes: Floats
    """Certainty of each class, (n, n_classes)."""
    leaf: Floats
    """Mean over trees and leaves of the certainty of the leaf's likeliest class, (n,)."""
    counted: Floats
    """Certainty with any number of rows in every leaf."""
    empty: Floats
    """Doubt of leaves without training rows."""
    no_rows: Floats
    """Share of the leaves that have no training rows."""
    n_rows: Floats
    """Training rows in a leaf."""
    sure: Floats
    """Weight of the trees that are sure of each class alone, as a share of the weight of all, (n, n_classes)."""


@dataclass(frozen=True, eq=False)
class LeafCertainty:
    """Certainty of each leaf about the classes."""

    lower: Floats
    """Certainty of each class, (m, n_classes): a probability or a lower bound on it."""
    counts: Floats
    """Class counts of training rows, (m, n_classes)."""
    sure: Floats
    """Weight of the leaf's tree if it is sure of that class alone, else 0, (m, n_classes)."""
    weight: Floats
    """Weight of the leaf's tree, (m,)."""
    row_of: NDArray[np.uint32] | None = None
    """The entry of each leaf where leaves share entries."""

    @classmethod
    def of(cls, lower: LeafTable, counts: DistinctCounts, sure: LeafTable | None = None) -> LeafCertainty:
        """Leaves from tables of lower probabilities, and of the votes for each class with the weight of all.

        Without votes each tree has one, for the class with most training rows in the leaf.
        """
        shared = lower.row_of is counts.row_of and (sure is None or sure.row_of is counts.row_of)
        values = lower.values if shared else lower.of_each_leaf
        rows = counts.counts if shared else counts.of_each_leaf(counts.counts)
        row_of = counts.row_of if shared else None
        if sure is None:
            votes = np.eye(rows.shape[1])[rows.argmax(axis=1)] * rows.any(axis=1, keepdims=True)
            return cls(values, rows, votes, np.ones(len(rows)), row_of)
        votes = sure.values if shared else sure.of_each_leaf
        return cls(values, rows, votes[:, :-1], votes[:, -1], row_of)

    def table(self) -> LeafTable:
        """Linear quantities of each leaf."""
        n_rows = self.counts.sum(axis=1)
        empty = n_rows <= 0
        best = self.lower.max(axis=1)
        frequency = self.counts.max(axis=1) / np.where(empty, 1.0, n_rows)
        columns = [best, np.maximum(best, frequency), empty * (1.0 - best), empty, n_rows, np.ones(len(best))]
        values = np.column_stack([*columns, self.lower, self.sure, self.weight])
        return LeafTable(values, values, *_sums(values.shape[1]), self.row_of)

    def certainties(self) -> LeafTable:
        """Certainty of each class in each leaf, (n_leaves, n_classes)."""
        return LeafTable(self.lower, self.lower, *_sums(self.lower.shape[1]), self.row_of)

    def query(self, tree_weights: Floats | None) -> Query[ClassCertainty]:
        """Query for the certainties about rows."""
        return Query(self.table(), _certainty, tree_weights=tree_weights)


def _sums(n: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    return np.zeros(n, dtype=np.uint8), np.zeros(n, dtype=np.uint8)


def _certainty(folded: Floats, n_trees: int) -> ClassCertainty:
    """Means over the trees, whose weights the sixth column has added up."""
    folded = folded.copy()
    total = folded[:, 5:6]
    leaf, counted, empty, no_rows, n_rows = (folded[:, :5] / total).T
    n_classes = (folded.shape[1] - 7) // 2
    lower, sure = folded[:, 6 : 6 + n_classes] / total, folded[:, 6 + n_classes : -1]
    weight = folded[:, -1:]
    return ClassCertainty(lower, leaf, counted, empty, no_rows, n_rows, sure / np.where(weight > 0, weight, 1.0))


def tree_maxima(of_trees: Floats, tree_weights: Floats | None) -> Floats:
    """Mean over the trees of their certainty of their own likeliest class, (n,), from (n, n_trees, n_classes)."""
    best = of_trees.max(axis=2)
    weights = np.ones(best.shape[1]) if tree_weights is None else tree_weights
    total = np.zeros(len(best))
    for column, weight in zip(best.T, weights, strict=True):  # in the order of the trees, as the core adds
        total += weight * column
    return total / weights.sum()


def rows_at_once(n_trees: int, n_classes: int) -> int:
    """Rows whose certainties of all trees fit into a block of memory."""
    return max(1, _BLOCK_BYTES // (8 * n_trees * n_classes))
