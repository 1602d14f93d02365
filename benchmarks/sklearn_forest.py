"""A scikit-learn forest as a hedgerow Forest, through its public arrays, for inputs that float32 represents exactly."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from hedgerow.forest import Forest
from hedgerow.nodes import LEAF_FEATURE, NO_PAYLOAD, NodeKind


def breadth_first(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
    """scikit-learn's node numbers in an order that puts siblings side by side."""
    levels = [np.array([0])]
    while len(levels[-1]):
        inner = levels[-1][left[levels[-1]] >= 0]
        levels.append(np.stack([left[inner], right[inner]], axis=1).ravel())
    return np.concatenate(levels)


def convert(trees: Sequence[DecisionTreeClassifier], n_features: int) -> Forest:
    parts: dict[str, list[NDArray]] = {
        n: [] for n in ("threshold", "weight", "feature", "first_child", "kind", "counts")
    }
    for tree in (model.tree_ for model in trees):
        order = breadth_first(tree.children_left, tree.children_right)
        place = np.argsort(order)
        leaf = tree.children_left[order] < 0
        parts["threshold"].append(np.where(leaf, np.nan, tree.threshold[order]))
        parts["weight"].append(tree.weighted_n_node_samples[order])
        parts["feature"].append(np.where(leaf, LEAF_FEATURE, tree.feature[order]))
        parts["first_child"].append(np.where(leaf, np.cumsum(leaf) - 1, place[tree.children_left[order]]))
        parts["kind"].append(np.where(leaf, NodeKind.LEAF, NodeKind.THRESHOLD))
        share = tree.value[order, 0][leaf]
        parts["counts"].append(share / share.sum(axis=1, keepdims=True) * parts["weight"][-1][leaf, None])
    kind = np.concatenate(parts["kind"]).astype(np.uint8)
    return Forest(
        n_features=n_features,
        threshold=np.concatenate(parts["threshold"]),
        weight=np.concatenate(parts["weight"]),
        feature=np.concatenate(parts["feature"]).astype(np.int32),
        first_child=np.concatenate(parts["first_child"]).astype(np.int32),
        payload=np.full(len(kind), NO_PAYLOAD, dtype=np.int32),
        kind=kind,
        missing=np.zeros(len(kind), dtype=np.uint8),
        tree_start=np.cumsum([0, *map(len, parts["kind"])]),
        leaf_start=np.cumsum([0, *map(len, parts["counts"])]),
        payload_start=np.zeros(1, dtype=np.int64),
        payload_codes=np.zeros(0, dtype=np.int32),
        payload_weights=np.zeros(0),
        leaf_counts=np.concatenate(parts["counts"]),
    )
