"""Growth of a tree of soft regions, split by split, and the finished tree.

Splitting region k adds one column c to the span of the memberships, and so lowers the residual sum of squares of the
least-squares fit (Tami et al., 2018, equations 6 and 7) by (c·r)²/(‖c‖² − ‖Qᵀc‖²), with r the residuals and Q an
orthonormal basis of the columns before. Once a direction q has joined the basis, every candidate is updated by its
product with q alone: c·r falls by (q·r)(c·q), and the denominator by (c·q)².
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.forest.build import Node, build_forest, leaf, one_against_rest, subset, threshold, value
from hedgerow.forest.forest import Forest
from hedgerow.measured.least_squares import Fit, Problem, least_squares, least_squares_on_simplex
from hedgerow.measured.one_tree.candidates import Candidates, GrowthSettings, RegionScores, SplitRegion
from hedgerow.measured.regions import GrowingRegion, Regions, RegionSplit

__all__ = [
    "NO_ROW",
    "GrowthSettings",
    "Path",
    "build_path",
    "classification_forest",
    "grow_path",
    "path_regions",
    "regression_forest",
]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_NO_GAIN = 1e-12  # of the sum of squares at the start
_TIED = 1e-10  # relative gain by which a nominal column must beat a numeric one
NO_ROW = 1e-6
"""Rows: fewer are no evidence for a class."""


@dataclass(frozen=True)
class Path:
    """Splits in the order in which they were made; every prefix is a tree.

    `splits[i]` splits region `divided[i]` into regions 2i + 1 and 2i + 2; region 0 is the whole space. `risks[i]` is
    the residual sum of squares after i splits, per unit of weight.
    """

    divided: list[int]
    splits: list[RegionSplit]
    risks: list[float]


def grow_path(problem: Problem, settings: GrowthSettings) -> Path:
    """Split regions until nothing is gained or no region may be split."""
    growth = _Growth(problem, settings)
    return growth.depth_first() if settings.max_leaf_nodes is None else growth.best_first(settings.max_leaf_nodes)


class _Growth:
    def __init__(self, problem: Problem, settings: GrowthSettings) -> None:
        self._risk = settings.risk
        self._fit = Fit(problem)
        self._candidates = Candidates(problem, settings, self._fit)
        self._least_gain = _NO_GAIN * self._fit.risk
        self._regions = {0: GrowingRegion.unbounded(len(problem.weight))}
        self._path = Path([], [], [self._fit.risk])

    def best_first(self, max_leaf_nodes: int) -> Path:
        """Split the region with the largest gain next."""
        scores = self._candidates.score(self._regions)
        while True:
            found = {number: best for number in scores if (best := self._best(scores[number])) is not None}
            if not found:
                return self._path
            number = max(found, key=lambda one: found[one][0])  # the first of ties
            done = self._split(number, scores[number], *found[number][1:])
            if done is None:
                scores[number][found[number][1]].forget()
                continue
            if len(self._regions) == max_leaf_nodes:  # the scores of the last parts are not needed
                return self._path
            del scores[number]
            scores |= (
                self._candidates.score_parts(done, self._regions, scores)
                if self._risk == "global"
                else self._candidates.score(done.parts)
            )

    def depth_first(self) -> Path:
        """Split each region when it is reached, the lower part first."""
        waiting = [0]
        while waiting:
            number = waiting.pop()
            scores = self._candidates.score({number: self._regions[number]})[number]
            while (best := self._best(scores)) is not None:
                done = self._split(number, scores, *best[1:])
                if done is not None:
                    waiting += reversed(done.parts)
                    break
                scores[best[1]].forget()
        return self._path

    def _best(self, scores: RegionScores) -> tuple[float, int, int | Bools] | None:
        """Largest gain, its key in `scores` and its candidate: the first of ties, numeric columns before nominal."""
        chosen: tuple[float, int, int | Bools] | None = None
        for key, of_column in scores.items():
            found = of_column.best()
            if (
                found is not None
                and found[0] > self._least_gain
                and (chosen is None or found[0] > chosen[0] * (1 + _TIED))
            ):
                chosen = (found[0], key, found[1])
        return chosen

    def _split(self, number: int, scores: RegionScores, key: int, which: int | Bools) -> SplitRegion | None:
        """Split a region; None if the new column is in the span."""
        region = self._regions[number]
        split, parts = self._candidates.split(region, key, which)
        added = self._fit.add(parts[0])
        if added is None:
            return None
        self._path.divided.append(number)
        self._path.splits.append(split)
        self._path.risks.append(self._fit.risk)
        first = 2 * len(self._path.splits) - 1
        numbered = {first: parts[0], first + 1: parts[1]}
        del self._regions[number]
        self._regions |= numbered
        return SplitRegion(region, scores, split, numbered, *added)


# --- The finished tree ---------------------------------------------------------------------------------------


def path_regions(
    path: Path, n_splits: int, n_features: int, n_categories: NDArray[np.int32]
) -> tuple[list[int], Regions]:
    """Numbers and regions of the leaves after `n_splits` splits, in the order of a Forest's leaves."""
    inner = set(path.divided[:n_splits])
    leaves = {number: value(number) for number in range(2 * n_splits + 1) if number not in inner}
    forest = build_path(path, n_splits, leaves, n_features, n_categories, regression=True)
    return [int(number) for number in forest.stats[:, 1]], Regions.of_forest(forest, n_categories)


def regression_forest(
    path: Path, n_splits: int, problem: Problem, n_categories: NDArray[np.int32]
) -> tuple[Forest, Floats]:
    """The tree after `n_splits` splits, and γ of its leaves.

    Statistics of a leaf: its expected number of rows, γ, and the squared deviations from γ of all rows, weighted by
    their membership.
    """
    numbers, shares, gamma = _fit_leaves(path, n_splits, problem, n_categories, least_squares)
    weighted = shares * problem.weight[:, np.newaxis]
    squares = (weighted * (problem.targets - gamma[:, 0]) ** 2).sum(axis=0)
    leaves = {
        number: value(gamma[k, 0], weight=weighted[:, k].sum(), squares=squares[k]) for k, number in enumerate(numbers)
    }
    return build_path(path, n_splits, leaves, problem.values.shape[1], n_categories, regression=True), gamma


def classification_forest(
    path: Path, n_splits: int, problem: Problem, n_categories: NDArray[np.int32]
) -> tuple[Forest, Floats]:
    """The tree after `n_splits` splits, and γ of its leaves, which are probabilities.

    A row adds its memberships to the counts of its class.
    """
    numbers, shares, gamma = _fit_leaves(path, n_splits, problem, n_categories, least_squares_on_simplex)
    counts = shares.T @ (problem.weight[:, np.newaxis] * problem.targets)
    counts[counts < NO_ROW] = 0.0
    leaves = {number: leaf(counts[k]) for k, number in enumerate(numbers)}
    return build_path(path, n_splits, leaves, problem.values.shape[1], n_categories, regression=False), gamma


def _fit_leaves(
    path: Path,
    n_splits: int,
    problem: Problem,
    n_categories: NDArray[np.int32],
    solve: Callable[[Floats, Floats, Floats], Floats],
) -> tuple[list[int], Floats, Floats]:
    """Region number of each leaf, memberships of all rows, (n, k), and γ."""
    numbers, regions = path_regions(path, n_splits, problem.values.shape[1], n_categories)
    shares = problem.membership(regions)
    return numbers, shares, solve(shares, problem.targets, problem.fit_weight)


def build_path(
    path: Path,
    n_splits: int,
    leaves: Mapping[int, Node],
    n_features: int,
    n_categories: NDArray[np.int32],
    *,
    regression: bool,
) -> Forest:
    """The tree after `n_splits` splits, from its leaves by their region numbers."""
    nodes = dict(leaves)
    for i in reversed(range(n_splits)):  # children are numbered after their parents
        parts = (nodes[2 * i + 1], nodes[2 * i + 2])
        nodes[path.divided[i]] = _node(path.splits[i], n_categories, parts)
    return build_forest([nodes[0]], n_features, regression=regression)


def _node(split: RegionSplit, n_categories: NDArray[np.int32], parts: tuple[Node, Node]) -> Node:
    feature = split.feature
    if split.members is None:
        return threshold(feature, split.threshold, *parts)
    members = [int(code) for code in np.flatnonzero(split.members)]
    if len(members) == 1:
        return one_against_rest(feature, members[0], *parts)
    return subset(feature, members, int(n_categories[feature]), *parts)
