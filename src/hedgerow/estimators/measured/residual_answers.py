"""Quantiles and intervals of forests for measured inputs, from residuals of rows that trees have not seen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if

from hedgerow._params import check_bool
from hedgerow.estimators.measured.inputs import read_target_errors
from hedgerow.estimators.measured.soft_trees import TOLERANCE
from hedgerow.estimators.verbs.answers import NumberAnswers
from hedgerow.folds import Uncertainty
from hedgerow.measured.least_squares import Problem
from hedgerow.measured.many_trees.measured_walk import ManySoftTrees, MeasuredWalk
from hedgerow.measured.many_trees.soft_growth import SoftGrown
from hedgerow.measured.residuals import IntervalParts, Residuals, check_levels, row_blocks
from hedgerow.walk import ask
from hedgerow.walk.quantiles import central_interval

__all__ = ["ResidualAnswers"]

Floats = NDArray[np.float64]


def _has_residuals(self: ResidualAnswers) -> bool:
    """Condition of quantiles and intervals, for `available_if`."""
    known = vars(self).get("residuals_") is not None if "forest_" in vars(self) else self.bootstrap
    if not known:
        raise AttributeError(
            "quantiles need residuals of rows that trees have not seen, which this model has not: set bootstrap=True "
            "and fit again"
        )
    return True


class ResidualAnswers(NumberAnswers):
    """Abstract; final classes are forests of soft trees with `residuals_` and the parameter `bootstrap`."""

    def _keeps_bags(self) -> bool:
        return check_bool("bootstrap", self.bootstrap)

    def _residuals(
        self,
        problem: Problem,
        grown: SoftGrown,
        used: NDArray[np.bool_],
        unseen: NDArray[np.bool_],
        residuals: Floats,
        y_err: Floats,
    ) -> Residuals | None:
        """Residuals of the rows that some tree has not seen; None without any."""
        if not unseen.any():
            return None
        given = problem.as_measured
        walk = ManySoftTrees.walk_of_rows(grown.forest, given, TOLERANCE, self.n_jobs)
        leaves = walk.route(given.rows) + grown.forest.leaf_start[:-1]
        known = unseen[used]
        return Residuals.of(
            *(leaves[known], grown.forest.n_leaves, residuals[unseen], problem.weight[known], y_err[unseen])
        )

    @available_if(_has_residuals)  # type: ignore[untyped-decorator]
    def predict_quantiles(
        self, X: Any, q: ArrayLike = (0.05, 0.5, 0.95), X_err: Any = None, y_err: Any = None
    ) -> Floats:
        """Quantiles of the target, (n, len(q)): the answer plus quantiles of residuals.

        A training row's residual, by the trees that have not seen it, counts as far as the row shares regions with the
        new one.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        q : float or sequence of float
            Levels in [0, 1].
        X_err : array-like or frame of the shape of X, or None
            Standard deviation of the error of each cell, or the covariance of the errors of each row,
            (n_samples, n_features, n_features); None: those of `sigma`.
        y_err : float, array-like of shape (n_samples,) or None
            Standard deviation of the normal error of the target: 0 asks about its true value. None: targets are
            measured as those of `fit` were.
        """
        rows = self._read(X)
        errors = None if y_err is None else read_target_errors(y_err, len(rows))
        return self._quantiles(rows, self._cells(rows, X_err), check_levels(q), errors)

    @available_if(_has_residuals)  # type: ignore[untyped-decorator]
    def predict_interval(self, X: Any, coverage: float = 0.9, X_err: Any = None, y_err: Any = None) -> Floats:
        """Bounds, (n, 2), of the interval with equal probability below and above; see :meth:`predict_quantiles`.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        coverage : float
            Probability that an interval is to hold the target.
        X_err : array-like or frame of the shape of X, or None
            Standard deviation of the error of each cell, or the covariance of the errors of each row,
            (n_samples, n_features, n_features); None: those of `sigma`.
        y_err : float, array-like of shape (n_samples,) or None
            Standard deviation of the normal error of the target: 0 asks about its true value. None: targets are
            measured as those of `fit` were.
        """
        return self.predict_quantiles(X, central_interval(coverage), X_err, y_err)

    @available_if(_has_residuals)  # type: ignore[untyped-decorator]
    def interval_parts(self, X: Any, coverage: float = 0.9, X_err: Any = None, y_err: Any = None) -> IntervalParts:
        """Intervals, and what makes them wide: the errors of the target and of the inputs, the model, and noise.

        How far the answer varies with the latent values is found from 64 points of each row, which are the same in all
        trees.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        coverage : float
            Probability that an interval is to hold the target.
        X_err : array-like or frame of the shape of X, or None
            Standard deviation of the error of each cell, or the covariance of the errors of each row,
            (n_samples, n_features, n_features); None: those of `sigma`.
        y_err : float, array-like of shape (n_samples,) or None
            Standard deviation of the normal error of the target: 0 asks about its true value. None: targets are
            measured as those of `fit` were.
        """
        levels = np.array(central_interval(coverage))
        rows = self._read(X)
        cells = self._cells(rows, X_err)
        errors = None if y_err is None else read_target_errors(y_err, len(rows))
        variance = self._spread_query("variance")
        trees: Uncertainty = ask(self._walk_of(cells), rows, [variance])[0]
        hidden = self._soft.variance_at_points(rows, cells, self._mean_table(), self.n_jobs) / self.forest_.n_trees**2
        found = []
        for part, answers, weights in self._weighted(rows, cells):
            new = None if errors is None else errors[part]
            ends = answers[:, np.newaxis] + self.residuals_.quantiles(weights, levels, new)
            square, own = self.residuals_.variances(weights)
            left = np.maximum(square - own, 0.0)
            parts = [own if new is None else new**2]
            for known in (hidden[part], trees.epistemic[part]):
                parts.append(np.minimum(known, left))
                left = left - parts[-1]
            parts.append(left)
            found.append(np.stack([answers, *ends.T, np.sum(parts, axis=0), *parts], axis=1))
        columns = np.concatenate([*found, np.zeros((0, 8))]).T
        return IntervalParts(*columns[:3], *np.sqrt(columns[3:]))

    def _walk_of(self, cells: Floats) -> MeasuredWalk:
        """Walk of rows with these errors, in all regions."""
        walk: MeasuredWalk = self._soft.walk(lambda rows: cells, TOLERANCE, self.n_jobs)
        return walk

    def _weighted(self, rows: Floats, cells: Floats) -> Iterator[tuple[slice, Floats, Floats]]:
        """Blocks of rows, with their answers over all regions and the weights of the residuals."""
        means = self.forest_.stats[:, 1]
        for part in row_blocks(len(rows), len(self.residuals_.values)):
            reached = self._walk_of(cells[part]).spread(rows[part])
            yield part, reached @ means / self.forest_.n_trees, self.residuals_.weights(reached)

    def _quantiles(self, rows: Floats, cells: Floats, levels: Floats, y_err: Floats | None) -> Floats:
        found = np.empty((len(rows), len(levels)))
        for part, answers, weights in self._weighted(rows, cells):
            errors = None if y_err is None else y_err[part]
            found[part] = answers[:, np.newaxis] + self.residuals_.quantiles(weights, levels, errors)
        return found

    def _answer(self, verb: str, rows: Floats, reached: Any, **arguments: Any) -> Any:
        match verb:
            case "predict_interval":
                levels = central_interval(arguments.get("coverage", 0.9))
            case "predict_quantiles":
                levels = arguments.get("q", (0.05, 0.5, 0.95))
            case _:
                return super()._answer(verb, rows, reached, **arguments)
        return self._quantiles(rows, self._cells(rows, None), check_levels(levels), None)

    def _check_fitted(self) -> None:
        super()._check_fitted()
        residuals = vars(self).get("residuals_")
        if residuals is not None and not isinstance(residuals, Residuals):
            raise ValueError("residuals_ must be residuals or None")
        if residuals is not None and len(residuals.start) != self.forest_.n_leaves + 1:
            raise ValueError("residuals_ must have a place for each leaf")
