"""The one way in which a tree with fewer nodes is made of another."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow._core import below_marked, node_sums
from hedgerow.forest import Forest
from hedgerow.nodes import LEAF_FEATURE, NO_PAYLOAD, MissingPolicy, NodeKind

__all__ = ["collapse", "cut", "node_errors", "rearranged"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def cut(forest: Forest, nodes: ArrayLike) -> Forest:
    """The forest in which the given nodes are leaves, with the counts (or means) of all that was below them.

    `nodes` are positions in the arrays of the forest, or a mask of them. What is below a node that is cut need not be
    named, and leaves may be.
    """
    marked = np.zeros(forest.n_nodes, dtype=np.uint8)
    given = np.asarray(nodes)
    if given.size:
        marked[given] = 1
    marked[forest.leaf_nodes] = 0
    if not marked.any():
        return forest
    kept = np.flatnonzero(below_marked(forest.parent, marked) == 0)
    is_leaf = (forest.kind[kept] == NodeKind.LEAF) | (marked[kept] == 1)
    new_place = np.zeros(forest.n_nodes, dtype=np.int64)
    new_place[kept] = np.arange(len(kept))
    first_child = np.zeros(len(kept), dtype=np.int64)
    inner = kept[~is_leaf]
    first_child[~is_leaf] = new_place[forest.root[inner] + forest.first_child[inner]] - new_place[forest.root[inner]]
    values = forest.node_stats() if forest.leaf_counts is None else forest.node_counts()
    return rearranged(
        forest,
        kept,
        is_leaf,
        first_child=first_child,
        tree_start=np.searchsorted(kept, forest.tree_start),
        weight=forest.weight[kept],
        leaf_values=values[kept[is_leaf]],
    )


def rearranged(
    forest: Forest,
    source: Ints,
    is_leaf: NDArray[np.bool_],
    *,
    first_child: Ints,
    tree_start: Ints,
    weight: Floats,
    leaf_values: Floats,
) -> Forest:
    """A forest whose nodes ask what the nodes `source` of another ask, or are leaves.

    `first_child` is relative to the root, and not looked at in leaves; `leaf_values` has a row for each leaf, in order.
    """
    leaves_before = np.concatenate([[0], np.cumsum(is_leaf)])
    leaf_start = leaves_before[tree_start]
    leaf_number = leaves_before[:-1] - np.repeat(leaf_start[:-1], np.diff(tree_start))
    kind = np.where(is_leaf, NodeKind.LEAF, forest.kind[source]).astype(np.uint8)

    old = np.where(is_leaf, NO_PAYLOAD, forest.payload[source])
    used = old[old != NO_PAYLOAD]
    lengths = np.diff(forest.payload_start)[used]
    payload_start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    entries = np.repeat(forest.payload_start[used] - payload_start[:-1], lengths) + np.arange(payload_start[-1])
    has_weights = bool((kind == NodeKind.OBLIQUE).any())
    return Forest.derived(
        n_features=forest.n_features,
        threshold=np.where(is_leaf, np.nan, forest.threshold[source]),
        weight=np.ascontiguousarray(weight),
        feature=np.where(is_leaf, LEAF_FEATURE, forest.feature[source]).astype(np.int32),
        first_child=np.where(is_leaf, leaf_number, first_child).astype(np.int32),
        payload=np.where(old == NO_PAYLOAD, NO_PAYLOAD, np.cumsum(old != NO_PAYLOAD) - 1).astype(np.int32),
        kind=kind,
        missing=np.where(is_leaf, MissingPolicy.SPREAD, forest.missing[source]).astype(np.uint8),
        tree_start=tree_start.astype(np.int64),
        leaf_start=leaf_start.astype(np.int64),
        payload_start=payload_start,
        payload_codes=forest.payload_codes[entries],
        payload_weights=forest.payload_weights[entries] if has_weights else np.zeros(0),
        leaf_counts=None if forest.leaf_counts is None else np.ascontiguousarray(leaf_values),
        leaf_stats=np.ascontiguousarray(leaf_values) if forest.leaf_counts is None else None,
    )


def node_errors(counts: Floats) -> Floats:
    """Training errors of nodes with these class counts, if they were leaves."""
    errors: Floats = counts.sum(axis=1) - counts.max(axis=1)
    return errors


def collapse(forest: Forest) -> Forest:
    """The forest without subtrees that save no training error, from the root down (C4.5, as Weka's J48 does it).

    A node becomes a leaf if its leaves make at least as many training errors as it would, less a thousandth of one.
    """
    errors = node_errors(forest.node_counts())
    below = np.zeros((forest.n_nodes, 1))
    below[forest.leaf_nodes, 0] = errors[forest.leaf_nodes]
    node_sums(forest.parent, below)
    return cut(forest, below[:, 0] >= errors - 1e-3)
