"""Regions while a tree grows: what was asked of them, and how far each training row is inside."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from hedgerow._lazy import lazy
from hedgerow.measured.categories import Categories
from hedgerow.measured.thresholds import Thresholds

__all__ = ["GrowingRegion", "Question"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Question:
    """Is u_j ≤ threshold? Or, of a nominal column: is it one of the members?"""

    feature: int
    threshold: float = np.nan
    members: Bools | None = None


@dataclass(frozen=True, eq=False)
class GrowingRegion:
    """`factors` has P(U_j ∈ R^j | x_j), (n,), of the columns that bound the region, `observed` whether x_j is in R^j.

    `limits` has the positions of the bounds among a column's thresholds, `inside` the categories of a nominal column.
    """

    n_rows: int
    factors: dict[int, Floats]
    observed: dict[int, Floats]
    limits: dict[int, tuple[int, int]]
    inside: dict[int, Bools]

    @classmethod
    def everywhere(cls, n_rows: int) -> GrowingRegion:
        return cls(n_rows, {}, {}, {}, {})

    @lazy
    def share(self) -> Floats:
        """P(U ∈ R | x), (n,)."""
        return _product([*self.factors.values()], self.n_rows)

    def rest(self, feature: int) -> Floats:
        """The same without one column."""
        if feature not in self.factors:
            return self.share
        return _product([factor for j, factor in self.factors.items() if j != feature], self.n_rows)

    def seen(self) -> Floats:
        """Whether the observed x is in the region, (n,); a missing value is in it as far as its law is."""
        return _product([*self.observed.values()], self.n_rows)

    def divided(
        self, column: Thresholds, observed: Thresholds, feature: int, position: int
    ) -> tuple[GrowingRegion, GrowingRegion]:
        """The parts at or below a threshold, and above it."""
        low, high = self.limits.get(feature, (-1, len(column.at)))
        parts = []
        for limits in ((low, position), (position, high)):
            factor = column.below(limits[1]) - column.below(limits[0])
            seen = factor if observed is column else observed.below(limits[1]) - observed.below(limits[0])
            parts.append(
                GrowingRegion(
                    self.n_rows,
                    self.factors | {feature: factor},
                    self.observed | {feature: seen},
                    self.limits | {feature: limits},
                    self.inside,
                )
            )
        return parts[0], parts[1]

    def divided_by_set(self, column: Categories, feature: int, members: Bools) -> tuple[GrowingRegion, GrowingRegion]:
        """The parts whose category is one of the members, and is not."""
        before = self.inside.get(feature, np.ones_like(members))
        parts = []
        for inside in (before & members, before & ~members):
            factor = {feature: column.within(inside)}
            parts.append(
                GrowingRegion(
                    self.n_rows,
                    self.factors | factor,
                    self.observed | factor,
                    self.limits,
                    self.inside | {feature: inside},
                )
            )
        return parts[0], parts[1]


def _product(factors: list[Floats], n_rows: int) -> Floats:
    if not factors:
        return np.ones(n_rows)
    return reduce(np.multiply, factors)
