"""Arguments of metrics, checked: labels, sets, weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Bools, Floats

__all__ = ["class_numbers", "least_of_groups", "mean", "read_memberships", "read_sets", "read_sizes", "read_weights"]


def read_memberships(
    y_true: Any, sets: Any, classes: Any, sample_weight: Any, *, may_be_empty: bool = False
) -> tuple[Bools, Bools, Floats]:
    """Return whether each set contains the true class, the sets, and the weights."""
    found, weights = read_sets(sets, sample_weight, may_be_empty=may_be_empty)
    numbers = class_numbers(y_true, classes, found.shape)
    correct: Bools = found[np.arange(len(found)), numbers]
    return correct, found, weights


def read_sizes(y_true: Any, sets: Any, classes: Any, sample_weight: Any) -> tuple[Bools, Floats]:
    """Return the sets and the weights; labels are checked if they are given."""
    found, weights = read_sets(sets, sample_weight)
    if y_true is not None and classes is not None:
        class_numbers(y_true, classes, found.shape)
    return found, weights


def read_sets(sets: Any, sample_weight: Any, *, may_be_empty: bool = False) -> tuple[Bools, Floats]:
    """Return sets, which must have a class unless they may be empty, and the weights."""
    found = np.asarray(sets)
    if found.ndim != 2 or not len(found):
        raise ValueError(f"sets have shape {found.shape}, must have shape (n, n_classes) with at least one row")
    if found.dtype != np.bool_:
        raise ValueError(
            f"sets are {found.dtype}, must be bool, as predict_set returns: is each class in the set or not?"
        )
    empty = ~found.any(axis=1)
    if empty.any() and not may_be_empty:
        raise ValueError(f"sets[{int(np.argmax(empty))}] is empty: a set must have at least one class")
    return found, read_weights(sample_weight, len(found))


def read_weights(sample_weight: Any, n_rows: int) -> Floats:
    """Return the weight of each row; 1 for None."""
    if sample_weight is None:
        return np.ones(n_rows)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight has shape {weights.shape}, must have a weight for each of {n_rows} rows")
    if not (np.isfinite(weights) & (weights >= 0)).all() or not weights.any():
        raise ValueError("sample_weight must be finite, not negative and not all zero")
    return weights


def class_numbers(given: Any, classes: Any, shape: tuple[int, ...], name: str = "y_true") -> NDArray[np.intp]:
    """Return the column of each label, (n,)."""
    labels = np.asarray(classes)
    if labels.shape != (shape[1],):
        raise ValueError(f"classes have shape {labels.shape}, must have a label for each of {shape[1]} columns")
    number: dict[Any, int] = {}
    for i, label in enumerate(labels.tolist()):
        if number.setdefault(label, i) != i:
            raise ValueError(f"classes has {label!r} more than once: each column is another class")
    found = np.asarray(given)
    if found.shape != shape[:1]:
        raise ValueError(f"{name} has shape {found.shape}, must have a label for each of {shape[0]} rows")
    plain = found.tolist()
    numbers = np.array([number.get(label, -1) for label in plain], dtype=np.intp)
    if (numbers < 0).any():
        unknown = plain[int(np.argmax(numbers < 0))]
        raise ValueError(f"{name} has {unknown!r}, which is not in classes: {', '.join(map(repr, number))}")
    return numbers


def mean(values: NDArray[Any], weights: Floats) -> float:
    """Return the weighted mean as a Python float."""
    return float(np.average(values, weights=weights))


def least_of_groups(values: NDArray[Any], weights: Floats, groups: NDArray[np.intp]) -> float:
    """Return the least weighted mean of the groups that have any weight."""
    total = np.bincount(groups, weights)
    present = total > 0
    return float((np.bincount(groups, weights * values)[present] / total[present]).min())
