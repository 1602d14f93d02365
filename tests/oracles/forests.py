"""Slow, literal truths for forests: the fast way of growing, bags, and quantiles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import oracles
from hedgerow.forest import Forest

Floats = NDArray[np.float64]


def bins(values: Floats, weights: Floats, max_bins: int) -> list[tuple[float, float]]:
    """Least and greatest value of each bin: one for each distinct value, or by equal parts of the weight."""
    distinct = sorted({float(v) for v in values if not np.isnan(v)})
    if len(distinct) <= max_bins:
        return [(v, v) for v in distinct]
    total = sum(w for v, w in zip(values, weights, strict=True) if not np.isnan(v))
    found: list[list[float]] = []
    last = -1.0
    for v in distinct:
        below = sum(w for x, w in zip(values, weights, strict=True) if x < v)
        part = np.floor(below / total * max_bins)
        if part > last:
            found.append([])
            last = part
        found[-1].append(v)
    return [(min(b), max(b)) for b in found]


def gini(counts: Floats) -> float:
    return float(counts.sum() - (counts**2).sum() / counts.sum()) if counts.sum() > 0 else 0.0


def squared_error(weights: Floats, targets: Floats) -> float:
    if weights.sum() == 0:
        return 0.0
    mean = (weights * targets).sum() / weights.sum()
    return float((weights * (targets - mean) ** 2).sum())


def impurity(weights: Floats, targets: Floats, n_classes: int) -> float:
    if n_classes == 0:
        return squared_error(weights, targets)
    return gini(np.bincount(targets.astype(int), weights=weights, minlength=n_classes))


def gain(weights: Floats, targets: Floats, branches: NDArray[np.int64], n_classes: int) -> float:
    """Decrease of impurity where each row goes to the branch of this number."""
    parts = [branches == branch for branch in np.unique(branches)]
    below = sum(impurity(weights[part], targets[part], n_classes) for part in parts)
    return impurity(weights, targets, n_classes) - below


def divisions(column: Floats, edges: Sequence[tuple[float, float]] | None, nominal: str) -> list[NDArray[np.int64]]:
    """Branch of each row in all splits of rows with a value: by bin, or (edges None) by category.

    `nominal`: a category against the rest ("binary"), any set of them against the rest ("subset"), or each by itself
    ("multiway").
    """
    present = sorted(set(column.tolist()))
    if edges is not None:
        upper = sorted({greatest for least, greatest in edges if any(least <= v <= greatest for v in present)})
        return [(column > u).astype(np.int64) for u in upper[:-1]]
    if len(present) < 2:
        return []
    if nominal == "multiway":
        return [np.searchsorted(present, column)]
    chosen = [[v] for v in present]
    if nominal == "subset":
        chosen = [[v for i, v in enumerate(present) if bits >> i & 1] for bits in range(1, 2 ** len(present) - 1)]
    return [(~np.isin(column, members)).astype(np.int64) for members in chosen]


def quantile(forest: Forest, leaf_targets: Sequence[Sequence[tuple[float, float]]], x: Floats, q: float) -> float:
    """The least target y with F(y|x) ≥ q. `leaf_targets` has (target, weight) of each leaf of the forest."""
    shares: dict[float, float] = {}
    for tree in range(forest.n_trees):
        for leaf, share in oracles.spread(forest, x, tree).items():
            rows = leaf_targets[int(forest.leaf_start[tree]) + leaf]
            total = sum(weight for _, weight in rows)
            for target, weight in rows:
                shares[target] = shares.get(target, 0.0) + share * weight / total / forest.n_trees
    reached = 0.0
    for target in sorted(shares):
        reached += shares[target]
        if reached >= q - 1e-9:
            return target
    return max(shares)
