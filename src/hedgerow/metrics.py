"""How good sets of classes are: utilities that reward caution, and what they are made of.

Every metric takes ``(y_true, sets, *, classes, sample_weight=None)``: labels (n,), bool (n, n_classes) without an empty
row, as `predict_set` returns, and the labels of the columns. The scorers at the end are for ``cross_validate`` and
``GridSearchCV``.

>>> import numpy as np
>>> sets = np.array([[True, False], [True, True], [False, True]])
>>> round(u65_score(["no", "yes", "no"], sets, classes=["no", "yes"]), 3)  # (1 + 0.65 + 0)/3
0.55
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import MetadataRequest

__all__ = [
    *("determinacy", "mean_set_size", "set_accuracy", "single_accuracy", "u65_score", "u80_score"),
    *("SetScorer", "make_set_scorer"),
    *("determinacy_scorer", "neg_mean_set_size_scorer", "set_accuracy_scorer", "single_accuracy_scorer"),
    *("u65_scorer", "u80_scorer"),
]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def u65_score(
    y_true: ArrayLike, sets: ArrayLike, *, classes: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """The mean of 1.6/m − 0.6/m², m the size of a set that has the true class; 0 for one that has not.

    From 0 to 1, more is better. One right class is worth 1, two of which one is right 0.65: somewhat more than a guess
    between them, 0.5, which pays for caution (Zaffalon, Corani and Mauá, 2012). Where all sets have one class it is the
    accuracy.
    """
    return _utility(y_true, sets, classes, sample_weight, 0.6)


def u80_score(
    y_true: ArrayLike, sets: ArrayLike, *, classes: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """The mean of 2.2/m − 1.2/m², m the size of a set that has the true class; 0 for one that has not.

    From 0 to 1, more is better. As :func:`u65_score`, for people who value caution more: two classes of which one is
    right are worth 0.8.
    """
    return _utility(y_true, sets, classes, sample_weight, 1.2)


def _utility(y_true: Any, sets: Any, classes: Any, sample_weight: Any, reward: float) -> float:
    """The mean of (1 + reward)/m − reward/m², written so that one right class is worth exactly 1."""
    right, found, weights = _read(y_true, sets, classes, sample_weight)
    size = found.sum(axis=1)
    return _mean(np.where(right, 1 / size + reward * (size - 1) / size**2, 0.0), weights)


def set_accuracy(
    y_true: ArrayLike, sets: ArrayLike, *, classes: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """The share of rows whose set has the true class. From 0 to 1, more is better; sets of all classes reach 1."""
    right, _, weights = _read(y_true, sets, classes, sample_weight)
    return _mean(right, weights)


def single_accuracy(
    y_true: ArrayLike, sets: ArrayLike, *, classes: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """The accuracy on the rows whose set has one class. From 0 to 1, more is better.

    NaN, with scikit-learn's ``UndefinedMetricWarning``, where there is no such row.
    """
    right, found, weights = _read(y_true, sets, classes, sample_weight)
    single = found.sum(axis=1) == 1
    if not weights[single].any():
        warnings.warn("single_accuracy is not defined: no set has a single class", UndefinedMetricWarning, stacklevel=2)
        return float("nan")
    return _mean(right[single], weights[single])


def determinacy(
    y_true: ArrayLike | None,
    sets: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """The share of rows whose set has one class. From 0 to 1; more says more, which is better only if it is right.

    `y_true` and `classes` are taken, and checked, for the sake of one signature; both may be None.
    """
    found, weights = _read_sizes(y_true, sets, classes, sample_weight)
    return _mean(found.sum(axis=1) == 1, weights)


def mean_set_size(
    y_true: ArrayLike | None,
    sets: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """The mean number of classes in a set. From 1 to n_classes; less says more, which is better only if it is right.

    `y_true` and `classes` are taken, and checked, for the sake of one signature; both may be None.
    """
    found, weights = _read_sizes(y_true, sets, classes, sample_weight)
    return _mean(found.sum(axis=1), weights)


# -- scorers


@dataclass(frozen=True)
class SetScorer:
    """A metric of sets as a scorer: ``scorer(estimator, X, y)``. Made by :func:`make_set_scorer`."""

    metric: Callable[..., float]
    greater_is_better: bool = True
    options: Mapping[str, Any] = field(default_factory=dict)
    weight_request: bool | str | None = None

    def __call__(self, estimator: Any, X: Any, y_true: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        sets, classes = _predicted(estimator, X)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        score = self.metric(y_true, sets, classes=classes, **weights, **self.options)
        return score if self.greater_is_better else -score

    def set_score_request(self, *, sample_weight: bool | str | None) -> SetScorer:
        """This scorer with a request for weights (yes, no, or a name) for scikit-learn's metadata routing."""
        return replace(self, weight_request=sample_weight)

    def get_metadata_routing(self) -> MetadataRequest:
        """What this scorer requests."""
        request = MetadataRequest(owner=self)
        request.score.add_request(param="sample_weight", alias=self.weight_request)
        return request

    def __repr__(self) -> str:
        name = getattr(self.metric, "__name__", repr(self.metric))
        sign = "" if self.greater_is_better else ", greater_is_better=False"
        return f"make_set_scorer({name}{sign}{''.join(f', {key}={value!r}' for key, value in self.options.items())})"


def make_set_scorer(metric: Callable[..., float], *, greater_is_better: bool = True, **options: Any) -> SetScorer:
    """A scorer of a metric of sets, as scikit-learn's ``make_scorer`` makes one of a metric of labels.

    It calls the estimator's `predict_set` and reads its `classes_`; in a pipeline, after a grid search, those of the
    estimator that is inside.

    Parameters
    ----------
    metric : callable
        ``metric(y_true, sets, *, classes, **options)``, with `sample_weight` too if that is to be passed.
    greater_is_better : bool
        False: the scorer changes the sign, so that more is better of every score.
    options
        Passed to the metric.
    """
    if not callable(metric):
        raise TypeError(f"metric is {metric!r}, must be a function such as hedgerow.metrics.u65_score")
    return SetScorer(metric, greater_is_better, options)


def _predicted(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Sets and classes of an estimator, or of the one inside a pipeline or a search."""
    inside = estimator
    while not hasattr(inside, "predict_set"):
        if isinstance(inside, Pipeline) and len(inside) > 1:
            X, inside = inside[:-1].transform(X), inside[-1]
        elif hasattr(inside, "best_estimator_"):
            inside = inside.best_estimator_
        else:
            raise AttributeError(
                f"{type(inside).__name__} has no predict_set, which this scorer calls: score a classifier that answers "
                "with sets"
            )
    return inside.predict_set(X), inside.classes_


u65_scorer = make_set_scorer(u65_score)
u80_scorer = make_set_scorer(u80_score)
set_accuracy_scorer = make_set_scorer(set_accuracy)
single_accuracy_scorer = make_set_scorer(single_accuracy)
determinacy_scorer = make_set_scorer(determinacy)
neg_mean_set_size_scorer = make_set_scorer(mean_set_size, greater_is_better=False)


# -- reading


def _read(y_true: Any, sets: Any, classes: Any, sample_weight: Any) -> tuple[Bools, Bools, Floats]:
    """Whether each set has the true class, the sets, and the weights; or a clear error."""
    found, weights = _read_sets(sets, sample_weight)
    numbers = _class_numbers(y_true, classes, found.shape)
    right: Bools = found[np.arange(len(found)), numbers]
    return right, found, weights


def _read_sizes(y_true: Any, sets: Any, classes: Any, sample_weight: Any) -> tuple[Bools, Floats]:
    found, weights = _read_sets(sets, sample_weight)
    if y_true is not None and classes is not None:
        _class_numbers(y_true, classes, found.shape)
    return found, weights


def _read_sets(sets: Any, sample_weight: Any) -> tuple[Bools, Floats]:
    found = np.asarray(sets)
    if found.ndim != 2 or not len(found):
        raise ValueError(f"sets have shape {found.shape}, must have shape (n, n_classes) with at least one row")
    if found.dtype != np.bool_:
        raise ValueError(
            f"sets are {found.dtype}, must be bool, as predict_set returns: is each class in the set or not?"
        )
    empty = ~found.any(axis=1)
    if empty.any():
        raise ValueError(f"sets[{int(np.argmax(empty))}] is empty: a set must have at least one class")
    if sample_weight is None:
        return found, np.ones(len(found))
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (len(found),):
        raise ValueError(f"sample_weight has shape {weights.shape}, must have a weight for each of {len(found)} rows")
    if not (np.isfinite(weights) & (weights >= 0)).all() or not weights.any():
        raise ValueError("sample_weight must be finite, not negative and not all zero")
    return found, weights


def _class_numbers(y_true: Any, classes: Any, shape: tuple[int, ...]) -> NDArray[np.intp]:
    """The column of each label, (n,)."""
    labels = np.asarray(classes)
    if labels.shape != (shape[1],):
        raise ValueError(f"classes have shape {labels.shape}, must have a label for each of {shape[1]} columns of sets")
    number: dict[Any, int] = {}
    for i, label in enumerate(labels.tolist()):
        if number.setdefault(label, i) != i:
            raise ValueError(f"classes has {label!r} more than once: each column of sets is another class")
    truth = np.asarray(y_true)
    if truth.shape != shape[:1]:
        raise ValueError(f"y_true has shape {truth.shape}, must have a label for each of {shape[0]} rows of sets")
    given = truth.tolist()
    numbers = np.array([number.get(label, -1) for label in given], dtype=np.intp)
    if (numbers < 0).any():
        strange = given[int(np.argmax(numbers < 0))]
        raise ValueError(f"y_true has {strange!r}, which is not in classes: {', '.join(map(repr, number))}")
    return numbers


def _mean(values: NDArray[Any], weights: Floats) -> float:
    return float(np.average(values, weights=weights))
