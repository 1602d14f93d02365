"""Base of boosted soft trees for measured inputs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._params import check_number, check_rows, check_whole
from hedgerow.estimators.fitting.hold_out_folds import hold_out_rows
from hedgerow.estimators.fitting.progress import TreesProgress
from hedgerow.estimators.measured.inputs import Measurements
from hedgerow.estimators.measured.soft_trees import TOLERANCE, SoftTrees
from hedgerow.measured.least_squares import Problem
from hedgerow.measured.many_trees.boosting import Boosting, boost
from hedgerow.measured.many_trees.losses import Loss
from hedgerow.walk import LeafTable, Query, ask

__all__ = ["MeasuredBoosting"]

Floats = NDArray[np.float64]


class MeasuredBoosting(SoftTrees):
    """Abstract; final classes have the parameters that `_boost` and :class:`SoftTrees` read."""

    @property
    def n_estimators_(self) -> int:
        """Number of stages: fewer than `n_estimators` where held-out rows stopped the fit."""
        return int(self.forest_.n_trees)

    # -- answers

    def _raw_query(self) -> Query[Floats]:
        """Sum of the steps of all trees, from the start, (n, n_outputs)."""
        return Query(self._step_table(), lambda folded, n_trees: folded + self.start_)

    def _step_table(self) -> LeafTable:
        table: LeafTable = self._tables.get("steps", lambda: LeafTable.of(self.values_))
        return table

    def _staged_raw(self, X: Any, X_err: Any) -> Iterator[Floats]:
        """Answers after each stage, (n, n_outputs)."""
        rows, walk = self._measured(X, X_err)
        (steps,) = walk.fold(rows, [self._step_table()], per_tree=[True])
        return accumulate(np.swapaxes(steps[:, 1:], 0, 1), initial=self.start_ + steps[:, 0])

    def _ask_with_errors(self, rows: Floats, cells: Floats, query: Query[Any]) -> Any:
        return ask(self._walk.with_errors(cells), rows, [query])[0]

    # -- fitting

    def _boost(
        self,
        given: Measurements,
        problem: Problem,
        loss: Loss,
        labels: tuple[NDArray[np.int32], int] | None,
        data: tuple[Any, Any],
        **attributes: Any,
    ) -> None:
        """Fit; `labels` are the class of each row of the problem and the number of classes, `data` are X and y."""
        options = self._soft_options(problem.values.shape[1])
        n_stages, options.n_trees = options.n_trees, 1
        rate = check_number("learning_rate", self.learning_rate, 0, 1, closed="right", hint=", for example 0.1")
        patience = self.n_iter_no_change
        if patience is not None:
            patience = check_whole("n_iter_no_change", patience, 1, hint=", or None to make all stages")
        n_held_out = check_rows("validation_fraction", self.validation_fraction, 1, len(problem.weight))
        train, held_out = problem, None
        codes, n_classes = labels or (None, 0)
        if patience is not None:
            apart = hold_out_rows(n_held_out, codes, len(problem.weight), options.seed)
            train, held_out = problem.take(~apart), problem.take(apart)
            codes = None if codes is None else codes[~apart]
        progress = TreesProgress(self, n_stages, *data)
        boosted = boost(
            train,
            held_out,
            self._cells_of_columns(train),
            Boosting(loss, n_stages, rate, patience, TOLERANCE, self.n_jobs),
            options,
            indicators=None if codes is None else np.eye(n_classes)[codes],
            progress=progress.report,
        )
        progress.finish(n_stages)
        self._set_trees(
            given,
            problem,
            boosted.forest,
            values_=boosted.steps,
            start_=boosted.start,
            train_losses_=boosted.train_losses,
            validation_losses_=boosted.held_out_losses,
            **attributes,
        )

    # -- files

    def _check_fitted(self) -> None:
        super()._check_fitted()
        for name, shape in (("values_", (self.forest_.n_leaves, self._n_outputs)), ("start_", (self._n_outputs,))):
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.dtype != np.float64 or array.shape != shape:
                raise ValueError(f"{name} must be a float64 array of shape {shape}")
            if not np.isfinite(array).all():
                raise ValueError(f"{name} must be finite")

    @property
    def _n_outputs(self) -> int:
        return 1
