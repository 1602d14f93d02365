"""Boosted soft trees for regression on inputs measured with error."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from hedgerow.data.targets import read_targets, read_weights
from hedgerow.estimators.fitting.progress import with_callbacks
from hedgerow.estimators.measured.boosting import MeasuredBoosting
from hedgerow.estimators.measured.explained_sums import SumRows, number_levels_of_sums
from hedgerow.estimators.measured.inputs import precision_of
from hedgerow.estimators.stored import storable
from hedgerow.estimators.verbs.answers import Answers
from hedgerow.estimators.verbs.training_cases import TrainingCases
from hedgerow.explain.explanations import Explanations
from hedgerow.explain.reasons import SetSizes
from hedgerow.measured.explain.hidden_by_errors import SumExplanation, hidden_by_errors
from hedgerow.measured.many_trees.losses import number_loss
from hedgerow.walk import Query

__all__ = ["MeasuredBoostingRegressor"]

Floats = NDArray[np.float64]


@storable
class MeasuredBoostingRegressor(RegressorMixin, Answers, MeasuredBoosting):  # type: ignore[misc]
    """Gradient boosting for inputs X = U + ε that are measured with error, split on the latent values U.

    The sum of small soft trees, each of which answers Σ γ_k P(U ∈ R_k | x) and is fitted to what the ones before it
    lack (Friedman, Greedy function approximation: a gradient boosting machine, 2001). The values γ of all regions of a
    tree solve one problem of least squares, as in :class:`MeasuredForestRegressor`, and are shrunk by `learning_rate`.

    Parameters
    ----------
    sigma : float, sequence of float, mapping, or array of shape (n_features, n_features), default=0.0
        Standard deviations of the errors: one for all numeric columns, one per column, or by column (name or
        number), where ``{"x": "x_err"}`` means that column "x_err" of X holds the errors of "x"; it is then no
        feature. 0 is exact, ``measured.RelativeError(0.05)`` 5 % of the value. A pair of columns has the correlation
        of their errors, ``{("x", "z"): 0.8}``, or the column that holds it; a matrix is the covariance of all
        columns. Used where no `X_err` is given.
    error_model : {"normal", "uniform", "laplace", "student"}, an instance from :mod:`hedgerow.measured`, \
or a mapping, default="normal"
        Distribution of the errors, always with standard deviation `sigma`; for all columns, or by column.
        "student" has 5 degrees of freedom, ``Student(df)`` others.
        Nominal columns are exact, or have a ``measured.Misclassification`` here.
    prior : {"normal", "flat", "kde"} or an instance from :mod:`hedgerow.measured`, default="normal"
        Prior of U: normal, with the variance of X minus that of the errors; flat; or any shape, found by
        deconvolution.
    loss : {"squared_error", "absolute_error"} or an instance such as ``hedgerow.measured.Pinball(0.9)``, \
default="squared_error"
        What the sum lowers: the answer is a mean, a median, or the quantile of the given level. With "absolute_error"
        and ``Pinball`` regions are found by the gradient, and each steps by the quantile of its rows' residuals,
        weighted by membership.
    n_estimators : int, default=100
        Largest number of stages, a tree each.
    learning_rate : float, default=0.1
        Share of each step that is taken, in (0, 1]: smaller ones need more stages.
    min_weight_leaf : float, default=20.0
        Smallest expected number of rows in each region, Σ P; Σ P² must be at least 0.4 of it, so that regions that no
        row is surely in are not made.
    max_leaf_nodes : int or None, default=8
        Largest number of regions in each tree, grown best first. None: as far as `min_weight_leaf` allows.
    max_features : int, float, "sqrt", "log2" or None, default=None
        Columns tried at each split, drawn anew at each: their number, their share, √d or log₂ d; None tries
        all.
    max_candidates : int, default=64
        Largest number of thresholds tried in each column, at quantiles of the midpoints between neighbouring values.
    ridge : float, default=1.0
        Penalty on the squared steps of a region's value, in rows: with 1 a step is shrunk as if one more row,
        which agrees with the value before, were wholly inside.
    n_iter_no_change : int or None, default=None
        Stop after this many stages in which the loss of held-out rows has not become lower, and keep the stages up to
        the lowest. None: make all stages, from all rows.
    validation_fraction : float or int, default=0.1
        Fraction, or number, of the rows that are held out if `n_iter_no_change` is set.
    categorical_features : "from_dtype", indices, mask, names or None, default="from_dtype"
        Which columns are nominal. By default text columns and unordered categories of a frame, and none of an
        array; None: none.
    n_jobs : int or None, default=None
        Number of threads that walk rows; trees are grown one after the other. None is 1, -1 all cores; identical
        results for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of the columns that are tried, if not all are, and of the held-out rows.

    Attributes
    ----------
    n_estimators_ : int
        Number of stages that were kept.
    start_ : array of shape (1,)
        Answer before the first stage: the best constant.
    values_ : array of shape (n_leaves, 1)
        What each region adds, times the learning rate.
    train_losses_, validation_losses_ : arrays
        Mean loss at the start and after each stage; the latter of all stages that were made, empty without held-out
        rows.
    forest_ : Forest
        The trees. A leaf holds the expected number of rows, its step, and the squares of what is left of the steps that
        rows ask for.
    sigma_ : array of shape (n_features,)
        Standard deviations of the errors for rows without `X_err`.
    error_source_ : {"sigma", "X_err"}
        Where `fit` took the sizes of errors from.
    error_sizes_ : ErrorSizes
        Sizes of the errors that `fit` used, and which columns hold errors of others.
    laws_ : tuple
        Law of the latent values of each column, which replaces a missing value.
    schema_ : Schema
        Names, kinds and categories of the columns.
    training_range_ : array of shape (n_features, 2)
        Smallest and largest training value of each numeric column; NaN for nominal ones. Uncertainty grows outside.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of shape (n_features,)
        Names of the columns; absent if X had none.
    feature_importances_ : array of shape (n_features,)
        Share of each column in the decrease of impurity; they add up to 1.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> latent = rng.uniform(size=(500, 2))
    >>> X, y = latent + rng.normal(scale=0.1, size=(500, 2)), np.where(latent[:, 0] > 0.5, 1.0, 0.0)
    >>> from hedgerow import MeasuredBoostingRegressor
    >>> model = MeasuredBoostingRegressor(sigma=0.1, n_estimators=50).fit(X, y)
    >>> model.predict([[0.3, 0.5], [0.5, 0.5], [0.7, 0.5]]).round(1)
    array([0. , 0.6, 0.9])
    """

    def __init__(
        self,
        sigma: Any = 0.0,
        error_model: Any = "normal",
        prior: Any = "normal",
        *,
        loss: Any = "squared_error",
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        min_weight_leaf: float = 20.0,
        max_leaf_nodes: int | None = 8,
        max_features: Any = None,
        max_candidates: int = 64,
        ridge: float = 1.0,
        n_iter_no_change: int | None = None,
        validation_fraction: Any = 0.1,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.sigma = sigma
        self.error_model = error_model
        self.prior = prior
        self.loss = loss
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.min_weight_leaf = min_weight_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.max_features = max_features
        self.max_candidates = max_candidates
        self.ridge = ridge
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, X_err: Any = None, y_err: Any = None
    ) -> MeasuredBoostingRegressor:
        """Boost; `X_err` and `y_err` as in :meth:`MeasuredTreeRegressor.fit`: losses are weighted by 1/y_err².

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Labels or numbers, one for each row.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each row: a number of rows, if all are whole numbers, else relative and rescaled to a mean of 1;
            None weighs all alike.
        X_err : array-like or frame of the shape of X, or None, default=None
            Standard deviation of the error of each cell, or the covariance of the errors of each row,
            (n_samples, n_features, n_features); None: those of `sigma`.
        y_err : array-like of shape (n_samples,) or None, default=None
            Standard deviation of the error of each target: rows weigh 1/y_err².

        Returns
        -------
        self
            The fitted model.

        Raises
        ------
        ValueError
            If a parameter is out of its range, a size of an error is negative or missing, or X or y can't be read.
        """
        loss = number_loss(self.loss)
        given = self._measurements(X, X_err)
        values = given.table.values
        targets = read_targets(y, values)
        weight = read_weights(sample_weight, values)
        problem = self._problem(given, weight, precision_of(y_err, len(values)), targets[:, np.newaxis])
        self._boost(given, problem, loss, None, (X, y), _impurity="squared_error")
        return self

    def predict(self, X: Any, X_err: Any = None) -> Floats:
        """Start plus Σ γ_k P(U ∈ R_k | x) of all trees, (n,).

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
        ndarray of shape (n_samples,)
            Predictions.
        """
        rows = self._read(X)
        found: Floats = self._ask_with_errors(rows, self._cells(rows, X_err), self._mean_query())
        return found

    def staged_predict(self, X: Any, X_err: Any = None) -> Iterator[Floats]:
        """Predictions after each stage, each (n,).

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        X_err : array-like or frame of the shape of X, or None, default=None
            Standard deviation of the error of each cell, or the covariance of the errors of each row,
            (n_samples, n_features, n_features); None: those of `sigma`.

        Yields
        ------
        ndarray of shape (n_samples,)
            Answers of the stages so far.

        Examples
        --------
        >>> from hedgerow import MeasuredBoostingRegressor
        >>> X = [[float(i)] for i in range(60)]
        >>> model = MeasuredBoostingRegressor(0.5, n_estimators=3).fit(X, range(60))
        >>> [round(float(answer[0]), 1) for answer in model.staged_predict([[59.0]])]  # nearer with every stage
        [31.0, 32.3, 33.8]
        """
        return (raw[:, 0] for raw in self._staged_raw(X, X_err))

    def explain(self, X: Any, X_err: Any = None) -> Explanations[SumExplanation]:
        """Explain each prediction: what the trees add up to, what the error of each column hides, and the doubt.

        `reasons` of the whole has the shares of the reasons of all rows (docs/reasons.md): a sum of trees has no
        variance but that from errors and missing values.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        X_err : array-like or frame of the shape of X, or None, default=None
            Standard deviation of the error of each cell, or the covariance of the errors of each row,
            (n_samples, n_features, n_features); None: those of `sigma`.

        Returns
        -------
        Explanations
            A record for each row, like a list; a table in notebooks.
        """
        rows = self._read(X)
        return self._explain_rows(rows, self._cells(rows, X_err))

    def _explain_rows(
        self, rows: Floats, cells: Floats, *, training: TrainingCases | None = None, outer: SetSizes | None = None
    ) -> Explanations[SumExplanation]:
        model, query = copy(self), self._mean_query()
        answers = model._ask_with_errors(rows, cells, query)
        found = [
            hidden_by_errors(
                *(model._soft.landmarks, model._soft.joint, model.schema_, row, sizes),
                lambda x, s: model._ask_with_errors(x, s, query),
            )
            for row, sizes in zip(rows, cells, strict=True)
        ]
        names = np.array(model.schema_.names, dtype=object)
        levels = number_levels_of_sums([one for one, _ in found], [set(names[np.isnan(row)]) for row in rows])
        reasons, why = SumRows(model, rows, levels, lambda i: found[i][0], answers, of_classes=False).divide(
            outer, training
        )
        start, n_trees = float(model.start_[0]), model.n_estimators_

        def records(first: int, last: int) -> list[SumExplanation]:
            return [
                SumExplanation(answer, (start,), (answer - start,), n_trees, measured, hidden, None, None, why=why(i))
                for i, (answer, (hidden, measured)) in enumerate(
                    zip(answers[first:last].tolist(), found[first:last], strict=True), first
                )
            ]

        return Explanations(records, reasons, answers)

    def score(self, X: Any, y: Any, sample_weight: Any = None, X_err: Any = None) -> float:
        """R² of `predict`.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        y : array-like of shape (n_samples,)
            True labels or numbers.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each row; None weighs all alike.
        X_err : array-like or frame of the shape of X, or None, default=None
            Standard deviation of the error of each cell, or the covariance of the errors of each row,
            (n_samples, n_features, n_features); None: those of `sigma`.

        Returns
        -------
        float
            R², at most 1; 0 is that of the mean target, and worse predictions are below 0.
        """
        return float(r2_score(y, self.predict(X, X_err), sample_weight=sample_weight))

    def _mean_query(self) -> Query[Floats]:
        raw = self._raw_query()
        return Query(raw.table, lambda folded, n_trees: raw.finish(folded, n_trees)[:, 0])

    def _query(self, verb: str, **arguments: Any) -> Query[Any] | None:
        return self._mean_query() if verb == "predict" else None

    def _kind_of_doubt(self, measure: str) -> str:
        raise ValueError(
            f"{type(self).__name__} has no next_question: a sum of steps has no variance; ask a MeasuredForestRegressor"
        )
