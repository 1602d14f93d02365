"""Base of estimators that wrap another model: fitting it, or using it as it was fitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags

from hedgerow.data.columns import Column, Kind
from hedgerow.data.sparse import densify
from hedgerow.data.table import Schema
from hedgerow.data.targets import Labels, read_labels, read_weights
from hedgerow.estimators.base import TreeBased
from hedgerow.estimators.contract import offers
from hedgerow.estimators.fitting.bagging import OutOfBag
from hedgerow.estimators.fitting.bags import UnseenRows
from hedgerow.estimators.forest_classifier import ForestClassifier
from hedgerow.estimators.verbs.answers import ClassAnswers
from hedgerow.estimators.verbs.code import CodeOfSeveral
from hedgerow.estimators.verbs.pictures import PicturesOfSeveral
from hedgerow.estimators.wrapper import Wrapper
from hedgerow.exchange import from_sklearn
from hedgerow.folds import Prunings
from hedgerow.forest.forest import Forest
from hedgerow.walk import ForestWalk, TableCache, Walk

__all__ = [
    "FittedEstimator",
    "WrappedForest",
    "check_classifier",
    "class_weight_parameters",
    "fit_and_keep_bags",
    "numeric_schema",
]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FittedEstimator:
    """A fitted model and the training data's prior, labels and weights; the prior is None where it is unknown."""

    model: Any
    prior: Floats | None
    labels: Labels
    weight: Floats
    bags: OutOfBag | None = None
    """The training rows out of the bag of each tree; None where they are not known, or not asked for."""


class WrappedForest(Wrapper, PicturesOfSeveral, CodeOfSeveral):
    """Abstract; final classes have the parameter `estimator`, a classifier made of trees.

    It is cloned and fitted; one in a :class:`sklearn.frozen.FrozenEstimator` is used without refitting; None is
    ``ForestClassifier(random_state=0)``. Models of this package keep their columns; those of scikit-learn read numbers,
    and missing values if they can.
    """

    _made_again = frozenset(
        ("forest_", "schema_", "classes_", "n_classes_", "n_features_in_", "feature_names_in_", "_impurity")
    )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = _allows_missing(self._template())
        return tags

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Number of the leaf that each row reaches in each tree, (n, n_trees).

        A row with a missing value that is spread over branches follows the heaviest.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.

        Returns
        -------
        int32 ndarray of shape (n_samples, n_trees)
            Numbers of leaves, from 0 in each tree.
        """
        rows = self._read(X)
        return self._walk.route(rows)

    @property
    def _n_jobs(self) -> int | None:
        """Number of threads of the wrapped estimator."""
        return getattr(self.estimator_, "n_jobs", None)

    @property
    def _walk(self) -> Walk:
        """The wrapped model's own walk; a plain walk for foreign models."""
        if (walk := self._device_walk) is not None:
            return walk
        if isinstance(self.estimator_, TreeBased):
            return self.estimator_._walk
        return ForestWalk(self.forest_, self._n_jobs)

    @property
    def _exact_walk(self) -> Walk | None:
        return self.estimator_._exact_walk if isinstance(self.estimator_, TreeBased) else None

    def get_tree_weights(self) -> Floats | None:
        return self.estimator_.get_tree_weights() if isinstance(self.estimator_, TreeBased) else None

    def _unseen_rows(self, X: Any, y: Any, sample_weight: Any) -> UnseenRows:
        if not isinstance(self.estimator_, TreeBased):
            raise ValueError(
                f"the bags of {type(self.estimator_).__name__} are not known: use rows='all' with rows that it has "
                "not seen"
            )
        return self.estimator_._unseen_rows(X, y, sample_weight)

    def _prunings(self) -> Prunings:
        return self.estimator_._prunings() if isinstance(self.estimator_, ClassAnswers) else Prunings()

    def _column_deviation(self) -> Floats | None:
        return self.estimator_._column_deviation() if isinstance(self.estimator_, ClassAnswers) else None

    def _training_range(self) -> Floats | None:
        return self.estimator_._training_range() if isinstance(self.estimator_, ClassAnswers) else None

    def _default(self) -> Any:
        return ForestClassifier(random_state=0)

    def _fit_estimator(
        self, X: Any, y: Any, sample_weight: Any, fit_params: dict[str, Any], *, keep_bags: bool = False
    ) -> FittedEstimator:
        """Fit the estimator, unless it is frozen; sets no attribute."""
        labels = read_labels(y, X)
        weight = read_weights(sample_weight, labels.codes)
        template = self._template()
        check_classifier("estimator", template)
        if isinstance(template, FrozenEstimator):
            _check_frozen(template.estimator, labels)
            return FittedEstimator(template.estimator, None, labels, weight)
        # Rescaled, because leaves of scikit-learn's trees count weights too.
        params = self._params_of_estimator(template, None if sample_weight is None else weight, fit_params)
        model, targets = clone(template), labels.classes[labels.codes]
        bags = fit_and_keep_bags(model, X, targets, params) if keep_bags else None
        if not keep_bags:
            model.fit(densify(X), targets, **params)
        prior = None if class_weight_parameters(model) else _shares(labels, weight)
        return FittedEstimator(model, prior, labels, weight, bags)

    def _take(self, model: Any, prior: Floats | None = None) -> Self:
        """Set all attributes from a fitted model."""
        return self._set_found(self._found(model, prior))

    def _found(self, model: Any, prior: Floats | None) -> dict[str, Any]:
        """Attributes from a fitted model. The prior is its own, or the given one, or that of its trees."""
        _check_model(model)
        own = isinstance(getattr(model, "forest_", None), Forest)
        forest = model.forest_ if own else from_sklearn(model)
        schema = model.schema_ if own else numeric_schema(model)
        prior = getattr(model, "class_prior_", prior)
        return {
            "estimator_": model,
            "forest_": forest,
            "schema_": schema,
            "classes_": model.classes_,
            "n_classes_": len(model.classes_),
            "class_prior_": _root_shares(forest) if prior is None else prior,
            "_tables": TableCache(),
            "_impurity": getattr(model, "_impurity", "gini"),
        }

    def _set_found(self, found: dict[str, Any]) -> Self:
        """Set all attributes at once, after everything that can fail."""
        self._set_names(found["schema_"])
        for name, value in found.items():
            setattr(self, name, value)
        return self

    def _restored(self) -> None:
        self._take(self.estimator_, self.class_prior_)
        self._check_fitted()

    def _read(self, X: Any) -> Floats:
        rows = super()._read(X)
        self._refuse_missing(rows, self.estimator_, self.schema_)
        return rows

    @staticmethod
    def _refuse_missing(rows: Floats, model: Any, schema: Schema) -> None:
        missing = np.isnan(rows)
        if missing.any() and not _allows_missing(model):
            row, column = divmod(int(missing.argmax()), missing.shape[1])
            raise ValueError(
                f"Input X contains NaN: column {schema.names[column]!r} in row {row}. "
                f"{type(model).__name__} takes no missing values: impute them, or wrap an estimator that does"
            )


def fit_and_keep_bags(model: Any, X: Any, y: NDArray[Any], params: dict[str, Any]) -> OutOfBag | None:
    """Fit a model, and find the rows out of the bag of each tree; None where it has no bags."""
    if offers(model, "_fit_and_keep_bags"):
        bags: OutOfBag | None = model._fit_and_keep_bags(densify(X), y, **params)
        return bags
    model.fit(densify(X), y, **params)
    samples = None if isinstance(model, TreeBased) else getattr(model, "estimators_samples_", None)
    if samples is None:
        return None
    rows = numeric_schema(model).read(X, estimator=model)
    return OutOfBag.from_samples(from_sklearn(model), rows, samples, getattr(model, "n_jobs", None))


def check_classifier(name: str, given: Any) -> None:
    """Raise an error unless this is a classifier."""
    if isinstance(given, type) or not callable(getattr(given, "__sklearn_tags__", None)) or not is_classifier(given):
        raise TypeError(f"{name} is {given!r}, must be a classifier made of trees: see hedgerow.adapt.from_sklearn")


def _check_model(model: Any) -> None:
    check_classifier("model", model)
    if getattr(model, "classes_", None) is None:
        raise NotFittedError(f"model is {model!r}, which is not fitted: call fit first")


def _check_frozen(model: Any, labels: Labels) -> None:
    _check_model(model)
    if (unknown := np.setdiff1d(labels.classes, model.classes_)).size:
        raise ValueError(f"y has classes {unknown.tolist()}, the frozen estimator has {model.classes_.tolist()}")


def _allows_missing(estimator: Any) -> bool:
    return bool(get_tags(estimator).input_tags.allow_nan)


def class_weight_parameters(estimator: Any) -> list[str]:
    """Names of the parameters that weight the counts in leaves by class."""
    inside = estimator.estimator if isinstance(estimator, FrozenEstimator) else estimator
    parameters = inside.get_params(deep=True).items()
    return [name for name, value in parameters if name.endswith("class_weight") and value is not None]


def _shares(labels: Labels, weight: Floats) -> Floats:
    return np.bincount(labels.codes, weights=weight, minlength=len(labels.classes)) / weight.sum()


def _root_shares(forest: Forest) -> Floats:
    """Mean over the trees of the class frequencies in the root."""
    roots = forest.node_counts()[forest.tree_start[:-1]]
    return (roots / roots.sum(axis=1, keepdims=True)).mean(axis=0)


def numeric_schema(model: Any) -> Schema:
    """Schema of numeric columns, with scikit-learn's names."""
    names = getattr(model, "feature_names_in_", None)
    named = names is not None
    if names is None:
        names = [f"x{j}" for j in range(model.n_features_in_)]
    return Schema(tuple(Column(str(name), Kind.NUMERIC) for name in names), named=named)
