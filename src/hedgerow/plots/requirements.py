"""What a Display requires of an estimator, and answers that several Displays draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.estimators.contract import offers
from hedgerow.folds.leaf_probability import Laplace, uniform
from hedgerow.plots.display import Floats
from hedgerow.walk import LeafTable, fold

__all__ = ["INSIDE", "check_estimator", "class_position", "laplace_frequency"]

INSIDE = "; from a pipeline or a search, pass the classifier inside"
"""End of a hint: wrappers of scikit-learn are refused."""


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


def laplace_frequency(estimator: Any, rows: Floats, target: int) -> Floats:
    """Compute the Laplace-corrected frequency of a class in the leaves that encoded rows reach."""
    forest = estimator.forest_
    table = LeafTable.of(Laplace()(forest.answer_counts(), uniform(forest.n_classes)))
    return fold(forest, rows, [table])[0][:, target]
