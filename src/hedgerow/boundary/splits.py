"""One node at a time, in Python: what it asks, which values lead to which of its children, and where others go."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.forest.forest import Forest
from hedgerow.forest.kinds import MissingPolicy, NodeKind

__all__ = ["NOMINAL", "Questions"]

Floats = NDArray[np.float64]
NOMINAL = (NodeKind.ONE_AGAINST_REST, NodeKind.SUBSET, NodeKind.MULTIWAY)


class Questions:
    """Those of a forest of one tree; nominal columns have the codes 0 .. n_categories - 1 (0: those that are named)."""

    def __init__(self, tree: Forest, n_categories: NDArray[np.int32]) -> None:
        self.tree = tree
        self._n_categories = n_categories

    def children(self, node: int) -> range:
        first = int(self.tree.first_child[node])
        return range(first, first + int(self.tree.n_children[node]))

    def is_nominal(self, node: int) -> bool:
        return bool(np.isin(self.tree.kind[node], NOMINAL))

    def normal(self, node: int) -> Floats:
        """w of the question w·x ≤ threshold, for every column."""
        w = np.zeros(self.tree.n_features)
        if self.tree.kind[node] == NodeKind.THRESHOLD:
            w[self.tree.feature[node]] = 1.0
        else:
            entries = self._payload(node)
            w[self.tree.payload_codes[entries]] = self.tree.payload_weights[entries]
        return w

    def answer(self, node: int, row: Floats) -> int | None:
        """The number of the child that the row's values lead to; None where they do not say."""
        if self.is_nominal(node):
            value = row[self.tree.feature[node]]
            taken = (number for number in range(len(self.children(node))) if self._takes(node, number, value))
            return next(taken, None)
        w = self.normal(node)
        value = (w[w != 0] * row[w != 0]).sum()
        return None if np.isnan(value) else int(not value <= self.tree.threshold[node])

    def without_answer(self, node: int) -> list[int]:
        """The children that rows without an answer go to."""
        children, policy = self.children(node), self.tree.missing[node]
        if policy == MissingPolicy.SPREAD:
            return list(children)
        return [children[0 if policy == MissingPolicy.FIRST_CHILD else -1]]

    def codes(self, node: int, child: int) -> list[float]:
        """The codes that lead to a child of a nominal question."""
        n = int(self._n_categories[self.tree.feature[node]]) or self._n_named(node)
        return [float(code) for code in range(n) if self._takes(node, child, float(code))]

    def categories_of(self, leaf: int, feature: int) -> list[float] | None:
        """The codes of a nominal column that lead to a leaf; None where they do not matter there."""
        node = int(self.tree.leaf_nodes[leaf])
        codes: list[float] | None = None
        while (up := int(self.tree.parent[node])) >= 0:
            own_branch = self.tree.missing[up] == MissingPolicy.OWN_BRANCH and node == self.children(up)[-1]
            if self.is_nominal(up) and self.tree.feature[up] == feature and not own_branch:
                here = self.codes(up, node - self.children(up)[0])
                codes = here if codes is None else [code for code in codes if code in here]
            node = up
        return codes

    def _payload(self, node: int) -> slice:
        start = self.tree.payload_start
        return slice(int(start[self.tree.payload[node]]), int(start[self.tree.payload[node] + 1]))

    def _n_named(self, node: int) -> int:
        if self.tree.kind[node] == NodeKind.ONE_AGAINST_REST:
            return int(self.tree.threshold[node]) + 2
        n = len(self.tree.payload_codes[self._payload(node)])
        return 32 * n if self.tree.kind[node] == NodeKind.SUBSET else n

    def _takes(self, node: int, child: int, value: float) -> bool:
        if np.isnan(value):
            return False
        if self.tree.kind[node] == NodeKind.ONE_AGAINST_REST:
            return child == int(value != self.tree.threshold[node])
        words = self.tree.payload_codes[self._payload(node)]
        subset = self.tree.kind[node] == NodeKind.SUBSET
        if not 0 <= value < len(words) * (32 if subset else 1) or value != int(value):
            return False
        code = int(value)
        found = 1 - (int(words[code // 32]) >> code % 32 & 1) if subset else int(words[code])
        return found == child
