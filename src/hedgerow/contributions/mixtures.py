"""Contributions of spread rows whose leaves are mixed before taking logarithms.

A tree answers a row that reaches leaves with weights s by log Σ s·p, not by Σ s·log p, which Shapley values divide. The
difference δ ≥ 0 exists only where the row is spread: it is the worth of knowing which columns M of the tree have no
value, a game in which all of M are needed. Its Shapley values are δ/|M|, its interaction index of two columns of M is
δ/(|M| - 1).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.forest.forest import Forest
from hedgerow.walk import LeafTable, spread
from hedgerow.walk.leaf_table import apply_links

__all__ = ["MixtureGain", "mixture_gains"]

Floats = NDArray[np.float64]

_ROWS_AT_ONCE = 256


@dataclass(frozen=True)
class MixtureGain:
    """Contributions of one tree for one row."""

    row: int
    columns: NDArray[np.int64]
    """At which it is spread."""
    linked: Floats
    """log Σ s·p - Σ s·log p for each column of the table, times the weight of the tree."""

    def add(self, scale: Floats, values: Floats, pairs: Floats | None) -> None:
        """Divide the gain among the columns, in place: values (n, n_columns, outputs), pairs one axis more."""
        gain, n = self.linked @ scale, len(self.columns)
        values[self.row, self.columns] += gain / n
        if pairs is None:
            return
        if n > 1:
            pairs[self.row][np.ix_(self.columns, self.columns)] += gain / (2 * (n - 1))
            pairs[self.row, self.columns, self.columns] -= gain / (2 * (n - 1))
        pairs[self.row, self.columns, self.columns] += gain / n - (gain / 2 if n > 1 else 0.0)


def mixture_gains(forest: Forest, rows: Floats, table: LeafTable, tree_weights: Floats | None) -> Iterator[MixtureGain]:
    """Gain of every row and tree in which the row reaches several leaves."""
    odd = np.flatnonzero(np.isnan(rows).any(axis=1)) if forest.only_thresholds else np.arange(len(rows))
    weights = np.ones(forest.n_trees) if tree_weights is None else tree_weights
    for first in range(0, len(odd), _ROWS_AT_ONCE):
        members = odd[first : first + _ROWS_AT_ONCE]
        reached = spread(forest, np.ascontiguousarray(rows[members]))
        row = np.repeat(np.arange(len(members)), np.diff(reached.indptr))
        tree = np.searchsorted(forest.leaf_start, reached.indices, side="right") - 1
        starts = np.flatnonzero(np.diff(row * forest.n_trees + tree, prepend=-1))
        ends = np.append(starts[1:], len(row))
        for start, end in zip(starts, ends, strict=True):
            if end - start > 1:
                of_tree = slice(start, end)
                leaves, shares = reached.indices[of_tree].astype(np.int64), reached.data[of_tree]
                gain = _gain(table, leaves, shares) * weights[tree[start]]
                yield MixtureGain(int(members[row[start]]), _spread_columns(forest, leaves), gain)


def _gain(table: LeafTable, leaves: NDArray[np.int64], shares: Floats) -> Floats:
    at = leaves if table.row_of is None else table.row_of[leaves]
    mean = (shares[:, np.newaxis] * table.values[at]).sum(axis=0, keepdims=True)
    gain: Floats = apply_links(mean, table.links)[0] - (shares[:, np.newaxis] * table.linked[at]).sum(axis=0)
    return gain


def _spread_columns(forest: Forest, leaves: NDArray[np.int64]) -> NDArray[np.int64]:
    """Columns of the nodes of which several children are on the paths to these leaves of a tree."""
    node = np.unique(forest.leaf_nodes[leaves])
    on_paths = [node]
    while len(node := np.unique(forest.parent[node])) and (node := node[node >= 0]).size:
        on_paths.append(node)
    parents = forest.parent[np.unique(np.concatenate(on_paths))]
    nodes, n_children = np.unique(parents[parents >= 0], return_counts=True)
    return np.unique(forest.feature[nodes[n_children > 1]]).astype(np.int64)
