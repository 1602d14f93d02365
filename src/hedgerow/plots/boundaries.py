"""What pictures of boundary classifiers share: checks of the estimator, the class and the columns, and rows to draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hedgerow.boundary.decision_boundary import DecisionBoundary
from hedgerow.data.columns import Kind
from hedgerow.folds.leaf_probability import Laplace, uniform
from hedgerow.walk import LeafTable, fold

__all__ = [
    "boundary_of",
    "check_boundary",
    "class_name",
    "class_position",
    "column_position",
    "laplace_of",
    "rows_around",
]

Floats = NDArray[np.float64]


def check_boundary(estimator: Any) -> None:
    """A fitted boundary classifier, or a clear error."""
    if isinstance(estimator, type) or not hasattr(estimator, "algebraic_distance"):
        raise ValueError(
            f"estimator is {estimator!r}, which knows no distance to a boundary: take a BoundaryClassifier, as "
            "BoundaryClassifier.from_fitted(tree, X, y); of a pipeline or a search, the classifier inside"
        )
    check_is_fitted(estimator, "estimate_")


def class_position(estimator: Any, label: Any) -> int:
    """Where a class stands in `classes_`; None is the last, of two the positive one."""
    if label is None:
        return len(estimator.classes_) - 1
    found = np.flatnonzero(estimator.classes_ == label)
    if not len(found):
        raise ValueError(f"class_label is {label!r}, must be one of {estimator.classes_.tolist()}")
    return int(found[0])


def class_name(estimator: Any, position: int) -> str:
    return str(estimator.classes_[position])


def column_position(estimator: Any, column: Any) -> int:
    """Where a column of numbers or ranks stands, by its name or its number."""
    names: tuple[str, ...] = estimator.schema_.names
    if isinstance(column, str) and column in names:
        position = names.index(column)
    elif isinstance(column, int | np.integer) and not isinstance(column, bool) and 0 <= column < len(names):
        position = int(column)
    else:
        raise ValueError(f"{column!r} is no column: give a name or a number, of {', '.join(names[:10])}")
    if estimator.schema_.columns[position].kind == Kind.NOMINAL:
        raise ValueError(f"column {names[position]!r} is nominal: its categories have no order to be drawn in")
    return position


def rows_around(rows: Floats, columns: Sequence[int], values: Floats) -> Floats:
    """Rows with these values in these columns and, in the others, the middle one of those that are known."""
    middle = np.full(rows.shape[1], np.nan)
    for j, column in enumerate(rows.T):
        known = np.sort(column[~np.isnan(column)])
        middle[j] = known[len(known) // 2] if len(known) else np.nan
    around = np.tile(middle, (len(values), 1))
    around[:, list(columns)] = values
    return around


def boundary_of(estimator: Any) -> DecisionBoundary:
    boundary: DecisionBoundary = estimator._boundary()
    return boundary


def laplace_of(estimator: Any, rows: Floats, position: int) -> Floats:
    """The Laplace frequency of a class in the leaves that rows reach."""
    forest = estimator.forest_
    table = LeafTable.of(Laplace()(forest.answer_counts(), uniform(forest.n_classes)))
    return fold(forest, rows, [table])[0][:, position]
