"""One readable tree: CART, ID3 or C4.5 by its parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._criteria import CRITERIA
from hedgerow._params import check_bool
from hedgerow.data.table import read_table
from hedgerow.data.targets import read_labels, read_targets, read_weights
from hedgerow.data.training import Training
from hedgerow.estimators.fitting.costs import cheapest_classes, class_costs, feature_costs, prior_weights
from hedgerow.estimators.fitting.shrinkage import choose_amount
from hedgerow.estimators.stored import storable
from hedgerow.estimators.verbs.answers import ClassAnswers, NumberAnswers
from hedgerow.estimators.verbs.one_tree import OneTree
from hedgerow.estimators.verbs.pruned import PrunedTree
from hedgerow.folds import Additive
from hedgerow.folds.leaf_probability import LeafProbability, Shrinkage, leaf_probability
from hedgerow.forest.counts import DistinctCounts
from hedgerow.forest.forest import Forest
from hedgerow.forest.importance import features_on_paths, impurity_of
from hedgerow.growth import Fractional
from hedgerow.walk import LeafTable, Query, route

__all__ = ["TreeClassifier", "TreeRegressor"]

Floats = NDArray[np.float64]


class _Tree(OneTree, PrunedTree):
    """Abstract: methods of both trees."""

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Number of the leaf that each row reaches, (n,).

        A row with a missing value that is spread over branches follows the heaviest.
        """
        rows = self._read(X)
        return route(self.forest_, rows)[:, 0]


@storable
class TreeClassifier(ClassAnswers, _Tree):
    """A decision tree for nominal, ordinal, numeric and missing values and any number of classes.

    By default it splits as C4.5 does: by gain ratio, with a branch for every category, and with rows spread over the
    branches where a value is missing; and prunes as C4.5 does. :meth:`cart` is a tree like scikit-learn's.

    Parameters
    ----------
    criterion : {"gain_ratio", "c45", "entropy", "gini"}
        Quality of a split. "gain_ratio" divides the gain in bits by the information of the split itself, among the
        splits whose gain is at least the mean; a split without gain is not made. "c45" is that with all of C4.5's
        details: see :meth:`c45`.
    nominal : {"multiway", "binary", "subset"}
        A branch for every category, one category against the rest, or some against the others.
    missing : {"fractional", "category", "learned", "random"} or an instance from :mod:`hedgerow.growth`
        Rows whose value is missing are spread over the branches; or missing is a value of its own; or they go to the
        side with the larger gain; or each goes down one branch at random.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, min_impurity_decrease, \
max_leaf_nodes, max_features
        As in scikit-learn. Rows count, not weights; a fraction of a row counts as such. A split is valid if at least
        two of its branches hold `min_samples_leaf` rows.
    stopping : None, "chi_square" or :class:`~hedgerow.growth.ChiSquare`
        Split only where the split is significant.
    collapse : bool
        Whether subtrees that save no training error are dropped before the tree is pruned, as in C4.5.
    pruning : {"pessimistic", "reduced_error", "cost_complexity", "description_length"}, None or an instance from \
:mod:`hedgerow.pruning`
        By errors estimated as in C4.5, or counted on held-out rows; by cost complexity; by the description length of
        the tree and its errors; or not at all.
    cost_matrix : (n_classes, n_classes), optional
        Cost of predicting class j for class i, true × predicted in the order of `classes_`; 0 on the diagonal.
        `predict` then returns the class of least expected cost, and growth weights "gini" by it, which can change a
        tree only if there are more than two classes. May be changed after `fit`, for `predict`.
    cost_priors : bool
        Also weight rows in growth by the cost of misclassifying them, so that costs change the tree of two classes
        too. Probabilities are then those of the reweighted classes.
    feature_costs : (n_features,) or mapping of names to costs, optional
        Cost of measuring each column: splits are ranked by gain²/cost. See :meth:`cost_of`.
    leaf_probability : {"shrinkage", "frequency", "laplace"} or an instance from :mod:`hedgerow.probability`
        Estimate of class probabilities from the counts of a leaf. By default they are shrunken towards those of the
        nodes above it, by an amount that cross-validation chooses in `fit` (:class:`~hedgerow.probability.Shrinkage`);
        `predict` follows them, and in a small leaf may differ from its majority. May be changed after `fit`; an amount
        that is left to cross-validation is then that of `fit`.
    class_weight : dict, "balanced" or None
        As in scikit-learn. It multiplies the weights, and so also the counts that :meth:`leaf_counts` returns; class
        weights that are not whole numbers keep the total.
    categorical_features : "from_dtype", indices, mask, names or None
        Which columns are nominal, as in scikit-learn's histogram boosting; text columns of a frame are by default.
    random_state : int, RandomState instance or None
        Used only where `max_features` draws features, `missing="random"` branches, or `pruning` held-out rows; the
        latter are the same every time if it is None.

    Attributes
    ----------
    forest_ : Forest
        The tree itself.
    leaf_probability_ : LeafProbability
        The estimate of class probabilities, with the amount of shrinkage that was chosen.
    classes_, n_classes_, class_prior_ : labels, their number, and their weighted share of the training data.
    schema_ : Schema
        Names, kinds and categories of the columns.
    training_range_ : array of shape (n_features, 2)
        Least and largest training value of each numeric column; NaN for nominal ones. Uncertainty grows outside.
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
        stopping: Any = None,
        collapse: bool = False,
        pruning: Any = "pessimistic",
        cost_matrix: Any = None,
        cost_priors: bool = False,
        feature_costs: Any = None,
        leaf_probability: Any = "shrinkage",
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
        self.stopping = stopping
        self.collapse = collapse
        self.pruning = pruning
        self.cost_matrix = cost_matrix
        self.cost_priors = cost_priors
        self.feature_costs = feature_costs
        self.leaf_probability = leaf_probability
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.random_state = random_state

    @classmethod
    def cart(cls, **changes: Any) -> TreeClassifier:
        """A tree like scikit-learn's: Gini index, binary splits, grown until the leaves are pure, not pruned.

        Probabilities are the class frequencies of the leaf.
        """
        settings = {
            "criterion": "gini",
            "nominal": "binary",
            "missing": "learned",
            "pruning": None,
            "leaf_probability": "frequency",
        }
        return cls(**{**settings, **changes})

    @classmethod
    def c45(cls, **changes: Any) -> TreeClassifier:
        """Quinlan's C4.5 (release 8), as Weka's J48 has it.

        Two branches must hold at least 2 rows. A threshold needs at least min(25, max(2, 0.1·N/classes)) rows on each
        side, is a value of the training data, and its gain is reduced by log2(number of candidates)/N. Questions
        compete if they gain at least the mean of all, less 0.001 bits; columns with 0.3·N or more categories do not
        count in that mean unless there are no others. Every category has a branch: one without rows answers as its
        parent. Rows with missing values are spread without limit. Subtrees that save no training error are dropped,
        and the tree is pruned (:class:`~hedgerow.pruning.Pessimistic`). Probabilities are the class frequencies of the
        leaf.
        """
        settings = {
            "criterion": "c45",
            "min_samples_leaf": 2,
            "missing": Fractional(min_fraction=0.0),
            "collapse": True,
            "leaf_probability": "frequency",
        }
        return cls(**{**settings, **changes})

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TreeClassifier:
        """Grow the tree and prune it.

        Whole-number weights count rows; others are relative and rescaled to a mean of 1.
        """
        estimate = leaf_probability(self.leaf_probability)
        table = read_table(X, categorical_features=self.categorical_features, estimator=self)
        labels = read_labels(y, table.values)
        weight = labels.weighted(sample_weight, table.values, self.class_weight)
        costs = None if self.cost_matrix is None else class_costs(self.cost_matrix, labels.classes)
        if check_bool("cost_priors", self.cost_priors):
            if costs is None:
                raise ValueError("cost_priors=True needs a cost_matrix")
            weight = prior_weights(costs, labels.codes, weight, labels.classes)
        training = self._training(table, weight, labels=labels)
        growth = self._growth(
            self.criterion,
            stopping=self.stopping,
            class_costs=costs,
            feature_costs=None if self.feature_costs is None else feature_costs(self.feature_costs, table.schema),
        )
        seed, impurity = self._seed(), impurity_of(self.criterion)

        def grow(rows: Training) -> Forest:
            return self._grow_and_prune(
                rows,
                lambda part: growth.options(part.sample_weight, table.schema.n_features, tuple(CRITERIA), seed),
                impurity,
                labels.classes,
            )

        forest = grow(training)
        estimate = choose_amount(estimate, training, grow, self._hold_out_seed(seed))
        prior = np.bincount(labels.codes, weights=weight, minlength=len(labels.classes)) / weight.sum()
        self._set_fitted(
            table,
            forest,
            classes_=labels.classes,
            n_classes_=len(labels.classes),
            class_prior_=prior,
            leaf_probability_=estimate,
            training_range_=training.ranges,
            _impurity=impurity,
        )
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class, (n, n_classes), as `leaf_probability` estimates it.

        For a row that reaches several leaves, the weighted mean of their probabilities.
        """
        return super().predict_proba(X)

    def _leaf_probabilities(self, rows: Floats, leaves: NDArray[np.int64]) -> Floats:
        return self._proba_query().table.values[leaves]

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class of each row; with a `cost_matrix` the one of least expected cost; the first of equals."""
        return super().predict(X)

    def predict_most_likely(self, X: Any) -> NDArray[Any]:
        """Class that most leaves vote for: each leaf that a row reaches votes, with the weight of its path.

        The lecture's first method for rows with missing values. :meth:`predict` mixes the leaves' probabilities
        instead. They agree where nothing is missing and nothing has a cost.
        """
        rows = self._read(X)
        answers = self.leaf_probabilities().argmax(axis=1)
        table = LeafTable.of(np.eye(len(self.classes_))[answers])
        return self._ask(rows, Query(table, lambda votes, _: self.classes_[votes.argmax(axis=1)]))[0]

    def _decide(self, probabilities: Floats) -> NDArray[np.intp]:
        if self.cost_matrix is None:
            return super()._decide(probabilities)
        return cheapest_classes(probabilities, self.cost_matrix, self.classes_)

    def _leaf_probability(self) -> LeafProbability:
        estimate = leaf_probability(self.leaf_probability)
        if not isinstance(estimate, Shrinkage) or not estimate.is_open:
            return estimate
        fitted = vars(self).get("leaf_probability_")  # none in files of older versions
        if isinstance(fitted, Shrinkage):
            return fitted
        raise ValueError(
            f"leaf_probability is {self.leaf_probability!r}, whose amount is chosen in fit: fit again, or give it as "
            "a number, such as Shrinkage(20)"
        )

    def _leaf_evidence(self) -> DistinctCounts:
        return DistinctCounts(self._leaf_probability().evidence(self.forest_), None)

    def _check_fitted(self) -> None:
        super()._check_fitted()
        self._leaf_probability()

    def _additive(self) -> tuple[LeafTable, Additive]:
        return self._proba_query().table, self._leaf_probability().additive(1, self.class_prior_)

    def _proba_query(self) -> Query[Floats]:
        estimate = self._leaf_probability()
        table = self._tables.get(estimate, lambda: estimate.table_of(self._leaf_evidence(), self.class_prior_))
        return estimate.query(table, self.class_prior_)

    def cost_of(self, X: Any) -> Floats:
        """Cost of the measurements that classify each row, (n,): each feature on its path is paid once.

        Without `feature_costs`, the number of features on the path. For a row with missing values that reaches several
        leaves, the weighted mean over its paths.
        """
        rows = self._read(X)
        prices = feature_costs(self.feature_costs, self.schema_)
        table = LeafTable.of((features_on_paths(self.forest_) @ prices)[:, np.newaxis])
        return self._ask(rows, Query(table, lambda folded, _: folded[:, 0]))[0]


@storable
class TreeRegressor(NumberAnswers, _Tree):
    """A regression tree (least squares) for nominal, ordinal, numeric and missing values.

    Parameters
    ----------
    nominal, missing, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, \
min_impurity_decrease, max_leaf_nodes, max_features, categorical_features, random_state
        As in :class:`TreeClassifier`.
    pruning : {"cost_complexity", "reduced_error"}, None or an instance from :mod:`hedgerow.pruning`
        By cost complexity, with alpha chosen by cross-validation; by the squared error on held-out rows; or not at
        all.

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
        pruning: Any = "cost_complexity",
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
        self.pruning = pruning
        self.categorical_features = categorical_features
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TreeRegressor:
        """Grow the tree and prune it."""
        table = read_table(X, categorical_features=self.categorical_features, estimator=self)
        targets = read_targets(y, table.values)
        weight = read_weights(sample_weight, table.values)
        training = self._training(table, weight, targets=targets)
        growth, seed = self._growth("squared_error"), self._seed()
        forest = self._grow_and_prune(
            training,
            lambda rows: growth.options(rows.sample_weight, table.schema.n_features, ("squared_error",), seed),
            "squared_error",
        )
        self._set_fitted(table, forest, _impurity="squared_error")
        return self
