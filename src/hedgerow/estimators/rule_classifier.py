"""Any forest, including scikit-learn's, combined by a rule."""

from __future__ import annotations

from typing import Any

from sklearn.frozen import FrozenEstimator

from hedgerow.estimators.fitting.bagging import OutOfBag
from hedgerow.estimators.stored import storable
from hedgerow.estimators.verbs.rule_answers import RuleAnswers
from hedgerow.estimators.wrapped import WrappedForest
from hedgerow.rules import get

__all__ = ["RuleClassifier", "check_rule"]


@storable
class RuleClassifier(WrappedForest, RuleAnswers):
    """The trees of any forest, combined by a rule of your choice.

    Parameters
    ----------
    estimator : classifier made of trees, or None, default=None
        A TreeClassifier, ForestClassifier or RandomTreesClassifier, or one of scikit-learn's trees, random forests,
        extra trees or bagged trees (see :func:`hedgerow.adapt.from_sklearn`). It is cloned and fitted, unless it is
        ``sklearn.frozen.FrozenEstimator(fitted)``, which is used without refitting. None is
        ``ForestClassifier(random_state=0)``.
    rule : str or a rule, default="probability"
        Combination of the leaves that a row reaches, one of :func:`hedgerow.rules.names` or a rule of your own. Can be
        changed after `fit`. "probability" averages, as scikit-learn's forests do. "tempered" needs held-out rows, which
        :class:`RandomTreesClassifier` and :class:`ForestClassifier` have.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
    forest_ : Forest
        Its trees.
    classes_ : array of shape (n_classes,)
        Labels, in the order of the columns of `predict_proba`.
    n_classes_ : int
        Number of classes.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of shape (n_features,)
        Names of the columns; absent if X had none.
    class_prior_ : array of shape (n_classes,)
        Prior probabilities of the classes: the estimator's own `class_prior_`; else their weighted frequencies in `y`;
        for trees that were fitted elsewhere, or with class weights, the mean of the frequencies in the roots.
    schema_ : Schema
        Names, kinds and categories of the columns.
    feature_importances_ : array of shape (n_features,)
        Share of each column in the decrease of impurity (of the Gini index, if the estimator is scikit-learn's),
        mean over the trees.

    Notes
    -----
    With scikit-learn's metadata routing `sample_weight` is used for `class_prior_` and passed on to the estimator as it
    requests; without, it is always passed on. Only the estimator's trees, `tree_weights` and prior are used, not
    its own reading of leaves (`rule`, `leaf_probability`, `cost_matrix`). An estimator of this package keeps nominal
    columns and missing values; scikit-learn's read numbers, and missing values if they can.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> theirs = RandomForestClassifier(min_samples_leaf=4, random_state=0).fit(X[::2], y[::2])
    >>> from hedgerow import RuleClassifier
    >>> model = RuleClassifier.from_fitted(theirs, rule="probability")
    >>> bool(abs(model.predict_proba(X) - theirs.predict_proba(X)).max() < 1e-12)
    True
    >>> model.set_params(rule="evidence").predict_uncertainty(X[:1]).total.shape
    (1,)
    """

    def __init__(self, estimator: Any = None, rule: Any = "probability") -> None:
        self.estimator = estimator
        self.rule = rule

    @classmethod
    def from_fitted(cls, model: Any, rule: Any = "probability") -> RuleClassifier:
        """Combine the trees of a fitted model by a rule, without fitting anything.

        Parameters
        ----------
        model : fitted estimator
            The model to wrap; it is not fitted again.
        rule : str or a rule, default="probability"
            Combination of the leaves, one of :func:`hedgerow.rules.names` or a rule of your own.

        Returns
        -------
        RuleClassifier
            Ready to predict.

        Raises
        ------
        TypeError
            If the model is not made of trees that can be read.
        ValueError
            If no rule has this name.
        """
        check_rule(rule)
        fitted = model.estimator if isinstance(model, FrozenEstimator) else model
        return cls(FrozenEstimator(fitted), rule)._take(fitted)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> RuleClassifier:
        """Fit the estimator, unless it is frozen.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each row: a number of rows, if all are whole numbers, else relative and rescaled to a mean of 1;
            None weighs all alike.
        **fit_params
            Passed to `fit` of the estimator; with metadata routing as it was requested.

        Returns
        -------
        self
            The fitted model.

        Raises
        ------
        ValueError
            If a parameter is out of its range, X or y can't be read (the message names the column or row), or weights
            are negative or all 0.
        TypeError
            If the estimator is not made of trees that can be read.
        """
        self._fit(X, y, sample_weight, fit_params)
        return self

    def _fit_and_keep_bags(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> OutOfBag | None:
        """Fit, and return the training rows out of each tree's bag; None where there are no bags."""
        return self._fit(X, y, sample_weight, fit_params, keep_bags=True)

    def _fit(
        self, X: Any, y: Any, sample_weight: Any, fit_params: dict[str, Any], *, keep_bags: bool = False
    ) -> OutOfBag | None:
        check_rule(self.rule)
        fitted = self._fit_estimator(X, y, sample_weight, fit_params, keep_bags=keep_bags)
        self._take(fitted.model, fitted.prior)
        return fitted.bags


def check_rule(rule: Any) -> None:
    """Refuse an unknown rule, and one whose numbers only held-out rows can choose."""
    if get(rule).needs_fit:
        raise ValueError(
            "rule 'tempered' needs held-out rows to choose its temper: use RandomTreesClassifier or ForestClassifier, "
            "or set one, such as Evidence(toward='prior', temper=0.1)"
        )
