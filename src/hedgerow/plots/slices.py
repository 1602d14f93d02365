"""Rows that differ in one or two columns, the others being held where most rows are; for trees of soft regions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hedgerow._params import is_whole
from hedgerow.data.columns import Kind
from hedgerow.measured.regions import Regions, region_membership

__all__ = [
    "check_measured",
    "column_number",
    "output_number",
    "output_values",
    "soft_shares",
    "typical_row",
    "usual_range",
]

Floats = NDArray[np.float64]


def check_measured(estimator: Any) -> None:
    """A clear error unless it is a fitted tree of soft regions."""
    check_is_fitted(estimator)
    if not hasattr(estimator, "laws_") or not hasattr(estimator, "membership"):
        raise TypeError(
            f"estimator is {type(estimator).__name__}, must be a MeasuredTreeRegressor or a MeasuredTreeClassifier"
        )


def column_number(estimator: Any, feature: Any) -> int:
    """The position of a numeric column that is named or numbered."""
    names = estimator.schema_.names
    j = names.index(feature) if feature in names else feature
    if not is_whole(j) or not 0 <= j < len(names):
        raise ValueError(f"features has {feature!r}, must be one of {', '.join(map(repr, names[:10]))}, or a number")
    if estimator.schema_.columns[j].kind == Kind.NOMINAL:
        raise ValueError(f"features has {feature!r}, which is nominal: choose a column of numbers")
    return int(j)


def output_number(estimator: Any, class_label: Any) -> int:
    """Which of the values to draw: the only one, or that of a class; by default of the last."""
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        return 0
    found = np.flatnonzero(classes == class_label) if class_label is not None else [len(classes) - 1]
    if not len(found):
        raise ValueError(f"class_label is {class_label!r}, must be one of {classes.tolist()}")
    return int(found[0])


def output_values(estimator: Any, output: int) -> Floats:
    """The value of each region, (k,)."""
    values: Floats = estimator.values_.reshape(estimator.forest_.n_leaves, -1)[:, output]
    return values


def typical_row(estimator: Any, X: Any) -> Floats:
    """The median of each column of numbers, the most frequent category of the others; NaN if all are missing."""
    rows = estimator.schema_.read(X, estimator=estimator)
    row = np.full(rows.shape[1], np.nan)
    for j, column in enumerate(estimator.schema_.columns):
        known = rows[~np.isnan(rows[:, j]), j]
        if len(known):
            nominal = column.kind == Kind.NOMINAL
            row[j] = np.bincount(known.astype(np.intp)).argmax() if nominal else np.median(known)
    return row


def usual_range(estimator: Any, X: Any, feature: int) -> tuple[float, float]:
    """The least and the largest value of a column."""
    column = estimator.schema_.read(X, estimator=estimator)[:, feature]
    if np.isnan(column).all():
        raise ValueError(f"column {estimator.schema_.names[feature]!r} of X has no values to draw")
    return float(np.nanmin(column)), float(np.nanmax(column))


def soft_shares(estimator: Any, rows: Floats) -> tuple[Regions, Floats]:
    """The regions, and the membership of rows that are read already, with the usual errors."""
    regions = Regions.of_forest(estimator.forest_, estimator.schema_.n_categories)
    cells = estimator.error_sizes_.of_rows(rows, estimator.schema_.names)
    return regions, region_membership(regions, estimator.laws_, rows, cells)
