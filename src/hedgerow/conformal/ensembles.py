"""Answers about new rows by the trees that have not drawn a training row, for every training row at once.

One walk keeps the values of each tree apart. The trees of an ensemble are added up eight at a time, from the sums
of all 256 subsets of eight trees (the method of four Russians: Arlazarov, Dinic, Kronrod and Faradžev, 1970).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._registry import register
from hedgerow.walk import LeafTable, Query, Walk
from hedgerow.walk.leaf_table import apply_links

__all__ = ["Ensembles"]

Floats = NDArray[np.float64]
Bytes = NDArray[np.uint8]

_CHUNK_BYTES = 1 << 20  # of the values of all ensembles about some new rows: as much as a cache holds
_REDUCE = (np.add, np.minimum, np.maximum)  # by op of a leaf table
_NEUTRAL = (0.0, np.inf, -np.inf)


@partial(register, name="hedgerow.conformal.Ensembles")
@dataclass(frozen=True, eq=False)
class Ensembles:
    """Ensembles of the trees of a forest, one for each of n training rows: those that it is out of the bag of.

    >>> Ensembles.of(np.array([[0b01], [0b10], [0b00]], dtype=np.uint8), np.array([0, 1]), 3).n_used()
    array([[2.],
           [2.]])
    """

    members: Bytes
    """Bit mask of the trees of each ensemble, (n, ceil(n_trees / 8))."""
    n_trees: int

    def __post_init__(self) -> None:
        if (
            self.members.ndim != 2
            or self.members.dtype != np.uint8
            or not 0 < self.n_trees <= 8 * self.members.shape[1]
        ):
            raise ValueError("ensembles have no bit for each tree")
        if not self.members.any(axis=1).all():
            raise ValueError("an ensemble has no trees")

    @classmethod
    def of(cls, seen: Bytes, rows: NDArray[np.intp], n_trees: int) -> Ensembles:
        """Ensembles of some rows, from the rows that each tree has seen: a bit mask, (n_trees, ceil(n_rows / 8))."""
        in_bag = (seen[:, rows >> 3] >> (rows & 7).astype(np.uint8)) & 1
        return cls(np.packbits(1 - in_bag.T, axis=1, bitorder="little"), n_trees)

    def n_used(self, tree_weights: Floats | None = None) -> Floats:
        """Number of trees of each ensemble, or the sum of their weights, (n, 1)."""
        weights = np.ones(self.n_trees) if tree_weights is None else tree_weights
        return self._add_up(weights[np.newaxis, :, np.newaxis], 0)[0]

    def answer(
        self, walk: Walk, rows: Floats, queries: Mapping[str, Query[Any]], tree_weights: Floats | None = None
    ) -> Iterator[tuple[slice, dict[str, Any]]]:
        """Answers of all ensembles about new rows, some rows at a time: which rows, and answers by verb.

        Answers are those of queries, about row 0 by every ensemble, then about row 1, and so on.
        """
        tables = {id(query.table): query.table for query in queries.values()}
        n_used = self.n_used(tree_weights)
        if not n_used.all():
            raise ValueError("tree_weights leaves a calibration row no tree that has not drawn it: fit again")
        width = sum(len(table.ops) for table in tables.values())
        n_at_once = max(1, _CHUNK_BYTES // (8 * width * len(self.members)))
        for first in range(0, len(rows), n_at_once):
            some = rows[first : first + n_at_once]
            apart = walk.fold(some, [_without_links(table) for table in tables.values()], per_tree=[True] * len(tables))
            folded = {
                number: self._fold(values, table, tree_weights)
                for (number, table), values in zip(tables.items(), apart, strict=True)
            }
            repeated = np.tile(n_used, (len(some), 1))
            yield (
                slice(first, first + len(some)),
                {verb: query.finish(folded[id(query.table)], repeated) for verb, query in queries.items()},
            )

    def _fold(self, values: Floats, table: LeafTable, tree_weights: Floats | None) -> Floats:
        """Fold the values of single trees, (k, n_trees, m), over each ensemble: (k · n, m)."""
        linked = apply_links(values.reshape(-1, values.shape[2]), table.links).reshape(values.shape)
        folded = np.empty((len(values), len(self.members), values.shape[2]))
        for op in np.unique(table.ops):
            columns = table.ops == op
            chosen = linked[..., columns]
            if tree_weights is not None:
                weights = tree_weights[:, np.newaxis]
                chosen = np.where(weights > 0, chosen * weights if op == 0 else chosen, _NEUTRAL[op])
            folded[..., columns] = self._add_up(chosen, op)
        return folded.reshape(-1, values.shape[2])

    def _add_up(self, values: Floats, op: int) -> Floats:
        """Sum, minimum or maximum of values (k, n_trees, m) over each ensemble: (k, n, m).

        No matrix product: BLAS adds in an order that depends on the number of rows, and so would the last bits.
        """
        reduce, (n_rows, _, width), n_bytes = _REDUCE[op], values.shape, self.members.shape[1]
        padded = np.full((n_rows, 8 * n_bytes, width), _NEUTRAL[op])
        padded[:, : self.n_trees] = values
        eights = padded.reshape(n_rows, n_bytes, 8, width)
        found = np.full((n_rows, len(self.members), width), _NEUTRAL[op])
        for number in range(n_bytes):
            of_subset = np.full((n_rows, 256, width), _NEUTRAL[op])
            for bit in range(8):  # subsets whose last member this is: those without it, and it
                reduce(
                    of_subset[:, : 1 << bit], eights[:, number, bit : bit + 1], out=of_subset[:, 1 << bit : 2 << bit]
                )
            reduce(found, of_subset[:, self.members[:, number]], out=found)
        return found


def _without_links(table: LeafTable) -> LeafTable:
    """Table whose columns are plain sums, which the core can keep apart by tree."""
    if not table.links.any() and table.adds_up:
        return table
    plain = np.zeros_like(table.ops)
    return LeafTable(table.values, table.values, plain, plain, table.row_of)
