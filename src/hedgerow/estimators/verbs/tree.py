"""Fitting and answers of a single tree, whatever its splits."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow._criteria import CRITERIA
from hedgerow._params import check_bool
from hedgerow._printable import printable
from hedgerow.codegen.finish import Divide, Step
from hedgerow.data.table import read_table
from hedgerow.data.targets import read_labels, read_targets, read_weights
from hedgerow.data.training import Training
from hedgerow.estimators.fitting.costs import cheapest_classes, class_costs, feature_costs, prior_weights
from hedgerow.estimators.fitting.leaf_targets import round_leaf_targets
from hedgerow.estimators.fitting.shrinkage import choose_amount
from hedgerow.estimators.verbs.answers import ClassAnswers, NumberAnswers
from hedgerow.estimators.verbs.one_tree import OneTree
from hedgerow.estimators.verbs.pruned import PrunedTree
from hedgerow.folds import Additive, Conditions, leads
from hedgerow.folds.leaf_probability import LeafProbability, Shrinkage, leaf_probability
from hedgerow.forest.counts import DistinctCounts
from hedgerow.forest.forest import Forest
from hedgerow.forest.importance import features_on_paths, impurity_of
from hedgerow.growth import LinearModel
from hedgerow.walk import LeafTable, Query

__all__ = ["ClassTree", "NumberTree"]

Floats = NDArray[np.float64]


class Tree(OneTree, PrunedTree):
    """Abstract: methods of both trees."""

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Number of the leaf that each row reaches, (n,).

        A row with a missing value that is spread over branches follows the heaviest.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.

        Returns
        -------
        int32 ndarray of shape (n_samples,)
            Numbers of leaves, from 0.

        Examples
        --------
        >>> from hedgerow import TreeClassifier
        >>> TreeClassifier().fit([[1], [2], [3]], [0, 0, 1]).apply([[1.5], [9]])
        array([0, 1], dtype=int32)
        """
        rows = self._read(X)
        return self._walk.route(rows)[:, 0]

    def _linear_model(self) -> LinearModel | None:
        """Model that makes oblique splits; None: every split tests one column."""
        return None


class ClassTree(ClassAnswers, Tree):
    """Abstract: a classification tree; final classes have the parameters of :class:`TreeClassifier`."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree and prune it.

        Whole-number weights count rows; others are relative and rescaled to a mean of 1.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Labels or numbers, one for each row.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each row: a number of rows, if all are whole numbers, else relative and rescaled to a mean of 1;
            None weighs all alike.

        Returns
        -------
        self
            The fitted tree.

        Raises
        ------
        ValueError
            If a parameter is out of its range, X or y can't be read (the message names the column or row), or weights
            are negative or all 0.

        Examples
        --------
        >>> from hedgerow import TreeClassifier
        >>> tree = TreeClassifier().fit([[1], [2], [3]], ["no", "no", "yes"], sample_weight=[1, 1, 3])
        >>> tree.class_prior_
        array([0.4, 0.6])
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
        model = self._linear_model()
        growth = self._growth(
            self.criterion,
            stopping=self.stopping,
            linear_model=model,
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
        found = {} if model is None else {"column_deviation_": training.deviations}
        self._set_fitted(
            table,
            forest,
            classes_=labels.classes,
            n_classes_=len(labels.classes),
            class_prior_=prior,
            leaf_probability_=estimate,
            training_range_=training.ranges,
            _impurity=impurity,
            **found,
        )
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class, (n, n_classes), as `leaf_probability` estimates it.

        For a row that reaches several leaves, the weighted mean of their probabilities.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of `classes_`.

        Examples
        --------
        >>> from hedgerow import TreeClassifier
        >>> tree = TreeClassifier(leaf_probability="laplace").fit([[1], [2], [3], [4]], ["no", "no", "no", "yes"])
        >>> tree.predict_proba([[1], [None]]).round(2)  # the second row is spread over both leaves
        array([[0.8 , 0.2 ],
               [0.68, 0.32]])
        """
        return super().predict_proba(X)

    def _leaf_probabilities(self, rows: Floats, leaves: NDArray[np.int64]) -> Floats:
        return self._proba_query().table.values[leaves]

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class of each row; with a `cost_matrix` the one of least expected cost; the first of equals.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels, of the type of `y` in `fit`.

        Examples
        --------
        >>> from hedgerow import TreeClassifier
        >>> tree = TreeClassifier(pruning=None).fit([[1], [1], [1], [2]], ["ill", "well", "well", "well"])
        >>> tree.predict([[1]])
        array(['well'], dtype='<U4')
        >>> tree.set_params(cost_matrix=[[0, 20], [1, 0]]).predict([[1]])  # a missed illness costs 20
        array(['ill'], dtype='<U4')
        """
        return super().predict(X)

    def predict_most_likely(self, X: Any) -> NDArray[Any]:
        """Class that most leaves vote for: each leaf that a row reaches votes, with the weight of its path.

        The lecture's first method for rows with missing values. :meth:`predict` mixes the leaves' probabilities
        instead. They agree where nothing is missing and nothing has a cost.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.

        Examples
        --------
        >>> from hedgerow import TreeClassifier
        >>> tree = TreeClassifier().fit([[1], [2], [3], [4], [5]], ["a", "a", "b", "b", "b"])
        >>> tree.predict_most_likely([[None]])  # 3 of 5 rows went to the leaf of b
        array(['b'], dtype='<U1')
        """
        rows = self._read(X)
        answers = self.leaf_probabilities().argmax(axis=1)
        table = LeafTable.of(np.eye(len(self.classes_))[answers])
        labels: NDArray[Any] = self._ask(rows, Query(table, lambda votes, _: self.classes_[votes.argmax(axis=1)]))[0]
        return labels

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

    def _leaf_answers(self) -> list[str]:
        return [printable(label) for label in self.classes_[self._leaf_codes()].tolist()]

    def _leaf_codes(self) -> NDArray[np.intp]:
        return self._decide(self.leaf_probabilities())

    def _sums_and_steps(self) -> tuple[Query[Any], tuple[Step, ...]]:
        return self._proba_query(), (Divide(1),)

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

    def _conditions(self, code: int) -> Conditions | None:
        if self.cost_matrix is None:
            return self._leaf_probability().conditions(code, len(self.classes_), 1, self.class_prior_)
        return leads(-class_costs(self.cost_matrix, self.classes_), np.zeros(len(self.classes_)), code)

    def cost_of(self, X: Any) -> Floats:
        """Cost of the measurements that classify each row, (n,): each feature on its path is paid once.

        Without `feature_costs`, the number of features on the path. For a row with missing values that reaches several
        leaves, the weighted mean over its paths.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Costs.

        Examples
        --------
        >>> from hedgerow import TreeClassifier
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 2, 2]
        >>> tree = TreeClassifier(feature_costs=[1, 20], pruning=None).fit(X, y)
        >>> tree.cost_of([[0, 0], [1, 1]])  # the second row needs the cheap column alone
        array([21.,  1.])
        """
        rows = self._read(X)
        prices = feature_costs(self.feature_costs, self.schema_)
        table = LeafTable.of((features_on_paths(self.forest_) @ prices)[:, np.newaxis])
        costs: Floats = self._ask(rows, Query(table, lambda folded, _: folded[:, 0]))[0]
        return costs


class NumberTree(NumberAnswers, Tree):
    """Abstract: a regression tree; final classes have the parameters of :class:`TreeRegressor`."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree and prune it.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each row: a number of rows, if all are whole numbers, else relative and rescaled to a mean of 1;
            None weighs all alike.

        Returns
        -------
        self
            The fitted tree.

        Raises
        ------
        ValueError
            If a parameter is out of its range, X or y can't be read (the message names the column or row), or weights
            are negative or all 0.
        """
        table = read_table(X, categorical_features=self.categorical_features, estimator=self)
        targets = read_targets(y, table.values)
        weight = read_weights(sample_weight, table.values)
        training = self._training(table, weight, targets=targets)
        model = self._linear_model()
        growth = self._growth("squared_error", linear_model=model)
        seed = self._seed()
        forest = self._grow_and_prune(
            training,
            lambda rows: growth.options(rows.sample_weight, table.schema.n_features, ("squared_error",), seed),
            "squared_error",
        )
        found: dict[str, Any] = {} if model is None else {"column_deviation_": training.deviations}
        used = targets[weight > 0]
        found["leaf_targets_"] = round_leaf_targets(forest, training.values, training.sample_weight, used)
        self._set_fitted(table, forest, training_range_=training.ranges, _impurity="squared_error", **found)
        return self
