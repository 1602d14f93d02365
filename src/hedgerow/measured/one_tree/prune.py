"""Cost-complexity pruning of a path: how many of its splits to keep.

Every prefix of a path is a tree with a risk R, its residual sum of squares per unit of weight. The tree for α has the
least R + α·leaves (Breiman et al., CART, 1984, chapter 3); as α grows, fewer splits are worth it.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._params import choose
from hedgerow.measured.least_squares import Problem, least_squares
from hedgerow.measured.one_tree.grow import Path, path_regions
from hedgerow.pruning import CostComplexity

__all__ = ["n_kept_splits", "path_pruning"]

Floats = NDArray[np.float64]


def path_pruning(given: Any) -> CostComplexity | None:
    """Strategy for the parameter `pruning`: an alias or an instance; None keeps all splits."""
    return (
        None
        if given is None
        else choose("pruning", given, {"cost_complexity": CostComplexity()}, (CostComplexity,), "; or None")
    )


def n_kept_splits(
    pruning: CostComplexity,
    path: Path,
    problem: Problem,
    grow: Callable[[Problem], Path],
    n_categories: NDArray[np.int32],
) -> int:
    """Number of splits to keep; `grow` grows the path of some of the rows.

    Rows are assigned to folds by a hash of their content: the order of rows does not matter, and equal rows stay
    together.
    """
    if pruning.alpha != "cv":
        return _best_size(path.risks, float(pruning.alpha))
    folds = assign_folds(problem, pruning.folds)
    if len(np.unique(folds)) < 2 or len(path.splits) == 0:
        return len(path.splits)
    alphas = _candidate_alphas(path.risks)
    losses = np.zeros((len(problem.values), len(alphas)))
    for fold in np.unique(folds):
        held = folds == fold
        grown_from = problem.take(~held)
        of_fold = grow(grown_from)
        sizes = [_best_size(of_fold.risks, alpha) for alpha in alphas]
        for size in sorted(set(sizes)):
            loss = _losses(of_fold, size, grown_from, problem.take(held), n_categories)
            losses[np.ix_(held, np.equal(sizes, size))] = loss[:, np.newaxis]
    chosen = _chosen_alpha(losses, problem.fit_weight, pruning.standard_errors)
    return _best_size(path.risks, alphas[chosen])


def _chosen_alpha(losses: Floats, weight: Floats, standard_errors: float) -> int:
    """Position of the best α, or of the largest within so many standard errors of the best."""
    share = weight / weight.sum()
    mean = share @ losses
    best = len(mean) - 1 - int(np.argmin(mean[::-1]))
    error = np.sqrt(share**2 @ (losses[:, best] - mean[best]) ** 2)
    good = mean <= mean[best] + standard_errors * error
    return int(np.flatnonzero(good)[-1])


def _best_size(risks: list[float], alpha: float) -> int:
    """Number of splits with the least R + α·leaves; the fewest of ties."""
    cost = np.array(risks) + alpha * np.arange(1, len(risks) + 1)
    return int(np.argmax(cost <= cost.min() + 1e-12 * abs(risks[0])))


def _candidate_alphas(risks: list[float]) -> list[float]:
    """One α for each tree that is best for some: geometric means of neighbouring α where the best tree changes."""
    sizes = _hull(np.array(risks))
    falls = [(risks[few] - risks[more]) / (more - few) for few, more in pairwise(sizes)]
    changes = [0.0, *falls[::-1]]
    between = [float(np.sqrt(a * b)) for a, b in pairwise(changes)]
    return [*between, 2 * changes[-1]]


def _hull(risks: Floats) -> list[int]:
    """Sizes on the lower convex hull of the risks, from none to all splits."""
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
    """Squared errors on held-out rows, summed over the outputs, (n,)."""
    regions = path_regions(path, size, held.values.shape[1], n_categories)[1]
    inside = grown_from.membership(regions)
    gamma = least_squares(inside, grown_from.targets, grown_from.fit_weight)
    answers = held.membership(regions) @ gamma
    losses: Floats = ((held.targets - answers) ** 2).sum(axis=1)
    return losses


def assign_folds(problem: Problem, n_folds: int) -> NDArray[np.intp]:
    """Fold of each row, by a hash of its content; folds have about equal numbers of distinct rows."""
    content = np.concatenate([problem.values, problem.sigma, problem.targets], axis=1) + 0.0  # 0 and -0 are equal
    unique, of_row = np.unique(np.where(np.isnan(content), np.inf, content), axis=0, return_inverse=True)
    drawn = [blake2b(np.ascontiguousarray(row).tobytes(), digest_size=8).digest() for row in unique]
    rank = np.empty(len(unique), dtype=np.intp)
    rank[np.array(sorted(range(len(unique)), key=drawn.__getitem__))] = np.arange(len(unique))
    folds: NDArray[np.intp] = rank[of_row.reshape(-1)] % min(n_folds, len(unique))
    return folds
