"""Boosting: one soft tree after another, each a step that lowers the loss of the answers so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import SoftGrowOptions
from hedgerow.forest.forest import Forest
from hedgerow.measured.least_squares import Problem
from hedgerow.measured.many_trees.cells import CellColumn
from hedgerow.measured.many_trees.losses import Loss
from hedgerow.measured.many_trees.measured_walk import ManySoftTrees
from hedgerow.measured.many_trees.soft_growth import grow_soft_trees

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["Boosted", "Boosting", "boost"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Boosting:
    """How to boost."""

    loss: Loss
    n_stages: int
    learning_rate: float
    patience: int | None
    """Stages without a lower loss of held-out rows after which to stop; None: all stages are made."""
    tolerance: float
    """Of walks, see :class:`~hedgerow.walk.SoftForestWalk`."""
    n_jobs: int | None


@dataclass(frozen=True)
class Boosted:
    """Trees, the steps of their leaves times the learning rate, and the mean loss at the start and after each stage."""

    forest: Forest
    steps: Floats
    """(n_leaves, n_outputs)"""
    start: Floats
    """(n_outputs,)"""
    train_losses: Floats
    held_out_losses: Floats
    """Empty without held-out rows."""


class _Rows:
    """Rows and the answers to them so far."""

    def __init__(self, problem: Problem, start: Floats, boosting: Boosting) -> None:
        self.problem = problem
        self.answers = np.tile(start, (len(problem.values), 1))
        self.losses: list[float] = []
        self._measured = problem.as_measured
        self._boosting = boosting

    def membership(self, forest: Forest) -> csr_array:
        """Probability of each region, (n, n_leaves)."""
        given = self._measured
        walk = ManySoftTrees.walk_of_rows(forest, given, self._boosting.tolerance, self._boosting.n_jobs)
        return walk.spread(given.rows)

    def note_loss(self) -> None:
        loss = self._boosting.loss
        self.losses.append(loss.mean(self.problem.targets, self.answers, self.problem.fit_weight))


def boost(
    problem: Problem,
    held_out: Problem | None,
    columns: Sequence[CellColumn],
    boosting: Boosting,
    options: SoftGrowOptions,
    *,
    indicators: Floats | None = None,
    progress: Callable[[int], object] | None = None,
) -> Boosted:
    """Boost until the stages are made, or `held_out` says that it is enough; then the best stage is the last.

    `columns` are the cells of the rows of `problem`. Leaves hold soft counts of `indicators`, (n, n_classes); without
    them weight, step, and the squares of what is left of the steps that rows ask for.
    """
    loss = boosting.loss
    start = loss.start(problem.targets, problem.fit_weight)
    train = _Rows(problem, start, boosting)
    others = [] if held_out is None else [_Rows(held_out, start, boosting)]
    for rows in (train, *others):
        rows.note_loss()
    seed = options.seed
    trees: list[Forest] = []
    steps: list[Floats] = []
    while len(trees) < boosting.n_stages and not _is_enough(others, boosting.patience):
        asked, curvature = loss.quadratic(problem.targets, train.answers)
        stage = replace(problem, targets=asked, precision=problem.precision * curvature)
        options.seed = int(np.random.SeedSequence([seed, len(trees)]).generate_state(1, np.uint64)[0])
        grown = grow_soft_trees(stage, columns, options)
        shares = train.membership(grown.forest)
        residuals = problem.targets - train.answers
        step = boosting.learning_rate * loss.steps(shares, residuals, problem.fit_weight, grown.values)
        trees.append(_with_leaves(grown.forest, step, boosting.learning_rate, shares, problem.weight, indicators))
        steps.append(step)
        train.answers += shares @ step
        for rows in others:
            rows.answers += rows.membership(grown.forest) @ step
        for rows in (train, *others):
            rows.note_loss()
        if progress is not None:
            progress(len(trees))
    n_kept = max(1, int(np.argmin(others[0].losses))) if others and boosting.patience is not None else len(trees)
    return Boosted(
        Forest.concatenate(trees[:n_kept]),
        np.concatenate(steps[:n_kept]),
        start,
        np.array(train.losses[: n_kept + 1]),
        np.array(others[0].losses if others else []),
    )


def _is_enough(held_out: list[_Rows], patience: int | None) -> bool:
    if patience is None or not held_out:
        return False
    losses = held_out[0].losses
    return len(losses) - 1 - int(np.argmin(losses)) >= patience


def _with_leaves(
    forest: Forest, step: Floats, rate: float, shares: csr_array, weight: Floats, indicators: Floats | None
) -> Forest:
    parts = forest.parts()
    if indicators is not None:
        counts = np.ascontiguousarray(shares.T @ (weight[:, np.newaxis] * indicators))
        return Forest.trusted(**parts | {"weight": forest.weight, "leaf_stats": None, "leaf_counts": counts})
    stats = np.column_stack([forest.stats[:, 0], step[:, 0], rate**2 * forest.stats[:, 2]])
    return Forest.trusted(**parts | {"weight": forest.weight, "leaf_stats": stats})
