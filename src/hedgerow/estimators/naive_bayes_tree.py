"""A tree with naive Bayes in its leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.table import read_table
from hedgerow.data.targets import read_labels
from hedgerow.data.training import column_ranges
from hedgerow.estimators.stored import storable
from hedgerow.estimators.verbs.answers import ClassAnswers
from hedgerow.estimators.verbs.one_tree import OneTree
from hedgerow.explain.reasons.leaf_certainty import ClassCertainty
from hedgerow.folds.uncertainty import Uncertainty, all_aleatoric, entropy_bits
from hedgerow.forest.names import number_text
from hedgerow.naive_bayes import Examples, LeafModels, NaiveBayesGrowth
from hedgerow.walk import route, spread

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["NaiveBayesTreeClassifier"]

Floats = NDArray[np.float64]


@storable
class NaiveBayesTreeClassifier(ClassAnswers, OneTree):
    """NBTree: a small decision tree whose leaves answer by naive Bayes (Kohavi, 1996).

    Where the columns are nearly independent given the class, the tree is one leaf and this is naive Bayes; where they
    interact, the tree splits on the interacting columns. A node is split if that lowers the error of naive Bayes,
    estimated by five-fold cross-validation in the node and in the branches of each candidate: one threshold for each
    numeric column, that of least class entropy, and a branch for each category of a nominal one.

    Parameters
    ----------
    numeric : {"entropy", "gaussian"} or an instance from :mod:`hedgerow.naive_bayes`, default="entropy"
        Likelihood of numeric columns: intervals, found in every node by entropy and description length (Fayyad
        and Irani, 1993), or a normal density for each class. Ordinal columns count as their ranks.
    min_samples_split : int or float, default=30
        Smallest number of rows in a node that is split; a float is a fraction of all rows. A fraction of a row counts
        as that fraction.
    min_error_reduction : float, default=0.05
        Least share of the node's errors that a split must save.
    categorical_features : "from_dtype", indices, mask, names or None, default="from_dtype"
        Which columns are nominal. By default text columns and unordered categories of a frame, and none of an array;
        None: none.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds of cross-validation.

    Attributes
    ----------
    forest_ : Forest
        The tree itself, with the class counts of its leaves.
    leaf_models_ : LeafModels
        The naive Bayes classifiers of its leaves.
    classes_ : array of shape (n_classes,)
        Labels, in the order of the columns of `predict_proba`.
    n_classes_ : int
        Number of classes.
    class_prior_ : array of shape (n_classes,)
        Weighted share of each class in the training data.
    schema_ : Schema
        Names, kinds and categories of the columns.
    training_range_ : array of shape (n_features, 2)
        Smallest and largest training value of each numeric column; NaN for nominal ones. Uncertainty grows outside.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of shape (n_features,)
        Names of the columns; absent if X had none.
    feature_importances_ : array of shape (n_features,)
        Share of each column in the decrease of impurity by the splits of the tree; what naive Bayes uses in the leaves
        is not counted.

    Notes
    -----
    There is no `sample_weight`: folds are made of rows. A row whose value is missing is spread over all branches,
    in proportion to the rows with a value; naive Bayes ignores missing values, and categories that the leaf has
    never seen.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame([[a, b] for a in "xy" for b in "uv" for _ in range(20)], columns=["a", "b"])
    >>> alike = (rows["a"] == "x") == (rows["b"] == "u")  # neither column alone is informative
    >>> from hedgerow import NaiveBayesTreeClassifier
    >>> model = NaiveBayesTreeClassifier(random_state=0).fit(rows, alike)
    >>> print(model.to_text())
    a = x: naive Bayes of 40 rows (False 20, True 20)
    a = y: naive Bayes of 40 rows (False 20, True 20)
    >>> model.score(rows, alike)
    1.0
    """

    def __init__(
        self,
        numeric: Any = "entropy",
        *,
        min_samples_split: float = 30,
        min_error_reduction: float = 0.05,
        categorical_features: Any = "from_dtype",
        random_state: Any = None,
    ) -> None:
        self.numeric = numeric
        self.min_samples_split = min_samples_split
        self.min_error_reduction = min_error_reduction
        self.categorical_features = categorical_features
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> NaiveBayesTreeClassifier:
        """Grow the tree.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        self
            The fitted tree.

        Raises
        ------
        ValueError
            If a parameter is out of its range, or X or y can't be read (the message names the column or row).
        """
        table = read_table(X, categorical_features=self.categorical_features, estimator=self)
        labels = read_labels(y, table.values)
        n_classes = len(labels.classes)
        growth = NaiveBayesGrowth(self.numeric, self.min_samples_split, self.min_error_reduction)
        examples = Examples.shuffle(table.values, labels.codes, n_classes, table.schema.n_categories, self._seed())
        forest, models = growth.grow(examples)
        self._set_fitted(
            table,
            forest,
            leaf_models_=models,
            training_range_=column_ranges(table.values, table.schema.n_categories),
            classes_=labels.classes,
            n_classes_=n_classes,
            class_prior_=np.bincount(labels.codes, minlength=n_classes) / len(labels.codes),
            _impurity="entropy",
        )
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class, (n, n_classes), by naive Bayes in the row's leaf.

        For a row that reaches several leaves, the weighted mean of their probabilities.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of `classes_`.
        """
        return super().predict_proba(X)

    def predict_uncertainty(self, X: Any, measure: str = "entropy") -> Uncertainty:
        """Uncertainty of each row.

        "entropy": in bits, of the answer's probabilities; a single tree has no between-tree variance, so all of it is
        aleatoric. "plausibility": of the class counts of the leaf, as in :class:`TreeClassifier`.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        measure : {"entropy", "plausibility"}, default="entropy"
            What the numbers are.

        Returns
        -------
        Uncertainty
            `total`, `aleatoric` and `epistemic`, arrays of shape (n_samples,).

        Raises
        ------
        ValueError
            If `measure` is neither of the two.
        """
        return super().predict_uncertainty(X, measure)

    def _proba_query(self) -> None:
        """None: naive Bayes answers rows of the same leaf differently."""

    def _source(self, verb: str, **arguments: Any) -> str:
        if verb == "predict_uncertainty" and arguments.get("measure", "entropy") == "entropy":
            return "predict_proba"
        return super()._source(verb, **arguments)

    def _derive(self, verb: str, answer: Any) -> Any:
        if verb == "predict_uncertainty":
            return all_aleatoric(entropy_bits(answer), "entropy")
        return super()._derive(verb, answer)

    def _answer(self, verb: str, rows: Floats, reached: csr_array | None, **arguments: Any) -> Any:
        if verb == "predict_proba":
            return self._mixed_probabilities(rows, reached)
        if verb == "certainty":
            return self._certainty(rows, reached)
        return super()._answer(verb, rows, reached, **arguments)

    def _mixed_probabilities(self, rows: Floats, reached: csr_array | None) -> Floats:
        if reached is None:
            reached = spread(self.forest_, rows)
        row = np.repeat(np.arange(len(rows)), np.diff(reached.indptr))
        shares = self.leaf_models_.predict_proba(rows[row], reached.indices.astype(np.int64))
        return np.add.reduceat(shares * reached.data[:, np.newaxis], reached.indptr[:-1], axis=0)

    def _certainty_query(self) -> None:
        """None: naive Bayes is as sure of some rows of a leaf as it is not of others."""

    def _certainty(self, rows: Floats, reached: csr_array | None) -> ClassCertainty:
        """Certainties about rows: those of naive Bayes, which no number of rows with the same values would change."""
        reached = spread(self.forest_, rows) if reached is None else reached
        row = np.repeat(np.arange(len(rows)), np.diff(reached.indptr))
        shares = self.leaf_models_.predict_proba(rows[row], reached.indices.astype(np.int64))
        counts = self.forest_.counts[reached.indices]
        n_rows, best = counts.sum(axis=1), shares.max(axis=1)
        known = n_rows > 0
        sure = np.eye(self.n_classes_)[shares.argmax(axis=1)]
        columns = np.column_stack([best, ~known * (1.0 - best), ~known, n_rows, shares, sure])
        mixed = np.add.reduceat(columns * reached.data[:, np.newaxis], reached.indptr[:-1], axis=0)
        leaf, empty, no_rows, rows_in_leaf = mixed[:, :4].T
        classes, votes = np.hsplit(mixed[:, 4:], 2)
        return ClassCertainty(classes, leaf, leaf, empty, no_rows, rows_in_leaf, votes)

    def _leaf_probabilities(self, rows: Floats, leaves: NDArray[np.int64]) -> Floats:
        return self.leaf_models_.predict_proba(rows, leaves)

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
        """
        rows = self._read(X)
        return route(self.forest_, rows)[:, 0]

    def _leaf_answers(self) -> list[str]:
        sizes = self.forest_.counts.sum(axis=1).tolist()
        return [f"naive Bayes of {number_text(n)} row{'s' * (n != 1)}" for n in sizes]

    def _check_fitted(self) -> None:
        super()._check_fitted()
        models, forest = self.leaf_models_, self.forest_
        if not isinstance(models, LeafModels) or forest.n_trees != 1:
            raise ValueError("it needs one tree, and the naive Bayes classifiers of its leaves")
        if (models.n_leaves, models.n_features, models.n_classes) != (
            *(forest.n_leaves, forest.n_features, forest.n_classes),
        ):
            raise ValueError("leaf_models_ are those of another tree")
        if not np.array_equal(models.nominal, self.schema_.n_categories > 0):
            raise ValueError("leaf_models_ are nominal in other columns")
