"""One readable tree: CART, ID3 or C4.5 by its parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.estimators.answers import ClassAnswers, NumberAnswers
from hedgerow.estimators.one_tree import OneTree
from hedgerow.estimators.stored import storable
from hedgerow.estimators.targets import read_labels, read_targets, read_weights
from hedgerow.estimators.uncertainty import Uncertainty
from hedgerow.growth import grow_forest
from hedgerow.inspection import impurity_of
from hedgerow.probability import leaf_probability
from hedgerow.table import read_table
from hedgerow.walk import LeafTable, fold, route

__all__ = ["TreeClassifier", "TreeRegressor"]

Floats = NDArray[np.float64]


class _Tree(OneTree):
    """What both trees share."""

    def apply(self, X: Any) -> NDArray[np.int32]:
        """The number of the leaf that each row reaches, (n,).

        A row with a missing value that is divided over branches follows the heaviest.
        """
        rows = self._read(X)
        return route(self.forest_, rows)[:, 0]


@storable
class TreeClassifier(ClassAnswers, _Tree):
    """A decision tree for nominal, ordinal, numeric and missing values and any number of classes.

    Without arguments it chooses questions as C4.5 does: by gain ratio, with a branch for every category, and with
    rows divided where a value is missing. :meth:`cart` is the tree that scikit-learn's users know.

    Parameters
    ----------
    criterion : {"gain_ratio", "entropy", "gini"}
        What makes a question good. "gain_ratio" divides the gain in bits by the information of the split itself, among
        the questions whose gain is at least the mean; a question that gains nothing is not asked.
    nominal : {"multiway", "binary", "subset"}
        A branch for every category, one category against the rest, or some against the others.
    missing : {"fractional", "category", "learned", "random"} or an instance from :mod:`hedgerow.growth`
        Rows whose value is missing are divided over the branches; or missing is a value of its own; or they go to the
        side that gains more; or each goes down one branch at random.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, min_impurity_decrease, \
max_leaf_nodes, max_features
        As in scikit-learn. Rows count, not weights; a part of a row counts as that part. A question is valid if at
        least two of its branches hold `min_samples_leaf` rows.
    leaf_probability : {"frequency", "laplace"} or :class:`~hedgerow.probability.MEstimate`
        How the class counts of a leaf become probabilities. May be changed after `fit`.
    class_weight : dict, "balanced" or None
        As in scikit-learn. It multiplies the weights, and so also the counts that :meth:`leaf_counts` returns.
    categorical_features : "from_dtype", indices, mask, names or None
        Which columns are nominal, as in scikit-learn's histogram boosting; text columns of a frame are by default.
    random_state : int, RandomState instance or None
        Used only where `max_features` draws features, or `missing="random"` branches.

    Attributes
    ----------
    forest_ : Forest
        The tree itself.
    classes_, n_classes_, class_prior_ : labels, their number, and their weighted share of the training data.
    schema_ : Schema
        Names, kinds and categories of the columns.
    n_features_in_, feature_names_in_, feature_importances_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris(as_frame=True)
    >>> tree = TreeClassifier(max_depth=2).fit(iris.data, iris.target_names[iris.target])
    >>> print(tree.to_text())
    petal length (cm) <= 2.45: setosa (setosa 50)
    petal length (cm) > 2.45
    |   petal width (cm) <= 1.75: versicolor (versicolor 49, virginica 5)
    |   petal width (cm) > 1.75: virginica (versicolor 1, virginica 45)
    """

    def __init__(
        self,
        criterion: str = "gain_ratio",
        *,
        nominal: str = "multiway",
        missing: Any = "fractional",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        max_leaf_nodes: int | None = None,
        max_features: Any = None,
        leaf_probability: Any = "frequency",
        class_weight: Any = None,
        categorical_features: Any = "from_dtype",
        random_state: Any = None,
    ) -> None:
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
        self.leaf_probability = leaf_probability
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.random_state = random_state

    @classmethod
    def cart(cls, **changes: Any) -> TreeClassifier:
        """A tree like scikit-learn's: Gini index, binary questions, grown until the leaves are pure."""
        return cls(**{"criterion": "gini", "nominal": "binary", "missing": "learned", **changes})

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TreeClassifier:
        """Grow the tree."""
        leaf_probability(self.leaf_probability)
        table = read_table(X, categorical_features=self.categorical_features, estimator=self)
        labels = read_labels(y, table.values)
        weight = read_weights(sample_weight, table.values, self.class_weight, labels.classes[labels.codes])
        training = self._training(table, weight, labels=labels)
        options = self._growth(self.criterion).options(
            training.sample_weight, table.schema.n_features, ("gini", "entropy", "gain_ratio"), self._seed()
        )
        forest = grow_forest(training, options).forest
        prior = np.bincount(labels.codes, weights=weight, minlength=len(labels.classes)) / weight.sum()
        self._set_fitted(
            X,
            table,
            forest,
            classes_=labels.classes,
            n_classes_=len(labels.classes),
            class_prior_=prior,
            _impurity=impurity_of(self.criterion),
        )
        return self

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class, (n, n_classes), as `leaf_probability` estimates it from the leaf's counts.

        For a row that reaches several leaves, the weighted mean of their probabilities.
        """
        rows = self._read(X)
        return fold(self.forest_, rows, [self._probabilities()])[0]

    def _probabilities(self) -> LeafTable:
        estimate = leaf_probability(self.leaf_probability)
        return self._finished.get(estimate, lambda: LeafTable.of(estimate(self.forest_.counts, self.class_prior_)))


@storable
class TreeRegressor(NumberAnswers, _Tree):
    """A regression tree (least squares) for nominal, ordinal, numeric and missing values.

    Parameters
    ----------
    nominal, missing, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, \
min_impurity_decrease, max_leaf_nodes, max_features, categorical_features, random_state
        As in :class:`TreeClassifier`.

    Attributes
    ----------
    forest_ : Forest
        The tree itself.
    schema_, n_features_in_, feature_names_in_, feature_importances_
        As in :class:`TreeClassifier`.

    Examples
    --------
    >>> tree = TreeRegressor(max_leaf_nodes=3).fit([[1], [2], [3], [4]], [10, 10, 20, 50])
    >>> print(tree.to_text())
    x0 <= 3.5
    |   x0 <= 2.5: 10 ± 0 (n = 2)
    |   x0 > 2.5: 20 ± 0 (n = 1)
    x0 > 3.5: 50 ± 0 (n = 1)
    """

    def __init__(
        self,
        *,
        nominal: str = "multiway",
        missing: Any = "fractional",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        max_leaf_nodes: int | None = None,
        max_features: Any = None,
        categorical_features: Any = "from_dtype",
        random_state: Any = None,
    ) -> None:
        self.nominal = nominal
        self.missing = missing
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.max_leaf_nodes = max_leaf_nodes
        self.max_features = max_features
        self.categorical_features = categorical_features
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TreeRegressor:
        """Grow the tree."""
        table = read_table(X, categorical_features=self.categorical_features, estimator=self)
        targets = read_targets(y, table.values)
        weight = read_weights(sample_weight, table.values)
        training = self._training(table, weight, targets=targets)
        options = self._growth("squared_error").options(
            training.sample_weight, table.schema.n_features, ("squared_error",), self._seed()
        )
        forest = grow_forest(training, options).forest
        self._set_fitted(X, table, forest, _impurity="squared_error")
        return self

    def predict_uncertainty(self, X: Any) -> Uncertainty:
        """Variance of the training targets in the leaf; of a row that reaches several, of their mixture.

        One tree has nobody to disagree with: all of it is aleatoric.
        """
        rows = self._read(X)
        weight, mean, squares = self.forest_.stats.T
        table = LeafTable.of(np.stack([mean, mean**2, squares / weight], axis=1))
        mean, mean_square, variance = fold(self.forest_, rows, [table])[0].T
        total = variance + np.maximum(mean_square - mean**2, 0.0)
        return Uncertainty(total, total, np.zeros_like(total), "variance")
