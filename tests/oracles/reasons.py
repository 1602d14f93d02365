"""Slow truths of reasons for doubt: each level of doubt from its sentence in docs/reasons.md, row by row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import oracles

Floats = NDArray[np.float64]

NAMES = (
    *("unlike the training data", "near the boundary", "conflict", "measurement error", "missing input", "few cases"),
    "mixed leaves",
)


@dataclass(frozen=True)
class TreeOfRow:
    """What a row reaches in one tree: (share, certainty of each class, class counts) of each leaf."""

    weight: float
    leaves: Sequence[tuple[float, Sequence[float], Sequence[float]]]


def trees_of_row(forest: Any, x: Floats, lower: Floats, weights: Sequence[float] | None = None) -> list[TreeOfRow]:
    """Leaves of a hard forest that a row reaches; `lower` has the certainty of each leaf about each class."""
    found = []
    for tree in range(forest.n_trees):
        shares = oracles.spread(forest, x, tree)
        first = int(forest.leaf_start[tree])
        leaves = [
            (float(share), lower[first + leaf].tolist(), forest.counts[first + leaf].tolist())
            for leaf, share in shares.items()
        ]
        found.append(TreeOfRow(1.0 if weights is None else weights[tree], leaves))
    return found


def widths_outside(x: Floats, ranges: Floats, used: Sequence[int]) -> float:
    """Largest distance from the training range of a column that is split on, in widths of the range."""
    far = [0.0]
    for j in used:
        low, high = ranges[j]
        if high > low and x[j] == x[j]:
            far.append(max(low - x[j], x[j] - high) / (high - low))
    return max(far)


def class_parts(
    trees: list[TreeOfRow], widths: float = 0.0, boundary: float | None = None, readings: list[TreeOfRow] | None = None,
    *, soft: bool = False
) -> dict[str, float]:  # fmt: skip
    """Doubt that each reason is worth, by name.

    `boundary` is the certainty of an answer that also depends on the distance to the boundary. A row measured with
    error is `soft`; `readings` are its trees if its known values were exact, where others are missing.
    """

    def mean(value: Callable[[TreeOfRow], float]) -> float:
        return sum(one.weight * value(one) for one in trees) / sum(one.weight for one in trees)

    def of_class(trees: list[TreeOfRow], k: int) -> float:
        total = sum(one.weight for one in trees)
        return sum(one.weight * share * low[k] for one in trees for share, low, _ in one.leaves) / total

    def frequent(low: Sequence[float], counts: Sequence[float]) -> float:
        return max(max(low), max(counts) / sum(counts)) if sum(counts) > 0 else max(low)

    classes = range(len(trees[0].leaves[0][1]))
    together = max(of_class(trees, k) for k in classes)
    alone = mean(lambda one: max(sum(share * low[k] for share, low, _ in one.leaves) for k in classes))
    leaf = mean(lambda one: sum(share * max(low) for share, low, _ in one.leaves))
    counted = mean(lambda one: sum(share * frequent(low, counts) for share, low, counts in one.leaves))
    empty = mean(lambda one: sum(share * (1 - max(low)) for share, low, counts in one.leaves if sum(counts) == 0))
    exact = alone
    if soft:
        at_readings = leaf if readings is None else max(of_class(readings, k) for k in classes)
        exact = min(max(at_readings, alone), max(leaf, alone))
    answer = together if boundary is None else boundary
    certainty = [answer, together, alone, exact, leaf, counted]
    for i in range(1, len(certainty)):
        certainty[i] = max(certainty[i], certainty[i - 1])
    doubts = [1 - 0.5**widths * certainty[0]] + [1 - empty - one for one in certainty] + [0.0]
    return {name: doubts[i] - doubts[i + 1] for i, name in enumerate(NAMES)}


def number_parts(
    trees: list[list[tuple[float, float, float, float]]], all_variance: float = 0.0, widths: float = 0.0
) -> dict[str, float]:  # fmt: skip
    """Variance that each reason is worth; `trees` have (share, rows, mean, squares) of the leaves of a row."""
    n_trees = len(trees)

    def mean(value: Callable[[float, float, float], float]) -> float:
        return sum(share * value(n, m, q) for tree in trees for share, n, m, q in tree) / n_trees

    means = [sum(share * m for share, _, m, _ in tree) for tree in trees]
    middle = sum(means) / n_trees
    within = mean(lambda n, m, q: q / n)
    error = mean(lambda n, m, q: q / n**2)
    between_trees = sum((m - middle) ** 2 for m in means) / n_trees
    between_leaves = mean(lambda n, m, q: (m - middle) ** 2) - between_trees
    return {
        "unlike the training data": (1 - 0.5**widths) * all_variance,
        "near the boundary": 0.0,
        "conflict": between_trees,
        "measurement error": 0.0,
        "missing input": between_leaves,
        "few cases": error,
        "mixed leaves": within,
    }


def shares(parts: dict[str, float]) -> list[float]:
    """Shares of the reasons, in the order of `NAMES`: all of it few cases where no step is left."""
    kept = [parts[name] if parts[name] > 1e-12 else 0.0 for name in NAMES]
    if not any(kept):
        return [float(name == "few cases") for name in NAMES]
    return [one / sum(kept) for one in kept]
