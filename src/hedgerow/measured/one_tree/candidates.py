"""Candidate splits of the regions of a growing tree, and their scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.measured.laws.column_laws import CategoryLaw
from hedgerow.measured.least_squares import Fit, Problem
from hedgerow.measured.one_tree.categories import Categories, CategoryMoments
from hedgerow.measured.one_tree.scores import (
    LEAST_LENGTH,
    CategoryScores,
    FixedScores,
    Parent,
    Scores,
    ThresholdScores,
    drop_in_node,
    larger_part,
)
from hedgerow.measured.one_tree.threshold_columns import (
    HardThresholds,
    Moments,
    MomentsRequest,
    SoftThresholds,
    ThresholdColumns,
    Thresholds,
    candidate_thresholds,
)
from hedgerow.measured.regions import GrowingRegion, RegionSplit

__all__ = ["Candidates", "GrowthSettings", "RegionScores", "SplitRegion"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
AnyMoments = TypeVar("AnyMoments", Moments, CategoryMoments)
RegionScores = dict[int, Scores]
"""By nominal column; all numeric columns share one key."""

_NUMERIC = -1
_VALUES_REMEMBERED = 1 << 24  # of products of candidates with the basis, in all regions: 128 MiB


@dataclass(frozen=True)
class GrowthSettings:
    """Checked settings of growth."""

    max_leaf_nodes: int | None
    """Best first up to this many; None: depth first, as far as `min_weight_leaf` allows."""
    min_weight_leaf: float
    max_candidates: int | None
    risk: str
    """"global" or "node"."""
    one_against_rest: bool


@dataclass(frozen=True, eq=False)
class SplitRegion:
    """A region that was split, its parts by number, the lower one first, and what the split added to the fit."""

    region: GrowingRegion
    scores: RegionScores
    split: RegionSplit
    parts: dict[int, GrowingRegion]
    direction: Floats
    step: Floats


class Candidates:
    """Candidates in all columns of a problem; `fit` is read as it grows."""

    def __init__(self, problem: Problem, settings: GrowthSettings, fit: Fit) -> None:
        self._settings, self._fit = settings, fit
        columns = {int(j): _column(problem, j, settings) for j in problem.features}
        numbers = {j: one for j, one in columns.items() if isinstance(one, Thresholds)}
        self._thresholds = ThresholdColumns(numbers, len(problem.weight))
        self._categories = {j: one for j, one in columns.items() if isinstance(one, Categories)}
        # Equation 7 sums over the rows whose observed value is in the region, whatever its error.
        self._observed = {
            j: _hard(problem, j, one.at) if settings.risk == "node" and isinstance(one, SoftThresholds) else one
            for j, one in numbers.items()
        }
        self._remember = self._may_remember(float(problem.weight.sum()))

    def _may_remember(self, rows: float) -> bool:
        """Whether the products of all candidates of the largest tree fit; depth first never uses them twice."""
        if self._settings.max_leaf_nodes is None or self._settings.risk != "global":
            return False
        leaves = min(self._settings.max_leaf_nodes, rows / self._settings.min_weight_leaf)
        return len(self._thresholds) * leaves**2 <= _VALUES_REMEMBERED

    # -- splits

    def split(
        self, region: GrowingRegion, key: int, which: int | Bools
    ) -> tuple[RegionSplit, tuple[GrowingRegion, GrowingRegion]]:
        """The split of a candidate, as named by its scores, and the parts that it makes."""
        if isinstance(which, int):
            j, position = self._thresholds.locate(which)
            column = self._thresholds.columns[j]
            parts = region.split_at(column, self._observed[j], j, position)
            return RegionSplit(j, threshold=float(column.at[position])), parts
        members = self._with_absent(region, key, which)
        return RegionSplit(key, members=members), region.split_by_set(self._categories[key], key, members)

    def _with_absent(self, region: GrowingRegion, feature: int, members: Bools) -> Bools:
        """Add categories without rows in the region to the larger part.

        Not where some values are missing or misclassified: those rows have a share in several categories, which is
        already counted.
        """
        column = self._categories[feature]
        if not column.is_exact:
            return members
        inside = region.inside.get(feature, np.ones_like(members))
        rows = column.sums(region.share_without(feature)[:, np.newaxis])[:, 0]
        absent = inside & ~(rows > 0)
        return members | absent if rows[members].sum() > rows[inside & ~members].sum() else members

    # -- scores

    def score(self, regions: Mapping[int, GrowingRegion]) -> dict[int, RegionScores]:
        """Scores of new regions; empty where a region is too small to be split."""
        parents = self._parents(regions)
        requests = [self._request(regions[number]) for number in parents]
        moments = self._thresholds.moments(self._fit.root, requests)
        return self._scores(regions, parents, dict(zip(parents, moments, strict=True)), {})

    def score_parts(
        self, done: SplitRegion, regions: Mapping[int, GrowingRegion], scores: Mapping[int, RegionScores]
    ) -> dict[int, RegionScores]:
        """Scores of the parts of a split, by the global risk; `scores` of all other regions are advanced."""
        parents = self._parents(done.parts)
        standing = [number for number in scores if scores[number]]
        others = [regions[number] for number in standing]
        larger = self._by_subtraction(done, parents)
        requests = [self._request(done.parts[number], norms_only=number == larger) for number in parents]
        moments, sums = self._thresholds.moments_and_sums(
            self._fit.root, requests, [*others, done.region] if larger is not None else others, done.direction
        )
        found, computed_at = dict(zip(parents, moments, strict=True)), {}
        if larger is not None:
            found[larger], computed_at[larger] = self._subtract(done, larger, found, sums[-1])
        if len(self._thresholds):
            for number, products in zip(standing, sums[: len(standing)], strict=True):
                scores[number][_NUMERIC].advance(products, done.step)
        self._advance_categories(done, others, [scores[number] for number in standing])
        return self._scores(done.parts, parents, found, computed_at)

    def _parents(self, regions: Mapping[int, GrowingRegion]) -> dict[int, Parent]:
        """Regions that are large enough to be split."""
        parents = {}
        for number, region in regions.items():
            own = self._fit.basis.T @ (self._fit.root * region.share)
            parent = Parent(own, float(self._fit.rows @ region.share), self._settings.min_weight_leaf)
            if parent.rows >= 2 * parent.least * (1 - 1e-9):
                parents[number] = parent
        return parents

    def _request(self, region: GrowingRegion, norms_only: bool = False) -> MomentsRequest:
        basis, residuals = self._fit.basis, self._fit.residuals_and_rows()
        return MomentsRequest(region, *((basis[:, :0], residuals[:, :0]) if norms_only else (basis, residuals)))

    def _scores(
        self,
        regions: Mapping[int, GrowingRegion],
        parents: Mapping[int, Parent],
        found: Mapping[int, Moments],
        computed_at: Mapping[int, float],
    ) -> dict[int, RegionScores]:
        """Scores from moments of thresholds; `computed_at` has an entry where they were found by subtraction."""
        scores: dict[int, RegionScores] = {number: {} for number in regions}
        for number, parent in parents.items():
            region, of_region = regions[number], scores[number]
            if len(self._thresholds):
                length = computed_at.get(number, parent.length)
                of_region[_NUMERIC] = self._threshold_scores(region, parent, found[number], length)
            for j, column in self._categories.items():
                of_region[j] = self._category_scores(region, parent, j, column)
        return scores

    def _threshold_scores(self, region: GrowingRegion, parent: Parent, found: Moments, computed_at: float) -> Scores:
        (moments, rows), inside = _separate_rows(found), self._thresholds.inside(region)
        if self._settings.risk == "global":
            return ThresholdScores(moments, rows, parent, inside, computed_at if self._remember else None)
        seen = np.sqrt(region.observed_share())[:, np.newaxis]
        request = MomentsRequest(region, self._fit.basis * seen, self._fit.residuals * seen)
        (of_node,) = self._thresholds.moments(self._fit.root * seen[:, 0], [request])
        smaller, allowed = parent.assess(moments, rows)
        drop = drop_in_node(moments, of_node, smaller, *self._node_products(seen))
        return FixedScores(np.where(inside & allowed, drop, -np.inf))

    def _category_scores(self, region: GrowingRegion, parent: Parent, feature: int, column: Categories) -> Scores:
        inside = region.inside.get(feature, np.ones(len(column.law.shares), dtype=bool))
        v, basis = self._fit.root * region.share_without(feature), self._fit.basis
        moments, rows = _separate_rows(column.moments(v, basis, self._fit.residuals_and_rows()))
        if self._settings.risk == "global":
            return CategoryScores(moments, parent, column, inside, rows)
        seen = np.sqrt(region.observed_share())[:, np.newaxis]
        of_node = column.moments(v * seen[:, 0], basis * seen, self._fit.residuals * seen)
        sets = column.candidate_sets(inside, moments)
        in_all, in_node = (one.of_sets(sets) for one in (moments, of_node))
        smaller, allowed = parent.assess(in_all, sets @ rows)
        drop = drop_in_node(in_all, in_node, smaller, *self._node_products(seen))
        return FixedScores(np.where(allowed, drop, -np.inf), sets)

    def _node_products(self, seen: Floats) -> tuple[Floats, Floats]:
        """QᵀQ and Qᵀr over the rows of a node."""
        basis = self._fit.basis * seen
        return basis.T @ basis, basis.T @ (self._fit.residuals * seen)

    def _advance_categories(self, done: SplitRegion, regions: list[GrowingRegion], scores: list[RegionScores]) -> None:
        if not regions:
            return
        weighted = self._fit.root * done.direction
        for j, column in self._categories.items():
            products = column.sums(np.stack([region.share_without(j) * weighted for region in regions], axis=1))
            for of_region, of_column in zip(scores, products.T, strict=True):
                of_region[j].advance(of_column, done.step)

    # -- subtraction

    def _by_subtraction(self, done: SplitRegion, parents: Mapping[int, Parent]) -> int | None:
        """Number of the larger part, if both parts may be split and subtraction is accurate enough."""
        of_region = done.scores.get(_NUMERIC)
        if len(parents) < 2 or not isinstance(of_region, ThresholdScores) or of_region.computed_at is None:
            return None
        larger = max(parents, key=lambda number: parents[number].length)
        return larger if parents[larger].length >= LEAST_LENGTH * of_region.computed_at else None

    def _subtract(
        self, done: SplitRegion, larger: int, found: Mapping[int, Moments], products: Floats
    ) -> tuple[Moments, float]:
        """Moments of the larger part, and the length for which they were last computed directly.

        `products` are those of the split region with the new direction.
        """
        of_region = done.scores[_NUMERIC]
        assert isinstance(of_region, ThresholdScores) and of_region.computed_at is not None
        of_region.advance(products, done.step)
        lower, upper = done.parts
        feature, candidates, position = done.split.feature, slice(0, 0), 0
        if done.split.members is None:
            candidates, position = self._thresholds.parts[feature], done.parts[lower].limits[feature][1]
        smaller = found[upper if larger == lower else lower]
        moments = larger_part(
            of_region.products(), smaller, found[larger].norms, candidates, position, above=larger == upper
        )
        return moments, of_region.computed_at


def _separate_rows(found: AnyMoments) -> tuple[AnyMoments, Floats]:
    """Moments, and the expected rows, which are the last column of the residuals."""
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
