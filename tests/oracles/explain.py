"""Slow truths of explanations: each row walked down each tree, split by split."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import oracles
from hedgerow import Forest
from hedgerow.forest.kinds import NodeKind


def nodes_on_the_way(forest: Forest, x: NDArray[np.float64], tree: int) -> list[int]:
    """The nodes from the root to the leaf that a row reaches; the heaviest child where it is spread."""
    node = int(forest.tree_start[tree])
    nodes = [node]
    while forest.kind[node] != NodeKind.LEAF:
        child = oracles.next_node(forest, tree, node, x)
        if child is None:
            child = max(oracles.children(forest, tree, node), key=lambda c: forest.weight[c])
        node = child
        nodes.append(node)
    return nodes


def splits_about(forest: Forest, x: NDArray[np.float64]) -> dict[int, float]:
    """The share of each column in the splits of all trees; an oblique split counts for its columns in equal parts."""
    asked: list[dict[int, float]] = []
    for tree in range(forest.n_trees):
        for node in nodes_on_the_way(forest, x, tree):
            if forest.kind[node] == NodeKind.OBLIQUE:
                columns = [int(forest.payload_codes[i]) for i in oracles.payload(forest, node)]
                asked.append(dict.fromkeys(columns, 1 / len(columns)))
            elif forest.kind[node] != NodeKind.LEAF:
                asked.append({int(forest.feature[node]): 1.0})
    columns_asked = {column for one in asked for column in one}
    return {column: sum(one.get(column, 0.0) for one in asked) / len(asked) for column in columns_asked}


def votes(forest: Forest, x: NDArray[np.float64]) -> list[int]:
    """The class of most training rows in the leaf that each tree sends a row to; the first of equals."""
    chosen = []
    for tree in range(forest.n_trees):
        answers = _answers(forest, tree)
        shares = oracles.spread(forest, x, tree)
        counts = [oracles.weighted_mean(answers, shares, column) for column in range(answers.shape[1])]
        chosen.append(counts.index(max(counts)))
    return chosen


def _answers(forest: Forest, tree: int) -> NDArray[np.float64]:
    """The counts of each leaf of a tree; where it has none, those of the lowest node above that has some."""
    assert forest.leaf_counts is not None
    first = int(forest.leaf_start[tree])
    answers = forest.leaf_counts[first : int(forest.leaf_start[tree + 1])].copy()

    def descend(node: int, above: NDArray[np.float64]) -> None:
        below = oracles.leaves_below(forest, tree, node)
        own = np.sum(forest.leaf_counts[below], axis=0)
        counts = own if own.any() else above
        if forest.kind[node] == NodeKind.LEAF:
            answers[below[0] - first] = counts
        for child in oracles.children(forest, tree, node):
            descend(child, counts)

    descend(int(forest.tree_start[tree]), np.zeros(answers.shape[1]))
    return answers
