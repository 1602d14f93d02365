"""A tree from its upper levels and the trees below their nodes, numbered as growth numbers it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow.forest.forest import Forest
from hedgerow.forest.kinds import NodeKind

__all__ = ["TopNode", "TopSplit", "join"]


@dataclass(frozen=True)
class TopSplit:
    """A split as a forest has it."""

    kind: int
    feature: int
    threshold: float
    payload: NDArray[np.int32]
    children: range


@dataclass
class TopNode:
    """A node of the upper levels: split, a leaf with these counts, or the root of a tree that is given."""

    key: int
    depth: int
    counts: Floats = field(default_factory=lambda: np.empty(0))
    split: TopSplit | None = None


def join(top: Sequence[TopNode], below: Mapping[int, Forest], n_features: int) -> Forest:
    """The whole tree: nodes breadth first, payloads in the order of growth, which is depth first."""
    payloads, first_payload = _payloads(top, below)
    columns = _top_columns(top, below, first_payload)
    parts = [columns]
    n_nodes, n_leaves = len(top), len(columns["counts"])
    for number, forest in below.items():
        part = _below_columns(forest, n_nodes, n_leaves, first_payload[number])
        for name in _OF_NODES:  # the root stands among the upper levels
            columns[name][number] = part[name][0]
        parts.append(part)
        n_nodes, n_leaves = n_nodes + forest.n_nodes, n_leaves + forest.n_leaves
    joined = {name: np.concatenate([part[name] for part in parts]) for name in columns}
    order = _breadth_first(joined["first_child"], joined["n_children"])
    found = {name: joined[name][order] for name in _OF_NODES}
    is_leaf, n_children = found["n_children"] == 0, found["n_children"]
    leaves = joined["counts"][found["leaf"][is_leaf]]
    first_child = np.where(is_leaf, np.cumsum(is_leaf) - 1, 1 + np.cumsum(n_children) - n_children)
    return Forest(
        n_features=n_features,
        threshold=found["threshold"],
        weight=found["weight"],
        feature=found["feature"],
        first_child=first_child.astype(np.int32),
        payload=found["payload"],
        kind=found["kind"],
        missing=found["missing"],
        tree_start=np.array([0, len(order)]),
        leaf_start=np.array([0, len(leaves)]),
        payload_start=np.cumsum([0, *map(len, payloads)]),
        payload_codes=np.concatenate([np.empty(0, np.int32), *payloads]),
        payload_weights=np.empty(0),
        leaf_counts=leaves,
    )


_OF_NODES = ("threshold", "feature", "weight", "payload", "kind", "missing", "n_children", "first_child", "leaf")


def _payloads(top: Sequence[TopNode], below: Mapping[int, Forest]) -> tuple[list[NDArray[np.int32]], dict[int, int]]:
    """All payloads, and the number of the first one of each node of the upper levels."""
    payloads: list[NDArray[np.int32]] = []
    first: dict[int, int] = {}
    waiting = [0]
    while waiting:
        number = waiting.pop()
        first[number] = len(payloads)
        if number in below:
            forest = below[number]
            if len(forest.payload_start) > 1:
                payloads += np.split(forest.payload_codes, forest.payload_start[1:-1])
        elif (split := top[number].split) is not None:
            payloads += [split.payload] if len(split.payload) else []
            waiting += reversed(split.children)
    return payloads, first


def _top_columns(
    top: Sequence[TopNode], below: Mapping[int, Forest], first_payload: Mapping[int, int]
) -> dict[str, NDArray[np.generic]]:
    splits = [node.split for node in top]
    leaves = [number for number, split in enumerate(splits) if split is None and number not in below]
    leaf = np.zeros(len(top), np.int64)
    leaf[leaves] = np.arange(len(leaves))
    payload = [first_payload[i] if split is not None and len(split.payload) else -1 for i, split in enumerate(splits)]
    counts = [top[number].counts for number in leaves]
    return {
        "threshold": np.array([np.nan if split is None else split.threshold for split in splits]),
        "feature": np.array([-1 if split is None else split.feature for split in splits], np.int32),
        "weight": np.array([node.counts.sum() for node in top]),
        "payload": np.array(payload, np.int32),
        "kind": np.array([NodeKind.LEAF if split is None else split.kind for split in splits], np.uint8),
        "missing": np.zeros(len(top), np.uint8),
        "n_children": np.array([0 if split is None else len(split.children) for split in splits]),
        "first_child": np.array([0 if split is None else split.children.start for split in splits]),
        "leaf": leaf,
        "counts": np.stack(counts) if counts else np.empty((0, len(top[0].counts))),
    }


def _below_columns(
    forest: Forest, first_node: int, first_leaf: int, first_payload: int
) -> dict[str, NDArray[np.generic]]:
    leaf = forest.kind == NodeKind.LEAF
    return {
        "threshold": forest.threshold,
        "feature": forest.feature,
        "weight": forest.weight,
        "payload": np.where(forest.payload < 0, forest.payload, forest.payload + np.int32(first_payload)),
        "kind": forest.kind,
        "missing": forest.missing,
        "n_children": forest.n_children,
        "first_child": np.where(leaf, 0, forest.first_child + first_node),
        "leaf": np.where(leaf, forest.first_child + first_leaf, 0),
        "counts": forest.counts,
    }


def _breadth_first(first_child: NDArray[np.int64], n_children: NDArray[np.int64]) -> NDArray[np.int64]:
    """Nodes level by level, from node 0."""
    levels = [np.zeros(1, np.int64)]
    while len(levels[-1]):
        first, many = first_child[levels[-1]], n_children[levels[-1]]
        ends = np.cumsum(many)
        levels.append(np.repeat(first - (ends - many), many) + np.arange(ends[-1]))
    return np.concatenate(levels)
