"""Sizes of errors: one σ for all columns, one per column, a column with the errors of another, or one σ per cell."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from hedgerow._params import RowError, check_number, is_number, is_whole
from hedgerow._rebuild import reduce_to_constructor
from hedgerow._registry import register
from hedgerow.data.columns import Kind
from hedgerow.data.table import Schema, unmask

__all__ = ["ErrorSize", "ErrorSizes", "RelativeError", "column_position", "read_cells", "read_sigma"]

Floats = NDArray[np.float64]

_LARGEST = 1e100  # its square is far from overflow


class ErrorSize(ABC):
    """Abstract strategy: the size of an error, from the value that was measured.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.measured import ErrorSize
    >>> class CountingError(ErrorSize):
    ...     def of_values(self, x):
    ...         return np.sqrt(np.maximum(x, 1.0))  # Poisson
    >>> CountingError().of_values(np.array([4.0, 100.0]))
    array([ 2., 10.])
    """

    @abstractmethod
    def of_values(self, x: Floats) -> Floats:
        """σ of each value, (n,).

        Parameters
        ----------
        x : array of shape (n,)
            Known values of a column.

        Returns
        -------
        ndarray of shape (n,)
            Standard deviations, not negative.
        """


@partial(register, name="hedgerow.measured.RelativeError")
@dataclass(frozen=True)
class RelativeError(ErrorSize):
    """Error in proportion to the value: σ² = (fraction·x)² + least².

    Parameters
    ----------
    fraction : float
        Relative standard deviation: 0.05 is 5 %.
    least : float, default=0.0
        Standard deviation of a value of 0, in the unit of the column.

    Raises
    ------
    ValueError
        If a number is negative.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.measured import RelativeError
    >>> RelativeError(0.05, least=0.1).of_values(np.array([0.0, 100.0])).round(2)  # 5 %, and at least 0.1
    array([0.1, 5. ])
    """

    fraction: float
    least: float = 0.0

    def __post_init__(self) -> None:
        check_number("RelativeError: fraction", self.fraction, closed="left")
        check_number("RelativeError: least", self.least, closed="left")

    def of_values(self, x: Floats) -> Floats:
        sizes: Floats = np.hypot(self.fraction * x, self.least)
        return sizes


@dataclass(frozen=True, eq=False)
class ErrorSizes:
    """σ of each column, (n_features,), and the column that holds its errors, or -1; rules by position of column."""

    sigma: Floats
    held_by: NDArray[np.int64]
    rules: tuple[tuple[int, ErrorSize], ...] = ()

    def __post_init__(self) -> None:
        for name, dtype in (("sigma", np.float64), ("held_by", np.int64)):
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
                raise ValueError(f"{name} must be a 1-D {np.dtype(dtype)} array")
        if self.sigma.shape != self.held_by.shape or not ((self.sigma >= 0) & (self.sigma < _LARGEST)).all():
            raise ValueError("sigma must not be negative, with a number for each column")
        if not ((self.held_by >= -1) & (self.held_by < len(self.sigma))).all():
            raise ValueError("held_by must name columns")
        for j, rule in self.rules:
            if not 0 <= j < len(self.sigma) or not isinstance(rule, ErrorSize):
                raise ValueError("rules must be sizes of errors by column")
        if (self.held_by[self.held_by[self.held_by >= 0]] >= 0).any():
            raise ValueError("held_by must not name columns with errors of their own in a column")

    __reduce__ = reduce_to_constructor

    @property
    def is_feature(self) -> NDArray[np.bool_]:
        """Which columns are features, and do not hold the errors of others."""
        holders = np.isin(np.arange(len(self.sigma)), self.held_by)
        return ~holders

    def of_rows(self, values: Floats, names: tuple[str, ...]) -> Floats:
        """σ of each cell, (n, n_features)."""
        cells = np.tile(self.sigma, (len(values), 1))
        for j in np.flatnonzero(self.held_by >= 0):
            held = values[:, self.held_by[j]]
            cells[:, j] = _check_sizes(held, values[:, j], f"column {names[self.held_by[j]]!r}, the error of", names[j])
        for column, rule in self.rules:
            known = ~np.isnan(values[:, column])
            cells[known, column] = rule.of_values(values[known, column])
        return cells


register(ErrorSizes, name="hedgerow.measured.ErrorSizes")


def read_sigma(given: Any, schema: Schema) -> ErrorSizes:
    """Read the parameter `sigma`: a number, one per column, or a mapping from columns to numbers or column names.

    A single number or rule applies to all numeric columns; the others are exact.
    """
    rules: list[tuple[int, ErrorSize]] = []
    numeric = np.array([column.kind == Kind.NUMERIC for column in schema.columns])
    sigma, held_by = np.zeros(schema.n_features), np.full(schema.n_features, -1, dtype=np.int64)
    if isinstance(given, Mapping):
        for key, size in given.items():
            j = column_position("sigma", key, schema)
            if isinstance(size, str):
                held_by[j] = _holder(size, j, schema)
            elif isinstance(size, ErrorSize):
                rules.append((j, size))
            else:
                sigma[j] = _size(size, f"sigma of column {schema.names[j]!r}")
    elif isinstance(given, ErrorSize):
        rules = [(int(j), given) for j in np.flatnonzero(numeric)]
    elif is_number(given):
        sigma[numeric] = _size(given, "sigma")
    else:
        sigma[:] = _size_list(given, schema)
    ruled = np.isin(np.arange(schema.n_features), [j for j, _ in rules])
    wrong = ~numeric & ((sigma > 0) | (held_by >= 0) | ruled)
    if wrong.any():
        j = int(np.argmax(wrong))
        raise ValueError(
            f"sigma gives column {schema.names[j]!r} an error, but it is {schema.columns[j].kind}: only numeric "
            "columns are measured; leave it out or set it to 0"
        )
    if (chained := held_by[np.isin(np.arange(schema.n_features), held_by) & (held_by >= 0)]).size:
        raise ValueError(f"sigma: column {schema.names[chained[0]]!r} holds the error of a column that holds errors")
    return ErrorSizes(sigma, held_by, tuple(rules))


def column_position(parameter: str, key: Any, schema: Schema) -> int:
    """Position of a column given by name or number."""
    if isinstance(key, str) and key in schema.names:
        return schema.names.index(key)
    if is_whole(key) and 0 <= int(key) < schema.n_features:
        return int(key)
    known = ", ".join(map(repr, schema.names[:10])) + (", ..." if schema.n_features > 10 else "")
    raise ValueError(f"{parameter} names {key!r}, which is not a column of X: these are {known}")


def _holder(name: str, of: int, schema: Schema) -> int:
    j = column_position("sigma", name, schema)
    if j == of or schema.columns[j].kind != Kind.NUMERIC:
        raise ValueError(
            f"sigma says that the error of column {schema.names[of]!r} stands in {name!r}, which must be another "
            "column, and numeric"
        )
    return j


def _size(given: Any, what: str) -> float:
    if not is_number(given) or not 0 <= float(given) < _LARGEST:
        raise ValueError(f"{what} is {given!r}, must be a standard deviation: a finite number that is not negative")
    return float(given)


def _size_list(given: Any, schema: Schema) -> Floats:
    try:
        sizes = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        sizes = np.empty((0, 0))
    if sizes.ndim != 1:
        raise ValueError(
            f"sigma is {given!r}, must be a number, a number for each column, or a mapping from columns to numbers or "
            "to names of the columns that hold their errors"
        )
    if len(sizes) != schema.n_features:
        raise ValueError(f"sigma has {len(sizes)} numbers, X has {schema.n_features} columns: one for each")
    for j, size in enumerate(sizes):
        _size(float(size), f"sigma of column {schema.names[j]!r}")
    return sizes


# --- Errors of cells ----------------------------------------------------------------------------------------


def read_cells(X_err: Any, values: Floats, schema: Schema) -> Floats:
    """Read and check the argument `X_err`: an array or frame with the shape and columns of X."""
    native = nw.from_native(X_err, pass_through=True, eager_only=True)
    if isinstance(native, nw.DataFrame):
        if schema.named and tuple(native.columns) != schema.names:
            raise ValueError(
                f"X_err has columns {list(native.columns)[:10]}, X has {list(schema.names)[:10]}: they must be the same"
            )
        native = native.to_numpy()
    try:
        cells = np.array(unmask(native) if np.ma.isMaskedArray(native) else native, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("X_err must hold numbers: the standard deviation of each cell of X") from None
    if cells.shape != values.shape:
        raise ValueError(f"X_err has shape {cells.shape}, X has {values.shape}: one error for each cell")
    for j, column in enumerate(schema.columns):
        cells[:, j] = _check_sizes(cells[:, j], values[:, j], "X_err of column", column.name)
        if column.kind != Kind.NUMERIC and cells[:, j].any():
            raise ValueError(
                f"X_err gives column {column.name!r} an error, but it is {column.kind}: only numeric columns are "
                "measured; set it to 0"
            )
    return cells


def _check_sizes(sizes: Floats, values: Floats, what: str, name: str) -> Floats:
    """Sizes that are finite and not negative; a missing value needs none."""
    sizes = np.where(np.isnan(sizes) & np.isnan(values), 0.0, sizes)
    wrong = ~((sizes >= 0) & (sizes < _LARGEST))
    if wrong.any():
        row = int(np.argmax(wrong))
        problem = f"{what} {name!r} is {sizes[row]}"
        raise RowError(problem, row, "must be a standard deviation: a finite number that is not negative")
    return sizes
