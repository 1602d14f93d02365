"""Slow truths for shrunken leaf probabilities and the folds that choose their amount."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import oracles
from hedgerow import Forest

Floats = NDArray[np.float64]


def shrunken(forest: Forest, amount: float) -> Floats:
    """Equation 1 of Agarwal et al. (2022) for the leaves of the first tree; 0 for a tree without rows."""
    found = np.zeros((forest.n_leaves, forest.n_classes))

    def counts(node: int) -> Floats:
        return np.asarray(sum(forest.counts[leaf] for leaf in oracles.leaves_below(forest, 0, node)))

    def descend(node: int, estimate: Floats) -> None:
        own = counts(node)
        for child in oracles.children(forest, 0, node):
            below, step = counts(child), np.zeros_like(own)
            if below.sum() > 0:
                step = (below / below.sum() - own / own.sum()) / (1 + amount / own.sum())
            descend(child, estimate + step)
        if not oracles.children(forest, 0, node):
            found[oracles.leaves_below(forest, 0, node)[0]] = estimate

    whole = counts(0)
    descend(0, whole / (whole.sum() or 1.0))
    return found


def dealt(rows: Sequence[tuple[object, int]], order: Sequence[object], n_folds: int) -> dict[object, list[int]]:
    """Copies of each row of one class in each fold: those of (row, weight) are dealt in turn, in a given order."""
    hands: dict[object, list[int]] = {}
    turn = 0
    for one in order:
        hand = hands[one] = [0] * n_folds
        for _ in range(sum(weight for row, weight in rows if row == one)):
            hand[turn % n_folds] += 1
            turn += 1
    return hands
