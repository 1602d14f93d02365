"""Cautious forests: sets of classes instead of a single one."""

from __future__ import annotations

from typing import Any

from sklearn.frozen import FrozenEstimator

from hedgerow.estimators.forests import ForestClassifier
from hedgerow.estimators.stored import storable
from hedgerow.estimators.verbs.set_answers import SetAnswers
from hedgerow.estimators.wrapped import WrappedForest, check_classifier, class_weight_parameters, requesting_weights

__all__ = ["CautiousClassifier", "CautiousForestClassifier"]

# Parameters of CautiousForestClassifier that its forest has too.
_OF_FOREST = (
    *("n_estimators", "criterion", "nominal", "missing", "max_depth", "min_samples_leaf", "max_features", "max_bins"),
    *("max_samples", "categorical_features", "n_jobs", "random_state"),
)


class _Cautious(WrappedForest, SetAnswers):
    """Abstract: fitting and checks of both."""

    def _check_settings(self) -> None:
        """Check what can be checked of the parameters before anything is fitted."""
        self._aggregate()
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Any:
        """Fit the estimator, unless it is frozen."""
        self._check_settings()
        self._fit_wrapped(X, y, sample_weight, fit_params)
        self._check_class_prior()
        return self


@storable
class CautiousClassifier(_Cautious):
    """Set-valued predictions, bounds and belief from the trees of any forest.

    Leaves give bounds on probabilities by the imprecise Dirichlet model, n_k/(N + s) and (n_k + s)/(N + s); the trees'
    bounds are aggregated, and a class is excluded from the set only where another one dominates it (Zhang, Quost and
    Masson, Cautious Random Forests, 2021; any number of classes). Not to be confused with the cautious combination
    rule, :class:`hedgerow.rules.Cautious`.

    Parameters
    ----------
    estimator : classifier made of trees, or None
        As in :class:`RuleClassifier`: cloned and fitted, unless it is ``sklearn.frozen.FrozenEstimator(fitted)``; None
        is ``ForestClassifier(random_state=0)``. It must not have class weights.
    s : float
        Number of unobserved rows of unknown class that each leaf allows for: the larger, the more cautious.
    weighting : {"epistemic", "uniform", "samples"}
        Weights of trees with "belief" and "vote": 1 − s/(N + s), all the same, or the number N of rows in the leaf.
    aggregate : {"belief", "average", "vote", "conjunction", "disjunction"} or an instance from :mod:`hedgerow.credal`
        Combination of the trees' bounds.
    class_prior : array of shape (n_classes,) or None
        Class frequencies in practice, where they differ from those in the training data: the frequencies in the leaves
        are shifted accordingly, their numbers of rows kept. None is the estimator's own `class_prior`, if it has one.

    All but the first can be changed after `fit`.

    Attributes
    ----------
    estimator_, forest_, classes_, n_classes_, class_prior_, schema_, n_features_in_, feature_names_in_, \
feature_importances_
        As in :class:`RuleClassifier`; `class_prior_` are the shares in the training data.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> theirs = RandomForestClassifier(random_state=0).fit(X[::2], y[::2])
    >>> model = CautiousClassifier.from_fitted(theirs, s=2)
    >>> sizes = model.predict_set(X[1::2]).sum(axis=1)
    >>> int(sizes.min())
    1
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        s: float = 1.0,
        weighting: str = "epistemic",
        aggregate: Any = "belief",
        class_prior: Any = None,
    ) -> None:
        self.estimator = estimator
        self.s = s
        self.weighting = weighting
        self.aggregate = aggregate
        self.class_prior = class_prior

    @classmethod
    def from_fitted(cls, model: Any, **settings: Any) -> CautiousClassifier:
        """Wrap the trees of a fitted model without fitting anything."""
        fitted = model.estimator if isinstance(model, FrozenEstimator) else model
        cautious = cls(FrozenEstimator(fitted), **settings)
        cautious._check_settings()
        cautious._take(fitted)
        cautious._check_class_prior()
        return cautious


@storable
class CautiousForestClassifier(_Cautious):
    """A random forest with set-valued predictions, bounds and belief.

    A thin case of :class:`CautiousClassifier`, which explains `s`, `weighting`, `aggregate` and `class_prior`, with a
    :class:`ForestClassifier` of full bootstrap trees, which explains the others. There is no `class_weight`: class
    weights count as rows that were never observed and corrupt bounds; set `class_prior` instead.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CautiousForestClassifier(s=3, random_state=0).fit(X[::2], y[::2])
    >>> sets = model.predict_set(X[1::2])
    >>> alone = sets.sum(axis=1) == 1
    >>> bool(0.9 < alone.mean() < 1)  # the rest get both classes
    True
    >>> bool((model.predict(X[1::2]) == y[1::2])[alone].mean() > model.score(X[1::2], y[1::2]))
    True
    """

    def __init__(
        self,
        *,
        s: float = 1.0,
        weighting: str = "epistemic",
        aggregate: Any = "belief",
        class_prior: Any = None,
        n_estimators: int = 100,
        criterion: str = "gini",
        nominal: str = "multiway",
        missing: Any = "random",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        max_features: Any = "sqrt",
        max_bins: int | None = 255,
        max_samples: Any = None,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.s = s
        self.weighting = weighting
        self.aggregate = aggregate
        self.class_prior = class_prior
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.nominal = nominal
        self.missing = missing
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.max_bins = max_bins
        self.max_samples = max_samples
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _template(self) -> ForestClassifier:
        forest: ForestClassifier = requesting_weights(self._default())
        return forest

    def _default(self) -> ForestClassifier:
        return ForestClassifier(**{name: getattr(self, name) for name in _OF_FOREST})
