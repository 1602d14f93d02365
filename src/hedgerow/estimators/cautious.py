"""Cautious forests: sets of classes instead of a single one."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator

from hedgerow.credal.aggregates import Average, Belief, Vote
from hedgerow.credal.leaves import check_s
from hedgerow.credal.utility import REWARDS
from hedgerow.estimators.fitting.bagging import OutOfBag, oob_scores, scaled_tree_weights, scores_out_of_bag
from hedgerow.estimators.fitting.caution import UtilityOutOfBag, with_prior
from hedgerow.estimators.forest_classifier import ForestClassifier
from hedgerow.estimators.stored import storable
from hedgerow.estimators.verbs.set_answers import AUTO, SetAnswers
from hedgerow.estimators.wrapped import (
    FittedEstimator,
    WrappedForest,
    check_classifier,
    class_weight_parameters,
)
from hedgerow.estimators.wrapper import requesting_weights
from hedgerow.forest.counts import as_numbers

__all__ = ["CautiousClassifier", "CautiousForestClassifier"]

Floats = NDArray[np.float64]

# Parameters of CautiousForestClassifier that its forest has too.
_OF_FOREST = (
    *("n_estimators", "criterion", "nominal", "missing", "max_depth", "min_samples_split", "min_samples_leaf"),
    *("max_leaf_nodes", "splitter", "max_features", "max_bins", "bootstrap", "max_samples", "categorical_features"),
    *("n_jobs", "random_state"),
)
# Bounds come from counts, which no calibration changes; s is chosen to suit small leaves.
_PLAIN: dict[str, Any] = {"calibration": None}
_USUAL_S = (
    1.0  # where no out-of-bag rows can choose: the best of fixed numbers with "average", see benchmarks/README.md
)
_WITHOUT_BAGS = {"s": "a number, such as 1", "weighting": "'epistemic', 'uniform' or 'samples'", "oob_score": "False"}
_FOUND_OUT_OF_BAG = ("s_", "s_utility_", "s_aggregate_", "tree_weights_", "oob_score_", "oob_decision_function_")


class _Cautious(WrappedForest, SetAnswers):
    """Abstract: fitting and checks of both."""

    def _check_settings(self) -> None:
        """Check what can be checked of the parameters before anything is fitted."""
        self._utility()
        aggregate = self._aggregate()
        if self._learns_weights() and not isinstance(aggregate, Average | Belief | Vote):
            raise ValueError(
                f"weighting='learned' needs aggregate 'average', 'belief' or 'vote', {aggregate.name} weighs no trees: "
                "choose one of them, or another weighting"
            )
        template = self._template()
        check_classifier("estimator", template)
        if weighted := class_weight_parameters(template):
            raise ValueError(
                f"the estimator has {weighted[0]}, which corrupts bounds: class weights count as rows that were never "
                "observed. Leave it None and set class_prior instead"
            )

    def _found(self, model: Any, prior: Any) -> dict[str, Any]:
        """Attributes of any wrapper, but `class_prior_` are the shares that the counts in leaves come from."""
        found = super()._found(model, prior)
        counts = getattr(model, "class_count_", None)
        if counts is not None:
            found["class_prior_"] = counts / counts.sum()
        return found

    def _check_fitted(self) -> None:
        super()._check_fitted()
        self._check_settings()
        self._check_class_prior()
        if self._utility() is not None:  # a copy may be made to be changed, so that s_ need not fit the aggregate
            if "s_" not in vars(self):
                raise ValueError(f"s is {self.s!r}, and s_, which fit chooses for it, is missing")
            check_s(self.s_)
        self.get_tree_weights()

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Any:
        """Fit the estimator, unless it is frozen, and choose what out-of-bag rows are to choose.

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
        self._fit(X, y, sample_weight, fit_params, keep_bags=bool(self._asked_out_of_bag()))
        return self

    def _fit_and_keep_bags(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> OutOfBag | None:
        """Fit, and return the training rows out of each tree's bag; None where there are no bags."""
        return self._fit(X, y, sample_weight, fit_params, keep_bags=True)

    def _fit(self, X: Any, y: Any, sample_weight: Any, fit_params: Any, *, keep_bags: bool) -> OutOfBag | None:
        self._check_settings()
        fitted = self._fit_estimator(X, y, sample_weight, fit_params, keep_bags=keep_bags)
        self._set_answers(fitted.model, fitted.prior, fitted)
        return fitted.bags

    def _asked_out_of_bag(self) -> list[str]:
        """Parameters that out-of-bag rows are needed for; "auto" can do without."""
        wanted = {f"s={self.s!r}": self._utility() is not None, "weighting='learned'": self._learns_weights()}
        return [name for name, needs in wanted.items() if needs]

    def _set_answers(self, model: Any, prior: Floats | None, fitted: FittedEstimator | None) -> Any:
        """Set all attributes, after everything that can fail: a failed fit leaves an earlier one intact."""
        found = self._found(model, prior)
        trial = copy(self)
        trial._forget(*_FOUND_OUT_OF_BAG)
        trial._set_found(found)
        trial._check_class_prior()
        found |= trial._learn(fitted)
        self._forget(*_FOUND_OUT_OF_BAG)
        return self._set_found(found)

    def _learn(self, fitted: FittedEstimator | None) -> dict[str, Any]:
        """Attributes from out-of-bag rows: s, weights of trees, scores."""
        bags = None if fitted is None or fitted.bags is None or fitted.bags.seen_by_all else fitted.bags
        if bags is None or fitted is None:
            if needing := [name for name in self._asked_out_of_bag() if name != f"s={AUTO!r}"]:
                name, _, _ = needing[0].partition("=")
                raise ValueError(
                    f"{needing[0]} needs out-of-bag rows, and {self._why_no_bags(fitted)}, or set {name} to "
                    f"{_WITHOUT_BAGS[name]}"
                )
            return {"s_": _USUAL_S} if self._utility() is not None else {}
        return self._learn_from(bags, fitted)

    def _why_no_bags(self, fitted: FittedEstimator | None) -> str:
        name = type(self.estimator_).__name__
        if fitted is None:
            return f"this {name} has none: let CautiousClassifier fit the forest"
        if fitted.bags is None:
            return f"this {name} has none: fit a forest with bootstrap=True"
        n_rows = len(fitted.labels.codes)
        return f"every tree of this {name} has seen all rows (n_samples={n_rows}): use bootstrap and more rows"

    def _learn_from(self, bags: OutOfBag, fitted: FittedEstimator) -> dict[str, Any]:
        wanted = self._wanted_prior()
        weight = with_prior(
            *(fitted.weight, fitted.labels.codes, self.class_prior_),
            None if wanted is None else as_numbers("class_prior", wanted),
        )
        aggregate, utility = self._aggregate(), self._utility()
        judge = UtilityOutOfBag(
            *(bags, fitted.labels.codes, weight, self._leaf_evidence(), aggregate),
            tree_weights=super().get_tree_weights(),
            reward=REWARDS[utility or "u65"],
        )
        found: dict[str, Any] = {}
        if utility is not None:
            found |= {"s_": judge.best_s(), "s_utility_": utility, "s_aggregate_": aggregate}
        if self._learns_weights():
            found["tree_weights_"] = judge.learn_weights(found["s_"] if utility is not None else self._current_s())
        return found

    def get_tree_weights(self) -> Floats | None:
        """Weight of each tree in the answer, 1 on average, (n_trees,); None: all the same.

        Returns
        -------
        ndarray of shape (n_trees,) or None
            Weights.

        Raises
        ------
        ValueError
            If ``weighting="learned"`` was set after `fit`.
        """
        given = super().get_tree_weights()
        if not self._learns_weights():
            return given
        if "tree_weights_" not in vars(self):
            raise ValueError("weighting='learned' was set after fit: fit again, or choose another weighting")
        learned = scaled_tree_weights(self.tree_weights_, self.forest_.n_trees)
        return learned if given is None else scaled_tree_weights(learned * given, self.forest_.n_trees)


@storable
class CautiousClassifier(_Cautious):
    """Set-valued predictions, bounds and belief from the trees of any forest.

    Leaves give bounds on probabilities by the imprecise Dirichlet model, n_k/(N + s) and (n_k + s)/(N + s); the trees'
    bounds are aggregated, and a class is excluded from the set only where another one dominates it (Zhang, Quost and
    Masson, Cautious Random Forests, 2021; any number of classes). Not to be confused with the cautious combination
    rule, :class:`hedgerow.rules.Cautious`.

    All parameters but the first can be changed after `fit`, to what needs no out-of-bag rows.

    Parameters
    ----------
    estimator : classifier made of trees, or None, default=None
        Cloned and fitted, unless it is ``sklearn.frozen.FrozenEstimator(fitted)``; None is a
        :class:`ForestClassifier` of full trees without calibration. It must not have class weights.
    s : float, "u65", "u80" or "auto", default="auto"
        Number of unobserved rows of unknown class that each leaf allows for: the larger, the more cautious. "u65" and
        "u80" choose it (`s_`): of 21 numbers from 0.1 to a million the one whose sets have the largest utility on the
        rows out of each tree's bag. "auto" is "u65", or 1 for an estimator without such rows.
    weighting : {"epistemic", "uniform", "samples", "learned"}, default="epistemic"
        Weights of trees with "belief" and "vote": 1 − s/(N + s), all the same, or the number N of rows in the leaf.
        "learned": each tree has one weight (`tree_weights_`), also with "average", that maximises a surrogate of u65
        (of u80 with ``s="u80"``) on out-of-bag rows (:func:`hedgerow.credal.utility.learn_tree_weights`).
    aggregate : {"average", "belief", "vote", "conjunction", "disjunction"} \
or an instance from :mod:`hedgerow.credal`, default="average"
        Combination of the trees' bounds. "average" has the best utility once s is chosen; "belief" is the paper's,
        as its equations have it, and ``Belief(strict=True)`` as its tables do.
    class_prior : array of shape (n_classes,) or None, default=None
        Class frequencies in practice, where they differ from those in the training data: the frequencies in the leaves
        are shifted accordingly, their numbers of rows kept. None is the estimator's own `class_prior`, if it has one.

    Attributes
    ----------
    s_ : float
        The number s where a string was given.
    tree_weights_ : array of shape (n_trees,)
        Weights of the trees, which add up to 1, with ``weighting="learned"``.
    estimator_ : estimator
        The fitted estimator.
    forest_ : Forest
        The trees.
    classes_ : array of shape (n_classes,)
        Labels, in the order of the columns of `predict_proba`.
    n_classes_ : int
        Number of classes.
    class_prior_ : array of shape (n_classes,)
        Share of each class in the training data, or those of `class_prior`.
    schema_ : Schema
        Names, kinds and categories of the columns.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of shape (n_features,)
        Names of the columns; absent if X had none.
    feature_importances_ : array of shape (n_features,)
        Share of each column in the decrease of impurity; they add up to 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> theirs = RandomForestClassifier(random_state=0).fit(X[::2], y[::2])
    >>> from hedgerow import CautiousClassifier
    >>> model = CautiousClassifier.from_fitted(theirs, s=2)
    >>> sizes = model.predict_set(X[1::2]).sum(axis=1)
    >>> int(sizes.min())
    1
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        s: Any = "auto",
        weighting: str = "epistemic",
        aggregate: Any = "average",
        class_prior: Any = None,
    ) -> None:
        self.estimator = estimator
        self.s = s
        self.weighting = weighting
        self.aggregate = aggregate
        self.class_prior = class_prior

    @classmethod
    def from_fitted(cls, model: Any, **settings: Any) -> CautiousClassifier:
        """Wrap the trees of a fitted model without fitting anything; there are no out-of-bag rows to choose `s` by.

        Parameters
        ----------
        model : fitted estimator
            The model to wrap; it is not fitted again.
        **settings
            Parameters of this class by name.

        Returns
        -------
        CautiousClassifier
            Ready to predict.

        Raises
        ------
        TypeError
            If the model is not made of trees that can be read.
        ValueError
            If a setting needs out-of-bag rows.
        """
        fitted = model.estimator if isinstance(model, FrozenEstimator) else model
        cautious = cls(FrozenEstimator(fitted), **settings)
        cautious._check_settings()
        cautious._set_answers(fitted, None, None)
        return cautious

    def _default(self) -> ForestClassifier:
        return ForestClassifier(**_PLAIN, min_samples_split=2, random_state=0)


@storable
class CautiousForestClassifier(_Cautious):
    """A random forest with set-valued predictions, bounds and belief.

    A :class:`CautiousClassifier` of full trees without calibration, grown as a :class:`ForestClassifier` grows them.
    There is no `class_weight`: class weights count as rows that were never observed and corrupt bounds; set
    `class_prior` instead.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    s : float, "u65", "u80" or "auto", default="auto"
        Number of unobserved rows of unknown class that each leaf allows for: the larger, the more cautious. "u65" and
        "u80" choose it (`s_`): of 21 numbers from 0.1 to a million the one whose sets have the largest utility on the
        rows out of each tree's bag. "auto" is "u65", or 1 for an estimator without such rows.
    weighting : {"epistemic", "uniform", "samples", "learned"}, default="epistemic"
        Weights of trees with "belief" and "vote": 1 − s/(N + s), all the same, or the number N of rows in the
        leaf. "learned": each tree has one weight (`tree_weights_`), also with "average", that maximises a
        surrogate of u65 (of u80 with ``s="u80"``) on out-of-bag rows
        (:func:`hedgerow.credal.utility.learn_tree_weights`).
    aggregate : {"average", "belief", "vote", "conjunction", "disjunction"} \
or an instance from :mod:`hedgerow.credal`, default="average"
        Combination of the trees' bounds. "average" has the best utility once s is chosen; "belief" is the
        paper's, as its equations have it, and ``Belief(strict=True)`` as its tables do.
    class_prior : array of shape (n_classes,) or None, default=None
        Class frequencies in practice, where they differ from those in the training data: the frequencies in the
        leaves are shifted accordingly, their numbers of rows kept. None is the estimator's own `class_prior`,
        if it has one.
    criterion : {"gini", "gain_ratio", "entropy"}, default="gini"
        Quality of a split: the Gini index, gain ratio, or gain in bits. Rows count once, however often they were drawn.
    nominal : {"multiway", "binary", "subset"}, default="binary"
        A branch for every category, one category against the rest, or some against the others.
    missing : {"random", "fractional", "category", "learned"} or an instance from :mod:`hedgerow.growth`, \
default="random"
        By default a row whose value is missing goes down one branch in `fit`, drawn with the weights of the
        branches, and is spread over all of them when predicting; or it is spread in `fit` too, or missing is a
        value of its own, or it goes to the side with the larger gain.
    max_depth : int or None, default=None
        Largest number of splits on a path; None sets no limit.
    min_samples_split : int or float, default=2
        Smallest number of rows in a node that is split; a float is a fraction of all rows.
    min_samples_leaf : int or float, default=1
        Smallest number of rows in a leaf; a float is a fraction of all rows. A split is valid if at least two of its
        branches have that many: the branch of a rare category may have fewer.
    max_leaf_nodes : int or None, default=None
        Largest number of leaves, grown best first; None sets no limit.
    splitter : {"best", "random", "mixed"}, default="mixed"
        Splits tried of each column: all of them, one that is drawn, or drawn ones in every second tree.
    max_features : int, float, "sqrt", "log2" or None, default="sqrt"
        Columns tried at each split, drawn anew at each: their number, their share, √d or log₂ d; None tries all.
    max_bins : int or None, default=255
        Numeric columns with more distinct values are binned into this many bins of equal weight, so that
        thresholds are exact only up to a bin; None is exact, and slower.
    bootstrap : bool or "poisson", default=True
        Whether each tree is grown from rows drawn with replacement. "poisson": every row is drawn for every
        tree on its own, a Poisson number of times, so that :func:`hedgerow.distributed.fit` grows the same
        forest.
    max_samples : int, float or None, default=None
        Number of draws for each tree, or a fraction of the number of rows of positive weight, which is also the
        default. With ``bootstrap="poisson"`` bags have so many draws on average. Rows are drawn by
        `sample_weight`, which then does not count again; without bootstrap rows count by it.
    oob_score : bool or callable, default=False
        Whether `fit` scores the forest on its out-of-bag rows; a callable ``metric(y_true, y_pred)`` computes the
        score.
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
        The trees.
    s_ : float
        The number s where a string was given.
    tree_weights_ : array of shape (n_trees,)
        Weights of the trees, which add up to 1, with ``weighting="learned"``.
    oob_score_ : float
        Out-of-bag accuracy (of numbers: R²), or what `oob_score` computes.
    oob_decision_function_ : array of shape (n_samples, n_classes)
        Out-of-bag probabilities; NaN for rows in the bag of every tree.
    classes_ : array of shape (n_classes,)
        Labels, in the order of the columns of `predict_proba`.
    n_classes_ : int
        Number of classes.
    class_prior_ : array of shape (n_classes,)
        Share of each class in the training data, or those of `class_prior`.
    schema_ : Schema
        Names, kinds and categories of the columns.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of shape (n_features,)
        Names of the columns; absent if X had none.
    feature_importances_ : array of shape (n_features,)
        Share of each column in the decrease of impurity; they add up to 1.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> from hedgerow import CautiousForestClassifier
    >>> model = CautiousForestClassifier(s="u80", random_state=0).fit(X[::2], y[::2])
    >>> sets = model.predict_set(X[1::2])
    >>> alone = sets.sum(axis=1) == 1
    >>> bool(0.9 < alone.mean() < 1)  # the rest get both classes
    True
    >>> bool((model.predict(X[1::2]) == y[1::2])[alone].mean() > model.score(X[1::2], y[1::2]))
    True
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        s: Any = "auto",
        weighting: str = "epistemic",
        aggregate: Any = "average",
        class_prior: Any = None,
        criterion: str = "gini",
        nominal: str = "binary",
        missing: Any = "random",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        max_leaf_nodes: int | None = None,
        splitter: str = "mixed",
        max_features: Any = "sqrt",
        max_bins: int | None = 255,
        bootstrap: bool | str = True,
        max_samples: Any = None,
        oob_score: Any = False,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.s = s
        self.weighting = weighting
        self.aggregate = aggregate
        self.class_prior = class_prior
        self.criterion = criterion
        self.nominal = nominal
        self.missing = missing
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.splitter = splitter
        self.max_features = max_features
        self.max_bins = max_bins
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _template(self) -> ForestClassifier:
        return requesting_weights(self._default())

    def _default(self) -> ForestClassifier:
        return ForestClassifier(**_PLAIN, **{name: getattr(self, name) for name in _OF_FOREST})

    def _scores_out_of_bag(self) -> bool:
        return scores_out_of_bag(self.oob_score)

    def _asked_out_of_bag(self) -> list[str]:
        return [*super()._asked_out_of_bag(), *(["oob_score"] if self._scores_out_of_bag() else [])]

    def _learn_from(self, bags: OutOfBag, fitted: FittedEstimator) -> dict[str, Any]:
        found = super()._learn_from(bags, fitted)
        if not self._scores_out_of_bag():
            return found
        for name, value in found.items():  # the scores are of these answers; self is a trial copy
            setattr(self, name, value)
        query = self._proba_query()
        folded, n_trees, unseen = bags.fold(query.table, query.tree_weights)
        shares = np.full((len(unseen), self.n_classes_), np.nan)
        shares[unseen] = query.finish(folded, n_trees)
        return found | oob_scores(self.oob_score, shares, unseen, fitted.labels.codes, self.classes_)
