"""Shapley values from their definition: every set of known columns, every node."""

from __future__ import annotations

from itertools import combinations
from math import factorial

import numpy as np
from numpy.typing import NDArray

import oracles
from hedgerow import Forest
from hedgerow.forest.kinds import NodeKind

Floats = NDArray[np.float64]


def shares(forest: Forest, tree: int, node: int, x: Floats | None) -> list[float]:
    """Share of each branch that a row takes; of the training weight where the row, or its column, is unknown."""
    below = oracles.children(forest, tree, node)
    if x is not None and (taken := oracles.next_node(forest, tree, node, x)) is not None:
        return [float(child == taken) for child in below]
    weights = [float(forest.weight[child]) for child in below]
    total = sum(weights)
    return [weight / total if total > 0 else 1 / len(below) for weight in weights]


def worth(forest: Forest, values: Floats, x: Floats, known: frozenset[int], other: Floats | None) -> Floats:
    """What the forest answers when only some columns of x are known; the rest are those of `other`, or no row's."""

    def below(tree: int, node: int) -> Floats:
        if forest.kind[node] == NodeKind.LEAF:
            return values[int(forest.leaf_start[tree]) + int(forest.first_child[node])]
        row = x if int(forest.feature[node]) in known else other
        parts = zip(oracles.children(forest, tree, node), shares(forest, tree, node, row), strict=True)
        return sum((share * below(tree, child) for child, share in parts if share > 0), np.zeros(values.shape[1]))

    return sum((below(tree, int(forest.tree_start[tree])) for tree in range(forest.n_trees)), np.zeros(values.shape[1]))


def shapley(
    forest: Forest, values: Floats, x: Floats, background: Floats | None = None
) -> tuple[Floats, Floats, Floats]:
    """Worth of no column (m,), values (n_features, m) and values of pairs (n_features, n_features, m) of one row."""
    d = forest.n_features
    others: list[Floats | None] = [None] if background is None else list(background)
    sets = [frozenset(one) for size in range(d + 1) for one in combinations(range(d), size)]
    game = {one: np.mean([worth(forest, values, x, one, other) for other in others], axis=0) for one in sets}
    phi = np.zeros((d, values.shape[1]))
    pairs = np.zeros((d, d, values.shape[1]))
    for i in range(d):
        for one in sets:
            if i not in one:
                weight = factorial(len(one)) * factorial(d - len(one) - 1) / factorial(d)
                phi[i] += weight * (game[one | {i}] - game[one])
        for j in range(d):
            for one in sets:
                if i != j and not one & {i, j}:
                    weight = factorial(len(one)) * factorial(d - len(one) - 2) / factorial(d - 1) / 2
                    gain = game[one | {i, j}] - game[one | {i}] - game[one | {j}] + game[one]
                    pairs[i, j] += weight * gain
    for i in range(d):
        pairs[i, i] = phi[i] - pairs[i].sum(axis=0)
    return game[frozenset()], phi, pairs
