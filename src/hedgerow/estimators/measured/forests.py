"""Base of the forests for measured inputs: growth from drawn rows, and out-of-bag answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import SoftGrowOptions
from hedgerow._params import check_bool, check_whole
from hedgerow.estimators.fitting.bagging import n_draws, scores_out_of_bag, warn_of_no_answer
from hedgerow.estimators.fitting.progress import TreesProgress
from hedgerow.estimators.measured.soft_trees import TOLERANCE, SoftTrees
from hedgerow.measured.least_squares import Problem
from hedgerow.measured.many_trees.measured_walk import ManySoftTrees
from hedgerow.measured.many_trees.soft_growth import SoftGrown, grow_soft_trees
from hedgerow.walk import MOST_POINTS, LeafTable

__all__ = ["MeasuredForest"]

Floats = NDArray[np.float64]


_POINTS = 400
"""Of all trees together, by default. With 100 trees the error against the truth is then 0.2 to 0.8 % larger than over
all regions, less than the standard error of its mean over 30 seeds (benchmarks/measured_points.py)."""
_LEAST, _MOST = 4, 32  # points of a tree, by default; more than 32 take about as long as all regions


class MeasuredForest(SoftTrees):
    """Abstract; final classes also have the parameters of bootstrap samples, and `n_points`."""

    def _n_points(self) -> int | None:
        return _points_of_trees(self.n_points, self.forest_.n_trees)

    def _forest_options(self, n_rows: int, n_features: int) -> SoftGrowOptions:
        options = self._soft_options(n_features)
        _points_of_trees(self.n_points, options.n_trees)
        options.n_draws = n_draws(
            check_bool("bootstrap", self.bootstrap), self.max_samples, self._scores_out_of_bag(), n_rows
        )
        options.keep_in_bag = self._keeps_bags()
        return options

    def _keeps_bags(self) -> bool:
        """Whether there are answers by trees that have not seen a row."""
        return self._scores_out_of_bag()

    def _scores_out_of_bag(self) -> bool:
        return scores_out_of_bag(self.oob_score)

    def _grow_soft(self, problem: Problem, options: SoftGrowOptions, classes: bool, X: Any, y: Any) -> SoftGrown:
        columns = self._cells_of_columns(problem)
        progress = TreesProgress(self, options.n_trees, X, y)
        grown = grow_soft_trees(problem, columns, options, classes=classes, progress=progress.report)
        progress.finish(options.n_trees)
        return grown

    def _fold_out_of_bag(
        self, problem: Problem, grown: SoftGrown, values: Floats, used: NDArray[np.bool_]
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Mean of leaf values over the trees that have not seen each row, (n_seen, m), and which rows there are."""
        one = np.ones((len(values), 1))
        given = problem.as_measured
        walk = ManySoftTrees.walk_of_rows(grown.forest, given, TOLERANCE, self.n_jobs)
        (folded,) = walk.fold(given.rows, [LeafTable.of(np.hstack([values, one]))], skip=grown.in_bag)
        n_trees = folded[:, -1:]
        unseen = n_trees[:, 0] > 0
        if self._scores_out_of_bag():
            warn_of_no_answer(unseen)
        means = np.full((len(used), values.shape[1]), np.nan)
        means[np.flatnonzero(used)[unseen]] = folded[unseen, :-1] / n_trees[unseen]
        return means, ~np.isnan(means[:, 0])


def _points_of_trees(n_points: Any, n_trees: int) -> int | None:
    """Read the parameter `n_points`; None: all regions."""
    if n_points is None:
        return None
    if isinstance(n_points, str) and n_points == "auto":
        wanted = max(_LEAST, -(-_POINTS // n_trees))
        return wanted if wanted <= _MOST else None
    return check_whole("n_points", n_points, 1, MOST_POINTS, hint=', "auto", or None to follow all regions')
