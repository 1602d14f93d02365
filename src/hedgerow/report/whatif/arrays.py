"""Forests, leaf tables and leaf samples as JSON that ``walker.js`` reads."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow._core import node_sums
from hedgerow.forest.forest import Forest
from hedgerow.forest.kinds import MissingPolicy, NodeKind
from hedgerow.report.whatif.packing import pack
from hedgerow.walk import LeafTable
from hedgerow.walk.quantiles import LeafSamples

__all__ = ["forest_to_json", "samples_to_json", "table_to_json"]

_LINKS = ("identity", "log", "entropy")
_OPS = ("sum", "min", "max")


def forest_to_json(forest: Forest) -> dict[str, Any]:
    """Pack what a walk reads. What follows from the rest is left out: leaf numbers, and weights that add up."""
    inner = forest.kind != NodeKind.LEAF
    threshold = forest.threshold[inner]
    found = {
        "n_features": int(forest.n_features),
        "tree_sizes": pack(np.diff(forest.tree_start)),
        "feature": pack(forest.feature),
        "threshold": pack(np.where(np.isnan(threshold), 0.0, threshold)),
        "first_child": pack(forest.first_child[inner]),
    }
    of_leaves = np.ascontiguousarray(forest.weight[forest.leaf_nodes])
    sums = node_sums(forest.core, of_leaves[:, np.newaxis])[:, 0]
    if np.allclose(sums, forest.weight, rtol=1e-14, atol=0):
        found["leaf_weight"] = pack(of_leaves)
    else:
        found["weight"] = pack(forest.weight)
    if (forest.missing[inner] != MissingPolicy.SPREAD).any():
        found["missing"] = pack(forest.missing[inner])
    if not forest.only_thresholds:
        found |= {
            "kind": pack(forest.kind[inner]),
            "payload": pack(forest.payload[inner]),
            "payload_start": pack(forest.payload_start),
            "payload_codes": pack(forest.payload_codes),
            "payload_weights": pack(forest.payload_weights),
        }
        if forest.payload_means is not None:
            found["payload_means"] = pack(forest.payload_means)
    return found


def table_to_json(table: LeafTable) -> dict[str, Any]:
    """Pack linear values, each different row once; links are applied in the browser."""
    rows, row_of = _distinct_rows(table.values)
    if table.row_of is not None:
        row_of = row_of[table.row_of]
    shared = len(rows) * 2 < table.n_leaves
    return {
        "values": pack(rows if shared else table.of_each_leaf),
        "row_of": pack(row_of) if shared else None,
        "links": [_LINKS[link] for link in table.links],
        "ops": [_OPS[op] for op in table.ops],
    }


def _distinct_rows(values: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Different rows, and which of them each row is. Rows are compared as bytes, several times as fast as by column."""
    plain = np.ascontiguousarray(values + 0.0)  # no -0.0
    as_bytes = plain.view(np.dtype((np.void, plain.itemsize * plain.shape[1])))[:, 0]
    _, first, index = np.unique(as_bytes, return_index=True, return_inverse=True)
    return plain[first], index


def samples_to_json(samples: LeafSamples) -> dict[str, Any]:
    """Pack the training targets of leaves."""
    return {
        "sizes": pack(np.diff(samples.start)),
        "ranks": pack(samples.ranks),
        "shares": pack(samples.shares) if samples.shares.size else None,
        "values": pack(samples.values),
    }
