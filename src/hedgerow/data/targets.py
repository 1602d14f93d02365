"""Validation of labels, targets and weights in `fit`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets

from hedgerow._core import text_codes
from hedgerow._exact import round_shares
from hedgerow.data.sources import LARGEST_EXACT_INTEGER

__all__ = [
    *("WEIGHT_ROUNDING", "Labels", "check_weights", "class_weights_of", "first_masked", "read_labels", "read_targets"),
    *("read_weights", "weight_unit"),
]


# Arrays of these kinds need no conversion; scikit-learn's checks take longer than numbering the labels.
_LABEL_KINDS = frozenset("biufOUSmM")

# Sums of squares of numbers in this range neither overflow nor underflow.
_SMALLEST, _LARGEST = 1e-100, 1e100

WEIGHT_ROUNDING = 1e-9  # relative, of a sum of weights


@dataclass(frozen=True)
class Labels:
    """`classes[codes]` is y."""

    classes: NDArray[Any]
    codes: NDArray[np.int32]

    def weighted(self, sample_weight: Any, X: Any, class_weight: Any, *, exact: bool = False) -> NDArray[np.float64]:
        """Weights as by :func:`read_weights`; y is decoded only if there are class weights."""
        y = None if class_weight is None else self.classes[self.codes]
        return read_weights(sample_weight, X, class_weight, y, exact=exact)


def read_labels(y: Any, X: Any, classes: Any = None) -> Labels:
    """Encode class labels of any sortable type; `classes` lists all possible ones, by default those in y."""
    y = _one_column(y)
    _check_length(X, y)
    text = _text_labels(y)
    if text is None:
        _check_present(y)
        present, numbers = np.unique(y, return_inverse=True)
        codes = numbers.astype(np.int32)
        # It accepts integers unless nearly every row has its own, and takes as long as growing a few trees.
        if y.dtype.kind not in "biu" or len(present) > len(y) // 2:
            check_classification_targets(y)
    else:
        present, codes = text.classes, text.codes
    if classes is None:
        return Labels(present, codes)
    known = np.unique(_one_column(classes))
    if (new := np.setdiff1d(present, known)).size:
        raise ValueError(f"y has classes {new.tolist()}, which are not among {known.tolist()}: fit again with all")
    return Labels(known, np.searchsorted(known, present)[codes].astype(np.int32))


def _text_labels(y: NDArray[Any]) -> Labels | None:
    """Encode labels that are all strings by hashing, many times faster than sorting; None for other labels."""
    if y.dtype.kind not in "OU":
        return None
    if not len(y) or (found := text_codes(y.tolist())) is None:
        return None
    distinct, codes = found
    return Labels(np.array(distinct, dtype=y.dtype), codes)


def _check_present(y: NDArray[Any]) -> None:
    missing = _is_missing(y)
    if missing.any():
        row = int(np.argmax(missing))
        raise ValueError(f"Input y contains NaN: row {row} has no label; drop the rows whose class is not known")
    if y.dtype.kind == "f" and np.isinf(y).any():
        row = int(np.argmax(np.isinf(y)))
        raise ValueError(f"Input y contains infinity: the label of row {row} is {y[row]}; labels must be finite")


def _is_missing(y: NDArray[Any]) -> NDArray[np.bool_]:
    if y.dtype.kind in "mMf":
        missing: NDArray[np.bool_] = np.isnan(y)  # NaT too
        return missing
    if y.dtype.kind != "O":
        return np.zeros(len(y), dtype=bool)
    # NaN != NaN, and pandas.NA compares to NA.
    same = (value is not None and isinstance(value == value, bool | np.bool_) and bool(value == value) for value in y)
    return ~np.fromiter(same, dtype=bool, count=len(y))


def read_targets(y: Any, X: Any) -> NDArray[np.float64]:
    """Convert regression targets to finite float64 numbers."""
    column = _one_column(y)
    if (wrong := _first_without_number(column)) is not None:
        row, value = wrong
        raise ValueError(
            f"y has {value!r} in row {row}, and regression needs numbers: drop the row, or use a classifier for labels"
        )
    numbers = check_array(column, dtype=np.float64, ensure_2d=False, ensure_all_finite=False, input_name="y")
    if not np.isfinite(numbers).all():
        row = int(np.argmin(np.isfinite(numbers)))
        what = "NaN" if np.isnan(numbers[row]) else "infinity"
        raise ValueError(f"Input y contains {what}: row {row} is {numbers[row]}; drop it or give it a finite target")
    _check_length(X, numbers)
    spread = float(np.abs(numbers - numbers.mean()).max()) if np.abs(numbers).max() < _LARGEST else np.inf
    if spread > _LARGEST or 0 < spread < _SMALLEST:
        raise ValueError(
            f"Input y has numbers whose squares a float64 can't hold (they differ by up to {spread:.3g}): divide y by "
            "a constant first"
        )
    return np.ascontiguousarray(numbers)


def _one_column(y: Any) -> NDArray[Any]:
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None")
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in _LABEL_KINDS:
        return y
    if (row := first_masked(y)) is not None:
        raise ValueError(f"Input y is masked in row {row}: drop the rows whose target is not known")
    return column_or_1d(y, warn=True)


def _first_without_number(column: NDArray[Any]) -> tuple[int, Any] | None:
    """First row whose value float() does not take, with the value; None where there is none."""
    if column.dtype.kind not in "OUST":
        return None
    for row, value in enumerate(column.tolist()):
        if value is None:
            continue  # NaN, which has a message of its own
        try:
            float(value)
        except (TypeError, ValueError):
            return row, value
    return None


def _check_length(X: Any, y: NDArray[Any]) -> None:
    if not isinstance(X, np.ndarray) or len(X) != len(y):
        check_consistent_length(X, y)


def read_weights(
    sample_weight: Any, X: Any, class_weight: Any = None, y: Any = None, *, exact: bool = False
) -> NDArray[np.float64]:
    """One weight per row, times the class weights if there are any.

    Weights that are all whole numbers are counts: a row of weight 3 is three rows. Others are relative and rescaled to
    a mean of 1 over the rows of positive weight, so that only their ratios matter. Class weights that are not whole
    numbers keep the total. `exact`: weights are rounded to multiples of 2**-20, so that their sums are the same in
    any order of rows.
    """
    weight = check_weights(sample_weight, X)
    if sample_weight is not None:
        weight = weight / weight_unit(weight, exact=exact)
    if class_weight is None:
        return round_shares(weight) if exact else weight
    product = weight * class_weights_of(class_weight, y)
    if not np.isfinite(product).all() or (product < 0).any() or not product.any():
        raise ValueError(
            f"class_weight is {class_weight!r}: times the sample weights it must give finite weights that are not "
            "negative, and one that is positive"
        )
    _check_ratio("class_weight times sample_weight", product)
    product = product / weight_unit(product, total=_sum(weight[product > 0], exact), exact=exact)
    return round_shares(product) if exact else product


def check_weights(sample_weight: Any, X: Any) -> NDArray[np.float64]:
    """One weight per row as given: finite, not negative, not all zero; None means 1, a number applies to every row."""
    n_rows = len(X) if hasattr(X, "__len__") else X.shape[0]
    if sample_weight is None:
        return np.ones(n_rows)
    if isinstance(sample_weight, Real) or (isinstance(sample_weight, np.ndarray) and sample_weight.ndim == 0):
        sample_weight = np.full(n_rows, sample_weight)
    if (row := first_masked(sample_weight)) is not None:
        raise ValueError(f"sample_weight of row {row} is masked: give every row a weight; 0 leaves a row out")
    weight: NDArray[np.float64] = check_array(
        sample_weight, dtype=np.float64, order="C", ensure_2d=False, ensure_min_samples=0, input_name="sample_weight"
    )
    if weight.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {weight.ndim}D array")
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight.shape == {weight.shape}, expected {(n_rows,)}!")
    if (weight < 0).any():
        row = int(np.argmax(weight < 0))
        raise ValueError(f"sample_weight of row {row} is {weight[row]}: weights must not be negative")
    if not weight.any():
        raise ValueError("sample_weight is zero in every row: give at least one row a positive weight")
    if not _SMALLEST < weight.max() < _LARGEST:
        raise ValueError(
            f"sample_weight goes up to {weight.max():.3g}, whose square a float64 can't hold: divide all weights "
            "by a constant first"
        )
    _check_ratio("sample_weight", weight)
    return weight


def weight_unit(weight: NDArray[np.float64], total: float | None = None, *, exact: bool = False) -> float:
    """Return the weight of one row: 1 for counts, else what weights are divided by to add up to `total`.

    By default `total` is the number of rows of positive weight, and the unit their mean. Units that differ from 1 by
    rounding alone are 1, so that weights that were rescaled before keep their bits.
    """
    present = weight[weight > 0]
    if (present == np.floor(present)).all() and present.sum() <= LARGEST_EXACT_INTEGER:
        return 1.0
    if total is None and present.min() == present.max():
        return float(present[0])
    unit = _sum(present, exact) / (len(present) if total is None else total)
    return 1.0 if abs(unit - 1) < WEIGHT_ROUNDING else unit


def _sum(numbers: NDArray[np.float64], exact: bool) -> float:
    """Sum, rounded once if it is to be exact: the same in any order."""
    return fsum(numbers.tolist()) if exact else float(numbers.sum())


def first_masked(values: Any) -> int | None:
    """Return the row of the first masked entry; None without one."""
    if not isinstance(values, np.ma.MaskedArray) or not np.ma.is_masked(values):
        return None
    return int(np.argwhere(np.ma.getmaskarray(values))[0, 0])


def class_weights_of(class_weight: Any, y: Any) -> NDArray[np.float64]:
    """Class weight of each row."""
    if not isinstance(class_weight, Mapping) and not (isinstance(class_weight, str) and class_weight == "balanced"):
        raise ValueError(
            f"class_weight is {class_weight!r}, must be a dict of classes and their weights, 'balanced' or None"
        )
    for label, value in class_weight.items() if isinstance(class_weight, Mapping) else ():
        if not isinstance(value, Real):
            raise ValueError(f"class_weight of class {label!r} is {value!r}, must be a number")
    return compute_sample_weight(class_weight, y)


def _check_ratio(name: str, weight: NDArray[np.float64]) -> None:
    """Refuse weights so far apart that products of them, as in the gain of a split, underflow."""
    small = (weight > 0) & (weight < _SMALLEST * weight.max())
    if small.any():
        row = int(np.argmax(small))
        raise ValueError(
            f"{name} of row {row} is {weight[row]:.3g}, less than {_SMALLEST:g} of the largest, {weight.max():.3g}: "
            "use 0 to leave the row out, or a weight nearer to the others"
        )
