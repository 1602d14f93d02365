"""Boosted soft trees for classification on inputs measured with error."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score

from hedgerow.data.targets import read_labels, read_weights
from hedgerow.estimators.fitting.progress import with_callbacks
from hedgerow.estimators.measured.boosting import MeasuredBoosting
from hedgerow.estimators.measured.explained_sums import SumRows, class_levels_of_sums
from hedgerow.estimators.measured.inputs import MeasuredInputs
from hedgerow.estimators.stored import storable
from hedgerow.estimators.verbs.answers import ClassAnswers
from hedgerow.estimators.verbs.training_cases import TrainingCases, read_training
from hedgerow.explain.explanations import Explanations
from hedgerow.explain.reasons import SetSizes
from hedgerow.folds import Uncertainty
from hedgerow.folds.uncertainty import all_aleatoric, entropy_bits
from hedgerow.measured.explain.hidden_by_errors import SumExplanation, hidden_by_errors
from hedgerow.measured.many_trees.losses import LogLoss
from hedgerow.walk import Query, ask

__all__ = ["MeasuredBoostingClassifier"]

Floats = NDArray[np.float64]


@storable
class MeasuredBoostingClassifier(ClassAnswers, MeasuredBoosting):
    """Gradient boosting of classes for inputs X = U + ε that are measured with error.

    As :class:`MeasuredBoostingRegressor`, with the log-loss: the sum of the trees is a logit, for more than two classes
    one of each, and each tree takes Newton's step. Probabilities are its logistic function or softmax.

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
        Stop after this many stages in which the loss of held-out rows has not become lower, and keep the stages
        up to the lowest. None: make all stages, from all rows.
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
    start_ : array of shape (1,) or (n_classes,)
        Logits before the first stage, from the class frequencies.
    values_ : array of shape (n_leaves, 1) or (n_leaves, n_classes)
        What each region adds to the logits, times the learning rate; for two classes to that of the second.
    forest_ : Forest
        The trees, with soft counts: every row adds its memberships to the counts of its class.
    classes_, n_classes_, class_prior_
        Labels, their number, and their weighted frequencies in the training data.
    n_estimators_ : int
        Number of stages that were kept.
    train_losses_ : array of shape (n_stages + 1,)
        Mean training loss at the start and after each stage.
    validation_losses_ : array
        Mean loss on held-out rows at the start and after each stage that was made; empty without `n_iter_no_change`.
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
    >>> from hedgerow import MeasuredBoostingClassifier
    >>> model = MeasuredBoostingClassifier(sigma=0.2, n_estimators=40).fit(X, y)
    >>> model.predict([[5.0, 3.4, 1.5, 0.2], [6.5, 3.0, 5.6, 2.1]])
    array([0, 2])
    """

    def __init__(
        self,
        sigma: Any = 0.0,
        error_model: Any = "normal",
        prior: Any = "normal",
        *,
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
    def fit(self, X: Any, y: Any, sample_weight: Any = None, X_err: Any = None) -> MeasuredBoostingClassifier:
        """Boost; `X_err` as in :meth:`MeasuredTreeRegressor.fit`.

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
        n_classes = len(labels.classes)
        loss = LogLoss(n_classes)
        problem = self._problem(given, weight, np.ones(len(values)), loss.targets(labels.codes))
        self._boost(
            given,
            problem,
            loss,
            (labels.codes[weight > 0], n_classes),
            (X, y),
            classes_=labels.classes,
            n_classes_=n_classes,
            class_prior_=np.bincount(labels.codes, weights=weight, minlength=n_classes) / weight.sum(),
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
        shares = self.predict_proba(X, X_err)
        labels: NDArray[Any] = self.classes_[self._decide(shares)]
        return labels

    def predict_proba(self, X: Any, X_err: Any = None) -> Floats:
        """Class probabilities, (n, n_classes): the logistic function, or softmax, of the sum of all trees.

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

    def decision_function(self, X: Any, X_err: Any = None) -> Floats:
        """Logits: of the second of two classes, (n,), or of each class, (n, n_classes).

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        X_err : array-like or frame of the shape of X, or None, default=None
            Standard deviation of the error of each cell, or the covariance of the errors of each row,
            (n_samples, n_features, n_features); None: those of `sigma`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Logits.
        """
        rows, walk = self._measured(X, X_err)
        raw: Floats = ask(walk, rows, [self._raw_query()])[0]
        return raw[:, 0] if self.n_classes_ == 2 else raw

    def staged_predict_proba(self, X: Any, X_err: Any = None) -> Iterator[Floats]:
        """Class probabilities after each stage, each (n, n_classes).

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        X_err : array-like or frame of the shape of X, or None, default=None
            Standard deviation of the error of each cell, or the covariance of the errors of each row,
            (n_samples, n_features, n_features); None: those of `sigma`.

        Yields
        ------
        ndarray of shape (n_samples, n_classes)
            Probabilities by the stages so far.

        Examples
        --------
        >>> from hedgerow import MeasuredBoostingClassifier
        >>> X, y = [[float(i)] for i in range(60)], [0] * 30 + [1] * 30
        >>> model = MeasuredBoostingClassifier(0.5, n_estimators=3).fit(X, y)
        >>> [round(float(proba[0, 1]), 2) for proba in model.staged_predict_proba([[59.0]])]
        [0.55, 0.6, 0.64]
        """
        staged = self._staged_raw(X, X_err)
        return map(LogLoss(self.n_classes_).probabilities, staged)

    def staged_predict(self, X: Any, X_err: Any = None) -> Iterator[NDArray[Any]]:
        """Most probable classes after each stage, each (n,).

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
        """
        staged = self.staged_predict_proba(X, X_err)
        return (self.classes_[self._decide(shares)] for shares in staged)

    def predict_uncertainty(self, X: Any, measure: str = "entropy", X_err: Any = None) -> Uncertainty:
        """Entropy of the probabilities in bits; a sum of trees has no between-tree variance, so all is aleatoric.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        measure : {"entropy"}, default="entropy"
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

    def explain(  # type: ignore[override]
        self, X: Any, X_err: Any = None, *, training: tuple[Any, Any] | None = None
    ) -> Explanations[SumExplanation]:
        """Explain each prediction: the probabilities, what the error of each column hides, and the reasons for doubt.

        `reasons` of the whole has the shares of the reasons of all rows (docs/reasons.md).

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
    ) -> Explanations[SumExplanation]:
        model, query = copy(self), self._proba_query()
        raw = model._ask_with_errors(rows, cells, self._raw_query())
        shares = LogLoss(self.n_classes_).probabilities(raw)
        codes = model._decide(shares)

        def hidden(i: int) -> tuple[dict[str, float], tuple[str, ...]]:
            def of_class(x: Floats, sizes: Floats) -> Floats:
                found: Floats = model._ask_with_errors(x, sizes, query)[:, codes[i]]
                return found

            return hidden_by_errors(
                *(model._soft.landmarks, model._soft.joint, model.schema_, rows[i], cells[i]), of_class
            )

        levels = class_levels_of_sums(model, rows, shares, query)
        reasons, why = SumRows(
            model, rows, levels, lambda i: hidden(i)[0], model.classes_[codes], of_classes=True
        ).divide(outer, training)

        def records(first: int, last: int) -> list[SumExplanation]:
            made = []
            for i in range(first, last):
                by_column, measured = hidden(i)
                made.append(
                    SumExplanation(
                        answer=model.classes_[codes[i]],
                        start=tuple(model.start_.tolist()),
                        added=tuple((raw[i] - model.start_).tolist()),
                        n_trees=model.n_estimators_,
                        measured=measured,
                        hidden=by_column,
                        classes=tuple(model.classes_.tolist()),
                        probabilities=tuple(shares[i].tolist()),
                        why=why(i),
                    )
                )
            return made

        return Explanations(records, reasons, model.classes_[codes], None, model.classes_)

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
        raw, loss = self._raw_query(), LogLoss(self.n_classes_)
        return Query(raw.table, lambda folded, n_trees: loss.probabilities(raw.finish(folded, n_trees)))

    def _uncertainty_query(self, measure: str = "entropy") -> Query[Uncertainty]:
        if measure != "entropy":
            raise ValueError(f"measure is {measure!r}, must be 'entropy'")
        shares = self._proba_query()
        return Query(
            shares.table,
            lambda folded, n_trees: all_aleatoric(entropy_bits(shares.finish(folded, n_trees)), "entropy"),
        )

    @property
    def _n_outputs(self) -> int:
        return 1 if self.n_classes_ == 2 else int(self.n_classes_)
