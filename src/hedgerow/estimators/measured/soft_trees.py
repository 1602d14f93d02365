"""Base of models of many soft trees: settings of growth, and walks of rows with their errors."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import SoftGrowOptions
from hedgerow._params import check_number, check_whole
from hedgerow.data.training import column_ranges
from hedgerow.estimators.measured.inputs import MeasuredInputs, Measurements
from hedgerow.estimators.stored import check_fitted
from hedgerow.estimators.verbs.explained_classes import MoreFacts
from hedgerow.estimators.verbs.many_trees import ManyTrees
from hedgerow.forest.forest import Forest
from hedgerow.growth.options import n_tried_features
from hedgerow.measured.explain.hidden_by_errors import facts_of_errors, hidden_by_errors
from hedgerow.measured.least_squares import Problem
from hedgerow.measured.many_trees.cells import CellColumn, cells_of
from hedgerow.measured.many_trees.measured_walk import ManySoftTrees, MeasuredWalk
from hedgerow.walk import n_threads

__all__ = ["TOLERANCE", "SoftTrees"]

Floats = NDArray[np.float64]

TOLERANCE = 0.01
"""Probability of a row that a walk may move to a neighbouring leaf of a tree. Between 0.001 and 0.1 the errors of
answers differ by less than a thousandth, and walks take two to three times as long."""
_STEPS, _FINAL_STEPS = 5, 20  # of the solver: while a tree grows, and at its end


class SoftTrees(MeasuredInputs, ManyTrees):
    """Abstract; final classes have the parameters that `_soft_options` and `_cells_of_columns` read."""

    _made_again: ClassVar[frozenset[str]] = frozenset({"_soft"})

    # -- walks

    @property
    def _walk(self) -> MeasuredWalk:
        cells = vars(self).get("_cells_of_rows")
        errors = (lambda rows: self._cells(rows, None)) if cells is None else (lambda rows: cells)
        walk: MeasuredWalk = self._soft.walk(errors, TOLERANCE, self.n_jobs, self._n_points())
        return walk

    def _n_points(self) -> int | None:
        """Points of each tree in walks; None: walks follow all regions."""
        return None

    def _with_errors(self, cells: Floats) -> Self:
        """Copy that answers about rows with errors of these sizes, (n, n_features), alone."""
        other = copy(self)
        other._cells_of_rows = cells
        return other

    def _facts_of_errors(
        self, rows: Floats, cells: Floats, answer: Callable[[int, MeasuredWalk, Floats], Floats]
    ) -> MoreFacts:
        """Facts about what errors and missing values hide; `answer` is that about a row if others stood for it."""
        names = self.schema_.names

        def facts(i: int, reason: str) -> dict[str, Any]:
            if reason not in ("measurement error", "missing input"):
                return {}

            def ask_about(others: Floats, sizes: Floats) -> Floats:
                return answer(i, self._walk.with_errors(sizes), others)

            soft = self._soft
            hidden, _ = hidden_by_errors(soft.landmarks, soft.joint, self.schema_, rows[i], cells[i], ask_about)
            return facts_of_errors(hidden, {names[j] for j in np.flatnonzero(np.isnan(rows[i]))})

        return facts

    @property
    def _exact_walk(self) -> MeasuredWalk:
        return self._soft.walk(np.zeros_like, TOLERANCE, self.n_jobs, self._n_points())

    def _measured(self, X: Any, X_err: Any) -> tuple[Floats, MeasuredWalk]:
        """Rows, and their walk with errors of their own."""
        rows = self._read(X)
        return rows, self._walk.with_errors(self._cells(rows, X_err))

    def apply(self, X: Any, X_err: Any = None) -> NDArray[np.int32]:
        """Number of the most probable region of each row in each tree, (n, n_trees).

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        X_err : array-like or frame of the shape of X, or None, default=None
            Standard deviation of the error of each cell, or the covariance of the errors of each row,
            (n_samples, n_features, n_features); None: those of `sigma`.

        Returns
        -------
        int32 ndarray of shape (n_samples, n_trees)
            Numbers of leaves, from 0 in each tree.
        """
        rows, walk = self._measured(X, X_err)
        return walk.route(rows)

    # -- fitting

    def _soft_options(self, n_features: int) -> SoftGrowOptions:
        options = SoftGrowOptions()
        options.n_trees = self._n_trees()
        if self.max_leaf_nodes is not None:
            options.max_leaf_nodes = check_whole(
                "max_leaf_nodes", self.max_leaf_nodes, 2, 2**31 - 1, hint=", or None for no limit"
            )
        options.min_weight_leaf = check_number("min_weight_leaf", self.min_weight_leaf, hint=" of rows")
        options.max_features = n_tried_features(self.max_features, n_features)
        options.ridge = check_number("ridge", self.ridge, closed="left", hint=" of rows")
        options.tolerance = TOLERANCE
        options.n_refits, options.n_final = _STEPS, _FINAL_STEPS
        options.seed = self._seed()
        options.n_threads = n_threads(self.n_jobs)
        return options

    def _cells_of_columns(self, problem: Problem) -> list[CellColumn]:
        return cells_of(problem, check_whole("max_candidates", self.max_candidates, 1, 4096))

    def _set_trees(self, given: Measurements, problem: Problem, forest: Forest, **attributes: Any) -> None:
        self._set_fitted(
            given.table,
            forest,
            laws_=problem.laws,
            error_sizes_=given.sizes,
            error_source_=given.source,
            training_range_=column_ranges(problem.as_measured.rows, given.table.schema.n_categories),
            _soft=ManySoftTrees.of(forest, problem.laws, given.sizes.pairs),
            **attributes,
        )

    # -- files

    def _check_fitted(self) -> None:
        check_fitted(self)
        if (self.forest_.missing != 0).any():
            raise ValueError("forest_ must have no branches for missing values")
        self._check_measured()

    def _restored(self) -> None:
        super()._restored()
        self._soft = ManySoftTrees.of(self.forest_, self.laws_, self.error_sizes_.pairs)
