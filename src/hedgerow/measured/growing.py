"""The growth of a tree of soft regions: which region is divided next, and how.

Splitting region k adds one column c to the span of the memberships, and so lowers the residual sum of squares of the
least-squares fit (Tami et al., 2018, equations 6 and 7) by (c·r)²/(‖c‖² − ‖Qᵀc‖²), with r the residuals and Q an
orthonormal basis of the columns before. Once a direction q has joined the basis, every candidate is brought up to date
by its product with q alone: c·r falls by (q·r)(c·q), and the denominator by (c·q)².
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from hedgerow.measured.threshold_columns import ThresholdColumns
from hedgerow.measured.thresholds import HardThresholds, Moments, SoftThresholds, Thresholds, candidate_thresholds

__all__ = ["GrowthSettings", "Path", "grow_path"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
AnyMoments = TypeVar("AnyMoments", Moments, CategoryMoments)

_NUMERIC = -1  # the key of all numeric columns' candidates; a nominal column has its own
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
        columns = {int(j): _column(problem, j, settings) for j in problem.features}
        self._thresholds = ThresholdColumns({j: one for j, one in columns.items() if isinstance(one, Thresholds)})
        self._categories = {j: one for j, one in columns.items() if isinstance(one, Categories)}
        # Where the observed value is, whatever its error: what equation 7 sums over.
        self._observed = {
            j: _hard(problem, j, one.at) if settings.risk == "node" and isinstance(one, SoftThresholds) else one
            for j, one in self._thresholds.columns.items()
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
        scores = self._scores([0])
        while len(self._regions) < max_leaf_nodes:
            found = {number: best for number in scores if (best := self._best(scores[number])) is not None}
            if not found:
                break
            number = max(found, key=lambda one: found[one][0])  # the first of equals
            made = self._divide(number, *found[number][1:])
            if made is None:
                scores[number][found[number][1]].forget()
                continue
            direction, step, parts = made
            del scores[number]
            if self._settings.risk == "global":
                self._advance(scores, direction, step)
            scores |= self._scores(parts)
        return self._path

    def depth_first(self) -> Path:
        """Every region as soon as it is reached, the lower part first."""
        waiting = [0]
        while waiting:
            number = waiting.pop()
            scores = self._scores([number])[number]
            while (best := self._best(scores)) is not None:
                made = self._divide(number, *best[1:])
                if made is not None:
                    waiting += reversed(made[2])
                    break
                scores[best[1]].forget()
        return self._path

    # -- candidates

    def _best(self, scores: dict[int, Scores]) -> tuple[float, int, int | Bools] | None:
        """Gain, whose it is, and which: the first of equals, numeric columns before nominal ones."""
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

    def _scores(self, numbers: Sequence[int]) -> dict[int, dict[int, Scores]]:
        """Of all columns in new regions; none where a region is too small to be divided."""
        scores: dict[int, dict[int, Scores]] = {number: {} for number in numbers}
        parents = {number: self._parent(self._regions[number]) for number in numbers}
        large = [number for number, parent in parents.items() if parent.rows >= 2 * parent.least * (1 - 1e-9)]
        if large and len(self._thresholds):
            for number, of_region in zip(large, self._threshold_scores(large, parents), strict=True):
                scores[number][_NUMERIC] = of_region
        for number in large:
            for j, column in self._categories.items():
                scores[number][j] = self._category_scores(self._regions[number], parents[number], j, column)
        return scores

    def _parent(self, region: GrowingRegion) -> Parent:
        own = self._basis.columns.T @ (self._root * region.share)
        return Parent(own, float(self._rows @ region.share), self._settings.min_weight_leaf)

    def _threshold_scores(self, numbers: Sequence[int], parents: Mapping[int, Parent]) -> Iterator[Scores]:
        columns, basis = self._thresholds, self._basis.columns
        regions = [self._regions[number] for number in numbers]
        everywhere = columns.moments(regions, self._root, basis, self._residuals_and_rows())
        for number, region, with_rows in zip(numbers, regions, everywhere, strict=True):
            (moments, rows), parent = _apart(with_rows), parents[number]
            allowed = columns.inside(region) & parent.allows(moments, rows)
            smaller = parent.smaller_part(moments)
            if self._settings.risk == "global":
                yield ThresholdScores(moments, smaller, allowed)
            else:
                seen = np.sqrt(region.seen())[:, np.newaxis]
                scaled = (self._root * seen[:, 0], basis * seen, self._residuals * seen)
                drop = drop_in_node(moments, columns.moments([region], *scaled)[0], smaller, *self._of_node(seen))
                yield FixedScores(np.where(allowed, drop, -np.inf))

    def _category_scores(self, region: GrowingRegion, parent: Parent, feature: int, column: Categories) -> Scores:
        inside = region.inside.get(feature, np.ones(len(column.law.shares), dtype=bool))
        v, basis = self._root * region.rest(feature), self._basis.columns
        moments, rows = _apart(column.moments(v, basis, self._residuals_and_rows()))
        if self._settings.risk == "global":
            return CategoryScores(moments, parent, column, inside, rows)
        seen = np.sqrt(region.seen())[:, np.newaxis]
        of_node = column.moments(v * seen[:, 0], basis * seen, self._residuals * seen)
        sets = column.candidate_sets(inside, moments)
        in_all, in_node = (one.of_sets(sets, column.law.shares) for one in (moments, of_node))
        drop = drop_in_node(in_all, in_node, parent.smaller_part(in_all), *self._of_node(seen))
        return FixedScores(np.where(parent.allows(in_all, sets @ rows), drop, -np.inf), sets)

    def _residuals_and_rows(self) -> Floats:
        """What moments are taken with: rows expected in a part, Σ w·c/√w, ride along in the same product."""
        return np.column_stack([self._residuals, self._rows / self._root])

    def _of_node(self, seen: Floats) -> tuple[Floats, Floats]:
        basis = self._basis.columns * seen
        return basis.T @ basis, basis.T @ (self._residuals * seen)

    def _advance(self, scores: dict[int, dict[int, Scores]], direction: Floats, step: Floats) -> None:
        """All candidates of the other regions, by their products with the new direction."""
        weighted = self._root * direction
        numbers = [number for number in scores if scores[number]]
        regions = [self._regions[number] for number in numbers]
        if not regions:
            return
        products = {_NUMERIC: self._thresholds.sums(regions, weighted)} if len(self._thresholds) else {}
        for j, column in self._categories.items():
            products[j] = column.sums(np.stack([region.rest(j) * weighted for region in regions], axis=1))
        for key, of_regions in products.items():
            for number, of_region in zip(numbers, of_regions.T, strict=True):
                scores[number][key].advance(of_region, step)

    # -- splits

    def _divide(self, number: int, key: int, which: int | Bools) -> tuple[Floats, Floats, tuple[int, int]] | None:
        """The new direction, what it explains of the residuals, and the numbers of the parts; None if it is not new."""
        region = self._regions[number]
        if isinstance(which, int):
            j, position = self._thresholds.place(which)
            column = self._thresholds.columns[j]
            question = Question(j, threshold=float(column.at[position]))
            parts = region.divided(column, self._observed[j], j, position)
        else:
            members = self._with_absent(region, key, self._categories[key], which)
            question = Question(key, members=members)
            parts = region.divided_by_set(self._categories[key], key, members)
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
        """Categories that the region has no rows of go with the larger part.

        Not where some category is missing: those rows have a share in each, which has been counted with the others.
        """
        if column.any_missing:
            return members
        inside = region.inside.get(feature, np.ones_like(members))
        rows = column.sums_known(region.rest(feature)[:, np.newaxis])[:, 0]
        absent = inside & ~(rows > 0)
        return members | absent if rows[members].sum() > rows[inside & ~members].sum() else members


def _apart(found: AnyMoments) -> tuple[AnyMoments, Floats]:
    """Moments, and the rows that rode along."""
    return replace(found, residuals=found.residuals[:, :-1]), found.residuals[:, -1]


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
