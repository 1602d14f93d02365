"""Slow, literal truths for counterfactuals: every combination of candidates, or every leaf of a tree."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import oracles
from hedgerow.forest import Forest

Floats = NDArray[np.float64]


def _options(candidates: Any) -> list[list[tuple[float, float]]]:
    """(value, cost) of each candidate of each column."""
    start, values, costs, _ = candidates
    pairs = list(zip(values.tolist(), costs.tolist(), strict=True))
    return [pairs[a:b] for a, b in itertools.pairwise(start.tolist())]


def exhaustive(
    candidates: Any, accepted: Callable[[Floats], NDArray[np.bool_]], max_changes: int | None = None
) -> float:
    """Distance of the nearest accepted row among all combinations of candidates; infinite if there is none."""
    combinations = list(itertools.product(*_options(candidates)))
    rows = np.array([[value for value, _ in one] for one in combinations])
    costs = np.array([sum(cost for _, cost in one) for one in combinations])
    allowed = accepted(rows)
    if max_changes is not None:
        allowed &= np.array([sum(cost > 0 for _, cost in one) <= max_changes for one in combinations])
    return float(costs[allowed].min(initial=np.inf))


def over_leaves(forest: Forest, candidates: Any, accepted: Callable[[int], bool]) -> float:
    """Distance of the nearest leaf of a single tree whose answer is accepted: each column goes to the cheapest value
    that takes every branch on the way to the leaf."""
    options = _options(candidates)

    def nearest(node: int, allowed: list[list[tuple[float, float]]]) -> float:
        if not all(allowed):
            return np.inf
        children = oracles.children(forest, 0, node)
        if not children:
            leaf = oracles.leaves_below(forest, 0, node)[0]
            return sum(min(cost for _, cost in one) for one in allowed) if accepted(leaf) else np.inf
        column = int(forest.feature[node])
        best = np.inf
        for child in children:
            x = np.zeros(forest.n_features)

            def takes(value: float, x: Floats = x, child: int = child) -> bool:
                x[column] = value
                return oracles.next_node(forest, 0, node, x) == child

            kept = [pair for pair in allowed[column] if takes(pair[0])]
            best = min(best, nearest(child, [*allowed[:column], kept, *allowed[column + 1 :]]))
        return best

    return nearest(0, options)
