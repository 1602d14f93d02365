"""Slow, literal truths for forest proximity and what follows from it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import oracles
from hedgerow.forest import Forest

Floats = NDArray[np.float64]


def proximity(forest: Forest, x: Floats, y: Floats, tree_weights: Floats | None = None) -> float:
    """Chance that two rows reach the same leaf of a tree, mean over the trees."""
    weights = np.ones(forest.n_trees) if tree_weights is None else tree_weights
    total = 0.0
    for tree in range(forest.n_trees):
        of_x, of_y = oracles.spread(forest, x, tree), oracles.spread(forest, y, tree)
        total += weights[tree] * sum(share * of_y.get(leaf, 0.0) for leaf, share in of_x.items())
    return total / float(weights.sum())


def out_of_bag(forest: Forest, x: Floats, y: Floats, unseen_x: list[bool], unseen_y: list[bool]) -> float:
    """Share of the trees that both rows are out of the bag of in which they reach the same leaf."""
    common = [tree for tree in range(forest.n_trees) if unseen_x[tree] and unseen_y[tree]]
    total = 0.0
    for tree in common:
        of_x, of_y = oracles.spread(forest, x, tree), oracles.spread(forest, y, tree)
        total += sum(share * of_y.get(leaf, 0.0) for leaf, share in of_x.items())
    return total / len(common) if common else 0.0


def outlier_scores(close: Floats, labels: NDArray[np.int64]) -> Floats:
    """Breiman's outlier measure from the matrix of proximities, where each row is close to some of its class."""
    raw = [
        len(labels) / sum(close[i, j] ** 2 for j in range(len(labels)) if j != i and labels[j] == labels[i])
        for i in range(len(labels))
    ]
    scores = []
    for i, value in enumerate(raw):
        of_class = [raw[j] for j in range(len(labels)) if labels[j] == labels[i]]
        median = np.median(of_class)
        scores.append((value - median) / np.median(np.abs(np.array(of_class) - median)))
    return np.array(scores)
