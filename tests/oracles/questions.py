"""A slow, literal truth for what to measure next."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import oracles
from hedgerow.forest import Forest
from hedgerow.forest.kinds import MissingPolicy, NodeKind

Floats = NDArray[np.float64]


def _paths(forest: Forest, tree: int, node: int, path: tuple[tuple[int, int], ...]) -> dict[int, tuple]:  # type: ignore[type-arg]
    """(node, child) on the way to each leaf, by the leaf's number within its tree."""
    children = oracles.children(forest, tree, node)
    if not children:
        return {int(forest.first_child[node]): path}
    found = {}
    for child in children:
        found |= _paths(forest, tree, child, (*path, (node, child)))
    return found


def _reached(forest: Forest, tree: int, node: int, row: Floats) -> dict[int, float]:
    """Weight with which a row may be in each leaf; a missing value takes the branches of known ones by their weight."""
    children = oracles.children(forest, tree, node)
    if not children:
        return {int(forest.first_child[node]): 1.0}
    number = oracles.answer(forest, node, row)
    if number is not None:
        return _reached(forest, tree, children[number], row)
    presence = forest.kind[node] == NodeKind.THRESHOLD and forest.threshold[node] == np.inf
    if presence or forest.missing[node] == MissingPolicy.OWN_BRANCH:
        children = children[:-1]
    total = sum(float(forest.weight[child]) for child in children)
    found = {}
    for child in children:
        share = float(forest.weight[child]) / total if total > 0 else 1 / len(children)
        found |= {leaf: share * weight for leaf, weight in _reached(forest, tree, child, row).items()}
    return found


def expected_doubt(
    forest: Forest, row: Floats, column: int, n_codes: int, bounds: Floats, doubt: Callable[[Floats], float]
) -> float | None:
    """Mean doubt once the value of a column is known; None where no path that the row takes splits on it."""
    if n_codes:
        cells = [(float(code), 1.0) for code in range(n_codes)]
    else:
        at = forest.threshold[(forest.feature == column) & (forest.kind == NodeKind.THRESHOLD)]
        edges = sorted({float(t) for t in at if np.isfinite(t)})
        upper, lower = [*edges, np.inf], [-np.inf, *edges]
        cells = []
        for low, high in zip(lower, upper, strict=True):
            length = np.clip(high, *bounds) - np.clip(low, *bounds)
            cells.append((high if np.isfinite(high) else max(bounds[1], np.nextafter(low, np.inf)), float(length)))
    chances = np.zeros(len(cells))
    for tree in range(forest.n_trees):
        paths = _paths(forest, tree, int(forest.tree_start[tree]), ())
        for leaf, weight in _reached(forest, tree, int(forest.tree_start[tree]), row).items():
            inside = []
            for value, length in cells:
                x = row.copy()
                x[column] = value
                splits = [(node, child) for node, child in paths[leaf] if forest.feature[node] == column]
                taken = [(oracles.answer(forest, node, x), oracles.children(forest, tree, node)) for node, _ in splits]
                passes = all(
                    number is None or below[number] == child
                    for (number, below), (_, child) in zip(taken, splits, strict=True)
                )
                inside.append((passes, length if passes else 0.0))
            total = sum(length for _, length in inside)
            if total > 0 and not all(passes for passes, _ in inside):
                chances += [weight * length / total for _, length in inside]
    if not chances.sum():
        return None
    left = 0.0
    for (value, _), chance in zip(cells, chances / chances.sum(), strict=True):
        if chance > 0:
            x = row.copy()
            x[column] = value
            left += chance * doubt(x)
    return left
