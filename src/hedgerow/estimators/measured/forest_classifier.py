"""Random forest for classification on inputs measured with error."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from hedgerow.data.targets import read_labels, read_weights
from hedgerow.estimators.fitting.bagging import oob_scores
from hedgerow.estimators.fitting.progress import with_callbacks
from hedgerow.estimators.measured.forests import MeasuredForest
from hedgerow.estimators.measured.inputs import MeasuredInputs
from hedgerow.estimators.stored import storable
from hedgerow.estimators.verbs.answers import ClassAnswers
from hedgerow.estimators.verbs.explained_classes import explain_class_rows
from hedgerow.estimators.verbs.training_cases import TrainingCases, read_training
from hedgerow.explain.explanations import Explanations
from hedgerow.explain.reasons import SetSizes
from hedgerow.explain.reasons.leaf_certainty import LeafCertainty
from hedgerow.explain.records import ClassExplanation
from hedgerow.folds import Uncertainty
from hedgerow.folds.uncertainty import entropy_bits
from hedgerow.measured.many_trees.measured_walk import MeasuredWalk
from hedgerow.walk import LeafTable, Query, ask

__all__ = ["MeasuredForestClassifier"]

Floats = NDArray[np.float64]


@storable
class MeasuredForestClassifier(ClassAnswers, MeasuredForest):
    """A random forest of classes for inputs X = U + ε that are measured with error.

    As :class:`MeasuredForestRegressor`, by least squares on class indicators. The values of a region are fitted under
    the constraint that they are probabilities: none is negative, and they add up to 1. So are all answers, which are
    their means with weights P(U ∈ R_k | x); nothing is clipped.

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
    max_features : int, float, "sqrt", "log2" or None, default="sqrt"
        Columns tried at each split, drawn anew at each: their number, their share, √d or log₂ d; None tries
        all.
    max_candidates : int, default=64
        Largest number of thresholds tried in each column, at quantiles of the midpoints between neighbouring values.
    ridge : float, default=1.0
        Penalty on the squared steps of a region's value, in rows: with 1 a step is shrunk as if one more row,
        which agrees with the value before, were wholly inside.
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
    values_ : array of shape (n_leaves, n_classes)
        γ of all leaves: class probabilities of rows that are wholly inside.
    forest_ : Forest
        The trees, with soft counts: every row adds its memberships to the counts of its class.
    classes_, n_classes_, class_prior_
        Labels, their number, and their weighted frequencies in the training data.
    oob_score_ : float
        Out-of-bag accuracy (of numbers: R²), or what `oob_score` computes.
    oob_decision_function_ : array of shape (n_samples, n_classes)
        Out-of-bag probabilities; NaN for rows in the bag of every tree.
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
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from hedgerow import MeasuredForestClassifier
    >>> forest = MeasuredForestClassifier(sigma=0.2, n_estimators=20, random_state=0).fit(X, y)
    >>> forest.predict_proba([[5.9, 3.0, 4.9, 1.65]]).round(1)
    array([[0. , 0.4, 0.6]])
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
        max_features: Any = "sqrt",
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
    def fit(self, X: Any, y: Any, sample_weight: Any = None, X_err: Any = None) -> MeasuredForestClassifier:
        """Grow the trees; `X_err` as in :meth:`MeasuredTreeRegressor.fit`.

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
        labels = read_labels(y, values)
        weight = read_weights(sample_weight, values)
        indicators = np.eye(len(labels.classes))[labels.codes]
        problem = self._problem(given, weight, np.ones(len(values)), indicators)
        options = self._forest_options(len(problem.weight), values.shape[1])
        options.simplex = True
        grown = self._grow_soft(problem, options, True, X, y)
        found: dict[str, Any] = {}
        if self._scores_out_of_bag():
            shares, unseen = self._fold_out_of_bag(problem, grown, grown.values, weight > 0)
            found |= oob_scores(self.oob_score, shares, unseen, labels.codes, labels.classes)
        self._set_trees(
            given,
            problem,
            grown.forest,
            values_=grown.values,
            classes_=labels.classes,
            n_classes_=len(labels.classes),
            class_prior_=np.bincount(labels.codes, weights=weight, minlength=len(labels.classes)) / weight.sum(),
            _impurity="gini",
            **found,
        )
        return self

    def predict(self, X: Any, X_err: Any = None) -> NDArray[Any]:
        """Most probable class of each row; the first of ties.

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
            Labels, of the type of `y` in `fit`.
        """
        shares = self.predict_proba(X, X_err)
        labels: NDArray[Any] = self.classes_[self._decide(shares)]
        return labels

    def predict_proba(self, X: Any, X_err: Any = None) -> Floats:
        """Class probabilities, (n, n_classes): the mean over the trees of Σ γ_k P(U ∈ R_k | x).

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
        ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of `classes_`.
        """
        rows, walk = self._measured(X, X_err)
        found: Floats = ask(walk, rows, [self._proba_query()])[0]
        return found

    def predict_uncertainty(self, X: Any, measure: str = "entropy", X_err: Any = None) -> Uncertainty:
        """Entropy in bits: of the mean of the trees' probabilities (total), and the mean of their own (aleatoric).

        The difference is epistemic: what the trees disagree about.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        measure : {"entropy", "leaf_entropy", "plausibility"}, default="entropy"
            What the numbers are.
        X_err : array-like or frame of the shape of X, or None, default=None
            Standard deviation of the error of each cell, or the covariance of the errors of each row,
            (n_samples, n_features, n_features); None: those of `sigma`.

        Returns
        -------
        Uncertainty
            `total`, `aleatoric` and `epistemic`, arrays of shape (n_samples,).
        """
        rows, walk = self._measured(X, X_err)
        found: Uncertainty = ask(walk, rows, [self._uncertainty_query(measure)])[0]
        return found

    def explain(  # type: ignore[override]
        self, X: Any, X_err: Any = None, *, training: tuple[Any, Any] | None = None
    ) -> Explanations[ClassExplanation]:
        """Explain the prediction for each row: the votes of the trees, and the doubt; see :class:`ForestClassifier`.

        `X_err` as in :meth:`predict_proba`.

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

    def _explain_read(
        self, rows: Floats, outer: SetSizes | None = None, training: TrainingCases | None = None
    ) -> Explanations[Any]:
        return MeasuredInputs._explain_read(self, rows, outer, training)

    def _explain_rows(
        self, rows: Floats, cells: Floats, *, training: TrainingCases | None = None, outer: SetSizes | None = None
    ) -> Explanations[ClassExplanation]:
        fixed, query = self._with_errors(cells), self._proba_query()

        def answer(i: int, measured: MeasuredWalk, others: Floats) -> Floats:
            code = np.searchsorted(self.classes_, explained.answers[i])
            found: Floats = ask(measured, others, [query])[0][:, code]
            return found

        explained = explain_class_rows(
            *(fixed, rows, training),
            outer=outer,
            model_of=lambda part: self._with_errors(cells[part]),
            more_facts=self._facts_of_errors(rows, cells, answer),
        )
        return explained

    def leaf_counts(self, X: Any, X_err: Any = None) -> Floats:
        """Soft class counts of the regions of each tree, weighted by membership, (n, n_trees, n_classes).

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        X_err : array-like or frame of the shape of X, or None, default=None
            Standard deviation of the error of each cell, or the covariance of the errors of each row,
            (n_samples, n_features, n_features); None: those of `sigma`.

        Returns
        -------
        ndarray of shape (n_samples, n_trees, n_classes)
            Counts.
        """
        rows, walk = self._measured(X, X_err)
        found: Floats = ask(walk, rows, [self._counts_query()])[0]
        return found

    def leaf_probabilities(self) -> Floats:
        """γ of every leaf, (n_leaves, n_classes).

        Returns
        -------
        ndarray of shape (n_leaves, n_classes)
            Probabilities.
        """
        check_is_fitted(self)
        found: Floats = self.values_
        return found

    def score(self, X: Any, y: Any, sample_weight: Any = None, X_err: Any = None) -> float:
        """Accuracy of `predict`.

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
            Share of the rows, by weight, whose class is predicted.
        """
        return float(accuracy_score(y, self.predict(X, X_err), sample_weight=sample_weight))

    def _proba_query(self) -> Query[Floats]:
        return Query(self._tables.get("values", lambda: LeafTable.of(self.values_)), _mean_shares)

    def _certainty_settings(self) -> str:
        return "values"

    def _leaf_certainty(self) -> LeafCertainty:
        """Certainty of each region about each class: γ."""
        return LeafCertainty.of(LeafTable.of(self.values_), self.forest_.distinct_counts)

    def _uncertainty_query(self, measure: str = "entropy") -> Query[Uncertainty]:
        if measure != "entropy":
            raise ValueError(f"measure is {measure!r}, must be 'entropy'")
        links = ("identity",) * self.n_classes_ + ("entropy",) * self.n_classes_
        table = self._tables.get("bits", lambda: LeafTable.of(np.hstack([self.values_, self.values_]), link=links))
        return Query(table, _entropies)

    def _check_fitted(self) -> None:
        super()._check_fitted()
        shape = (self.forest_.n_leaves, self.n_classes_)
        if not isinstance(self.values_, np.ndarray) or self.values_.dtype != np.float64 or self.values_.shape != shape:
            raise ValueError("values_ must hold a number for each leaf and class")
        if not (self.values_ >= 0).all() or not (np.abs(self.values_.sum(axis=1) - 1) < 1e-9).all():
            raise ValueError("values_ must be probabilities")


def _mean_shares(folded: Floats, n_trees: int) -> Floats:
    shares: Floats = folded / folded.sum(axis=1, keepdims=True)  # they add up to the number of trees, but for rounding
    return shares


def _entropies(folded: Floats, n_trees: int) -> Uncertainty:
    shares, bits = np.hsplit(folded / n_trees, 2)
    total = entropy_bits(shares)
    aleatoric = total if n_trees == 1 else np.minimum(bits.sum(axis=1), total)
    return Uncertainty(total, aleatoric, total - aleatoric, "entropy")
