"""Size of the smallest node that is split, chosen after growth: one growth, cut at several sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow.estimators.fitting.calibration import CALIBRATION_ROWS, thinning
from hedgerow.folds import Mean
from hedgerow.forest.forest import Forest
from hedgerow.pruning.subtrees import cut, leaves_after_cut
from hedgerow.walk import LeafTable

if TYPE_CHECKING:
    from hedgerow.estimators.fitting.bagging import OutOfBag

__all__ = ["NodeSizes", "best_size"]

LeafRows = tuple[NDArray[np.int64], NDArray[np.int32], Floats]
"""Starts, rows and weights: leaf i has start[i] .. start[i + 1]."""


@dataclass(frozen=True)
class NodeSizes:
    """A forest as it would be if nodes below some size were leaves, for several sizes at once.

    Weights fall from a node to its children, so that cutting every node lighter than a size gives the forest that
    would have grown with this size as the least that is split (in units of weight; growth draws by path).
    """

    forest: Forest
    sizes: Sequence[int]
    """Least weight of a node that is split, ascending."""
    values: Floats
    """Class counts (regression: moments) of all nodes, (n_nodes, n_classes or 3)."""

    @classmethod
    def of(cls, forest: Forest, sizes: Sequence[int]) -> NodeSizes:
        values = forest.node_stats() if forest.leaf_counts is None else forest.node_counts()
        return cls(forest, sizes, values)

    def small(self, size: int) -> NDArray[np.bool_]:
        """Nodes that a size makes leaves."""
        return self.forest.weight < size - 1e-9

    def cut(self, size: int) -> Forest:
        """The forest with leaves instead of nodes below this size."""
        return cut(self.forest, self.small(size), self.values)

    def nodes(self) -> list[NDArray[np.int64]]:
        """Node that each leaf's rows end in, (n_leaves,), for each size."""
        return [leaves_after_cut(self.forest, self.small(size)) for size in self.sizes]

    def tables(self, table: LeafTable) -> list[LeafTable]:
        """Table of the leaves for each size, from the one of all nodes."""
        return [replace(table, row_of=nodes.astype(np.uint32)) for nodes in self.nodes()]

    def gather(self, leaf_rows: LeafRows, size: int) -> LeafRows:
        """Rows of the leaves of `cut(size)`, from those of the leaves that were grown."""
        start, rows, weights = leaf_rows
        ends = leaves_after_cut(self.forest, self.small(size))
        leaf = np.unique(ends, return_inverse=True)[1]  # leaves are numbered in the order of nodes
        leaf_of_row = np.repeat(leaf, np.diff(start))
        order = np.argsort(leaf_of_row, kind="stable")
        return np.concatenate([[0], np.cumsum(np.bincount(leaf_of_row))]), rows[order], weights[order]


def best_size(bags: OutOfBag, sizes: Sequence[int], targets: Floats, weight: Floats) -> int:
    """Size with the least squared error of out-of-bag means, the smallest of equals; of many rows some decide."""
    kept = thinning(len(targets), CALIBRATION_ROWS)
    if len(targets) > CALIBRATION_ROWS:
        bags = bags.of_rows(np.arange(len(targets))[kept])
    cuts = bags.node_sizes(sizes)
    folded, n_trees, unseen = bags.folds(cuts.tables(LeafTable.of(Mean().table(cuts.values, None))))
    if not unseen.any():
        return sizes[0]
    truth, weight = targets[kept][unseen], weight[kept][unseen]
    losses = [(weight * (truth - (one / n_trees)[:, 0]) ** 2).sum() for one in folded]
    return sizes[int(np.argmin(losses))]
