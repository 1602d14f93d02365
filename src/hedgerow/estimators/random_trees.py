"""Random decision trees: structure drawn without labels, and class counts in their leaves."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._params import check_bool, check_choice
from hedgerow.data.table import Table, read_table
from hedgerow.data.targets import Labels, check_weights, read_labels, weight_unit
from hedgerow.data.training import Training
from hedgerow.estimators.fitting.bags import UnseenRows
from hedgerow.estimators.fitting.calibration import CALIBRATION_ROWS, HeldOut, complete
from hedgerow.estimators.fitting.leave_one_out import LeaveOneOut
from hedgerow.estimators.fitting.node_sizes import NodeSizes
from hedgerow.estimators.fitting.progress import with_callbacks
from hedgerow.estimators.stored import storable
from hedgerow.estimators.verbs.many_trees import ManyTrees
from hedgerow.estimators.verbs.rule_answers import RuleAnswers
from hedgerow.folds import Prunings
from hedgerow.forest.forest import Forest
from hedgerow.growth import Grown, RandomGrowth, grow_random_forest
from hedgerow.growth.missing_as_value import MissingAsValue
from hedgerow.rules import Evidence, FoldRule, get
from hedgerow.rules.base import check_prior
from hedgerow.walk import TableCache, n_threads, tally

__all__ = ["LEAF_SIZES", "RandomTreesClassifier"]

Floats = NDArray[np.float64]

_TEMPERED = Evidence(toward="prior", temper=None)
LEAF_SIZES = (2, 4, 8, 16, 32)  # for min_samples_leaf="auto"


@storable
class RandomTreesClassifier(RuleAnswers, ManyTrees):
    """Random decision trees, whose leaves are combined by a rule of your choice.

    Splits are drawn without looking at labels (Fan et al., 2003; Busch et al., Combining Predictions under
    Uncertainty, section 2.1): a column at random; a numeric one is split at the value of a row drawn at random, a
    nominal one has a branch for each category, once on a path. Every tree sees all rows; only their counts in the
    leaves are learned, so that :meth:`partial_fit` can add rows at any time, and the held-out answer for a training row
    is that of its leaves' counts less its own. The temper of the evidence and the size of the leaves are chosen by it.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    rule : str or a rule, default="tempered"
        Combination of the leaves that a row reaches, one of :func:`hedgerow.rules.names` or a rule of your own. Can be
        changed after `fit`. "tempered" accumulates evidence, weakened as leave-one-out asks for; "evidence" is the
        paper's, which takes the trees for independent.
    min_samples_leaf : int, float or "auto", default="auto"
        Smallest number of rows in a leaf; a float is a fraction of all rows. At least two branches of a split have that
        many; both, for a numeric column. "auto" grows to single rows, and then makes leaves of all nodes with fewer
        than twice 2, 4, 8, 16 or 32 rows, whichever has the least leave-one-out log-loss under tempered evidence
        (`min_samples_leaf_`).
    max_depth : int or None, default=None
        Largest number of splits on a path; None sets no limit.
    missing : {"fractional", "category"}, default="fractional"
        Rows whose value is missing are spread over the branches; or missing is a value of its own, larger than all
        numbers, and an additional category.
    class_prior : array of shape (n_classes,) or None, default=None
        Prior probabilities of the classes, instead of their frequencies in the training data. (Class weights would
        count as evidence.)
    loo_score : bool, default=False
        Whether to keep leave-one-out answers of the training rows: exact, in one walk, for any rule that folds.
    categorical_features : "from_dtype", indices, mask, names or None, default="from_dtype"
        Which columns are nominal. By default text columns and unordered categories of a frame, and none of an
        array; None: none.
    n_jobs : int or None, default=None
        Number of threads, one tree each; None is 1, -1 all cores; identical results for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of all that is drawn: the same seed gives the same forest, bit for bit.

    Attributes
    ----------
    forest_ : Forest
        The trees, with the counts of all rows so far in their leaves.
    classes_ : array of shape (n_classes,)
        Labels, in the order of the columns of `predict_proba`.
    n_classes_ : int
        Number of classes.
    schema_ : Schema
        Names, kinds and categories of the columns.
    training_range_ : array of shape (n_features, 2)
        Smallest and largest training value of each numeric column; NaN for nominal ones. Uncertainty grows outside.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of shape (n_features,)
        Names of the columns; absent if X had none.
    class_count_ : array of shape (n_classes,)
        Weight of the training rows of each class so far.
    weight_unit_ : float
        The `sample_weight` that counts as one row, also in `partial_fit`: 1 if the weights of the first call were whole
        numbers or None, else their mean.
    class_prior_ : array of shape (n_classes,)
        Share of each class in the training data so far, or `class_prior`.
    rule_ : :class:`~hedgerow.rules.Evidence`
        Tempered evidence with the temper that leave-one-out has chosen, if it had to.
    min_samples_leaf_ : int
        Size of the leaves, where it was chosen.
    loo_score_, loo_decision_function_
        With `loo_score`: accuracy and probabilities, (n, n_classes), of the rows of `fit`, each left out in turn.
    feature_importances_ : array of shape (n_features,)
        Share of each column in the decrease of the Gini index, mean over the trees.

    Notes
    -----
    With ``missing="fractional"`` a row whose value is missing at a split goes down one branch, drawn in proportion to
    the other rows, for the structure, and its counts are spread over all leaves that it may reach; so are rows in
    `partial_fit`, and rows with missing values or unseen categories when predicting. With "category" it takes the
    branch of missing values where there is one, and so do unseen categories.

    `partial_fit` keeps the temper and the size of the leaves of the first call.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> from hedgerow import RandomTreesClassifier
    >>> model = RandomTreesClassifier(loo_score=True, random_state=0).fit(X[::2], y[::2])
    >>> bool(model.loo_score_ > 0.93), bool(model.score(X[1::2], y[1::2]) > 0.93)
    (True, True)
    >>> bool(model.set_params(rule="vote").score(X[1::2], y[1::2]) > 0.89)  # no need to fit again
    True
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        rule: Any = "tempered",
        min_samples_leaf: Any = "auto",
        max_depth: int | None = None,
        missing: str = "fractional",
        class_prior: Any = None,
        loo_score: bool = False,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.rule = rule
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.missing = missing
        self.class_prior = class_prior
        self.loo_score = loo_score
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RandomTreesClassifier:
        """Grow the trees and count the rows in their leaves.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each row: a number of rows, if all are whole numbers, else relative and rescaled to a mean of 1;
            None weighs all alike.

        Returns
        -------
        self
            The fitted model.

        Raises
        ------
        ValueError
            If a parameter is out of its range, X or y can't be read (the message names the column or row), or weights
            are negative or all 0.
        """
        return self._fit(X, y, None, sample_weight)

    @with_callbacks  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> RandomTreesClassifier:
        """Count more rows in the leaves, as `fit` would have; the first call is a `fit`.

        `classes` are all that will ever be seen, required in the first call if not all occur in its `y`. The structure,
        the categories and the unit of `sample_weight` (`weight_unit_`) stay those of the first call.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows to count, with the columns of the first call.
        y : array-like of shape (n_samples,)
            Labels.
        classes : array-like of shape (n_classes,) or None, default=None
            All labels that will ever come; needed in the first call if `y` does not have them all.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each row, in the unit of the first call; None weighs all alike.

        Returns
        -------
        self
            The model, with the rows counted.

        Raises
        ------
        ValueError
            If `loo_score` is set, `classes` differ from those of the first call, or y has a class that is not among
            them.

        Examples
        --------
        >>> from hedgerow import RandomTreesClassifier
        >>> X, y = [[float(i)] for i in range(40)], ["low"] * 20 + ["high"] * 20
        >>> model = RandomTreesClassifier(20, random_state=0).fit(X, y)
        >>> _ = model.partial_fit([[15.0]] * 30, ["high"] * 30)  # later rows say otherwise there
        >>> model.predict([[15.0]])
        array(['high'], dtype='<U4')
        """
        if "forest_" not in vars(self):
            return self._fit(X, y, classes, sample_weight)
        if self.loo_score:
            raise ValueError("loo_score=True needs all rows, and partial_fit keeps none: use fit, or loo_score=False")
        rows = self._read(X)
        labels = read_labels(y, rows, self.classes_)
        if classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(f"classes are {np.unique(classes)}, but this model was fitted with {self.classes_}")
        weight = check_weights(sample_weight, rows) / getattr(self, "weight_unit_", 1.0)  # not in older model files
        get(self.rule)
        used = weight > 0
        more = tally(self.forest_, rows[used], labels.codes[used], weight[used], n_jobs=self.n_jobs)
        forest = self.forest_.with_counts(self.forest_.counts + more)
        found = self._counted_classes(labels, weight, self.class_count_)
        if "training_range_" in vars(self):  # not in older model files
            found["training_range_"] = _widened(self.training_range_, rows[used])
        self.forest_ = forest
        self._tables = TableCache()
        for name, value in found.items():
            setattr(self, name, value)
        return self

    def _fit(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> RandomTreesClassifier:
        self._check_rule()
        table = read_table(X, categorical_features=self.categorical_features, estimator=self, column_major=False)
        labels = read_labels(y, table.values, classes)
        weight = check_weights(sample_weight, table.values)
        unit = weight_unit(weight)
        weight = weight / unit
        training = self._training(table, weight, labels=labels)
        forest = self._grow(training, self._seed(), partial(self._with_progress, grow_random_forest, X=X, y=y))
        found: dict[str, Any] = self._counted_classes(labels, weight, np.zeros(len(labels.classes)))
        if self._leaves_out():
            rows = LeaveOneOut(forest, np.ascontiguousarray(table.values), labels.codes, weight, self.n_jobs)
            forest, held_out = self._leave_one_out(rows, found["class_prior_"])
            found |= held_out
            if self.loo_score:
                found |= self._loo_answers(replace(rows, forest=forest), found.get("rule_"), found["class_prior_"])
        self._set_counted(table, forest, labels.classes, weight_unit_=unit, training_range_=training.ranges, **found)
        return self

    def _set_counted(self, table: Table, forest: Forest, classes: NDArray[Any], **attributes: Any) -> None:
        """Set all attributes of a fit."""
        names = {"classes_": classes, "n_classes_": len(classes), "_impurity": "gini"}
        self._forget("rule_", "min_samples_leaf_", "loo_score_", "loo_decision_function_")
        self._set_fitted(table, forest, **names, **attributes)

    def _unseen_rows(self, X: Any, y: Any, sample_weight: Any) -> UnseenRows:
        rows = self._read(X)
        labels = read_labels(y, rows, self.classes_)
        weight = check_weights(sample_weight, rows) / getattr(self, "weight_unit_", 1.0)  # not in older model files
        count = np.bincount(labels.codes, weights=weight, minlength=len(self.classes_))
        if not np.allclose(count, self.class_count_):
            raise ValueError(
                "y or sample_weight is not what the trees have counted: give all rows of fit and partial_fit, to be "
                "left out one by one, or rows='all' for rows that they have not seen"
            )
        return UnseenRows(rows, labels.codes.astype(np.float64), weight, None, left_out=True)

    def _check_rule(self) -> None:
        rule = get(self.rule)
        if check_bool("loo_score", self.loo_score) and not isinstance(rule, FoldRule):
            raise ValueError(f"loo_score needs a rule that folds, {rule.name} does not: see hedgerow.rules.names()")

    def _chooses_size(self) -> bool:
        if not isinstance(self.min_samples_leaf, str):
            return False
        expected = "a whole number of at least 1 row, a fraction in (0, 1], or 'auto'"
        return bool(check_choice("min_samples_leaf", self.min_samples_leaf, ("auto",), expected))

    def _leaves_out(self) -> bool:
        """Whether anything is asked for that leave-one-out answers give."""
        return self.loo_score or self._completes()

    def _completes(self) -> bool:
        """Whether the temper or the size of the leaves has to be chosen."""
        return self._chooses_size() or get(self.rule).needs_fit

    def _leave_one_out(
        self, training: LeaveOneOut, prior: Floats, n_rows: int | None = None
    ) -> tuple[Forest, dict[str, Any]]:
        """The forest, small nodes cut as leave-one-out asks for, and the attributes that it gives.

        `n_rows` are all training rows, where `training` has only some of them.
        """
        found: dict[str, Any] = {}
        forest, n_trees = training.forest, training.forest.n_trees
        rule = get(self.rule)
        tempered = rule if isinstance(rule, FoldRule) and rule.needs_fit else _TEMPERED
        if self._completes():
            cuts = NodeSizes.of(forest, [2 * size for size in LEAF_SIZES] if self._chooses_size() else [0])
            some = training.thinned(CALIBRATION_ROWS)
            held_out = HeldOut(some.codes, some.weight, prior, n_rows or len(training.codes))
            folded = some.folds(tempered, prior, cuts)
            completed = [complete(tempered, one, n_trees, held_out, n_trees) for one in folded]
            best = int(np.argmin([one.loss for one in completed]))
            found["rule_"] = completed[best].rule
            if self._chooses_size():
                found["min_samples_leaf_"] = LEAF_SIZES[best]
                forest = cuts.cut(cuts.sizes[best])
        return forest, found

    def _loo_rule(self, tempered: FoldRule | None) -> FoldRule:
        """The rule, with the temper that was chosen for it."""
        rule = get(self.rule)
        if tempered is not None and tempered.before_fit == rule:
            rule = tempered
        assert isinstance(rule, FoldRule), "checked before growth"
        return rule

    def _loo_answers(self, training: LeaveOneOut, tempered: FoldRule | None, prior: Floats) -> dict[str, Any]:
        rule = self._loo_rule(tempered)
        if (lone := training.share_of_lone_leaves()) > 0.5:
            warnings.warn(
                f"{lone:.0%} of the leaves that rows reach hold nothing but the row: leave-one-out has nothing left "
                "to predict it from: set min_samples_leaf to 2 or more, or 'auto'",
                stacklevel=4,
            )
        (folded,) = training.folds(rule, prior, NodeSizes.of(training.forest, [0]))
        shares = rule.finish(folded, training.forest.n_trees, prior)
        right = shares.argmax(axis=1) == training.codes
        score = float((training.weight * right).sum() / training.weight.sum())
        return {"loo_decision_function_": shares, "loo_score_": score}

    def _grow(self, training: Training, seed: int, grow: Callable[..., Grown]) -> Forest:
        """Forest of the training rows; `grow` takes them and the core's options."""
        growth = RandomGrowth(1 if self._chooses_size() else self.min_samples_leaf, self.max_depth)
        options = growth.options(len(training.sample_weight), self._n_trees(), seed)
        options.n_threads = n_threads(self.n_jobs)
        return self._grow_with_missing(partial(grow, options=options), training)

    def _grow_with_missing(self, grow: Callable[..., Grown], training: Training) -> Forest:
        check_choice("missing", self.missing, ("fractional", "category"), "'fractional' or 'category'")
        incomplete = np.isnan(training.values).any(axis=1)
        if not incomplete.any() or training.labels is None:
            return grow(training=training).forest
        if self.missing == "category":
            as_value = MissingAsValue.of(training)
            return as_value.to_missing_policy(grow(training=as_value.impute(training)).forest)
        forest = grow(training=training).forest
        rows = np.ascontiguousarray(training.values[incomplete])
        more = tally(forest, rows, training.labels[incomplete], training.sample_weight[incomplete], n_jobs=self.n_jobs)
        return forest.with_counts(forest.counts + more)

    def _counted_classes(self, labels: Labels, weight: Floats, before: Floats) -> dict[str, Floats]:
        """Class weights including these rows, and the prior that follows."""
        return self._class_figures(before + np.bincount(labels.codes, weights=weight, minlength=len(labels.classes)))

    def _class_figures(self, count: Floats) -> dict[str, Floats]:
        prior = count / count.sum() if self.class_prior is None else self.class_prior
        checked = check_prior(prior, count[np.newaxis], "class_prior")
        return {"class_count_": count, "class_prior_": checked}

    def _prunings(self) -> Prunings:
        return Prunings(chosen=False)


def _widened(ranges: Floats, rows: Floats) -> Floats:
    """Ranges that include these rows; nominal columns have none."""
    low, high = np.fmin.reduce(rows, axis=0, initial=np.inf), np.fmax.reduce(rows, axis=0, initial=-np.inf)
    return np.stack([np.minimum(ranges[:, 0], low), np.maximum(ranges[:, 1], high)], axis=1)
