"""Sizes of errors: one σ for all columns, one per column, a column with the errors of another, or one σ per cell."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from hedgerow._lazy import lazy
from hedgerow._params import RowError, check_number, is_number, is_whole
from hedgerow._rebuild import reduce_to_constructor
from hedgerow._registry import register
from hedgerow.data.columns import Kind
from hedgerow.data.table import Schema, unmask
from hedgerow.measured.errors.correlations import (
    all_pairs,
    cells_of_covariance,
    check_correlations,
    closed_pairs,
    read_covariance,
)

__all__ = ["ErrorSize", "ErrorSizes", "RelativeError", "column_position", "read_cells", "read_sigma", "typical_sizes"]

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
    """σ of each column, (n_features,), and the column that holds its errors, or -1; rules by position of column.

    `correlations` are those of the errors of pairs of columns: (i, j, correlation, column that holds it or -1).
    """

    sigma: Floats
    held_by: NDArray[np.int64]
    rules: tuple[tuple[int, ErrorSize], ...] = ()
    correlations: tuple[tuple[int, int, float, int], ...] = ()

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
        for i, j, correlation, holder in self.correlations:
            if not 0 <= i < j < len(self.sigma) or not abs(correlation) <= 1 or not -1 <= holder < len(self.sigma):
                raise ValueError("correlations must be numbers from -1 to 1 of pairs of columns")

    __reduce__ = reduce_to_constructor

    @lazy
    def pairs(self) -> NDArray[np.intp]:
        """Pairs of columns whose errors may be correlated, (m, 2)."""
        return closed_pairs((i, j) for i, j, _, _ in self.correlations)

    @property
    def is_feature(self) -> NDArray[np.bool_]:
        """Which columns are features, and do not hold the errors of others."""
        held_by = [*self.held_by.tolist(), *(holder for _, _, _, holder in self.correlations)]
        return ~np.isin(np.arange(len(self.sigma)), held_by)

    def of_rows(self, values: Floats, names: tuple[str, ...]) -> Floats:
        """σ of each cell, (n, n_features), followed by the correlations of pairs, (n, n_features + m)."""
        cells = np.tile(self.sigma, (len(values), 1))
        for j in np.flatnonzero(self.held_by >= 0):
            held = values[:, self.held_by[j]]
            cells[:, j] = _check_sizes(held, values[:, j], f"column {names[self.held_by[j]]!r}, the error of", names[j])
        for column, rule in self.rules:
            known = ~np.isnan(values[:, column])
            cells[known, column] = rule.of_values(values[known, column])
        return np.hstack([cells, self._correlations_of_rows(values, names)]) if self.correlations else cells

    def _correlations_of_rows(self, values: Floats, names: tuple[str, ...]) -> Floats:
        place = {(int(i), int(j)): at for at, (i, j) in enumerate(self.pairs)}
        found = np.zeros((len(values), len(place)))
        for i, j, correlation, holder in self.correlations:
            known = ~np.isnan(values[:, [i, j]]).any(axis=1)
            found[known, place[i, j]] = correlation if holder < 0 else values[known, holder]
        if any(holder >= 0 for _, _, _, holder in self.correlations):
            check_correlations(found, self.pairs, names)
        return found


register(ErrorSizes, name="hedgerow.measured.ErrorSizes")


def read_sigma(given: Any, schema: Schema) -> ErrorSizes:
    """Read the parameter `sigma`: a number, one per column, or a mapping from columns to numbers or column names.

    A single number or rule applies to all numeric columns; the others are exact.
    """
    rules: list[tuple[int, ErrorSize]] = []
    numeric = np.array([column.kind == Kind.NUMERIC for column in schema.columns])
    sigma, held_by = np.zeros(schema.n_features), np.full(schema.n_features, -1, dtype=np.int64)
    correlations: tuple[tuple[int, int, float, int], ...] = ()
    if isinstance(given, Mapping):
        correlations = _read_correlations(given, schema)
        for key, size in given.items():
            if isinstance(key, tuple):
                continue
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
    elif is_matrix(given):
        sigma, correlations = _of_covariance(given, schema)
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
    sizes = ErrorSizes(sigma, held_by, tuple(rules), correlations)
    _check_pairs(sizes, schema)
    return sizes


def _read_correlations(given: Mapping[Any, Any], schema: Schema) -> tuple[tuple[int, int, float, int], ...]:
    """Read pairs of columns in the keys of `sigma`: their correlation, or the column that holds it."""
    found: dict[tuple[int, int], tuple[int, int, float, int]] = {}
    for key, value in given.items():
        if not isinstance(key, tuple):
            continue
        if len(key) != 2:
            raise ValueError(f"sigma names {key!r}, must be a column, or a pair of columns whose errors are correlated")
        i, j = sorted(column_position("sigma", one, schema) for one in key)
        names = f"{schema.names[i]!r} and {schema.names[j]!r}"
        if i == j or (i, j) in found:
            why = "is a column and itself" if i == j else "is there twice"
            raise ValueError(f"sigma names the pair {key!r}, which {why}: name each pair of columns once")
        if isinstance(value, str):
            holder = column_position("sigma", value, schema)
            if holder in (i, j) or schema.columns[holder].kind != Kind.NUMERIC:
                raise ValueError(
                    f"sigma: {value!r} holds the correlation of {names}: it must be another column, numeric"
                )
            found[i, j] = (i, j, 0.0, holder)
        elif is_number(value) and abs(float(value)) <= 1:
            found[i, j] = (i, j, float(value), -1)
        else:
            raise ValueError(
                f"sigma: the correlation of the errors of {names} is {value!r}, must be a number from -1 to 1 or the "
                "column that holds it"
            )
    return tuple(found.values())


def _check_pairs(sizes: ErrorSizes, schema: Schema) -> None:
    """Refuse correlations of exact columns, and those that can't hold together."""
    ruled = {j for j, _ in sizes.rules}
    for i, j, _, holder in sizes.correlations:
        for one in (i, j):
            if sizes.sigma[one] == 0 and sizes.held_by[one] < 0 and one not in ruled:
                raise ValueError(
                    f"sigma: the errors of {schema.names[i]!r} and {schema.names[j]!r} are correlated, and "
                    f"{schema.names[one]!r} has none: give it a standard deviation"
                )
        if holder >= 0 and sizes.held_by[holder] >= 0:
            raise ValueError(f"sigma: column {schema.names[holder]!r} holds a correlation, and has errors of its own")
    if sizes.correlations and all(holder < 0 for _, _, _, holder in sizes.correlations):
        place = {(int(i), int(j)): at for at, (i, j) in enumerate(sizes.pairs)}
        constant = np.zeros((1, len(place)))
        for i, j, correlation, _ in sizes.correlations:
            constant[0, place[i, j]] = correlation
        try:
            check_correlations(constant, sizes.pairs, schema.names)
        except RowError as error:
            raise ValueError(f"sigma: {error.args[0]}: {error.args[2]}") from None


def is_matrix(given: Any) -> bool:
    """Whether a parameter is a matrix of numbers."""
    try:
        return np.asarray(given, dtype=np.float64).ndim == 2
    except (TypeError, ValueError):
        return False


def _of_covariance(given: Any, schema: Schema) -> tuple[Floats, tuple[tuple[int, int, float, int], ...]]:
    """σ of each column and correlations of pairs, of the covariance of the errors of all rows, (d, d)."""
    covariance = read_covariance(given, 1, schema.names, "sigma, the covariance of the errors of each row,")
    pairs = all_pairs(schema.n_features)
    (cells,) = cells_of_covariance(covariance, pairs)
    return cells[: schema.n_features].copy(), _nonzero(pairs, cells[schema.n_features :])


def _nonzero(pairs: NDArray[np.intp], correlations: Floats) -> tuple[tuple[int, int, float, int], ...]:
    found = zip(pairs.tolist(), correlations.tolist(), strict=True)
    return tuple((i, j, correlation, -1) for (i, j), correlation in found if correlation != 0)


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
            f"sigma is {given!r}, must be a number, a number for each column, a mapping from columns to numbers or to "
            "names of the columns that hold their errors, or the covariance of all columns"
        )
    if len(sizes) != schema.n_features:
        raise ValueError(f"sigma has {len(sizes)} numbers, X has {schema.n_features} columns: one for each")
    for j, size in enumerate(sizes):
        _size(float(size), f"sigma of column {schema.names[j]!r}")
    return sizes


# --- Errors of cells ----------------------------------------------------------------------------------------


def read_cells(X_err: Any, values: Floats, schema: Schema) -> Floats:
    """Read and check the argument `X_err`: an array or frame with the shape and columns of X, or covariances of rows.

    The errors of rows are as in :meth:`ErrorSizes.of_rows`, with the correlations of all pairs of columns if any is
    not 0.
    """
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
    if cells.ndim == 3:
        cells, correlations = _read_covariances(cells, values, schema)
        return np.hstack([_check_cells(cells, values, schema), correlations])
    if cells.shape != values.shape:
        raise ValueError(
            f"X_err has shape {cells.shape}, X has {values.shape}: one error for each cell, or the covariance of each "
            f"row, {(*values.shape, values.shape[1])}"
        )
    return _check_cells(cells, values, schema)


def _read_covariances(given: Floats, values: Floats, schema: Schema) -> tuple[Floats, Floats]:
    """σ of each cell, and the correlations of all pairs of columns, (n, m), or (n, 0) if there are none."""
    n, d = values.shape
    if given.shape == (n, d, d):
        missing = np.isnan(values)
        given = np.where(missing[:, :, np.newaxis] | missing[:, np.newaxis, :], 0.0, given)
    covariance = read_covariance(given, n, schema.names, "X_err, the covariance of the errors of each row,")
    cells = cells_of_covariance(covariance, all_pairs(d))
    some = cells[:, d:].any()
    return cells[:, :d], cells[:, d:] if some else np.zeros((n, 0))


def typical_sizes(sizes: ErrorSizes, cells: Floats, values: Floats) -> ErrorSizes:
    """Root mean squares of errors of cells, and the correlations of their mean covariance, for rows without `X_err`."""
    d = values.shape[1]
    known = ~np.isnan(values)
    squares = np.where(known, cells[:, :d], 0.0) ** 2
    sigma = np.sqrt(squares.sum(axis=0) / np.maximum(known.sum(axis=0), 1))
    correlations: tuple[tuple[int, int, float, int], ...] = ()
    if cells.shape[1] > d:
        pairs = all_pairs(d)
        i, j = pairs.T
        both = known[:, i] & known[:, j]
        common = np.where(both, cells[:, d:] * cells[:, i] * cells[:, j], 0.0).sum(axis=0)
        products = np.sqrt(squares.sum(axis=0))[pairs].prod(axis=1)
        mean = np.where(products > 0, common / np.where(products > 0, products, 1.0), 0.0)
        correlations = _nonzero(pairs, np.clip(mean, -1.0, 1.0))
    return replace(sizes, sigma=np.where(sizes.held_by >= 0, 0.0, sigma), rules=(), correlations=correlations)


def _check_cells(cells: Floats, values: Floats, schema: Schema) -> Floats:
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
