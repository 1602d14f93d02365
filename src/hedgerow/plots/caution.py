"""What pictures of cautious classifiers share: a check of the estimator, and copies of it that are more or less so."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hedgerow.credal.leaves import check_s

__all__ = ["USUAL_S", "at_each_s", "check_cautious", "check_sets", "read_s"]

USUAL_S: tuple[float, ...] = (0.1, 0.3, 1, 2, 3, 5, 10, 30)


def check_cautious(estimator: Any, verbs: Sequence[str], *, with_s: bool = False) -> None:
    """A fitted estimator that has these verbs, and if need be the parameter s, or a clear error."""
    ready = not isinstance(estimator, type)
    absent = [name for name in verbs if not (ready and hasattr(estimator, name))]
    parameters = estimator.get_params(deep=False) if ready and hasattr(estimator, "get_params") else {}
    absent += ["parameter s"] if with_s and "s" not in parameters else []
    if absent:
        raise ValueError(
            f"estimator is {estimator!r}, which has no {' and no '.join(absent)}: take one that answers with sets of "
            "classes, such as CautiousForestClassifier(); of a pipeline or a search, the classifier inside"
        )
    check_is_fitted(estimator, "classes_")


def read_s(s: Iterable[float]) -> list[float]:
    """At least one value of s, in the order given, or a clear error."""
    if isinstance(s, str) or not isinstance(s, Iterable):
        raise ValueError(f"s is {s!r}, must be several positive numbers, such as (1, 3, 5)")
    values = [check_s(value) for value in s]
    if not values:
        raise ValueError("s is empty, must have at least one positive number")
    return values


def at_each_s(estimator: Any, s: Sequence[float]) -> list[Any]:
    """The fitted estimator with each s. They are copies, as the one given is not to change; all share the trees."""
    return [copy.copy(estimator).set_params(s=value) for value in s]


def check_sets(sets: Any, s: Sequence[float]) -> NDArray[Any]:
    """Sets of each s, (n_s, n, n_classes), or a clear error; the metrics check the rest."""
    found = np.asarray(sets)
    if found.ndim != 3 or len(found) != len(s):
        raise ValueError(f"sets have shape {found.shape}, must have shape ({len(s)}, n, n_classes): sets for each s")
    return found
