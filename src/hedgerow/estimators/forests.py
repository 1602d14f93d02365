"""Bagging and random forests of the trees in this package."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.estimators.answers import ClassAnswers, NumberAnswers
from hedgerow.estimators.bagging import n_draws, out_of_bag
from hedgerow.estimators.base import TreeBased
from hedgerow.estimators.outputs import Uncertainty
from hedgerow.estimators.progress import CallbackSupportMixin, TreesProgress, with_callbacks
from hedgerow.estimators.targets import read_labels, read_targets, read_weights
from hedgerow.growth import Grown, Training, grow_forest
from hedgerow.inspection import impurity_of
from hedgerow.probability import leaf_probability
from hedgerow.quantiles import LeafSamples, central_interval, predict_quantiles
from hedgerow.table import read_table
from hedgerow.walk import LeafTable, fold, n_threads, route

__all__ = ["ForestClassifier", "ForestRegressor"]

Floats = NDArray[np.float64]


class _Forest(CallbackSupportMixin, TreeBased):  # type: ignore[misc]
    """What both forests share: growing many trees, and saying what was grown."""

    def _grow(self, training: Training, criterion: str, criteria: tuple[str, ...], X: Any, y: Any) -> Grown:
        if not isinstance(self.n_estimators, Integral) or isinstance(self.n_estimators, bool) or self.n_estimators < 1:
            raise ValueError(f"n_estimators is {self.n_estimators!r}, must be a whole number of at least 1")
        growth = self._growth(criterion)
        options = growth.options(training.sample_weight, training.values.shape[1], criteria, self._seed())
        options.n_trees = int(self.n_estimators)
        options.max_bins = self.max_bins if growth.takes_fast_way(training.n_categories, self.max_bins) else 0
        options.n_draws = n_draws(self.bootstrap, self.max_samples, self.oob_score, training.sample_weight)
        options.keep_in_bag = bool(self.oob_score)
        options.keep_leaf_rows = training.targets is not None
        options.n_threads = n_threads(self.n_jobs)
        progress = TreesProgress(self, options.n_trees, X, y)
        grown = grow_forest(training, options, progress.report)
        progress.finish(options.n_trees)
        return grown

    def _oob_metric(self, default: str) -> Any:
        if callable(self.oob_score):
            return self.oob_score
        from sklearn import metrics  # here, because it takes longer to import than all of hedgerow

        return getattr(metrics, default)

    def apply(self, X: Any) -> NDArray[np.int32]:
        """The number of the leaf that each row reaches in each tree, (n, n_trees).

        A row with a missing value that is divided over branches follows the heaviest.
        """
        rows = self._read(X)
        return route(self.forest_, rows, n_jobs=self.n_jobs)


class ForestClassifier(ClassAnswers, _Forest):
    """A random forest, or bagged trees with ``max_features=None``: probabilities are the mean of the trees'.

    Trees are grown until their leaves are pure, each from rows drawn with replacement, with √d columns tried for each
    question.

    Parameters
    ----------
    n_estimators : int
        Number of trees.
    criterion, nominal, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, \
min_impurity_decrease, max_leaf_nodes, leaf_probability, categorical_features
        As in :class:`TreeClassifier`, the criterion being "gini" by default. Rows count once, however often they were
        drawn.
    missing : {"random", "fractional", "category", "learned"} or an instance from :mod:`hedgerow.growth`
        As in :class:`TreeClassifier`; by default a row whose value is missing goes down one branch in `fit`, drawn with
        the weights of the branches, and down all of them when predicting.
    max_features : int, float, "sqrt", "log2" or None
        Columns tried for each question.
    max_bins : int or None
        Numeric columns with more distinct values are cut into this many bins of equal weight, so that thresholds are
        exact only up to a bin; None is exact, and slower.
    bootstrap, max_samples, oob_score
        As in scikit-learn: rows are drawn by `sample_weight`, which then does not count again; without bootstrap rows
        count by it. `oob_score` may be a callable ``metric(y_true, y_pred)``.
    class_weight : dict, "balanced" or None
        Multiplies `sample_weight`.
    n_jobs : int or None
        Threads, one tree each; the same bits for every number of them.
    random_state : int, RandomState instance or None
        The same seed gives the same forest, bit for bit.

    Attributes
    ----------
    forest_ : Forest
    classes_, n_classes_, class_prior_, schema_, n_features_in_, feature_names_in_, feature_importances_
        As in :class:`TreeClassifier`.
    oob_score_, oob_decision_function_
        Accuracy (or what `oob_score` computes) and probabilities from the trees that have not seen a row; NaN for rows
        that all have seen.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = ForestClassifier(oob_score=True, random_state=0).fit(X, y)
    >>> bool(forest.oob_score_ > 0.94)
    True
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        nominal: str = "multiway",
        missing: Any = "random",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        max_leaf_nodes: int | None = None,
        max_features: Any = "sqrt",
        max_bins: int | None = 255,
        bootstrap: bool = True,
        max_samples: Any = None,
        oob_score: Any = False,
        leaf_probability: Any = "frequency",
        class_weight: Any = None,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.nominal = nominal
        self.missing = missing
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.max_leaf_nodes = max_leaf_nodes
        self.max_features = max_features
        self.max_bins = max_bins
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.leaf_probability = leaf_probability
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ForestClassifier:
        """Grow the trees."""
        estimate = leaf_probability(self.leaf_probability)
        table = read_table(X, categorical_features=self.categorical_features, estimator=self)
        labels = read_labels(y, table.values)
        weight = read_weights(sample_weight, table.values, self.class_weight, labels.classes[labels.codes])
        training = self._training(table, weight, labels=labels)
        grown = self._grow(training, self.criterion, ("gini", "entropy", "gain_ratio"), X, y)
        prior = np.bincount(labels.codes, weights=weight, minlength=len(labels.classes)) / weight.sum()
        found: dict[str, Any] = {"classes_": labels.classes, "n_classes_": len(labels.classes), "class_prior_": prior}
        found["_impurity"] = impurity_of(self.criterion)
        if self.oob_score:
            leaves = LeafTable.of(estimate(grown.forest.counts, prior))
            rows = np.ascontiguousarray(table.values)
            shares = out_of_bag(grown.forest, rows, grown.in_bag, weight > 0, leaves, self.n_jobs)
            seen = ~np.isnan(shares[:, 0])
            metric = self._oob_metric("accuracy_score")
            predicted = labels.classes[shares[seen].argmax(axis=1)]
            found["oob_decision_function_"] = shares
            found["oob_score_"] = metric(labels.classes[labels.codes[seen]], predicted) if seen.any() else np.nan
        self._set_fitted(X, table, grown.forest, **found)
        return self


class ForestRegressor(NumberAnswers, _Forest):
    """A random forest for numbers, with quantiles and intervals from the training targets in its leaves.

    Trees are grown by least squares to leaves of at least five rows, each from rows drawn with replacement, with a
    third of the columns tried for each question.

    Parameters
    ----------
    n_estimators, nominal, missing, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, \
min_impurity_decrease, max_leaf_nodes, max_features, max_bins, bootstrap, max_samples, oob_score, \
categorical_features, n_jobs, random_state
        As in :class:`ForestClassifier`.

    Attributes
    ----------
    forest_ : Forest
    leaf_samples_ : LeafSamples
        The training targets of each leaf.
    oob_score_, oob_prediction_
        R² (or what `oob_score` computes) and predictions from the trees that have not seen a row; NaN for rows that all
        have seen.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = ForestRegressor(random_state=0).fit(X, y)
    >>> forest.predict_interval(X[:1], coverage=0.8).shape
    (1, 2)
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        nominal: str = "multiway",
        missing: Any = "random",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 5,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        max_leaf_nodes: int | None = None,
        max_features: Any = 1 / 3,
        max_bins: int | None = 255,
        bootstrap: bool = True,
        max_samples: Any = None,
        oob_score: Any = False,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.nominal = nominal
        self.missing = missing
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.max_leaf_nodes = max_leaf_nodes
        self.max_features = max_features
        self.max_bins = max_bins
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ForestRegressor:
        """Grow the trees."""
        table = read_table(X, categorical_features=self.categorical_features, estimator=self)
        targets = read_targets(y, table.values)
        weight = read_weights(sample_weight, table.values)
        training = self._training(table, weight, targets=targets)
        grown = self._grow(training, "squared_error", ("squared_error",), X, y)
        samples = LeafSamples.of(grown, targets[weight > 0])
        found: dict[str, Any] = {"leaf_samples_": samples, "_impurity": "squared_error"}
        if self.oob_score:
            rows = np.ascontiguousarray(table.values)
            leaves = LeafTable.of(grown.forest.stats[:, 1:2])
            means = out_of_bag(grown.forest, rows, grown.in_bag, weight > 0, leaves, self.n_jobs)[:, 0]
            seen = ~np.isnan(means)
            metric = self._oob_metric("r2_score")
            found["oob_prediction_"] = means
            found["oob_score_"] = metric(targets[seen], means[seen]) if seen.sum() > 1 else np.nan
        self._set_fitted(X, table, grown.forest, **found)
        return self

    def predict_quantiles(self, X: Any, q: ArrayLike = (0.05, 0.5, 0.95)) -> Floats:
        """Quantiles of the target, (n, len(q)): the least training target y with F(y|x) ≥ q."""
        rows = self._read(X)
        return predict_quantiles(self.forest_, self.leaf_samples_, rows, q, n_jobs=self.n_jobs)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Floats:
        """Lower and upper end, (n, 2), of the interval that leaves as much probability below as above."""
        return self.predict_quantiles(X, central_interval(coverage))

    def predict_uncertainty(self, X: Any) -> Uncertainty:
        """Variances: mean of the leaves' (aleatoric), of the trees' means (epistemic), and their sum (total)."""
        rows = self._read(X)
        weight, mean, squares = self.forest_.stats.T
        table = LeafTable.of(np.stack([mean, mean**2, squares / weight], axis=1))
        means, square_means, variances = (
            fold(self.forest_, rows, [table], n_jobs=self.n_jobs)[0].T / self.forest_.n_trees
        )
        epistemic = np.maximum(square_means - means**2, 0.0)
        return Uncertainty(variances + epistemic, variances, epistemic, "variance")
