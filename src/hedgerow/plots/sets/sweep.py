"""Cautious classifiers under several values of s."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hedgerow.credal.leaves import check_s
from hedgerow.plots.requirements import INSIDE, check_estimator

__all__ = ["DEFAULT_S", "check_cautious", "check_sets", "read_s", "sweep_s"]

DEFAULT_S: tuple[float, ...] = (0.1, 0.3, 1, 2, 3, 5, 10, 30)


def check_cautious(estimator: Any, methods: Sequence[str], parameters: Sequence[str] = ()) -> None:
    """Raise an error unless the estimator is fitted and has these methods and parameters."""
    hint = f"pass a classifier that predicts sets, such as CautiousForestClassifier(){INSIDE}"
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
