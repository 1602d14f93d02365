"""The growth of a tree of soft regions: which region is divided next, and how.

Splitting region k adds one column c to the span of the memberships, and so lowers the residual sum of squares of the
least-squares fit (Tami et al., 2018, equations 6 and 7) by (c·r)²/(‖c‖² − ‖Qᵀc‖²), with r the residuals and Q an
orthonormal basis of the columns before. Once a direction q has joined the basis, every candidate is brought up to date
by its product with q alone: c·r falls by (q·r)(c·q), and the denominator by (c·q)².
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.measured.basis import Basis
from hedgerow.measured.categories import Categories, CategoryMoments
from hedgerow.measured.laws import CategoryLaw
from hedgerow.measured.problem import Problem
from hedgerow.measured.regions import GrowingRegion, Question
from hedgerow.measured.scores import (
    CategoryScores,
    FixedScores,
    Parent,
    Scores,
    ThresholdScores,
    drop_in_node,
)
from hedgerow.measured.thresholds import HardThresholds, Moments, SoftThresholds, Thresholds, candidate_thresholds

__all__ = ["GrowthSettings", "Path", "grow_path"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
AnyMoments = TypeVar("AnyMoments", Moments, CategoryMoments)

_NO_GAIN = 1e-12  # of the squares that there were at the start


@dataclass(frozen=True)
class GrowthSettings:
    """How far a tree grows, checked."""

    max_leaf_nodes: int | None
    """Best first up to so many; None: depth first, as far as `min_weight_leaf` allows."""
    min_weight_leaf: float
    max_candidates: int | None
    risk: str
    """"global" or "node"."""
    one_against_rest: bool


@dataclass(frozen=True)
class Path:
    """The splits in the order in which they were made: any number of the first ones is a tree.

    Split i asks `questions[i]` of region `divided[i]`, which makes regions 2i + 1 and 2i + 2; region 0 is everywhere.
    `risks[i]` is the residual sum of squares of i splits, per unit of weight.
    """

    divided: list[int]
    questions: list[Question]
    risks: list[float]


def grow_path(problem: Problem, settings: GrowthSettings) -> Path:
    """Split after split, until nothing is gained or no region may be divided."""
    growth = _Growth(problem, settings)
    return growth.depth_first() if settings.max_leaf_nodes is None else growth.best_first(settings.max_leaf_nodes)


class _Growth:
    def __init__(self, problem: Problem, settings: GrowthSettings) -> None:
        self._settings = settings
        weight = problem.fit_weight
        self._root = np.sqrt(weight / weight.sum())
        self._rows = problem.weight
        self._columns = {int(j): _column(problem, j, settings) for j in problem.features}
        # Where the observed value is, whatever its error: what equation 7 sums over.
        self._observed = {
            j: _hard(problem, j, column.at)
            if settings.risk == "node" and isinstance(column, SoftThresholds)
            else column
            for j, column in self._columns.items()
        }
        self._basis = Basis(self._root)
        mean = np.average(problem.targets, axis=0, weights=weight)
        self._residuals = self._root[:, np.newaxis] * (problem.targets - mean)
        self._least_gain = _NO_GAIN * float((self._residuals**2).sum())
        self._regions = {0: GrowingRegion.everywhere(len(weight))}
        self._path = Path([], [], [self._risk()])

    def _risk(self) -> float:
        return float((self._residuals**2).sum())

    # -- the two orders

    def best_first(self, max_leaf_nodes: int) -> Path:
        """The region whose best split gains most is divided next."""
        scores = {0: self._scores(0)}
        while len(self._regions) < max_leaf_nodes:
            found = {number: best for number in scores if (best := self._best(scores[number])) is not None}
            if not found:
                break
            number = max(found, key=lambda one: found[one][0])  # the first of equals
            made = self._divide(number, *found[number][1:])
            if made is None:
                scores[number].pop(found[number][1])  # nothing new by this column
                continue
            direction, step, parts = made
            del scores[number]
            if self._settings.risk == "global":
                self._advance(scores, direction, step)
            scores |= {part: self._scores(part) for part in parts}
        return self._path

    def depth_first(self) -> Path:
        """Every region as soon as it is reached, the lower part first."""
        waiting = [0]
        while waiting:
            number = waiting.pop()
            scores = self._scores(number)
            while (best := self._best(scores)) is not None:
                made = self._divide(number, *best[1:])
                if made is not None:
                    waiting += reversed(made[2])
                    break
                scores.pop(best[1])
        return self._path

    # -- candidates

    def _best(self, scores: dict[int, Scores]) -> tuple[float, int, int | Bools] | None:
        """Gain, column, and where it is divided; the first column of equals."""
        chosen: tuple[float, int, int | Bools] | None = None
        for feature, of_column in scores.items():
            found = of_column.best()
            if (
                found is not None
                and found[0] > self._least_gain
                and (chosen is None or found[0] > chosen[0] * (1 + 1e-10))
            ):
                chosen = (found[0], feature, found[1])
        return chosen

    def _scores(self, number: int) -> dict[int, Scores]:
        """Of all columns in a new region."""
        region = self._regions[number]
        own = self._basis.columns.T @ (self._root * region.share)
        parent = Parent(own, float(self._rows @ region.share), self._settings.min_weight_leaf)
        if parent.rows < 2 * parent.least * (1 - 1e-9):
            return {}
        return {
            feature: self._category_scores(region, parent, feature, column)
            if isinstance(column, Categories)
            else self._threshold_scores(region, parent, feature, column)
            for feature, column in self._columns.items()
        }

    def _threshold_scores(self, region: GrowingRegion, parent: Parent, feature: int, column: Thresholds) -> Scores:
        low, high = region.limits.get(feature, (-1, len(column.at)))
        v, basis = self._root * region.rest(feature), self._basis.columns
        moments, rows = self._with_rows(lambda residuals: column.moments(v, low, high, basis, residuals))
        position = np.arange(len(column.at))
        allowed = (position > low) & (position < high) & parent.allows(moments, rows)
        smaller = parent.smaller_part(moments)
        if self._settings.risk == "global":
            return ThresholdScores(moments, smaller, allowed)
        seen = np.sqrt(region.seen())[:, np.newaxis]
        of_node = column.moments(v * seen[:, 0], low, high, basis * seen, self._residuals * seen)
        return FixedScores(np.where(allowed, drop_in_node(moments, of_node, smaller, *self._of_node(seen)), -np.inf))

    def _category_scores(self, region: GrowingRegion, parent: Parent, feature: int, column: Categories) -> Scores:
        inside = region.inside.get(feature, np.ones(len(column.law.shares), dtype=bool))
        v, basis = self._root * region.rest(feature), self._basis.columns
        moments, rows = self._with_rows(lambda residuals: column.moments(v, basis, residuals))
        if self._settings.risk == "global":
            return CategoryScores(moments, parent, column, inside, rows)
        seen = np.sqrt(region.seen())[:, np.newaxis]
        of_node = column.moments(v * seen[:, 0], basis * seen, self._residuals * seen)
        sets = column.candidate_sets(inside, moments)
        in_all, in_node = (one.of_sets(sets, column.law.shares) for one in (moments, of_node))
        drop = drop_in_node(in_all, in_node, parent.smaller_part(in_all), *self._of_node(seen))
        return FixedScores(np.where(parent.allows(in_all, sets @ rows), drop, -np.inf), sets)

    def _with_rows(self, moments: Callable[[Floats], AnyMoments]) -> tuple[AnyMoments, Floats]:
        """Moments, and the rows expected in each candidate's first part: Σ w·c/√w, which rides along in one product."""
        found = moments(np.column_stack([self._residuals, self._rows / self._root]))
        return replace(found, residuals=found.residuals[:, :-1]), found.residuals[:, -1]

    def _of_node(self, seen: Floats) -> tuple[Floats, Floats]:
        basis = self._basis.columns * seen
        return basis.T @ basis, basis.T @ (self._residuals * seen)

    def _advance(self, scores: dict[int, dict[int, Scores]], direction: Floats, step: Floats) -> None:
        """All candidates of the other regions, by one product with the new direction for each column."""
        weighted = self._root * direction
        for feature, column in self._columns.items():
            numbers = [number for number in scores if feature in scores[number]]
            if not numbers:
                continue
            regions = [self._regions[number] for number in numbers]
            vectors = np.stack([region.rest(feature) * weighted for region in regions], axis=1)
            if isinstance(column, Categories):
                products = column.sums(vectors)
            else:
                low = np.array([region.limits.get(feature, (-1, 0))[0] for region in regions])
                products = column.sums_from(vectors, low)
            for number, of_region in zip(numbers, products.T, strict=True):
                scores[number][feature].advance(of_region, step)

    # -- splits

    def _divide(self, number: int, feature: int, where: int | Bools) -> tuple[Floats, Floats, tuple[int, int]] | None:
        """The new direction, what it explains of the residuals, and the numbers of the parts; None if it is not new."""
        region, column = self._regions[number], self._columns[feature]
        if isinstance(column, Categories):
            assert isinstance(where, np.ndarray)
            members = self._with_absent(region, feature, column, where)
            question = Question(feature, members=members)
            parts = region.divided_by_set(column, feature, members)
        else:
            observed = self._observed[feature]
            assert isinstance(where, int)
            assert isinstance(observed, Thresholds)
            question = Question(feature, threshold=float(column.at[where]))
            parts = region.divided(column, observed, feature, where)
        direction = self._basis.add(self._root * parts[0].share)
        if direction is None:
            return None
        step = direction @ self._residuals
        self._residuals -= np.outer(direction, step)
        self._path.divided.append(number)
        self._path.questions.append(question)
        self._path.risks.append(self._risk())
        del self._regions[number]
        first = 2 * len(self._path.questions) - 1
        self._regions |= {first: parts[0], first + 1: parts[1]}
        return direction, step, (first, first + 1)

    def _with_absent(self, region: GrowingRegion, feature: int, column: Categories, members: Bools) -> Bools:
        """Categories that the region has no rows of go with the larger part."""
        inside = region.inside.get(feature, np.ones_like(members))
        rows = column.sums_known(region.rest(feature)[:, np.newaxis])[:, 0]
        absent = inside & ~(rows > 0)
        return members | absent if rows[members].sum() > rows[inside & ~members].sum() else members


def _column(problem: Problem, j: int, settings: GrowthSettings) -> Thresholds | Categories:
    x, sigma, law = problem.values[:, j], problem.sigma[:, j], problem.laws[j]
    if isinstance(law, CategoryLaw):
        return Categories(law, x, settings.one_against_rest)
    at = candidate_thresholds(x, problem.weight, settings.max_candidates)
    if sigma[~np.isnan(x)].any():
        return SoftThresholds(law, x, sigma, at)
    return HardThresholds(law, x, at)


def _hard(problem: Problem, j: int, at: Floats) -> Thresholds:
    law = problem.laws[j]
    assert not isinstance(law, CategoryLaw)
    return HardThresholds(law, problem.values[:, j], at)
