"""Conversion of binary trees of other libraries to one Forest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.forest.forest import Forest
from hedgerow.forest.kinds import LEAF_FEATURE, NO_PAYLOAD, MissingPolicy, NodeKind

__all__ = ["BinaryTree", "NestedSplit", "flatten", "lay_out"]


@dataclass(frozen=True)
class BinaryTree:
    """One tree with its root at 0; entries of nodes, and a `leaf_row` for each (only those of leaves are read)."""

    left: NDArray[Any]
    """The child that takes x ≤ threshold; negative in a leaf."""
    right: NDArray[Any]
    feature: NDArray[Any]
    threshold: NDArray[np.float64]
    missing_left: NDArray[Any]
    """Whether a row whose value is missing goes to the left child."""
    weight: NDArray[np.float64]
    leaf_row: NDArray[np.float64]
    """Class counts; or weight, mean and sum of squared deviations."""


@dataclass(frozen=True)
class NestedSplit:
    """Split of a nested node: x ≤ threshold goes left."""

    feature: int
    threshold: float
    missing_left: bool
    left: Any
    right: Any


def flatten(
    root: Any, split_of: Callable[[Any], NestedSplit | None], leaf: Callable[[Any], tuple[float, Sequence[float]]]
) -> BinaryTree:
    """Flatten nested nodes: `split_of` returns the split of a node, None for a leaf; `leaf` a leaf's weight and row."""
    nodes, splits, children = [root], [], {}
    for node in nodes:  # grows while iterating
        split = split_of(node)
        splits.append(split)
        if split is not None:
            children[len(splits) - 1] = len(nodes)
            nodes += [split.left, split.right]
    leaves = {at: leaf(nodes[at]) for at, split in enumerate(splits) if split is None}
    weight = np.zeros(len(nodes))
    leaf_row = np.zeros((len(nodes), len(next(iter(leaves.values()))[1])))
    for at, (one, row) in leaves.items():
        weight[at], leaf_row[at] = one, row
    for at, first in reversed(children.items()):  # children come after their parents
        weight[at] = weight[first] + weight[first + 1]
    left = np.array([children.get(at, -1) for at in range(len(nodes))])
    return BinaryTree(
        left=left,
        right=np.where(left < 0, -1, left + 1),
        feature=np.array([-1 if one is None else one.feature for one in splits]),
        threshold=np.array([np.nan if one is None else one.threshold for one in splits]),
        missing_left=np.array([one is not None and one.missing_left for one in splits]),
        weight=weight,
        leaf_row=leaf_row,
    )


def lay_out(trees: Sequence[BinaryTree], n_features: int, *, regression: bool = False) -> Forest:
    """Lay out trees as a Forest, each level by level, so that siblings are contiguous."""
    parts = [_tree_arrays(tree) for tree in trees]
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    kind = joined["kind"]
    return Forest(
        n_features=n_features,
        threshold=joined["threshold"],
        weight=joined["weight"],
        feature=joined["feature"].astype(np.int32),
        first_child=joined["first_child"].astype(np.int32),
        payload=np.full(len(kind), NO_PAYLOAD, dtype=np.int32),
        kind=kind.astype(np.uint8),
        missing=joined["missing"].astype(np.uint8),
        tree_start=np.cumsum([0, *(len(part["kind"]) for part in parts)], dtype=np.int64),
        leaf_start=np.cumsum([0, *(len(part["leaf_row"]) for part in parts)], dtype=np.int64),
        payload_start=np.zeros(1, dtype=np.int64),
        payload_codes=np.zeros(0, dtype=np.int32),
        payload_weights=np.zeros(0),
        **{"leaf_stats" if regression else "leaf_counts": joined["leaf_row"]},
    )


def _tree_arrays(tree: BinaryTree) -> dict[str, NDArray[Any]]:
    order = _level_by_level(tree.left, tree.right)
    position = np.empty(len(tree.left), dtype=np.int64)
    position[order] = np.arange(len(order))
    left = tree.left[order]
    leaf = left < 0
    policy = np.where(tree.missing_left[order], MissingPolicy.FIRST_CHILD, MissingPolicy.LAST_CHILD)
    return {
        "threshold": np.where(leaf, np.nan, tree.threshold[order]),
        "weight": tree.weight[order].astype(np.float64),
        "feature": np.where(leaf, LEAF_FEATURE, tree.feature[order]),
        "first_child": np.where(leaf, np.cumsum(leaf) - 1, position[left]),
        "kind": np.where(leaf, NodeKind.LEAF, NodeKind.THRESHOLD),
        "missing": np.where(leaf, MissingPolicy.SPREAD, policy),
        "leaf_row": tree.leaf_row[order][leaf],
    }


def _level_by_level(left: NDArray[Any], right: NDArray[Any]) -> NDArray[np.int64]:
    """Order of the nodes with siblings contiguous and every child after its parent."""
    levels = [np.zeros(1, dtype=np.int64)]
    while len(levels[-1]):
        inner = levels[-1][left[levels[-1]] >= 0]
        levels.append(np.stack([left[inner], right[inner]], axis=1).ravel())
    return np.concatenate(levels)
