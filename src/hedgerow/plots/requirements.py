"""Checks of the estimators that Displays accept, and their answers to encoded rows."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hedgerow.credal.leaves import check_s
from hedgerow.estimators.contract import offers, respond_to_rows
from hedgerow.folds.leaf_probability import Laplace, uniform
from hedgerow.measured.regions import Regions, region_membership
from hedgerow.plots.display import Floats
from hedgerow.walk import LeafTable, fold

__all__ = [
    *("DEFAULT_S", "check_boundary", "check_cautious", "check_estimator", "check_measured", "check_sets", "check_tree"),
    *("class_position", "class_probability", "laplace_frequency"),
    *("read_s", "region_shares", "region_values", "sweep_s"),
]

_INSIDE = "; from a pipeline or a search, pass the classifier inside"


def check_estimator(estimator: Any, methods: Sequence[str], parameters: Sequence[str] = (), *, hint: str) -> None:
    """Raise ValueError with all methods and parameters that the estimator lacks, and the hint."""
    is_instance = not isinstance(estimator, type)
    found = estimator.get_params(deep=False) if is_instance and hasattr(estimator, "get_params") else {}
    absent = [name for name in methods if not offers(estimator, name)]
    absent += [f"parameter {name}" for name in parameters if name not in found]
    if absent:
        raise ValueError(f"estimator is {estimator!r}, which has no {' and no '.join(absent)}: {hint}")


def class_position(classes: NDArray[Any], label: Any) -> int:
    """Find a class in `classes_`; None is the last, the positive one of two."""
    if label is None:
        return len(classes) - 1
    found = np.flatnonzero(classes == label)
    if not len(found):
        raise ValueError(f"class_label is {label!r}, must be one of {classes.tolist()}")
    return int(found[0])


def check_tree(estimator: Any) -> None:
    """Raise an error unless the estimator is a fitted tree or forest that can be drawn."""
    hint = f"pass a tree or a forest of hedgerow, such as TreeClassifier(){_INSIDE}"
    check_estimator(estimator, ["to_svg"], hint=hint)
    check_is_fitted(estimator)


# Boundary classifiers.


def check_boundary(estimator: Any) -> None:
    """Raise an error unless the estimator is a fitted boundary classifier."""
    hint = f"pass a BoundaryClassifier, such as BoundaryClassifier.from_fitted(tree, X, y){_INSIDE}"
    check_estimator(estimator, ["algebraic_distance"], hint=hint)
    check_is_fitted(estimator)


def class_probability(estimator: Any, rows: Floats, target: int) -> Floats:
    """Compute the probability of a class for encoded rows."""
    probabilities: Floats = respond_to_rows(estimator, rows, ["predict_proba"])["predict_proba"]
    return probabilities[:, target]


def laplace_frequency(estimator: Any, rows: Floats, target: int) -> Floats:
    """Compute the Laplace-corrected frequency of a class in the leaves that encoded rows reach."""
    forest = estimator.forest_
    table = LeafTable.of(Laplace()(forest.answer_counts(), uniform(forest.n_classes)))
    return fold(forest, rows, [table])[0][:, target]


# Trees for measured inputs.


def check_measured(estimator: Any) -> None:
    """Raise an error unless the estimator is a fitted single tree for measured inputs."""
    check_is_fitted(estimator)
    if not hasattr(estimator, "laws_") or not hasattr(estimator, "membership"):
        raise TypeError(
            f"estimator is {type(estimator).__name__}, must be a MeasuredTreeRegressor or a MeasuredTreeClassifier"
        )


def region_values(estimator: Any, class_label: Any) -> tuple[Floats, str]:
    """Return the value of each region, (k,), and its name: the answer, or of a classifier the share of a class."""
    classes = getattr(estimator, "classes_", None)
    output = 0 if classes is None else class_position(classes, class_label)
    values: Floats = estimator.values_.reshape(estimator.forest_.n_leaves, -1)[:, output]
    return values, "answer" if classes is None else f"share of {classes[output]}"


def region_shares(estimator: Any, rows: Floats) -> Floats:
    """Compute the membership of encoded rows in each region, (n, k), with the errors that the tree was fitted for."""
    regions = Regions.of_forest(estimator.forest_, estimator.schema_.n_categories)
    errors = estimator.error_sizes_.of_rows(rows, estimator.schema_.names)
    return region_membership(regions, estimator.laws_, rows, errors)


# Cautious classifiers.

DEFAULT_S: tuple[float, ...] = (0.1, 0.3, 1, 2, 3, 5, 10, 30)


def check_cautious(estimator: Any, methods: Sequence[str], parameters: Sequence[str] = ()) -> None:
    """Raise an error unless the estimator is fitted and has these methods and parameters."""
    hint = f"pass a classifier that predicts sets, such as CautiousForestClassifier(){_INSIDE}"
    check_estimator(estimator, methods, parameters, hint=hint)
    check_is_fitted(estimator, "classes_")


def read_s(s: Iterable[float]) -> list[float]:
    """Check several values of s, at least one."""
    if isinstance(s, str) or not isinstance(s, Iterable):
        raise ValueError(f"s is {s!r}, must be several positive numbers, such as (1, 3, 5)")
    values = [check_s(value) for value in s]
    if not values:
        raise ValueError("s is empty, must have at least one positive number")
    return values


def sweep_s(estimator: Any, s: Sequence[float]) -> Iterator[Any]:
    """Yield copies of a fitted estimator with each s; they share its trees."""
    return (copy.copy(estimator).set_params(s=value) for value in s)


def check_sets(sets: Any, s: Sequence[float]) -> NDArray[Any]:
    """Check the shape of sets for each s, (n_s, n, n_classes); the metrics check the rest."""
    found = np.asarray(sets)
    if found.ndim != 3 or len(found) != len(s):
        raise ValueError(f"sets have shape {found.shape}, must have shape ({len(s)}, n, n_classes): sets for each s")
    return found
