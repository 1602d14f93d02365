"""How many splits of a path to keep: cost-complexity, its price of a leaf found by cross-validation.

Any number of the first splits is a tree, and each has a risk R, its residual sum of squares. The tree for a price α is
the one with the least R + α·leaves (Breiman et al., CART, 1984, chapter 3); as α grows, fewer splits are worth it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._params import choose
from hedgerow.measured.finishing import least_squares, path_regions
from hedgerow.measured.growing import Path
from hedgerow.measured.problem import Problem
from hedgerow.measured.soft_membership import region_membership
from hedgerow.storage import register

__all__ = ["CostComplexity", "path_pruning"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CostComplexity:
    """Keep the splits with the least R + α·leaves, R per unit of weight.

    `alpha` is the price of a leaf, or "cv": the one whose trees err least on the rows that they were not grown from, in
    `folds` parts; with `standard_errors` above 0 the largest one that is within so many standard errors of that. A
    row's part is drawn by its content: it does not depend on the order of rows, and equal rows stay together.
    """

    alpha: Any = "cv"
    folds: int = 5
    standard_errors: float = 0.0

    def __post_init__(self) -> None:
        priced = isinstance(self.alpha, Real) and not isinstance(self.alpha, bool) and 0 <= float(self.alpha) < np.inf
        if not (isinstance(self.alpha, str) and self.alpha == "cv") and not priced:
            raise ValueError(f'CostComplexity: alpha is {self.alpha!r}, must be "cv" or a number that is not negative')
        if not isinstance(self.folds, Integral) or isinstance(self.folds, bool) or self.folds < 2:
            raise ValueError(f"CostComplexity: folds is {self.folds!r}, must be a whole number of at least 2")
        if not isinstance(self.standard_errors, Real) or not 0 <= float(self.standard_errors) < np.inf:
            raise ValueError(f"CostComplexity: standard_errors is {self.standard_errors!r}, must not be negative")

    def n_splits(
        self, path: Path, problem: Problem, grow: Callable[[Problem], Path], n_categories: NDArray[np.int32]
    ) -> int:
        """How many of the path's splits to keep; `grow` makes the path of a part of the rows."""
        alphas = _breaks(path.risks)
        if self.alpha != "cv":
            return _best_size(path.risks, float(self.alpha))
        parts = row_parts(problem, self.folds)
        if len(np.unique(parts)) < 2 or len(path.questions) == 0:
            return len(path.questions)
        losses = np.zeros((len(problem.values), len(alphas)))
        for part in np.unique(parts):
            held = parts == part
            grown_from = problem.take(~held)
            of_part = grow(grown_from)
            sizes = [_best_size(of_part.risks, alpha) for alpha in alphas]
            for size in sorted(set(sizes)):
                loss = _losses(of_part, size, grown_from, problem.take(held), n_categories)
                losses[np.ix_(held, np.equal(sizes, size))] = loss[:, np.newaxis]
        return _best_size(path.risks, alphas[self._chosen(losses, problem.fit_weight)])

    def _chosen(self, losses: Floats, weight: Floats) -> int:
        """Which α: the best, or the largest that is hardly worse."""
        share = weight / weight.sum()
        mean = share @ losses
        best = len(mean) - 1 - int(np.argmin(mean[::-1]))
        error = np.sqrt(share**2 @ (losses[:, best] - mean[best]) ** 2)
        good = mean <= mean[best] + self.standard_errors * error
        return int(np.flatnonzero(good)[-1])


register(CostComplexity, name="hedgerow.measured.CostComplexity")


def path_pruning(given: Any) -> CostComplexity | None:
    """The parameter `pruning`."""
    return (
        None
        if given is None
        else choose("pruning", given, {"cost_complexity": CostComplexity()}, (CostComplexity,), "; or None")
    )


def _best_size(risks: list[float], alpha: float) -> int:
    """The number of splits with the least R + α·leaves; the fewest of equals."""
    cost = np.array(risks) + alpha * np.arange(1, len(risks) + 1)
    return int(np.argmax(cost <= cost.min() + 1e-12 * abs(risks[0])))


def _breaks(risks: list[float]) -> list[float]:
    """A price for each tree that is the best for some: geometric means of the prices where the best one changes."""
    sizes = _hull(np.array(risks))
    falls = [(risks[few] - risks[more]) / (more - few) for few, more in pairwise(sizes)]
    prices = [0.0, *falls[::-1]]
    between = [float(np.sqrt(a * b)) for a, b in pairwise(prices)]
    return [*between, 2 * prices[-1]]


def _hull(risks: Floats) -> list[int]:
    """The sizes on the lower convex hull of the risks, from none to all splits."""
    hull: list[int] = []
    for size in range(len(risks)):
        while len(hull) > 1:
            a, b = hull[-2:]
            if (risks[a] - risks[b]) * (size - b) > (risks[b] - risks[size]) * (b - a):
                break
            hull.pop()
        hull.append(size)
    return hull


def _losses(path: Path, size: int, grown_from: Problem, held: Problem, n_categories: NDArray[np.int32]) -> Floats:
    """Squared errors of rows that were held out, added up over the outputs, (n,)."""
    regions = path_regions(path, size, held.values.shape[1], n_categories)[1]
    inside = region_membership(regions, grown_from.laws, grown_from.values, grown_from.sigma)
    gamma = least_squares(inside, grown_from.targets, grown_from.fit_weight)
    answers = region_membership(regions, held.laws, held.values, held.sigma) @ gamma
    losses: Floats = ((held.targets - answers) ** 2).sum(axis=1)
    return losses


def row_parts(problem: Problem, n_parts: int) -> NDArray[np.intp]:
    """A part for each row, of about the same size, by the content of rows."""
    content = np.concatenate([problem.values, problem.sigma, problem.targets], axis=1) + 0.0  # 0 and -0 are equal
    unique, of_row = np.unique(np.where(np.isnan(content), np.inf, content), axis=0, return_inverse=True)
    drawn = [blake2b(np.ascontiguousarray(row).tobytes(), digest_size=8).digest() for row in unique]
    rank = np.empty(len(unique), dtype=np.intp)
    rank[np.array(sorted(range(len(unique)), key=drawn.__getitem__))] = np.arange(len(unique))
    parts: NDArray[np.intp] = rank[of_row.reshape(-1)] % min(n_parts, len(unique))
    return parts
