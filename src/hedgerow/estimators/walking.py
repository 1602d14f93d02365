"""How rows reach leaves: down the questions of a forest, or into several regions at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.forest import Forest
from hedgerow.walk import LeafTable, fold, gather, route, spread, weighted_sums

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["ForestWalk", "SoftWalk", "Walk"]

Floats = NDArray[np.float64]


class Walk(Protocol):
    """What estimators that answer from leaves ask of the trees; see :mod:`hedgerow.walk`."""

    @property
    def forest(self) -> Forest:
        """The trees."""

    def route(self, rows: Floats) -> NDArray[np.int32]:
        """The leaf of each row in each tree, (n, n_trees)."""

    def fold(self, rows: Floats, tables: Sequence[LeafTable], tree_weights: Floats | None = None) -> list[Floats]:
        """Each table folded over the trees."""

    def gather(self, rows: Floats, table: LeafTable) -> Floats:
        """The row of each leaf that is reached, (n, n_trees, m), of a table without links."""

    def spread(self, rows: Floats) -> csr_array:
        """The weight with which each row reaches each leaf, (n, n_leaves)."""

    def divided(self, rows: Floats) -> NDArray[np.bool_]:
        """Which rows may reach several leaves of a tree."""


@dataclass(frozen=True)
class ForestWalk:
    """Rows walk down the trees."""

    forest: Forest
    n_jobs: int | None

    def route(self, rows: Floats) -> NDArray[np.int32]:
        return route(self.forest, rows, n_jobs=self.n_jobs)

    def fold(self, rows: Floats, tables: Sequence[LeafTable], tree_weights: Floats | None = None) -> list[Floats]:
        return fold(self.forest, rows, tables, tree_weights=tree_weights, n_jobs=self.n_jobs)

    def gather(self, rows: Floats, table: LeafTable) -> Floats:
        return gather(self.forest, rows, table, n_jobs=self.n_jobs)

    def spread(self, rows: Floats) -> csr_array:
        return spread(self.forest, rows, n_jobs=self.n_jobs)

    def divided(self, rows: Floats) -> NDArray[np.bool_]:
        if not (self.forest.payload_codes < 0).any():
            return np.asarray(np.isnan(rows).any(axis=1))
        # A node may have no branch for a category that others know: only the walk can tell.
        leaves = route(self.forest, rows, heaviest=False, n_jobs=self.n_jobs)
        return np.asarray((leaves < 0).any(axis=1))


@dataclass(frozen=True)
class SoftWalk:
    """Rows are in every leaf of the one tree, in proportion to `membership` of them, (n, n_leaves)."""

    forest: Forest
    membership: Callable[[Floats], Floats]

    def route(self, rows: Floats) -> NDArray[np.int32]:
        leaves: NDArray[np.int32] = self.membership(rows).argmax(axis=1).astype(np.int32)
        return leaves[:, np.newaxis]

    def fold(self, rows: Floats, tables: Sequence[LeafTable], tree_weights: Floats | None = None) -> list[Floats]:
        shares = self.membership(rows)
        weight = 1.0 if tree_weights is None else float(tree_weights[0])
        folded = []
        for table in tables:
            mean = weighted_sums(shares, table.of_each_leaf)
            mean[:, table.logs == 1] = np.log(mean[:, table.logs == 1])
            folded.append(np.where(table.ops == 0, weight * mean, mean))
        return folded

    def gather(self, rows: Floats, table: LeafTable) -> Floats:
        return weighted_sums(self.membership(rows), table.of_each_leaf)[:, np.newaxis]

    def spread(self, rows: Floats) -> csr_array:
        from scipy.sparse import csr_array

        return csr_array(self.membership(rows))

    def divided(self, rows: Floats) -> NDArray[np.bool_]:
        return np.ones(len(rows), dtype=bool)
