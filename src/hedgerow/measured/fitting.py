"""Least squares on the regions so far, one column after another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.measured.basis import Basis
from hedgerow.measured.problem import Problem
from hedgerow.measured.regions import GrowingRegion

__all__ = ["Fit"]

Floats = NDArray[np.float64]


class Fit:
    """A basis of the memberships' columns, each row times √w, and what is left of the targets.

    `root` has √w, whose squares add up to 1, and `rows` how many rows each one stands for.
    """

    def __init__(self, problem: Problem) -> None:
        weight = problem.fit_weight
        self.root: Floats = np.sqrt(weight / weight.sum())
        self.rows = problem.weight
        self._basis = Basis(self.root)
        mean = np.average(problem.targets, axis=0, weights=weight)
        self.residuals: Floats = self.root[:, np.newaxis] * (problem.targets - mean)

    @property
    def basis(self) -> Floats:
        """(n, size), column-major."""
        return self._basis.columns

    @property
    def risk(self) -> float:
        """The residual sum of squares, per unit of weight."""
        return float((self.residuals**2).sum())

    def residuals_and_rows(self) -> Floats:
        """What moments are taken with: rows expected in a part, Σ w·c/√w, ride along in the same product."""
        return np.column_stack([self.residuals, self.rows / self.root])

    def add(self, region: GrowingRegion) -> tuple[Floats, Floats] | None:
        """The new direction that a region brings, and what it explains of the residuals; None if it is not new."""
        direction = self._basis.add(self.root * region.share)
        if direction is None:
            return None
        step = direction @ self.residuals
        self.residuals = self.residuals - np.outer(direction, step)
        return direction, step
