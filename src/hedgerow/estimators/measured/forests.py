"""Base of the forests for measured inputs: settings, growth, and walks of rows with their errors."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import SoftGrowOptions
from hedgerow._params import check_bool, check_number, check_whole
from hedgerow.estimators.fitting.bagging import n_draws, scores_out_of_bag, warn_of_no_answer
from hedgerow.estimators.fitting.progress import TreesProgress
from hedgerow.estimators.measured.inputs import MeasuredInputs, Measurements
from hedgerow.estimators.stored import check_fitted
from hedgerow.estimators.verbs.many_trees import ManyTrees
from hedgerow.growth.options import n_tried_features
from hedgerow.measured.cells import cells_of
from hedgerow.measured.least_squares import Problem
from hedgerow.measured.many_trees import ManySoftTrees, MeasuredWalk
from hedgerow.measured.soft_growth import SoftGrown, grow_soft_trees
from hedgerow.walk import LeafTable, n_threads

__all__ = ["MeasuredForest"]

Floats = NDArray[np.float64]

_TOLERANCE = 0.01
"""Probability of a row that a walk may move to a neighbouring leaf of a tree. Between 0.001 and 0.1 the errors of
answers differ by less than a thousandth, and walks take two to three times as long."""
_STEPS, _FINAL_STEPS = 5, 20  # of the solver: while a tree grows, and at its end


class MeasuredForest(MeasuredInputs, ManyTrees):
    """Abstract; final classes have the parameters that `_soft_options` reads."""

    _made_again: ClassVar[frozenset[str]] = frozenset({"_soft"})

    # -- walks

    @property
    def _walk(self) -> MeasuredWalk:
        walk: MeasuredWalk = self._soft.walk(lambda rows: self._cells(rows, None), _TOLERANCE, self.n_jobs)
        return walk

    def _measured(self, X: Any, X_err: Any) -> tuple[Floats, MeasuredWalk]:
        """Rows, and their walk with errors of their own."""
        rows = self._read(X)
        return rows, self._walk.with_errors(self._cells(rows, X_err))

    def apply(self, X: Any, X_err: Any = None) -> NDArray[np.int32]:
        """Number of the most probable region of each row in each tree, (n, n_trees)."""
        rows, walk = self._measured(X, X_err)
        return walk.route(rows)

    # -- fitting

    def _soft_options(self, n_rows: int, n_features: int) -> SoftGrowOptions:
        options = SoftGrowOptions()
        options.n_trees = self._n_trees()
        if self.max_leaf_nodes is not None:
            options.max_leaf_nodes = check_whole(
                "max_leaf_nodes", self.max_leaf_nodes, 2, 2**31 - 1, hint=", or None for no limit"
            )
        options.min_weight_leaf = check_number("min_weight_leaf", self.min_weight_leaf, hint=" of rows")
        options.max_features = n_tried_features(self.max_features, n_features)
        options.ridge = check_number("ridge", self.ridge, closed="left", hint=" of rows")
        options.tolerance = _TOLERANCE
        options.n_refits, options.n_final = _STEPS, _FINAL_STEPS
        options.n_draws = n_draws(
            check_bool("bootstrap", self.bootstrap), self.max_samples, self._scores_out_of_bag(), n_rows
        )
        options.keep_in_bag = self._scores_out_of_bag()
        options.seed = self._seed()
        options.n_threads = n_threads(self.n_jobs)
        return options

    def _scores_out_of_bag(self) -> bool:
        return scores_out_of_bag(self.oob_score)

    def _grow_soft(self, problem: Problem, options: SoftGrowOptions, classes: bool, X: Any, y: Any) -> SoftGrown:
        candidates = check_whole("max_candidates", self.max_candidates, 1, 4096)
        progress = TreesProgress(self, options.n_trees, X, y)
        columns = cells_of(problem, candidates)
        grown = grow_soft_trees(problem, columns, options, classes=classes, progress=progress.report)
        progress.finish(options.n_trees)
        return grown

    def _set_grown(self, given: Measurements, problem: Problem, grown: SoftGrown, **attributes: Any) -> None:
        self._set_fitted(
            given.table,
            grown.forest,
            laws_=problem.laws,
            error_sizes_=given.sizes,
            error_source_=given.source,
            _soft=ManySoftTrees.of(grown.forest, problem.laws),
            **attributes,
        )

    def _fold_out_of_bag(
        self, problem: Problem, grown: SoftGrown, values: Floats, used: NDArray[np.bool_]
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Mean of leaf values over the trees that have not seen each row, (n_seen, m), and which rows there are."""
        one = np.ones((len(values), 1))
        walk = ManySoftTrees.of(grown.forest, problem.laws).walk(lambda rows: problem.sigma, _TOLERANCE, self.n_jobs)
        rows = np.ascontiguousarray(problem.values)
        (folded,) = walk.fold(rows, [LeafTable.of(np.hstack([values, one]))], skip=grown.in_bag)
        n_trees = folded[:, -1:]
        unseen = n_trees[:, 0] > 0
        warn_of_no_answer(unseen)
        means = np.full((len(used), values.shape[1]), np.nan)
        means[np.flatnonzero(used)[unseen]] = folded[unseen, :-1] / n_trees[unseen]
        return means, ~np.isnan(means[:, 0])

    # -- files

    def _check_fitted(self) -> None:
        check_fitted(self)
        if (self.forest_.missing != 0).any():
            raise ValueError("forest_ must have no branches for missing values")
        self._check_measured()

    def _restored(self) -> None:
        super()._restored()
        self._soft = ManySoftTrees.of(self.forest_, self.laws_)
