"""Paths of rows down the trees: splits of a single tree as sentences, and the columns of all splits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hedgerow._printable import printable
from hedgerow.data.table import Schema
from hedgerow.explain.reached_leaves import heaviest_leaf
from hedgerow.explain.sentences import path_sentences
from hedgerow.forest.forest import Forest
from hedgerow.forest.kinds import NodeKind
from hedgerow.forest.splits import Split
from hedgerow.walk import HardWalk, Walk, route

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["RowPaths", "row_paths"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RowPaths:
    """Paths of a row down the trees."""

    path: tuple[str, ...]
    """Splits of a single tree, as sentences; empty for several trees."""
    leaves: NDArray[np.int64]
    """Numbers of the leaves of a single tree that the row reaches; several where a value is missing."""
    weights: Floats
    """Weight with which it reaches each of them."""
    columns: dict[str, float]
    """Share of each column in the splits on the paths of all trees; the largest first."""
    missing: tuple[str, ...]
    """Columns whose value is missing, or is a category that was not seen in `fit`."""


def row_paths(walk: Walk, schema: Schema, rows: Floats, reached: csr_array | None) -> list[RowPaths]:
    """Path of each row; `reached` is the spread of the rows of a single tree, where it is known."""
    forest = walk.forest
    single = forest.n_trees == 1
    if single and reached is None:
        reached = walk.spread(rows)
    if reached is None or not isinstance(walk, HardWalk):
        leaves = route(forest, rows) + forest.leaf_start[:-1]
    else:  # saves a walk
        of_rows = np.split(reached.indices.astype(np.int64), reached.indptr[1:-1])
        leaves = np.array([[heaviest_leaf(forest, found)] for found in of_rows], dtype=np.int64).reshape(-1, 1)
    n_splits = _splits_by_feature(forest, leaves)
    all_paths = []
    for i, row in enumerate(rows):
        total = n_splits[i].sum()
        order = np.argsort(-n_splits[i], kind="stable")
        of_row = slice(0, 0) if reached is None else slice(reached.indptr[i], reached.indptr[i + 1])
        all_paths.append(
            RowPaths(
                path_sentences(forest, schema, int(leaves[i, 0]), row) if single else (),
                np.empty(0, np.int64) if reached is None else reached.indices[of_row].astype(np.int64),
                np.empty(0) if reached is None else reached.data[of_row],
                {schema.names[j]: float(n_splits[i, j] / total) for j in order if n_splits[i, j]},
                tuple(printable(schema.names[j]) for j in np.flatnonzero(np.isnan(row))),
            )
        )
    return all_paths


def _splits_by_feature(forest: Forest, leaves: NDArray[np.int64]) -> Floats:
    """Count the splits on each feature on the paths to these leaves, (n, n_features).

    An oblique split counts for its columns in equal parts.
    """
    n_splits = np.zeros((len(leaves), forest.n_features))
    nodes = forest.parent[forest.leaf_nodes[leaves]]
    row = np.broadcast_to(np.arange(len(leaves))[:, np.newaxis], nodes.shape)
    while (inner := nodes >= 0).any():
        feature = forest.feature[nodes]
        counted = inner & (feature >= 0)
        np.add.at(n_splits, (row[counted], feature[counted]), 1)
        oblique = inner & (forest.kind[nodes] == NodeKind.OBLIQUE)
        for of_row, node in zip(row[oblique].tolist(), nodes[oblique].tolist(), strict=True):
            columns = Split(forest, node).features
            n_splits[of_row, columns] += 1 / len(columns)
        nodes = np.where(inner, forest.parent[nodes], -1)
    return n_splits
