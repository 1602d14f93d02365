"""Splits of a tree whose nominal columns have known numbers of categories."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.forest.forest import Forest
from hedgerow.forest.splits import Split

__all__ = ["TreeSplits"]


class TreeSplits:
    """Splits of a forest of one tree, by node.

    Nominal columns have the codes 0 .. n_categories - 1; where that is 0, those that the split names.
    """

    def __init__(self, tree: Forest, n_categories: NDArray[np.int32]) -> None:
        self.tree = tree
        self._n_categories = n_categories
        self._kept: dict[int, Split] = {}

    def __getitem__(self, node: int) -> Split:
        if (split := self._kept.get(node)) is None:
            split = self._kept[node] = Split(self.tree, node)
        return split

    def categories_of(self, leaf: int, feature: int) -> list[float] | None:
        """Codes of a nominal column that lead to a leaf; None if no split on the path tests it."""
        node = int(self.tree.leaf_nodes[leaf])
        codes: list[float] | None = None
        while (up := int(self.tree.parent[node])) >= 0:
            split = self[up]
            child = split.children.index(node)
            if split.is_nominal and split.feature == feature and not split.is_missing_branch(child):
                here = [float(code) for code in split.codes_to(child, int(self._n_categories[feature]))]
                codes = here if codes is None else [code for code in codes if code in here]
            node = up
        return codes
