"""Leave-one-out answers of trees whose structure was drawn without labels.

Only the counts in the leaves know a row's label: its held-out evidence is the counts of its leaves less its own weight,
exactly, for every rule that folds, in one walk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow.estimators.fitting.calibration import thinning
from hedgerow.estimators.fitting.node_sizes import NodeSizes
from hedgerow.forest.counts import DistinctCounts
from hedgerow.forest.forest import Forest
from hedgerow.rules import FoldRule
from hedgerow.walk import LeafTable, fold, spread
from hedgerow.walk.leaf_table import apply_links, fold_trees

__all__ = ["LeaveOneOut"]

Codes = NDArray[np.int32]

_MOST_GROUPS = 32  # of rows with the same class and weight, which share a table
_ENTRIES_AT_ONCE = 1 << 20  # leaves reached by rows


@dataclass(frozen=True)
class LeaveOneOut:
    """Training rows of a forest, with their classes and weights as they were counted in its leaves."""

    forest: Forest
    rows: Floats
    codes: Codes
    weight: Floats
    n_jobs: int | None

    def thinned(self, most: int) -> LeaveOneOut:
        """At most this many of the rows."""
        kept = thinning(len(self.rows), most)
        rows = np.ascontiguousarray(self.rows[kept])
        return replace(self, rows=rows, codes=self.codes[kept], weight=self.weight[kept])

    def folds(self, rule: FoldRule, prior: Floats, cuts: NodeSizes) -> list[Floats]:
        """Fold of each row over all trees without its own counts, (n, m), for each size of `cuts`."""
        nodes = cuts.nodes()
        groups, group = np.unique(np.column_stack([self.codes, self.weight]), axis=0, return_inverse=True)
        spreads = np.isnan(self.rows).any(axis=1) | (len(groups) > _MOST_GROUPS)
        out = [np.empty((len(self.rows), 0))] * len(nodes)
        distinct = DistinctCounts.of(cuts.values)
        row_of = np.arange(len(cuts.values), dtype=np.uint32) if distinct.row_of is None else distinct.row_of
        for number, (code, weight) in enumerate(groups):
            members = np.flatnonzero((group == number) & ~spreads)
            if len(members):
                table = rule.leaf_table(_without(distinct.counts, int(code), weight), prior)
                tables = [replace(table, row_of=row_of[ends]) for ends in nodes]
                found = fold(self.forest, np.ascontiguousarray(self.rows[members]), tables, n_jobs=self.n_jobs)
                out = [_put(one, members, values) for one, values in zip(out, found, strict=True)]
        for members in self._chunks(np.flatnonzero(spreads)):
            found = [self._fold_entries(rule, prior, cuts.values, ends, members) for ends in nodes]
            out = [_put(one, members, values) for one, values in zip(out, found, strict=True)]
        return out

    def share_of_lone_leaves(self) -> float:
        """Share of the leaves reached by rows that hold nothing but the row itself."""
        lone = LeafTable.of(self.forest.counts.sum(axis=1, keepdims=True))
        positive = self.weight > 0
        rows = np.ascontiguousarray(self.rows[positive])
        held = fold(self.forest, rows, [lone], per_tree=[True], n_jobs=self.n_jobs)[0][..., 0]
        return float((held <= self.weight[positive, np.newaxis] * (1 + 1e-9)).mean()) if len(rows) else 0.0

    def _chunks(self, members: NDArray[np.intp]) -> Sequence[NDArray[np.intp]]:
        at_once = max(1, _ENTRIES_AT_ONCE // (4 * self.forest.n_trees))
        return [members[first : first + at_once] for first in range(0, len(members), at_once)]

    def _fold_entries(
        self, rule: FoldRule, prior: Floats, counts: Floats, ends: NDArray[np.int64], members: NDArray[np.intp]
    ) -> Floats:
        """Folds of rows that reach several leaves of a tree, or have weights of their own, leaf by leaf."""
        reached = spread(self.forest, np.ascontiguousarray(self.rows[members]), n_jobs=self.n_jobs)
        row = np.repeat(np.arange(len(members)), np.diff(reached.indptr))
        # Leaves below the same cut node are one leaf.
        key, position = np.unique(row * self.forest.n_nodes + ends[reached.indices], return_inverse=True)
        share = np.bincount(position, weights=reached.data)
        row, node = np.divmod(key, self.forest.n_nodes)
        held = counts[node].copy()
        own = np.arange(len(node)), self.codes[members[row]]
        held[own] -= self.weight[members[row]] * share
        held[own] = np.where(held[own] > 1e-9 * counts[node][own], held[own], 0.0)  # what rounding leaves is nothing
        table = rule.leaf_table(held, prior)
        tree = np.searchsorted(self.forest.tree_start, node, side="right")
        starts = np.flatnonzero(np.diff(row * (self.forest.n_trees + 1) + tree, prepend=-1))
        means = np.add.reduceat(table.values * share[:, np.newaxis], starts, axis=0)
        linked = apply_links(means, table.links).reshape(len(members), self.forest.n_trees, -1)
        return fold_trees(linked, table.ops)


def _without(counts: Floats, code: int, weight: float) -> Floats:
    """Counts less a row of this class and weight; nodes that hold no such row keep none of the class."""
    reduced = counts.copy()
    reduced[:, code] = np.maximum(reduced[:, code] - weight, 0.0)
    return reduced


def _put(out: Floats, members: NDArray[np.intp], values: Floats) -> Floats:
    if not out.shape[1]:
        out = np.empty((len(out), values.shape[1]))
    out[members] = values
    return out
