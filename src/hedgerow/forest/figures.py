"""Figures derived from the arrays of a Forest; its methods and attributes of the same names compute them here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._arrays import Floats
from hedgerow.forest.kinds import NO_PAYLOAD, MissingPolicy, NodeKind

if TYPE_CHECKING:
    from hedgerow.forest.forest import Forest

__all__ = [
    *("all_spread", "answer_counts", "expanded_counts", "leaf_boxes", "n_children", "no_payloads", "node_stats"),
    *("split_features", "summed_weights"),
]

# --- Arrays that a forest made by the core may leave out --------------------------------------------------------


def expanded_counts(forest: Forest) -> Floats:
    """`leaf_counts` from `distinct_counts`."""
    distinct = forest.distinct_counts
    counts: Floats = distinct.of_each_leaf(distinct.counts)
    counts.flags.writeable = False
    return counts


def summed_weights(forest: Forest) -> Floats:
    """`weight` of trees whose training rows all have complete values: the sum of the counts below each node."""
    distinct = forest.distinct_counts
    per_leaf = distinct.of_each_leaf(distinct.counts.sum(axis=1, keepdims=True))
    weight: Floats = _core.node_sums(forest.core, per_leaf)[:, 0]
    weight.flags.writeable = False
    return weight


def no_payloads(forest: Forest) -> NDArray[np.int32]:
    """`payload` of a forest without ragged splits."""
    payload = np.full(forest.n_nodes, NO_PAYLOAD, dtype=np.int32)
    payload.flags.writeable = False
    return payload


def all_spread(forest: Forest) -> NDArray[np.uint8]:
    """`missing` of a forest that spreads missing values at every node."""
    missing = np.full(forest.n_nodes, MissingPolicy.SPREAD, dtype=np.uint8)
    missing.flags.writeable = False
    return missing


# --- Figures per node or leaf -----------------------------------------------------------------------------------


def n_children(forest: Forest) -> NDArray[np.int64]:
    """Number of children of each node."""
    n = np.where(forest.kind == NodeKind.LEAF, 0, 2)
    multiway = forest.kind == NodeKind.MULTIWAY
    if multiway.any():
        largest = np.maximum.reduceat(forest.payload_codes, forest.payload_start[:-1])
        n[multiway] = largest[forest.payload[multiway]] + 1
    n += forest.missing == MissingPolicy.OWN_BRANCH
    return n


def split_features(forest: Forest) -> NDArray[np.bool_]:
    """Whether any node splits on each feature."""
    used = np.zeros(forest.n_features, dtype=np.bool_)
    used[forest.feature[forest.feature >= 0]] = True
    for payload in forest.payload[forest.kind == NodeKind.OBLIQUE]:
        used[forest.payload_codes[forest.payload_start[payload] : forest.payload_start[payload + 1]]] = True
    return used


def answer_counts(forest: Forest) -> Floats:
    """Counts of each leaf; those of its nearest non-empty ancestor if it has none."""
    empty = np.flatnonzero(~forest.counts.any(axis=1))
    if not len(empty):
        return forest.counts
    counts_of_nodes, parent = forest.node_counts(), forest.parent
    nodes = forest.leaf_nodes[empty]
    while (climbing := ~counts_of_nodes[nodes].any(axis=1) & (parent[nodes] >= 0)).any():
        nodes[climbing] = parent[nodes[climbing]]
    answers = forest.counts.copy()
    answers[empty] = counts_of_nodes[nodes]
    return answers


def node_stats(forest: Forest) -> Floats:
    """Weight, mean and sum of squared deviations of each node, merged from its leaves."""
    stats = np.zeros((forest.n_nodes, 3))
    stats[forest.leaf_nodes] = forest.stats
    _core.node_stats(forest.parent, stats)
    return stats


def leaf_boxes(forest: Forest, tree: int) -> Floats:
    """Box of each leaf of a tree; only threshold splits narrow it."""
    start, end = forest.tree_start[tree], forest.tree_start[tree + 1]
    box = np.empty((end - start, forest.n_features, 2))
    box[0] = -np.inf, np.inf
    for node in np.flatnonzero(forest.kind[start:end] != NodeKind.LEAF):
        at = start + node
        first = forest.first_child[at]
        box[first : first + forest.n_children[at]] = box[node]
        if forest.kind[at] == NodeKind.THRESHOLD:
            feature, threshold = forest.feature[at], forest.threshold[at]
            box[first, feature, 1] = min(threshold, box[node, feature, 1])
            box[first + 1, feature, 0] = max(threshold, box[node, feature, 0])
    return box[forest.kind[start:end] == NodeKind.LEAF]
