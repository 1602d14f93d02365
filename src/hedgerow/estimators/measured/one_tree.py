"""Base of the trees for measured inputs: reading errors, growing, and membership of regions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hedgerow._params import check_choice, check_number, check_whole
from hedgerow.data.training import column_ranges
from hedgerow.estimators.measured.explained_regions import RegionRows
from hedgerow.estimators.measured.inputs import MeasuredInputs, Measurements
from hedgerow.estimators.stored import check_fitted
from hedgerow.estimators.verbs.one_tree import OneTree
from hedgerow.estimators.verbs.training_cases import TrainingCases, read_training
from hedgerow.explain.explanations import Explanations
from hedgerow.explain.reasons import Levels, SetSizes
from hedgerow.forest.forest import Forest
from hedgerow.forest.importance import impurity_importances
from hedgerow.forest.names import number_text
from hedgerow.measured.explain.possible_regions import RegionExplanation, error_costs
from hedgerow.measured.laws.joint_law import JointLaw
from hedgerow.measured.least_squares import Problem
from hedgerow.measured.one_tree.blas_threads import single_blas_thread
from hedgerow.measured.one_tree.grow import GrowthSettings, grow_path
from hedgerow.measured.one_tree.prune import n_kept_splits, path_pruning
from hedgerow.measured.regions import Regions, joint_membership
from hedgerow.walk import SoftWalk, Walk

__all__ = ["MeasuredTree"]

Floats = NDArray[np.float64]

_RISKS = ("global", "node")
_NOMINAL = ("subset", "binary")


class MeasuredTree(MeasuredInputs, OneTree):
    """Abstract; final classes have the parameters that `_settings` and `_measurements` read, and `_answers`."""

    _made_again: ClassVar[frozenset[str]] = frozenset({"_regions"})

    # -- predictions

    @property
    def regions_(self) -> Floats:
        """Bounds lower < u ≤ upper of each region in each column, (n_leaves, n_features, 2)."""
        check_is_fitted(self)
        bounds: Floats = self._regions.bounds
        return bounds

    @property
    def region_categories_(self) -> dict[int, NDArray[np.bool_]]:
        """Categories inside each region, (n_leaves, n_categories), for each nominal column that is split on."""
        check_is_fitted(self)
        return dict(self._regions.members)

    @property
    def feature_importances_(self) -> Floats:
        """Fraction of the impurity decrease in `forest_` that is due to each column, (n_features,)."""
        check_is_fitted(self)
        return impurity_importances(self.forest_, self._impurity)

    def membership(self, X: Any, X_err: Any = None) -> Floats:
        """Probability that the latent values of a row are in each region, (n, n_leaves); rows add up to 1.

        `X_err`, (n, n_features), has the standard deviations of the errors. By default they are given by `sigma` or,
        after a fit with `X_err`, by the root mean square of each column there.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        X_err : array-like or frame of the shape of X, or None, default=None
            Standard deviation of the error of each cell, or the covariance of the errors of each row,
            (n_samples, n_features, n_features); None: those of `sigma`.

        Returns
        -------
        ndarray of shape (n_samples, n_leaves)
            Probabilities.

        Examples
        --------
        >>> from hedgerow import MeasuredTreeRegressor
        >>> tree = MeasuredTreeRegressor(0.5, prior="flat", max_leaf_nodes=2)
        >>> tree = tree.fit([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
        >>> tree.membership([[2.0], [2.5]]).round(2)  # the threshold is 2.5
        array([[0.84, 0.16],
               [0.5 , 0.5 ]])
        """
        rows = self._read(X)
        return self._shares(rows, self._cells(rows, X_err))

    def apply(self, X: Any, X_err: Any = None) -> NDArray[np.int32]:
        """Number of the most probable region of each row, (n,).

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        X_err : array-like or frame of the shape of X, or None, default=None
            Standard deviation of the error of each cell, or the covariance of the errors of each row,
            (n_samples, n_features, n_features); None: those of `sigma`.

        Returns
        -------
        int32 ndarray of shape (n_samples,)
            Numbers of leaves, from 0.
        """
        leaves: NDArray[np.int32] = self.membership(X, X_err).argmax(axis=1).astype(np.int32)
        return leaves

    def explain(
        self, X: Any, X_err: Any = None, *, training: tuple[Any, Any] | None = None
    ) -> Explanations[RegionExplanation]:
        """Explain each prediction: the regions that the row may be in, their values, and the reasons for doubt.

        ``print(model.explain(X)[0])`` shows a text for people; `reasons` of the whole has the shares of the reasons of
        all rows (docs/reasons.md). `X_err` as in :meth:`membership`.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        X_err : array-like or frame of the shape of X, or None, default=None
            Standard deviation of the error of each cell, or the covariance of the errors of each row,
            (n_samples, n_features, n_features); None: those of `sigma`.
        training : (X, y) or None, default=None
            Rows of `fit` again: the nearest of them with other answers are named.

        Returns
        -------
        Explanations
            A record for each row, like a list; a table in notebooks.
        """
        rows = self._read(X)
        return self._explain_rows(rows, self._cells(rows, X_err), training=read_training(self, training))

    def _explain_rows(
        self, rows: Floats, cells: Floats, *, training: TrainingCases | None = None, outer: SetSizes | None = None
    ) -> Explanations[RegionExplanation]:
        shares = self._shares(rows, cells)
        answers, levels = self._answers(shares), self._levels(rows, shares)
        found = RegionRows(copy(self), rows, cells, shares, answers, levels, training)
        return found.explanations(outer)

    @abstractmethod
    def _levels(self, rows: Floats, shares: Floats) -> Levels:
        """Levels of doubt about rows with these memberships."""

    def _respond(self, rows: Floats, verbs: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """Answer several verbs about the same rows, whose memberships are computed once."""
        shares = self._shares(rows, self._cells(rows, None))
        return {verb: self._answer(verb, shares) for verb in verbs}

    @abstractmethod
    def _answer(self, verb: str, shares: Floats) -> Any:
        """Answer of a verb for rows with these memberships."""

    @abstractmethod
    def _answers(self, shares: Floats) -> dict[str, Any]:
        """Values of the regions, and predictions for rows with these memberships, as `explain_regions` takes them."""

    def error_costs(self, X: Any, X_err: Any = None) -> Floats:
        """Part of the mean squared error on X that is due to the error of each column, (n_features,).

        It would be saved if that column alone were exact, provided the tree is true; see
        :func:`hedgerow.measured.explain.possible_regions.error_costs`.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        X_err : array-like or frame of the shape of X, or None, default=None
            Standard deviation of the error of each cell, or the covariance of the errors of each row,
            (n_samples, n_features, n_features); None: those of `sigma`.

        Returns
        -------
        ndarray of shape (n_features,)
            Costs, in squared units of the target; 0 for exact columns.

        Examples
        --------
        >>> import numpy as np
        >>> from hedgerow import MeasuredTreeRegressor
        >>> rng = np.random.default_rng(0)
        >>> latent = rng.uniform(size=(200, 2))
        >>> X, y = latent + rng.normal(scale=0.1, size=(200, 2)), np.where(latent[:, 0] > 0.5, 1.0, 0.0)
        >>> costs = MeasuredTreeRegressor(sigma=0.1, max_leaf_nodes=2).fit(X, y).error_costs(X)
        >>> costs[0] > costs[1]  # a better instrument for the first column pays
        np.True_
        """
        rows = self._read(X)
        values = self.values_.reshape(len(self._regions), -1)
        return error_costs(self._regions, values, self._joint, rows, self._cells(rows, X_err))

    # -- reading

    def contributions(self, X: Any, background: Any = None, *, interactions: bool = False) -> Any:
        """Not defined: every row is in all regions at once, so that no column is decided by a branch.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        background : array-like or None, default=None
            Ignored: a region has no branches to be taken.
        interactions : bool, default=False
            Ignored.

        Returns
        -------
        None
            Nothing is returned.

        Raises
        ------
        ValueError
            Always.
        """
        raise ValueError(f"{type(self).__name__} has no contributions: its rows are in all regions at once")

    @property
    def _walk(self) -> Walk:
        return SoftWalk(self.forest_, lambda rows: self._shares(rows, self._cells(rows, None)))

    @property
    def _exact_walk(self) -> Walk:
        return SoftWalk(self.forest_, lambda rows: self._shares(rows, np.zeros_like(rows)))

    def _rows_of_regions(self) -> Floats:
        """Expected number of training rows in each region, (n_leaves,)."""
        forest = self.forest_
        rows: Floats = forest.stats[:, 0] if forest.leaf_counts is None else forest.counts.sum(axis=1)
        return rows

    def _error_texts(self) -> list[str]:
        return [f"(± {number_text(size)})" if size > 0 else "" for size in self.sigma_.tolist()]

    def _shares(self, rows: Floats, cells: Floats) -> Floats:
        return joint_membership(self._regions, self._joint, rows, cells)

    @property
    def _joint(self) -> JointLaw:
        return JointLaw(self.laws_, self.error_sizes_.pairs)

    # -- fitting

    def _grow(
        self, problem: Problem, n_categories: NDArray[np.int32], finish: Callable[..., tuple[Forest, Floats]]
    ) -> tuple[Forest, Floats]:
        """Grown and pruned tree, and γ of its leaves; `finish` makes them from the path and its number of splits."""
        settings, pruning = self._settings(), path_pruning(self.pruning)
        # Matrices are narrow: more threads would wait for each other, and sum in a machine-dependent order.
        with single_blas_thread():
            path = grow_path(problem, settings)
            n_splits = len(path.splits)
            if pruning is not None:
                n_splits = n_kept_splits(pruning, path, problem, lambda part: grow_path(part, settings), n_categories)
            return finish(path, n_splits, problem, n_categories)

    def _settings(self) -> GrowthSettings:
        return GrowthSettings(
            max_leaf_nodes=None
            if self.max_leaf_nodes is None
            else check_whole(
                "max_leaf_nodes", self.max_leaf_nodes, 2, hint=", or None to grow as far as min_weight_leaf allows"
            ),
            min_weight_leaf=check_number("min_weight_leaf", self.min_weight_leaf, hint=" of rows"),
            max_candidates=None
            if self.max_candidates is None
            else check_whole("max_candidates", self.max_candidates, 1, hint=", or None for all"),
            risk=check_choice("risk", self.risk, _RISKS),
            one_against_rest=check_choice("nominal", self.nominal, _NOMINAL) == "binary",
        )

    def _set_grown(self, given: Measurements, problem: Problem, forest: Forest, **attributes: Any) -> None:
        self._set_fitted(
            given.table,
            forest,
            laws_=problem.laws,
            error_sizes_=given.sizes,
            error_source_=given.source,
            training_range_=column_ranges(problem.as_measured.rows, given.table.schema.n_categories),
            _regions=Regions.of_forest(forest, given.table.schema.n_categories),
            **attributes,
        )

    # -- files

    def _check_fitted(self) -> None:
        check_fitted(self)
        n_leaves, n_outputs = self.forest_.n_leaves, getattr(self, "n_classes_", 1)
        if self.forest_.n_trees != 1 or (self.forest_.missing != 0).any():
            raise ValueError("forest_ must be one tree without branches for missing values")
        if not isinstance(self.values_, np.ndarray) or self.values_.dtype != np.float64:
            raise ValueError("values_ must be a float64 array")
        if self.values_.size != n_leaves * n_outputs or not np.isfinite(self.values_).all():
            raise ValueError("values_ must hold finite numbers for each leaf")
        self._check_measured()

    def _restored(self) -> None:
        super()._restored()
        self._regions = Regions.of_forest(self.forest_, self.schema_.n_categories)
