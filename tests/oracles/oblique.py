"""Slow truth for oblique splits: directions by NumPy's solvers, and every threshold along them by enumeration.

A projection is one more column of the problem, so `oracles.growth` judges it beside the others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

import oracles
from hedgerow import Forest
from hedgerow.forest.kinds import NodeKind
from oracles.growth import Instances, Problem, check_numbers, divide, judge, root_instances

Floats = NDArray[np.float64]

_MOST_MISSING = 0.5  # of the weight, in columns that take part
_MOST_REPLACED = 0.3  # of the squared coefficients, of a column whose mean stands in for missing values
_LEAST = 0.03  # of the largest coefficient


@dataclass(frozen=True)
class Direction:
    features: tuple[int, ...]
    weights: tuple[float, ...]
    means: tuple[float, ...]

    def along(self, row: list[float]) -> float:
        if all(math.isnan(row[j]) for j in self.features):
            return math.nan
        triples = zip(self.features, self.weights, self.means, strict=True)
        return math.fsum(weight * (mean if math.isnan(row[j]) else row[j]) for j, weight, mean in triples)


def directions(problem: Problem, instances: Instances, penalty: float) -> list[Direction]:
    """Ridge directions of a node, one for each grouping of its classes."""
    rows = [i.row for i in instances]
    if len({problem.targets[row] for row in rows}) < 2:
        return []
    w = np.array([i.weight for i in instances])
    X = np.array(problem.columns, dtype=float).T[rows]
    columns, Z, means, deviations = [], [], [], []
    for j, n_categories in enumerate(problem.n_categories):
        known = ~np.isnan(X[:, j])
        if n_categories or w[known].sum() < (1 - _MOST_MISSING) * w.sum():
            continue
        mean = np.average(X[known, j], weights=w[known])
        deviation = math.sqrt(np.average((X[known, j] - mean) ** 2, weights=w[known]))
        if deviation <= 1e-12 * abs(mean):
            continue
        columns.append(j)
        means.append(mean)
        deviations.append(deviation)
        Z.append(np.where(known, (X[:, j] - mean) / deviation, 0.0))
    if len(columns) < 2:
        return []
    table = np.array(Z).T
    y = np.array([problem.targets[row] for row in rows])
    targets = [y]
    if problem.n_classes:
        targets = [np.where(np.isin(y, group), 1.0, -1.0) for group in groups(table, y, w)]
    weighted = (table * w[:, np.newaxis]).T / w.sum()
    found = [np.linalg.solve(weighted @ table + penalty * np.eye(len(columns)), weighted @ t) for t in targets]
    made = [readable(columns, b, means, np.array(deviations)) for b in found]
    return [one for one in made if len(one.features) > 1]


def groups(table: Floats, y: Floats, w: Floats) -> list[list[float]]:
    """Classes of the first of two groups: two-means of the class means, and the heaviest class."""
    classes = sorted(set(y.tolist()))
    mean = {k: np.average(table[y == k], axis=0, weights=w[y == k]) for k in classes}
    weight = {k: w[y == k].sum() for k in classes}
    heaviest = [max(classes, key=lambda k: weight[k])]
    if len(classes) == 2:
        return [heaviest]
    first = max(classes, key=lambda k: (mean[k] ** 2).sum())
    second = max(classes, key=lambda k: ((mean[k] - mean[first]) ** 2).sum())
    centres, near = [mean[first], mean[second]], None
    while True:
        found = [k for k in classes if ((mean[k] - centres[0]) ** 2).sum() <= ((mean[k] - centres[1]) ** 2).sum()]
        if found == near:
            break
        near = found
        far = [k for k in classes if k not in near]
        centres = [
            np.average([mean[k] for k in part], axis=0, weights=[weight[k] for k in part]) for part in (near, far)
        ]
    return [near] if heaviest in (near, [k for k in classes if k not in near]) else [near, heaviest]


def readable(columns: list[int], b: Floats, means: list[float], deviations: Floats) -> Direction:
    """Weights in the unit of the column that weighs most, with four digits; small ones are left out."""
    if not b.any():
        return Direction((), (), ())
    most = int(np.abs(b).argmax())
    kept = [i for i in range(len(columns)) if abs(b[i]) > _LEAST * abs(b[most])]
    weights = [b[i] / deviations[i] * deviations[most] / b[most] for i in kept]
    replaced = [math.nan if b[i] ** 2 > _MOST_REPLACED * (b**2).sum() else means[i] for i in kept]
    return Direction(
        tuple(columns[i] for i in kept), tuple(float(f"{weight:.4g}") for weight in weights), tuple(replaced)
    )


def check_tree(problem: Problem, forest: Forest, penalty: float) -> int:
    """Assert that every node splits along a literal direction, or a column, at the best threshold of all.

    Returns the number of oblique nodes. A direction may differ in its last digit: then the node's own is judged.
    """
    n_columns, n_oblique = len(problem.columns), 0
    stack = [(0, root_instances(problem), 0)]
    while stack:
        node, instances, depth = stack.pop()
        check_numbers(problem, forest, node, instances)
        offered = directions(problem, instances, penalty)
        if forest.kind[node] == NodeKind.OBLIQUE:
            at = list(oracles.payload(forest, node))
            assert forest.payload_means is not None
            own = Direction(
                tuple(int(forest.payload_codes[i]) for i in at),
                tuple(float(forest.payload_weights[i]) for i in at),
                tuple(float(forest.payload_means[i]) for i in at),
            )
            close = [n for n, one in enumerate(offered) if _is_close(one, own)]
            assert close, f"node {node} splits along {own}, should be one of {offered}"
            offered[close[0]] = own
            n_oblique += 1
        table = list(map(list, zip(*problem.columns, strict=True)))
        costs = problem.feature_costs
        if costs is not None:
            costs = [*costs, *(sum(costs[j] for j in one.features) for one in offered)]
        wider = replace(
            problem,
            columns=[*problem.columns, *([one.along(row) for row in table] for one in offered)],
            n_categories=[*problem.n_categories, *(0 for _ in offered)],
            feature_costs=costs,
        )
        verdict = judge(wider, instances, depth)
        if forest.kind[node] == NodeKind.LEAF:
            assert None in verdict.allowed, f"node {node} is a leaf, should ask {verdict.right}"
            continue
        is_oblique = forest.kind[node] == NodeKind.OBLIQUE
        of_node = [
            one
            for one in verdict.allowed
            if one is not None
            and (one.feature >= n_columns if is_oblique else one.feature == forest.feature[node])
            and np.isclose(one.threshold, forest.threshold[node], rtol=1e-9, atol=1e-9, equal_nan=True)
        ]
        assert of_node, f"node {node} asks {forest.feature[node]} {forest.threshold[node]}, should ask {verdict.right}"
        children = oracles.children(forest, 0, node)
        parts = divide(wider, instances, of_node[0])
        if parts is not None:
            stack.extend((child, part, depth + 1) for child, part in zip(children, parts, strict=True))
    return n_oblique


def _is_close(one: Direction, own: Direction) -> bool:
    return (
        one.features == own.features
        and np.allclose(one.weights, own.weights, rtol=1e-3)
        and np.allclose(one.means, own.means, rtol=1e-9, equal_nan=True)
    )
