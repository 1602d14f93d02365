"""Metrics of set-valued predictions, and the cost of predictions.

Every metric of sets takes ``(y_true, sets, *, classes, sample_weight=None)``: labels (n,), bool (n, n_classes) without
an empty row, as `predict_set` returns, and the labels of the columns. The scorers work with ``cross_validate`` and
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

from hedgerow.credal.utility import REWARDS, utilities
from hedgerow.forest.counts import as_numbers

__all__ = [
    *("determinacy", "mean_set_size", "set_accuracy", "single_accuracy", "u65_score", "u80_score"),
    *("check_cost_matrix", "total_cost"),
    *("SetScorer", "make_set_scorer"),
    *("determinacy_scorer", "neg_mean_set_size_scorer", "set_accuracy_scorer", "single_accuracy_scorer"),
    *("u65_scorer", "u80_scorer"),
]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def u65_score(
    y_true: ArrayLike, sets: ArrayLike, *, classes: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Mean of 1.6/m − 0.6/m² over sets of m classes that contain the true class; other sets count 0.

    From 0 to 1, higher is better. A correct single class scores 1; a correct set of two scores 0.65, more than the 0.5
    of a guess between them, which rewards caution (Zaffalon, Corani and Mauá, 2012). If all sets have one class, it is
    the accuracy.
    """
    return _utility(y_true, sets, classes, sample_weight, REWARDS["u65"])


def u80_score(
    y_true: ArrayLike, sets: ArrayLike, *, classes: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Mean of 2.2/m − 1.2/m² over sets of m classes that contain the true class; other sets count 0.

    From 0 to 1, higher is better. Like :func:`u65_score` with more reward for caution: a correct set of two scores 0.8.
    """
    return _utility(y_true, sets, classes, sample_weight, REWARDS["u80"])


def _utility(y_true: Any, sets: Any, classes: Any, sample_weight: Any, reward: float) -> float:
    """Mean utility, given the reward of a correct set of two."""
    correct, members, weights = _read(y_true, sets, classes, sample_weight)
    return _mean(utilities(correct, members.sum(axis=1), reward), weights)


def set_accuracy(
    y_true: ArrayLike, sets: ArrayLike, *, classes: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Share of sets that contain the true class. From 0 to 1, higher is better; sets of all classes score 1."""
    correct, _, weights = _read(y_true, sets, classes, sample_weight)
    return _mean(correct, weights)


def single_accuracy(
    y_true: ArrayLike, sets: ArrayLike, *, classes: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Accuracy on the rows whose set has one class. From 0 to 1, higher is better.

    NaN, with scikit-learn's ``UndefinedMetricWarning``, if there is no such row.
    """
    correct, members, weights = _read(y_true, sets, classes, sample_weight)
    single = members.sum(axis=1) == 1
    if not weights[single].any():
        warnings.warn("single_accuracy is not defined: no set has a single class", UndefinedMetricWarning, stacklevel=2)
        return float("nan")
    return _mean(correct[single], weights[single])


def determinacy(
    y_true: ArrayLike | None,
    sets: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of sets with one class, from 0 to 1; higher is more informative, whether correct or not.

    `y_true` and `classes` are checked but not used; both may be None.
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
    """Mean number of classes in a set, from 1 to n_classes; lower is more informative, whether correct or not.

    `y_true` and `classes` are checked but not used; both may be None.
    """
    found, weights = _read_sizes(y_true, sets, classes, sample_weight)
    return _mean(found.sum(axis=1), weights)


# -- costs


def total_cost(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    cost_matrix: ArrayLike,
    classes: ArrayLike,
    measurements: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Total cost of predictions: Σ cost_matrix[true, predicted], plus the costs of measurements.

    Lower is better. Divide by the number of rows for the mean cost.

    Parameters
    ----------
    cost_matrix : (n_classes, n_classes)
        True × predicted, 0 on the diagonal, classes in the order of `classes`.
    measurements : (n,), optional
        Measurement cost of each row, as a tree's `cost_of` returns.

    Examples
    --------
    >>> costs = [[0, 20], [1, 0]]  # a missed illness costs 20, a false alarm 1
    >>> total_cost(["ill", "well", "well"], ["well", "ill", "well"], cost_matrix=costs, classes=["ill", "well"])
    21.0
    """
    shape = (np.asarray(y_true).shape[0] if np.ndim(y_true) else 0, len(np.asarray(classes)))
    costs = check_cost_matrix(cost_matrix, shape[1], "classes")
    spent = costs[_class_numbers(y_true, classes, shape), _class_numbers(y_pred, classes, shape, "y_pred")]
    if measurements is not None:
        extra = np.asarray(measurements, dtype=np.float64)
        if extra.shape != shape[:1] or not (np.isfinite(extra) & (extra >= 0)).all():
            raise ValueError(f"measurements must hold a cost that is not negative for each of {shape[0]} rows")
        spent = spent + extra
    return float((spent * _read_weights(sample_weight, shape[0])).sum())


def check_cost_matrix(cost_matrix: Any, n_classes: int, of_what: str) -> Floats:
    """Return a cost matrix, true × predicted: finite, not negative, 0 on the diagonal but not everywhere."""
    costs = as_numbers("cost_matrix", cost_matrix)
    if costs.shape != (n_classes, n_classes):
        raise ValueError(
            f"cost_matrix has shape {costs.shape}, must be square with a row and a column for each of {n_classes} "
            f"{of_what}"
        )
    if not np.isfinite(costs).all() or (costs < 0).any():
        i, j = divmod(int(np.argmin(np.isfinite(costs) & (costs >= 0))), n_classes)
        raise ValueError(f"cost_matrix[{i}, {j}] is {costs[i, j]}: costs must be finite and not negative")
    if costs.diagonal().any():
        i = int(np.argmax(costs.diagonal() != 0))
        raise ValueError(f"cost_matrix[{i}, {i}] is {costs[i, i]}: a right answer must cost 0")
    if not costs.any():
        raise ValueError("cost_matrix is 0 everywhere: give at least one mistake a cost")
    return costs


# -- scorers


@dataclass(frozen=True)
class SetScorer:
    """Scorer of set-valued predictions, ``scorer(estimator, X, y)``; see :func:`make_set_scorer`."""

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
        """Return this scorer with a request for weights (True, False or a name) for metadata routing."""
        return replace(self, weight_request=sample_weight)

    def get_metadata_routing(self) -> MetadataRequest:
        """Return the metadata requests of this scorer."""
        request = MetadataRequest(owner=self)
        request.score.add_request(param="sample_weight", alias=self.weight_request)
        return request

    def __repr__(self) -> str:
        name = getattr(self.metric, "__name__", repr(self.metric))
        sign = "" if self.greater_is_better else ", greater_is_better=False"
        return f"make_set_scorer({name}{sign}{''.join(f', {key}={value!r}' for key, value in self.options.items())})"


def make_set_scorer(metric: Callable[..., float], *, greater_is_better: bool = True, **options: Any) -> SetScorer:
    """Make a scorer from a metric of sets, as scikit-learn's ``make_scorer`` does from a metric of labels.

    It calls the estimator's `predict_set` and reads its `classes_`; for a pipeline or a search, those of the estimator
    inside.

    Parameters
    ----------
    metric : callable
        ``metric(y_true, sets, *, classes, **options)``, also `sample_weight` if it is passed.
    greater_is_better : bool
        False: the scorer flips the sign, so that higher scores are better.
    options
        Passed to the metric.
    """
    if not callable(metric):
        raise TypeError(f"metric is {metric!r}, must be a function such as hedgerow.metrics.u65_score")
    return SetScorer(metric, greater_is_better, options)


def _predicted(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Return sets and classes of an estimator, or of the one inside a pipeline or a search."""
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
    """Return whether each set contains the true class, the sets, and the weights."""
    found, weights = _read_sets(sets, sample_weight)
    numbers = _class_numbers(y_true, classes, found.shape)
    correct: Bools = found[np.arange(len(found)), numbers]
    return correct, found, weights


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
    return found, _read_weights(sample_weight, len(found))


def _read_weights(sample_weight: Any, n_rows: int) -> Floats:
    if sample_weight is None:
        return np.ones(n_rows)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight has shape {weights.shape}, must have a weight for each of {n_rows} rows")
    if not (np.isfinite(weights) & (weights >= 0)).all() or not weights.any():
        raise ValueError("sample_weight must be finite, not negative and not all zero")
    return weights


def _class_numbers(given: Any, classes: Any, shape: tuple[int, ...], name: str = "y_true") -> NDArray[np.intp]:
    """The column of each label, (n,)."""
    labels = np.asarray(classes)
    if labels.shape != (shape[1],):
        raise ValueError(f"classes have shape {labels.shape}, must have a label for each of {shape[1]} columns of sets")
    number: dict[Any, int] = {}
    for i, label in enumerate(labels.tolist()):
        if number.setdefault(label, i) != i:
            raise ValueError(f"classes has {label!r} more than once: each column of sets is another class")
    found = np.asarray(given)
    if found.shape != shape[:1]:
        raise ValueError(f"{name} has shape {found.shape}, must have a label for each of {shape[0]} rows")
    plain = found.tolist()
    numbers = np.array([number.get(label, -1) for label in plain], dtype=np.intp)
    if (numbers < 0).any():
        unknown = plain[int(np.argmax(numbers < 0))]
        raise ValueError(f"{name} has {unknown!r}, which is not in classes: {', '.join(map(repr, number))}")
    return numbers


def _mean(values: NDArray[Any], weights: Floats) -> float:
    return float(np.average(values, weights=weights))
