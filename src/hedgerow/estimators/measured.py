"""Trees for inputs that were measured with error."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import check_array

from hedgerow._params import check_choice
from hedgerow.estimators.measured_trees import MeasuredTree
from hedgerow.estimators.stored import storable
from hedgerow.estimators.targets import first_masked, read_labels, read_targets, read_weights
from hedgerow.estimators.uncertainty import Uncertainty, entropy_bits
from hedgerow.measured.explain import RegionExplanation
from hedgerow.measured.grow import classification_forest, regression_forest
from hedgerow.probability import Frequency

__all__ = ["MeasuredTreeClassifier", "MeasuredTreeRegressor"]

Floats = NDArray[np.float64]


@storable
class MeasuredTreeRegressor(RegressorMixin, MeasuredTree):  # type: ignore[misc]
    """A regression tree for inputs X = U + ε that are known up to an error, whose latent values U decide.

    A row is in each region with the probability that its latent values are, and the answer is Σ γ_k P(U ∈ R_k | x). The
    values γ solve the least-squares problem of all rows at once, and splits are chosen by what they take off its
    residuals (Tami et al., Decision tree for uncertainty measures, 2018, equations 6 and 7). Without errors it is a
    plain tree.

    Parameters
    ----------
    sigma : float, sequence of float, or mapping
        Standard deviations of the errors: of all numeric columns, of each column, or by column (name or number), where
        ``{"x": "x_err"}`` says that column "x_err" of X holds the errors of "x"; it is then no feature. 0 is exact.
        Used where no `X_err` is given.
    error_model : {"normal", "uniform", "laplace", "student"}, an instance from :mod:`hedgerow.measured`, or a mapping
        The law of the errors, whose standard deviation is always `sigma`; of all columns, or by column. "student" has 5
        degrees of freedom, ``Student(df)`` others.
    prior : {"normal", "flat", "kde"} or an instance from :mod:`hedgerow.measured`
        What is believed about U before x is read: normal, with the variance that the errors leave of X's; nothing; or
        any shape, found by deconvolution.
    risk : {"global", "node"}
        What a split lowers: the squared residuals of all rows, or of the rows whose observed x is in the region, as
        they are when the region is made. With "node" every region is looked at once.
    max_leaf_nodes : int or None
        Best first up to so many regions. None: depth first, as far as `min_weight_leaf` allows.
    min_weight_leaf : float
        The number of rows that must be expected in each region; parts of rows count as parts, and a row of weight 2 as
        two.
    max_candidates : int or None
        Thresholds that are tried in each column, at most: quantiles of the midpoints between neighbouring values. None
        tries all.
    nominal : {"subset", "binary"}
        Nominal columns are exact: some categories against the others, or one against the rest.
    pruning : None, "cost_complexity" or :class:`~hedgerow.measured.CostComplexity`
        Which of the splits to keep: all, or as many as cross-validation finds worth their price.
    categorical_features : "from_dtype", indices, mask, names or None
        Which columns are nominal, as in :class:`TreeRegressor`.

    Attributes
    ----------
    regions_ : array of shape (n_leaves, n_features, 2)
        Lower and upper bounds, lower < u ≤ upper.
    region_categories_ : dict
        Nominal column → the categories inside each region, bool (n_leaves, n_categories).
    values_ : array of shape (n_leaves,)
        γ, the answer of a row that is wholly in a region.
    forest_ : Forest
        The same regions as a plain tree: rows expected in each leaf, γ, and how far targets deviate from it.
    sigma_ : array of shape (n_features,)
        The errors that are used where rows do not bring their own.
    error_source_ : {"sigma", "X_err"}
        Where `fit` had the sizes of errors from.
    error_sizes_, laws_ : what was learned about the errors and the latent values of columns.
    schema_, n_features_in_, feature_names_in_, feature_importances_
        As in :class:`TreeRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> latent = rng.uniform(size=(500, 1))
    >>> X, y = latent + rng.normal(scale=0.1, size=(500, 1)), np.where(latent[:, 0] > 0.5, 1.0, 0.0)
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
        X, y : table and targets
        sample_weight : array-like of shape (n,) or None
        X_err : array-like or frame of shape (n, n_features), or None
            Standard deviations of the errors of all cells, instead of `sigma`.
        y_err : array-like of shape (n,) or None
            Standard deviations of the errors of y, above 0: squared residuals are weighted by 1/y_err².
        """
        self._settings()
        given = self._measurements(X, X_err)
        values = given.table.values
        targets = read_targets(y, values)
        weight = read_weights(sample_weight, values)
        problem = self._problem(given, weight, _precision(y_err, len(values)), targets[:, np.newaxis])
        forest, gamma = self._grown(problem, given.table.schema.n_categories, regression_forest)
        self._set_grown(given, problem, forest, values_=gamma[:, 0], _impurity="squared_error")
        return self

    def predict(self, X: Any, X_err: Any = None) -> Floats:
        """Σ γ_k P(U ∈ R_k | x), (n,); `X_err` as in :meth:`membership`."""
        shares = self.membership(X, X_err)
        answers: Floats = (shares * self.values_).sum(axis=1)
        return answers

    def explain(self, X: Any, X_err: Any = None) -> list[RegionExplanation]:
        """Why each row is answered as it is: the regions that it may be in, what they answer, and the doubt in it.

        ``print(model.explain(X)[0])`` is a text for people.
        """
        return self._explained(X, X_err, values=self.values_[:, np.newaxis], answers=self.predict(X, X_err))

    def score(self, X: Any, y: Any, sample_weight: Any = None, X_err: Any = None) -> float:
        """R² of `predict`."""
        return float(r2_score(y, self.predict(X, X_err), sample_weight=sample_weight))


@storable
class MeasuredTreeClassifier(ClassifierMixin, MeasuredTree):  # type: ignore[misc]
    """A classification tree for inputs X = U + ε that are known up to an error.

    Regions are grown as in :class:`MeasuredTreeRegressor`, by least squares on the indicators of the classes; without
    errors that is the Gini index.

    Parameters
    ----------
    sigma, error_model, prior, risk, max_leaf_nodes, min_weight_leaf, max_candidates, nominal, pruning, \
categorical_features
        As in :class:`MeasuredTreeRegressor`.
    leaf : {"least_squares", "counts"}
        Probabilities are Σ γ_k P(U ∈ R_k | x) with the γ of least squares, clipped to [0, 1] and normalised; or each
        row adds its memberships to the counts of its class in every region, and probabilities are the regions'
        frequencies in proportion to the memberships. May be changed after `fit`.

    Attributes
    ----------
    values_ : array of shape (n_leaves, n_classes)
        γ of least squares.
    forest_ : Forest
        The same regions as a plain tree, with soft counts: what every combination rule and cautious set is made of
        (:class:`RuleClassifier`, :class:`CautiousClassifier`).
    classes_, n_classes_, class_prior_ : labels, their number, and their weighted share of the training data.
    regions_, region_categories_, sigma_, error_source_, error_sizes_, laws_, schema_, n_features_in_, \
feature_names_in_, feature_importances_
        As in :class:`MeasuredTreeRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris(as_frame=True)
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
        """Grow the tree; `X_err` as in :meth:`MeasuredTreeRegressor.fit`."""
        self._settings()
        self._check_leaf()
        given = self._measurements(X, X_err)
        values = given.table.values
        labels = read_labels(y, values)
        weight = read_weights(sample_weight, values)
        indicators = np.eye(len(labels.classes))[labels.codes]
        problem = self._problem(given, weight, np.ones(len(values)), indicators)
        forest, gamma = self._grown(problem, given.table.schema.n_categories, classification_forest)
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
        """The most probable class of each row; the first of equals."""
        probabilities = self.predict_proba(X, X_err)
        labels: NDArray[Any] = self.classes_[probabilities.argmax(axis=1)]
        return labels

    def predict_proba(self, X: Any, X_err: Any = None) -> Floats:
        """The probability of each class, (n, n_classes), as `leaf` says; `X_err` as in :meth:`membership`."""
        self._check_leaf()
        shares = self.membership(X, X_err)
        mixed = shares @ self._region_shares()
        return _normalised(mixed if self.leaf == "counts" else np.clip(mixed, 0.0, 1.0), self.class_prior_)

    def _region_shares(self) -> Floats:
        """What the answer mixes, (n_leaves, n_classes)."""
        shares: Floats = self.values_
        return Frequency()(self.forest_.counts, self.class_prior_) if self.leaf == "counts" else shares

    def predict_uncertainty(self, X: Any, X_err: Any = None) -> Uncertainty:
        """Entropy of the probabilities in bits. One tree has nobody to disagree with: all of it is aleatoric."""
        bits = entropy_bits(self.predict_proba(X, X_err))
        return Uncertainty(bits, bits, np.zeros_like(bits), "entropy")

    def leaf_counts(self, X: Any, X_err: Any = None) -> Floats:
        """The evidence, (n, 1, n_classes): soft class counts of the regions, in proportion to the memberships."""
        shares = self.membership(X, X_err)
        return (shares @ self.forest_.counts)[:, np.newaxis]

    def explain(self, X: Any, X_err: Any = None) -> list[RegionExplanation]:
        """Why each row is answered as it is, as of :class:`MeasuredTreeRegressor`; the regions answer with classes."""
        probabilities = self.predict_proba(X, X_err)
        return self._explained(
            *(X, X_err),
            values=self._region_shares(),
            answers=self.classes_[probabilities.argmax(axis=1)],
            classes=self.classes_,
            probabilities=probabilities,
        )

    def score(self, X: Any, y: Any, sample_weight: Any = None, X_err: Any = None) -> float:
        """Accuracy of `predict`."""
        return float(accuracy_score(y, self.predict(X, X_err), sample_weight=sample_weight))

    def _check_leaf(self) -> None:
        check_choice("leaf", self.leaf, ("least_squares", "counts"), "'least_squares' or 'counts'")

    def _check_fitted(self) -> None:
        super()._check_fitted()
        self._check_leaf()


def _normalised(probabilities: Floats, prior: Floats) -> Floats:
    """Rows that add up to 1; the prior where nothing is left."""
    total = probabilities.sum(axis=1, keepdims=True)
    return np.where(total > 0, probabilities / np.where(total > 0, total, 1.0), prior)


def _precision(y_err: Any, n_rows: int) -> Floats:
    """1/y_err², 1 on average; the errors above 0."""
    if y_err is None:
        return np.ones(n_rows)
    if (row := first_masked(y_err)) is not None:
        raise ValueError(f"y_err is masked in row {row}: give every target an error")
    errors = check_array(y_err, dtype=np.float64, ensure_2d=False, ensure_min_samples=0, input_name="y_err")
    if errors.shape != (n_rows,):
        raise ValueError(f"y_err has shape {errors.shape}, must be ({n_rows},): one error for each target")
    if not (errors > 0).all():
        row = int(np.argmin(errors > 0))
        raise ValueError(
            f"y_err of row {row} is {errors[row]}, must be above 0: an exact target would outweigh all others; give it "
            "the smallest error that you believe in"
        )
    precision = (errors.min() / errors) ** 2
    scaled: Floats = precision / precision.mean()
    return scaled
