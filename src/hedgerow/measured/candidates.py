"""What may be asked of the regions of a growing tree, and what each question would gain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.measured.categories import Categories, CategoryMoments
from hedgerow.measured.fitting import Fit
from hedgerow.measured.inheritance import LEAST_LENGTH
from hedgerow.measured.laws import CategoryLaw
from hedgerow.measured.problem import Problem
from hedgerow.measured.regions import GrowingRegion, Question
from hedgerow.measured.scores import CategoryScores, FixedScores, Parent, Scores, ThresholdScores, drop_in_node
from hedgerow.measured.settings import GrowthSettings
from hedgerow.measured.threshold_columns import ThresholdColumns, Wanted
from hedgerow.measured.thresholds import HardThresholds, Moments, SoftThresholds, Thresholds, candidate_thresholds

__all__ = ["Candidates", "RegionScores", "Split"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
AnyMoments = TypeVar("AnyMoments", Moments, CategoryMoments)
RegionScores = dict[int, Scores]
"""By column; those of all numeric ones have one key."""

_NUMERIC = -1
_VALUES_REMEMBERED = 1 << 24  # of products of candidates with the basis, in all regions: 128 MiB


@dataclass(frozen=True, eq=False)
class Split:
    """A region that was divided, its parts by number, the lower one first, and what the fit has from it."""

    region: GrowingRegion
    scores: RegionScores
    question: Question
    parts: dict[int, GrowingRegion]
    direction: Floats
    step: Floats


class Candidates:
    """All columns of a problem; `fit` is read as it grows."""

    def __init__(self, problem: Problem, settings: GrowthSettings, fit: Fit) -> None:
        self._settings, self._fit = settings, fit
        columns = {int(j): _column(problem, j, settings) for j in problem.features}
        numbers = {j: one for j, one in columns.items() if isinstance(one, Thresholds)}
        self._thresholds = ThresholdColumns(numbers, len(problem.weight))
        self._categories = {j: one for j, one in columns.items() if isinstance(one, Categories)}
        # Where the observed value is, whatever its error: what equation 7 sums over.
        self._observed = {
            j: _hard(problem, j, one.at) if settings.risk == "node" and isinstance(one, SoftThresholds) else one
            for j, one in numbers.items()
        }
        self._remember = self._may_remember(float(problem.weight.sum()))

    def _may_remember(self, rows: float) -> bool:
        """Whether the products of all candidates of the largest tree are few enough; depth first none is used twice."""
        if self._settings.max_leaf_nodes is None or self._settings.risk != "global":
            return False
        leaves = min(self._settings.max_leaf_nodes, rows / self._settings.min_weight_leaf)
        return len(self._thresholds) * leaves**2 <= _VALUES_REMEMBERED

    # -- questions

    def divided(
        self, region: GrowingRegion, key: int, which: int | Bools
    ) -> tuple[Question, tuple[GrowingRegion, GrowingRegion]]:
        """The question of a candidate, as scores name it, and the parts that it makes."""
        if isinstance(which, int):
            j, position = self._thresholds.place(which)
            column = self._thresholds.columns[j]
            parts = region.divided(column, self._observed[j], j, position)
            return Question(j, threshold=float(column.at[position])), parts
        members = self._with_absent(region, key, which)
        return Question(key, members=members), region.divided_by_set(self._categories[key], key, members)

    def _with_absent(self, region: GrowingRegion, feature: int, members: Bools) -> Bools:
        """Categories that the region has no rows of go with the larger part.

        Not where some category is missing: those rows have a share in each, which has been counted with the others.
        """
        column = self._categories[feature]
        if column.any_missing:
            return members
        inside = region.inside.get(feature, np.ones_like(members))
        rows = column.sums_known(region.rest(feature)[:, np.newaxis])[:, 0]
        absent = inside & ~(rows > 0)
        return members | absent if rows[members].sum() > rows[inside & ~members].sum() else members

    # -- scores

    def of_regions(self, regions: Mapping[int, GrowingRegion]) -> dict[int, RegionScores]:
        """Of all columns in new regions; none where a region is too small to be divided."""
        parents = self._parents(regions)
        wanted = [self._wanted(regions[number]) for number in parents]
        moments = self._thresholds.moments(self._fit.root, wanted)
        return self._scores(regions, parents, dict(zip(parents, moments, strict=True)), {})

    def of_parts(
        self, split: Split, regions: Mapping[int, GrowingRegion], scores: Mapping[int, RegionScores]
    ) -> dict[int, RegionScores]:
        """The same of the parts of a split; `scores` of all other regions, by the risk over all rows, are advanced."""
        parents = self._parents(split.parts)
        standing = [number for number in scores if scores[number]]
        others = [regions[number] for number in standing]
        heir = self._heir(split, parents)
        wanted = [self._wanted(split.parts[number], norms_alone=number == heir) for number in parents]
        moments, sums = self._thresholds.moments_and_sums(
            self._fit.root, wanted, [*others, split.region] if heir is not None else others, split.direction
        )
        found, reckoned = dict(zip(parents, moments, strict=True)), {}
        if heir is not None:
            found[heir], reckoned[heir] = self._inherited(split, heir, found, sums[-1])
        if len(self._thresholds):
            for number, products in zip(standing, sums[: len(standing)], strict=True):
                scores[number][_NUMERIC].advance(products, split.step)
        self._advance_categories(split, others, [scores[number] for number in standing])
        return self._scores(split.parts, parents, found, reckoned)

    def _parents(self, regions: Mapping[int, GrowingRegion]) -> dict[int, Parent]:
        """Of the regions that are large enough to be divided."""
        parents = {}
        for number, region in regions.items():
            own = self._fit.basis.T @ (self._fit.root * region.share)
            parent = Parent(own, float(self._fit.rows @ region.share), self._settings.min_weight_leaf)
            if parent.rows >= 2 * parent.least * (1 - 1e-9):
                parents[number] = parent
        return parents

    def _wanted(self, region: GrowingRegion, norms_alone: bool = False) -> Wanted:
        basis, residuals = self._fit.basis, self._fit.residuals_and_rows()
        return Wanted(region, basis[:, :0], residuals[:, :0]) if norms_alone else Wanted(region, basis, residuals)

    def _scores(
        self,
        regions: Mapping[int, GrowingRegion],
        parents: Mapping[int, Parent],
        found: Mapping[int, Moments],
        reckoned: Mapping[int, float],
    ) -> dict[int, RegionScores]:
        """From moments of thresholds; `reckoned` has the lengths for which they were, if not for the region's own."""
        scores: dict[int, RegionScores] = {number: {} for number in regions}
        for number, parent in parents.items():
            region, of_region = regions[number], scores[number]
            if len(self._thresholds):
                length = reckoned.get(number, parent.length)
                of_region[_NUMERIC] = self._threshold_scores(region, parent, found[number], length)
            for j, column in self._categories.items():
                of_region[j] = self._category_scores(region, parent, j, column)
        return scores

    def _threshold_scores(self, region: GrowingRegion, parent: Parent, found: Moments, reckoned: float) -> Scores:
        (moments, rows), inside = _apart(found), self._thresholds.inside(region)
        if self._settings.risk == "global":
            return ThresholdScores(moments, rows, parent, inside, reckoned if self._remember else None)
        seen = np.sqrt(region.seen())[:, np.newaxis]
        wanted = Wanted(region, self._fit.basis * seen, self._fit.residuals * seen)
        (of_node,) = self._thresholds.moments(self._fit.root * seen[:, 0], [wanted])
        smaller, allowed = parent.judged(moments, rows)
        drop = drop_in_node(moments, of_node, smaller, *self._of_node(seen))
        return FixedScores(np.where(inside & allowed, drop, -np.inf))

    def _category_scores(self, region: GrowingRegion, parent: Parent, feature: int, column: Categories) -> Scores:
        inside = region.inside.get(feature, np.ones(len(column.law.shares), dtype=bool))
        v, basis = self._fit.root * region.rest(feature), self._fit.basis
        moments, rows = _apart(column.moments(v, basis, self._fit.residuals_and_rows()))
        if self._settings.risk == "global":
            return CategoryScores(moments, parent, column, inside, rows)
        seen = np.sqrt(region.seen())[:, np.newaxis]
        of_node = column.moments(v * seen[:, 0], basis * seen, self._fit.residuals * seen)
        sets = column.candidate_sets(inside, moments)
        in_all, in_node = (one.of_sets(sets, column.law.shares) for one in (moments, of_node))
        smaller, allowed = parent.judged(in_all, sets @ rows)
        drop = drop_in_node(in_all, in_node, smaller, *self._of_node(seen))
        return FixedScores(np.where(allowed, drop, -np.inf), sets)

    def _of_node(self, seen: Floats) -> tuple[Floats, Floats]:
        basis = self._fit.basis * seen
        return basis.T @ basis, basis.T @ (self._fit.residuals * seen)

    def _advance_categories(self, split: Split, regions: list[GrowingRegion], scores: list[RegionScores]) -> None:
        if not regions:
            return
        weighted = self._fit.root * split.direction
        for j, column in self._categories.items():
            products = column.sums(np.stack([region.rest(j) * weighted for region in regions], axis=1))
            for of_region, of_column in zip(scores, products.T, strict=True):
                of_region[j].advance(of_column, split.step)

    # -- what a part has from the region that was divided

    def _heir(self, split: Split, parents: Mapping[int, Parent]) -> int | None:
        """The number of the larger part, if both parts may be divided and it may have its products by inheritance."""
        of_region = split.scores.get(_NUMERIC)
        if len(parents) < 2 or not isinstance(of_region, ThresholdScores) or of_region.reckoned is None:
            return None
        larger = max(parents, key=lambda number: parents[number].length)
        return larger if parents[larger].length >= LEAST_LENGTH * of_region.reckoned else None

    def _inherited(
        self, split: Split, heir: int, found: Mapping[int, Moments], products: Floats
    ) -> tuple[Moments, float]:
        """Moments of the heir, and the length for which they were reckoned.

        `products` are those of the divided region with the new direction.
        """
        of_region = split.scores[_NUMERIC]
        assert isinstance(of_region, ThresholdScores) and of_region.reckoned is not None
        of_region.advance(products, split.step)
        lower, upper = split.parts
        feature, asked, position = split.question.feature, slice(0, 0), 0
        if split.question.members is None:
            asked, position = self._thresholds.parts[feature], split.parts[lower].limits[feature][1]
        smaller = found[upper if heir == lower else lower]
        moments = of_region.inheritance().larger_part(smaller, found[heir].norms, asked, position, heir == upper)
        return moments, of_region.reckoned


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
