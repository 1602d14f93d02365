"""Random forest for regression on inputs measured with error."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import r2_score

from hedgerow.data.targets import read_targets, read_weights
from hedgerow.estimators.fitting.bagging import oob_metric
from hedgerow.estimators.fitting.progress import with_callbacks
from hedgerow.estimators.measured.forests import MeasuredForest
from hedgerow.estimators.measured.inputs import precision_of, read_target_errors
from hedgerow.estimators.measured.residual_answers import ResidualAnswers
from hedgerow.estimators.stored import storable
from hedgerow.estimators.verbs.explained_numbers import explain_number_rows
from hedgerow.estimators.verbs.training_cases import TrainingCases, read_training
from hedgerow.explain.explanations import Explanations
from hedgerow.explain.reasons import SetSizes
from hedgerow.explain.records import NumberExplanation
from hedgerow.folds import Uncertainty, deviations
from hedgerow.measured.many_trees.measured_walk import MeasuredWalk
from hedgerow.measured.many_trees.tree_answers import soft_variance
from hedgerow.walk import Query, ask

__all__ = ["MeasuredForestRegressor"]

Floats = NDArray[np.float64]


@storable
class MeasuredForestRegressor(ResidualAnswers, MeasuredForest):
    """A random forest for inputs X = U + ε that are measured with error, split on the latent values U.

    The mean of many soft trees, see :class:`MeasuredTreeRegressor`: each is grown from rows drawn with replacement,
    with half of the columns tried at each split, and answers Σ γ_k P(U ∈ R_k | x) with values γ of least squares.
    Splits are chosen by the gain of steps of the two new values alone, from readings of each column that are rounded to
    256 cells; the values of all regions follow by conjugate gradients
    (:mod:`hedgerow.measured.many_trees.soft_growth`).

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
    n_estimators : int, default=100
        Number of trees.
    min_weight_leaf : float, default=5.0
        Smallest expected number of rows in each region, Σ P; Σ P² must be at least 0.4 of it, so that regions that no
        row is surely in are not made.
    max_leaf_nodes : int or None, default=None
        Largest number of regions in each tree, grown best first. None: as far as `min_weight_leaf` allows.
    max_features : int, float, "sqrt", "log2" or None, default=0.5
        Columns tried at each split, drawn anew at each: their number, their share, √d or log₂ d; None tries all.
    max_candidates : int, default=64
        Largest number of thresholds tried in each column, at quantiles of the midpoints between neighbouring values.
    ridge : float, default=1.0
        Penalty on the squared steps of a region's value, in rows: with 1 a step is shrunk as if one more row, which
        agrees with the value before, were wholly inside.
    bootstrap : bool, default=True
        Whether each tree is grown from rows drawn with replacement, as many as there are or as `max_samples`
        says.
    max_samples : int, float or None, default=None
        Rows drawn for each tree: their number, or a fraction of the rows of positive weight; None is all of
        them.
    oob_score : bool or callable, default=False
        Whether `fit` scores the forest on its out-of-bag rows; a callable ``metric(y_true, y_pred)`` computes the
        score.
    n_points : "auto", int or None, default="auto"
        Where `predict` asks each tree: None asks about all regions that a row may be in, a number about so many
        points, which are drawn from the laws of the row's columns (:class:`hedgerow.walk.PointWalk`), the same for
        every row. "auto" takes 400 points of all trees together, at least four of each tree, and all regions of fewer
        than 13 trees: a seventh of the time with 100 trees. May be changed after `fit`.
    categorical_features : "from_dtype", indices, mask, names or None, default="from_dtype"
        Which columns are nominal. By default text columns and unordered categories of a frame, and none of an
        array; None: none.
    n_jobs : int or None, default=None
        Number of threads; None is 1, -1 all cores; identical results for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of what is drawn; the same seed gives the same model, bit for bit.

    Attributes
    ----------
    forest_ : Forest
        The trees. A leaf holds the expected number of rows, γ, and the squared errors of the tree's answers to them.
    oob_score_ : float
        Out-of-bag accuracy (of numbers: R²), or what `oob_score` computes.
    oob_prediction_ : array of shape (n_samples,)
        Out-of-bag predictions; NaN for rows in the bag of every tree.
    residuals_ : Residuals or None
        Differences of the targets from out-of-bag answers, and the regions of their rows; None without bootstrap.
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
    >>> from hedgerow import MeasuredForestRegressor
    >>> forest = MeasuredForestRegressor(sigma=0.1, n_estimators=20, random_state=0).fit(X, y)
    >>> forest.predict([[0.2, 0.5], [0.5, 0.5], [0.8, 0.5]]).round(1) + 0.0
    array([0. , 0.5, 1. ])
    """

    def __init__(
        self,
        sigma: Any = 0.0,
        error_model: Any = "normal",
        prior: Any = "normal",
        *,
        n_estimators: int = 100,
        min_weight_leaf: float = 5.0,
        max_leaf_nodes: int | None = None,
        max_features: Any = 0.5,
        max_candidates: int = 64,
        ridge: float = 1.0,
        bootstrap: bool = True,
        max_samples: Any = None,
        oob_score: Any = False,
        n_points: Any = "auto",
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.sigma = sigma
        self.error_model = error_model
        self.prior = prior
        self.n_estimators = n_estimators
        self.min_weight_leaf = min_weight_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.max_features = max_features
        self.max_candidates = max_candidates
        self.ridge = ridge
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.n_points = n_points
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, X_err: Any = None, y_err: Any = None
    ) -> MeasuredForestRegressor:
        """Grow the trees; `X_err` and `y_err` as in :meth:`MeasuredTreeRegressor.fit`.

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
        given = self._measurements(X, X_err)
        values = given.table.values
        targets = read_targets(y, values)
        weight = read_weights(sample_weight, values)
        problem = self._problem(given, weight, precision_of(y_err, len(values)), targets[:, np.newaxis])
        options = self._forest_options(len(problem.weight), values.shape[1])
        grown = self._grow_soft(problem, options, False, X, y)
        found: dict[str, Any] = {"_impurity": "squared_error", "residuals_": None}
        if self._keeps_bags():
            means, unseen = self._fold_out_of_bag(problem, grown, grown.values, weight > 0)
            errors = np.zeros(len(values)) if y_err is None else read_target_errors(y_err, len(values))
            found["residuals_"] = self._residuals(problem, grown, weight > 0, unseen, targets - means[:, 0], errors)
        if self._scores_out_of_bag():
            metric = oob_metric(self.oob_score, "r2_score")
            found["oob_prediction_"] = means[:, 0]
            found["oob_score_"] = metric(targets[unseen], means[unseen, 0]) if unseen.sum() > 1 else np.nan
        self._set_trees(given, problem, grown.forest, **found)
        return self

    def predict(self, X: Any, X_err: Any = None) -> Floats:
        """Mean over the trees of Σ γ_k P(U ∈ R_k | x), (n,).

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
        rows, walk = self._measured(X, X_err)
        found: Floats = ask(walk, rows, [self._mean_query()])[0]
        return found

    def predict_uncertainty(self, X: Any, measure: str = "deviation", X_err: Any = None) -> Uncertainty:
        """As :meth:`ForestRegressor.predict_uncertainty`.

        Aleatoric is the error of the answers of single trees about rows like this one: the noise of the target, and
        what the errors of the inputs hide.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        measure : {"deviation", "variance"}, default="deviation"
            Standard deviations, in the unit of the target, or their squares.
        X_err : array-like or frame of the shape of X, or None, default=None
            Standard deviation of the error of each cell, or the covariance of the errors of each row,
            (n_samples, n_features, n_features); None: those of `sigma`.

        Returns
        -------
        Uncertainty
            `total`, `aleatoric` and `epistemic`, arrays of shape (n_samples,).
        """
        rows, walk = self._measured(X, X_err)
        found: Uncertainty = ask(walk, rows, [self._spread_query(measure)])[0]
        return found

    def _spread_query(self, measure: str = "deviation") -> Query[Uncertainty]:
        query = self._tables.get("soft_variance", lambda: soft_variance(self.forest_.stats))
        match measure:
            case "deviation":
                return replace(query, finish=lambda folded, n_trees: deviations(query.finish(folded, n_trees)))
            case "variance":
                found: Query[Uncertainty] = query
                return found
        raise ValueError(f"measure is {measure!r}, must be 'deviation' or 'variance'")

    def explain(  # type: ignore[override]
        self, X: Any, coverage: float = 0.9, X_err: Any = None, *, training: tuple[Any, Any] | None = None
    ) -> Explanations[NumberExplanation]:
        """Explain the prediction for each row: the spread of the trees, and the doubt; see :class:`ForestRegressor`.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        coverage : float, default=0.9
            Probability of the interval.
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
        cells = self._cells(rows, X_err)
        return self._explain_rows(rows, cells, coverage=coverage, training=read_training(self, training))

    def _explain_read(
        self, rows: Floats, outer: SetSizes | None = None, training: TrainingCases | None = None
    ) -> Explanations[Any]:
        return MeasuredForest._explain_read(self, rows, outer, training)

    def _explain_rows(
        self,
        rows: Floats,
        cells: Floats,
        *,
        coverage: float = 0.9,
        training: TrainingCases | None = None,
        outer: SetSizes | None = None,
    ) -> Explanations[NumberExplanation]:
        walk, query = self._walk, self._mean_query()

        def answer(i: int, measured: MeasuredWalk, others: Floats) -> Floats:
            found: Floats = ask(measured, others, [query])[0]
            return found

        return explain_number_rows(
            *(self, rows, coverage, training),
            walk_of=lambda part: walk.with_errors(cells[part]),
            more_facts=self._facts_of_errors(rows, cells, answer),
        )

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
