"""Slow truths for random decision trees: a literal recursive grower with the same addressed draws, and a slow tally."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import oracles
from hedgerow import Forest
from hedgerow.forest.kinds import NodeKind

# A node with fewer than this many times min_samples_leaf rows does not try a row before it counts the valid ones.
ROWS_TO_TRY = 8


@dataclass(frozen=True)
class Problem:
    """Training data, a list for each column with NaN where missing, and the settings of growth."""

    columns: list[list[float]]
    n_categories: list[int]
    labels: list[int]
    weights: list[float]
    n_classes: int
    min_samples_leaf: int = 1
    max_depth: int | None = None
    seed: int = 0


@dataclass(frozen=True)
class RandomNode:
    """A node with all that is below it; `codes` is the child of each category, -1 for none."""

    weight: float
    counts: tuple[float, ...] = ()  # of a leaf
    feature: int = -1
    threshold: float = math.nan
    codes: tuple[int, ...] = ()
    children: tuple[RandomNode, ...] = ()


class Place:
    """A node's key and its draws: the halves of a hash of the key, then those of its own stream."""

    def __init__(self, parent_key: int, number: int) -> None:
        self.key = oracles.splitmix64(parent_key, number + 1)
        self._words = self._stream()

    def _stream(self) -> Iterator[int]:
        yield from oracles.halves(oracles.splitmix64(self.key ^ 0xD1B54A32D192ED03, 0))
        for bits in oracles.draws(self.key, []):
            yield from oracles.halves(bits)

    def below(self, n: int) -> int:
        """Lemire (2019): of word · n the high half; low halves below 2^32 mod n are refused. One of one: no draw."""
        if n == 1:
            return 0
        while True:
            high, low = divmod(next(self._words) * n, 2**32)
            if low >= 2**32 % n:
                return high


def grow(problem: Problem, tree: int = 0) -> RandomNode:
    return _grow(problem, list(range(len(problem.labels))), 0, problem.seed, tree)


def _grow(problem: Problem, rows: list[int], depth: int, parent_key: int, number: int) -> RandomNode:
    if len(rows) >= 2 * problem.min_samples_leaf and depth != problem.max_depth:
        place = Place(parent_key, number)
        order = list(range(len(problem.columns)))
        for i in range(len(order)):
            other = i + place.below(len(order) - i)
            order[i], order[other] = order[other], order[i]
            feature = order[i]
            by_category = problem.n_categories[feature] > 0
            split = (_categories if by_category else _threshold)(problem, rows, feature, place)
            if split is None:
                continue
            at, codes = split
            children = tuple(
                _grow(problem, part, depth + 1, place.key, child)
                for child, part in enumerate(divide(problem, rows, feature, at, codes, place.key))
            )
            return RandomNode(_sum(child.weight for child in children), (), feature, at, codes, children)
    counts = [0.0] * problem.n_classes
    for row in rows:
        if not any(math.isnan(column[row]) for column in problem.columns):
            counts[problem.labels[row]] += problem.weights[row]
    return RandomNode(_sum(problem.weights[row] for row in rows), tuple(counts))


def _sum(values: Iterator[float]) -> float:
    """In order, one after the other: what the core does, to the last bit (Python's own sum compensates)."""
    total = 0.0
    for value in values:
        total += value
    return total


def valid_rows(problem: Problem, rows: Sequence[int], feature: int) -> list[int]:
    """The rows whose value leaves min_samples_leaf rows on both sides."""
    column = problem.columns[feature]
    known = np.sort([column[row] for row in rows if not math.isnan(column[row])])
    least = problem.min_samples_leaf

    def is_valid(value: float) -> bool:
        n_left = int(np.searchsorted(known, value, side="right"))
        return min(n_left, len(known) - n_left) >= least

    return [row for row in rows if not math.isnan(column[row]) and is_valid(column[row])]


def _threshold(problem: Problem, rows: list[int], feature: int, place: Place) -> tuple[float, tuple[int, ...]] | None:
    column, valid = problem.columns[feature], valid_rows(problem, rows, feature)
    if len(rows) >= ROWS_TO_TRY * problem.min_samples_leaf:
        row = rows[place.below(len(rows))]
        if row in valid:
            return column[row], ()
    return (column[valid[place.below(len(valid))]], ()) if valid else None


def large_categories(problem: Problem, rows: Sequence[int], feature: int) -> list[int]:
    """The categories that at least min_samples_leaf rows have."""
    values = [problem.columns[feature][row] for row in rows]
    codes = range(problem.n_categories[feature])
    return [code for code in codes if values.count(code) >= problem.min_samples_leaf]


def _categories(problem: Problem, rows: list[int], feature: int, place: Place) -> tuple[float, tuple[int, ...]] | None:
    if len(large_categories(problem, rows, feature)) < 2:
        return None
    column = problem.columns[feature]
    present = sorted({int(column[row]) for row in rows if not math.isnan(column[row])})
    codes = range(problem.n_categories[feature])
    return math.nan, tuple(present.index(code) if code in present else -1 for code in codes)


def divide(
    problem: Problem, rows: Sequence[int], feature: int, at: float, codes: tuple[int, ...], key: int
) -> list[list[int]]:
    """The rows of each child, in order; a row whose value is missing is drawn one by the weights of the others."""
    column = problem.columns[feature]

    def child_of(row: int) -> int:
        return codes[int(column[row])] if codes else int(column[row] > at)

    weights = [0.0] * (max(codes) + 1 if codes else 2)
    for row in rows:
        if not math.isnan(column[row]):
            weights[child_of(row)] += problem.weights[row]
    parts: list[list[int]] = [[] for _ in weights]
    for row in rows:
        if not math.isnan(column[row]):
            parts[child_of(row)].append(row)
            continue
        drawn = oracles.random_reals(key, [2**32 | row], 1)[0] * _sum(iter(weights))
        before = 0.0
        for child, weight in enumerate(weights):
            before += weight
            if drawn < before or child == len(weights) - 1:
                parts[child].append(row)
                break
    return parts


# -- what the core has grown


def check_tree(forest: Forest, expected: RandomNode, tree: int = 0, node: int | None = None) -> None:
    """The tree is the expected one: the same splits, weights and counts, to the last bit."""
    at = int(forest.tree_start[tree]) if node is None else node
    assert forest.weight[at] == expected.weight
    assert forest.feature[at] == expected.feature
    if not expected.children:
        leaf = int(forest.leaf_start[tree]) + int(forest.first_child[at])
        assert forest.counts[leaf].tolist() == list(expected.counts)
        return
    assert forest.kind[at] == (NodeKind.MULTIWAY if expected.codes else NodeKind.THRESHOLD)
    if expected.codes:
        assert [int(forest.payload_codes[i]) for i in oracles.payload(forest, at)] == list(expected.codes)
    else:
        assert forest.threshold[at] == expected.threshold
    below = oracles.children(forest, tree, at)
    assert len(below) == len(expected.children)
    for child, subtree in zip(below, expected.children, strict=True):
        check_tree(forest, subtree, tree, child)


def tally(
    forest: Forest, X: NDArray[np.float64], labels: Sequence[int], weights: Sequence[float]
) -> NDArray[np.float64]:
    """Weight · share of each row, added to the count of its label in each leaf that it reaches."""
    counts = np.zeros((forest.n_leaves, forest.n_classes))
    for tree in range(forest.n_trees):
        for x, label, weight in zip(X, labels, weights, strict=True):
            for leaf, share in oracles.spread(forest, x, tree).items():
                counts[int(forest.leaf_start[tree]) + leaf, label] += weight * share
    return counts
