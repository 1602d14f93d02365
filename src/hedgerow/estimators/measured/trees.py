"""Trees for inputs measured with error."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, r2_score

from hedgerow._params import check_choice
from hedgerow.data.targets import read_labels, read_targets, read_weights
from hedgerow.estimators.contract import CODES
from hedgerow.estimators.measured.explained_regions import class_levels_of_regions, number_levels_of_regions
from hedgerow.estimators.measured.inputs import precision_of
from hedgerow.estimators.measured.one_tree import MeasuredTree
from hedgerow.estimators.stored import storable
from hedgerow.explain.reasons import Levels
from hedgerow.folds.leaf_probability import Frequency
from hedgerow.folds.moments import deviations
from hedgerow.folds.uncertainty import Uncertainty, all_aleatoric, entropy_bits
from hedgerow.measured.one_tree.grow import classification_forest, regression_forest
from hedgerow.walk import weighted_sums

__all__ = ["MeasuredTreeClassifier", "MeasuredTreeRegressor"]

Floats = NDArray[np.float64]


@storable
class MeasuredTreeRegressor(RegressorMixin, MeasuredTree):  # type: ignore[misc]
    """A regression tree for inputs X = U + ε that are measured with error, split on the latent values U.

    A row is in each region with the probability that its latent values are, and the prediction is Σ γ_k P(U ∈ R_k | x).
    The values γ solve the least-squares problem of all rows at once, and each split is the one that lowers its residual
    sum of squares most (Tami et al., Decision tree for uncertainty measures, 2018, equations 6 and 7). Without errors
    it is a plain tree.

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
        Distribution of the errors, always with standard deviation `sigma`; for all columns, or by column. "student" has
        5 degrees of freedom, ``Student(df)`` others. Nominal columns are exact, or have a
        ``measured.Misclassification`` here.
    prior : {"normal", "flat", "kde"} or an instance from :mod:`hedgerow.measured`, default="normal"
        Prior of U: normal, with the variance of X minus that of the errors; flat; or any shape, found by deconvolution.
    risk : {"global", "node"}, default="global"
        What a split lowers: the squared residuals of all rows, or of the rows whose observed x is in the region, at the
        time the region is made. With "node" every region is scored once.
    max_leaf_nodes : int or None, default=16
        Largest number of regions, grown best first. None: depth first, as far as `min_weight_leaf` allows.
    min_weight_leaf : float, default=1.0
        Smallest expected number of rows in each region; fractions of rows count as such, and a row of weight 2 as two.
    max_candidates : int or None, default=64
        Largest number of thresholds tried in each column, at quantiles of the midpoints between neighbouring values.
        None tries all.
    nominal : {"subset", "binary"}, default="subset"
        Splits of nominal columns: some categories against the others, or one against the rest.
    pruning : None, "cost_complexity" or :class:`~hedgerow.measured.CostComplexity`, default=None
        Which splits to keep: all, or as many as are worth the price of a leaf, by default found by cross-validation.
    categorical_features : "from_dtype", indices, mask, names or None, default="from_dtype"
        Which columns are nominal. By default text columns and unordered categories of a frame, and none of an array;
        None: none.

    Attributes
    ----------
    regions_ : array of shape (n_leaves, n_features, 2)
        Bounds, lower < u ≤ upper.
    region_categories_ : dict
        Nominal column → the categories inside each region, bool (n_leaves, n_categories).
    values_ : array of shape (n_leaves,)
        γ, the prediction for a row that is wholly in a region.
    forest_ : Forest
        The same regions as a plain tree; leaves have the expected number of rows, γ and the squared deviations from it.
    sigma_ : array of shape (n_features,)
        Standard deviations of the errors for rows without `X_err`.
    error_source_ : {"sigma", "X_err"}
        Where `fit` took the sizes of errors from.
    error_sizes_, laws_ : sizes of errors, and the laws of the latent values of columns.
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
    >>> latent = rng.uniform(size=(500, 1))
    >>> X, y = latent + rng.normal(scale=0.1, size=(500, 1)), np.where(latent[:, 0] > 0.5, 1.0, 0.0)
    >>> from hedgerow import MeasuredTreeRegressor
    >>> tree = MeasuredTreeRegressor(sigma=0.1, max_leaf_nodes=2).fit(X, y)
    >>> tree.predict([[0.3], [0.5], [0.7]]).round(2)
    array([0.03, 0.55, 0.99])
    """

    def __init__(
        self,
        sigma: Any = 0.0,
        error_model: Any = "normal",
        prior: Any = "normal",
        risk: str = "global",
        *,
        max_leaf_nodes: int | None = 16,
        min_weight_leaf: float = 1.0,
        max_candidates: int | None = 64,
        nominal: str = "subset",
        pruning: Any = None,
        categorical_features: Any = "from_dtype",
    ) -> None:
        self.sigma = sigma
        self.error_model = error_model
        self.prior = prior
        self.risk = risk
        self.max_leaf_nodes = max_leaf_nodes
        self.min_weight_leaf = min_weight_leaf
        self.max_candidates = max_candidates
        self.nominal = nominal
        self.pruning = pruning
        self.categorical_features = categorical_features

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, X_err: Any = None, y_err: Any = None
    ) -> MeasuredTreeRegressor:
        """Grow the tree.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Training rows, as they were measured.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each row: a number of rows, if all are whole numbers, else relative and rescaled to a mean of 1;
            None weighs all alike.
        X_err : array-like or frame of shape (n_samples, n_features), or None, default=None
            Standard deviation of the error of each cell, in place of `sigma`.
        y_err : array-like of shape (n_samples,) or None, default=None
            Standard deviation of the error of each target, above 0: squared residuals are weighted by 1/y_err².

        Returns
        -------
        self
            The fitted model.

        Raises
        ------
        ValueError
            If a parameter is out of its range, a size of an error is negative or missing, or X or y can't be read.
        """
        self._settings()
        given = self._measurements(X, X_err)
        values = given.table.values
        targets = read_targets(y, values)
        weight = read_weights(sample_weight, values)
        problem = self._problem(given, weight, precision_of(y_err, len(values)), targets[:, np.newaxis])
        forest, gamma = self._grow(problem, given.table.schema.n_categories, regression_forest)
        self._set_grown(given, problem, forest, values_=gamma[:, 0], _impurity="squared_error")
        return self

    def predict(self, X: Any, X_err: Any = None) -> Floats:
        """Σ γ_k P(U ∈ R_k | x), (n,); `X_err` as in :meth:`membership`.

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
        return self._mix(self.membership(X, X_err))

    def _mix(self, shares: Floats) -> Floats:
        answers: Floats = (shares * self.values_).sum(axis=1)
        return answers

    def predict_uncertainty(self, X: Any, X_err: Any = None) -> Uncertainty:
        """Standard deviation of the mixture of the regions that a row may be in: within and between them.

        The deviation within a region is that of `forest_`, with training rows weighted by membership. A single tree has
        no between-tree variance, so all is aleatoric. `X_err` as in :meth:`membership`.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        X_err : array-like or frame of the shape of X, or None, default=None
            Standard deviation of the error of each cell, or the covariance of the errors of each row,
            (n_samples, n_features, n_features); None: those of `sigma`.

        Returns
        -------
        Uncertainty
            `total`, `aleatoric` and `epistemic`, arrays of shape (n_samples,).
        """
        return self._deviation(self.membership(X, X_err))

    def _deviation(self, shares: Floats) -> Uncertainty:
        weight, mean, squares = self.forest_.stats.T
        moments = np.stack([mean, mean**2 + squares / np.where(weight > 0, weight, 1.0)], axis=1)
        answer, mean_square = weighted_sums(shares, moments).T
        return deviations(all_aleatoric(np.maximum(mean_square - answer**2, 0.0), "variance"))

    def _answer(self, verb: str, shares: Floats) -> Any:
        return {"predict": self._mix, "predict_uncertainty": self._deviation}[verb](shares)

    def _answers(self, shares: Floats) -> dict[str, Any]:
        return {"values": self.values_[:, np.newaxis], "answers": self._mix(shares)}

    def _levels(self, rows: Floats, shares: Floats) -> Levels:
        return number_levels_of_regions(self, rows, shares)

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


@storable
class MeasuredTreeClassifier(ClassifierMixin, MeasuredTree):  # type: ignore[misc]
    """A classification tree for inputs X = U + ε that are measured with error.

    Regions are grown as in :class:`MeasuredTreeRegressor`, by least squares on class indicators; without errors that is
    the Gini index.

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
        "student" has 5 degrees of freedom, ``Student(df)`` others. Nominal columns are exact, or have a
        ``measured.Misclassification`` here.
    prior : {"normal", "flat", "kde"} or an instance from :mod:`hedgerow.measured`, default="normal"
        Prior of U: normal, with the variance of X minus that of the errors; flat; or any shape, found by
        deconvolution.
    risk : {"global", "node"}, default="global"
        What a split lowers: the squared residuals of all rows, or of the rows whose observed x is in the
        region, at the time the region is made. With "node" every region is scored once.
    leaf : {"least_squares", "counts"}, default="least_squares"
        "least_squares": probabilities are Σ γ_k P(U ∈ R_k | x), with values γ of least squares among
        probabilities: none negative, their sum 1. "counts": each training row adds its memberships to the counts of its
        class in every region, and probabilities are the regions' class frequencies weighted by membership. May be
        changed after `fit`.
    max_leaf_nodes : int or None, default=16
        Largest number of regions, grown best first. None: depth first, as far as `min_weight_leaf` allows.
    min_weight_leaf : float, default=1.0
        Smallest expected number of rows in each region; fractions of rows count as such, and a row of weight 2 as two.
    max_candidates : int or None, default=64
        Largest number of thresholds tried in each column, at quantiles of the midpoints between neighbouring values.
        None tries all.
    nominal : {"subset", "binary"}, default="subset"
        Splits of nominal columns: some categories against the others, or one against the rest.
    pruning : None, "cost_complexity" or :class:`~hedgerow.measured.CostComplexity`, default=None
        Which splits to keep: all, or as many as are worth the price of a leaf, by default found by
        cross-validation.
    categorical_features : "from_dtype", indices, mask, names or None, default="from_dtype"
        Which columns are nominal. By default text columns and unordered categories of a frame, and none of an
        array; None: none.

    Attributes
    ----------
    values_ : array of shape (n_leaves, n_classes)
        γ of least squares.
    forest_ : Forest
        The same regions as a plain tree, with the soft counts that combination rules and cautious sets use
        (:class:`RuleClassifier`, :class:`CautiousClassifier`).
    classes_, n_classes_, class_prior_ : labels, their number, and their weighted frequencies in the training data.
    regions_ : array of shape (n_leaves, n_features, 2)
        Bounds, lower < u ≤ upper.
    region_categories_ : dict
        Nominal column → the categories inside each region, bool (n_leaves, n_categories).
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
    >>> iris = load_iris(as_frame=True)
    >>> from hedgerow import MeasuredTreeClassifier
    >>> tree = MeasuredTreeClassifier(sigma=0.1, max_leaf_nodes=3).fit(iris.data, iris.target_names[iris.target])
    >>> print(tree.to_text())
    petal length (cm) <= 2.45: setosa (setosa 50)
    petal length (cm) > 2.45
    |   petal width (cm) <= 1.65: versicolor (versicolor 46.9428, virginica 4.85096)
    |   petal width (cm) > 1.65: virginica (versicolor 3.05715, virginica 45.149)
    """

    def __init__(
        self,
        sigma: Any = 0.0,
        error_model: Any = "normal",
        prior: Any = "normal",
        risk: str = "global",
        *,
        leaf: str = "least_squares",
        max_leaf_nodes: int | None = 16,
        min_weight_leaf: float = 1.0,
        max_candidates: int | None = 64,
        nominal: str = "subset",
        pruning: Any = None,
        categorical_features: Any = "from_dtype",
    ) -> None:
        self.sigma = sigma
        self.error_model = error_model
        self.prior = prior
        self.risk = risk
        self.leaf = leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.min_weight_leaf = min_weight_leaf
        self.max_candidates = max_candidates
        self.nominal = nominal
        self.pruning = pruning
        self.categorical_features = categorical_features

    def fit(self, X: Any, y: Any, sample_weight: Any = None, X_err: Any = None) -> MeasuredTreeClassifier:
        """Grow the tree; `X_err` as in :meth:`MeasuredTreeRegressor.fit`.

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
        self._settings()
        self._check_leaf()
        given = self._measurements(X, X_err)
        values = given.table.values
        labels = read_labels(y, values)
        weight = read_weights(sample_weight, values)
        indicators = np.eye(len(labels.classes))[labels.codes]
        problem = self._problem(given, weight, np.ones(len(values)), indicators)
        forest, gamma = self._grow(problem, given.table.schema.n_categories, classification_forest)
        self._set_grown(
            given,
            problem,
            forest,
            values_=gamma,
            classes_=labels.classes,
            n_classes_=len(labels.classes),
            class_prior_=np.bincount(labels.codes, weights=weight, minlength=len(labels.classes)) / weight.sum(),
            _impurity="gini",
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
        probabilities = self.predict_proba(X, X_err)
        labels: NDArray[Any] = self.classes_[probabilities.argmax(axis=1)]
        return labels

    def predict_proba(self, X: Any, X_err: Any = None) -> Floats:
        """Class probabilities, (n, n_classes), by the method `leaf`; `X_err` as in :meth:`membership`.

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
        self._check_leaf()
        return self._mix(self.membership(X, X_err))

    def _mix(self, shares: Floats) -> Floats:
        mixed = weighted_sums(shares, self._region_probabilities())
        return _normalise(mixed if self.leaf == "counts" else np.clip(mixed, 0.0, 1.0), self.class_prior_)

    def _region_probabilities(self) -> Floats:
        """Class probabilities of each region, (n_leaves, n_classes); those of least squares may be outside [0, 1]."""
        gamma: Floats = self.values_
        return Frequency()(self.forest_.counts, self.class_prior_) if self.leaf == "counts" else gamma

    def _answers(self, shares: Floats) -> dict[str, Any]:
        self._check_leaf()
        probabilities = self._mix(shares)
        return {
            "values": self._region_probabilities(),
            "answers": self.classes_[probabilities.argmax(axis=1)],
            "classes": self.classes_,
            "probabilities": probabilities,
        }

    def _levels(self, rows: Floats, shares: Floats) -> Levels:
        return class_levels_of_regions(self, self._region_probabilities(), rows, shares)

    def predict_uncertainty(self, X: Any, X_err: Any = None) -> Uncertainty:
        """Entropy of the probabilities in bits; a single tree has no between-tree variance, so all is aleatoric.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        X_err : array-like or frame of the shape of X, or None, default=None
            Standard deviation of the error of each cell, or the covariance of the errors of each row,
            (n_samples, n_features, n_features); None: those of `sigma`.

        Returns
        -------
        Uncertainty
            `total`, `aleatoric` and `epistemic`, arrays of shape (n_samples,).
        """
        return all_aleatoric(entropy_bits(self.predict_proba(X, X_err)), "entropy")

    def leaf_counts(self, X: Any, X_err: Any = None) -> Floats:
        """Soft class counts of the regions, weighted by membership, (n, 1, n_classes).

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        X_err : array-like or frame of the shape of X, or None, default=None
            Standard deviation of the error of each cell, or the covariance of the errors of each row,
            (n_samples, n_features, n_features); None: those of `sigma`.

        Returns
        -------
        ndarray of shape (n_samples, 1, n_classes)
            Counts.
        """
        return self._soft_counts(self.membership(X, X_err))

    def _soft_counts(self, shares: Floats) -> Floats:
        return weighted_sums(shares, self.forest_.counts)[:, np.newaxis]

    def _answer(self, verb: str, shares: Floats) -> Any:
        self._check_leaf()
        match verb:
            case "predict_proba":
                return self._mix(shares)
            case "predict_uncertainty":
                return all_aleatoric(entropy_bits(self._mix(shares)), "entropy")
            case "leaf_counts":
                return self._soft_counts(shares)
        codes = self._mix(shares).argmax(axis=1)
        return codes if verb == CODES else self.classes_[codes]

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

    def _check_leaf(self) -> None:
        check_choice("leaf", self.leaf, ("least_squares", "counts"), "'least_squares' or 'counts'")

    def _check_fitted(self) -> None:
        super()._check_fitted()
        self._check_leaf()


def _normalise(probabilities: Floats, prior: Floats) -> Floats:
    """Scale rows to add up to 1; the prior where all are 0."""
    total = probabilities.sum(axis=1, keepdims=True)
    return np.where(total > 0, probabilities / np.where(total > 0, total, 1.0), prior)
