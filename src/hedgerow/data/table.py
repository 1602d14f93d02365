"""Convert frames and arrays to one float64 matrix with names, kinds and categories of columns.

`read_table` learns the columns in `fit`; the `Schema` it returns converts every later X the same way. Numbers stay as
they are, categories become codes 0, 1, 2, ..., and missing values and categories unseen in `fit` are NaN. Infinity is
refused, with its row and column. :mod:`hedgerow.data.columns` defines what a column may hold.
"""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import first_infinity
from hedgerow._lazy import lazy
from hedgerow._rebuild import reduce_to_constructor
from hedgerow._registry import register
from hedgerow.data.columns import (
    Column,
    Floats,
    Kind,
    encode_numbers,
    encode_source,
    encode_value,
    learn_numbers,
    learn_source,
    refuse_huge_integer,
)
from hedgerow.data.frames import as_frame
from hedgerow.data.sources import LARGEST_EXACT_INTEGER, Frame
from hedgerow.data.sparse import densify

__all__ = ["Column", "Kind", "Schema", "Table", "read_table", "unmask"]


@dataclass(frozen=True)
class Schema:
    """Columns of X as learned by `fit`; `named`: whether X had column names.

    Parameters
    ----------
    columns : tuple[Column, ...]
        The columns, in order.
    named : bool
        Whether X had column names.

    Examples
    --------
    >>> import pandas as pd
    >>> from hedgerow import TreeClassifier
    >>> X = pd.DataFrame({"age": [30, 61], "sex": ["f", "m"]})
    >>> schema = TreeClassifier().fit(X, [0, 1]).schema_
    >>> schema.names, schema.n_categories
    (('age', 'sex'), array([0, 2], dtype=int32))
    >>> schema.read(pd.DataFrame({"age": [44], "sex": ["x"]}))  # a category that fit has not seen
    array([[44., nan]])
    """

    columns: tuple[Column, ...]
    named: bool

    def __post_init__(self) -> None:
        if not isinstance(self.named, bool) or not self.columns:
            raise ValueError("a schema needs columns, and whether their names came with X")
        if len(set(self.names)) < len(self.names):
            raise ValueError("a schema has a column name twice")

    __reduce__ = reduce_to_constructor

    @lazy
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @lazy
    def n_features(self) -> int:
        return len(self.columns)

    @lazy
    def n_categories(self) -> NDArray[np.int32]:
        """Number of categories of each nominal column; 0 for the columns that are split by threshold."""
        sizes = [len(column.categories) if column.kind == Kind.NOMINAL else 0 for column in self.columns]
        counts = np.array(sizes, dtype=np.int32)
        counts.flags.writeable = False
        return counts

    @lazy
    def all_numeric(self) -> bool:
        return all(column.kind == Kind.NUMERIC for column in self.columns)

    def read(self, X: Any, *, estimator: Any = None, find_infinity: Callable[[Floats], int] = first_infinity) -> Floats:
        """Convert X to a row-major matrix for walking; return X itself if there is nothing to convert.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.
        estimator : object or None, default=None
            Estimator to name in messages.
        find_infinity : callable, default=first_infinity
            Flat position of the first infinite value of a matrix that needs no conversion, or -1.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Numbers, codes of categories, and NaN where a value is missing.

        Raises
        ------
        ValueError
            If the columns are not those of `fit`, or hold what can't be converted.
        """
        if self._is_ready(X):
            self._check_names(None, estimator)
            _refuse_infinity(X, self.names, find_infinity)
            return X
        frame = as_frame(X)
        if frame is None:
            self._check_names(None, estimator)
            array = _as_array(X, estimator)
            self._check_width(array.shape[1], estimator)
            values = _encode_array(_to_floats(array, self.names), self.columns)
        else:
            self._check_names(_column_names(frame), estimator)
            _refuse_empty(frame, estimator)
            self._check_width(frame.shape[1], estimator)
            values = _encode_frame(frame, self.columns)
        return np.ascontiguousarray(values)

    def _is_ready(self, X: Any) -> bool:
        return (
            type(X) is np.ndarray
            and X.dtype == np.float64
            and X.ndim == 2
            and X.shape[1] == self.n_features
            and X.shape[0] > 0
            and X.flags.c_contiguous
            and self.all_numeric
        )

    def check_columns(self, width: int, estimator: Any = None) -> None:
        """Check the number of columns of an array, which has no names.

        Parameters
        ----------
        width : int
            Number of columns.
        estimator : object or None, default=None
            Estimator to name in messages.

        Raises
        ------
        ValueError
            If the number differs from that of `fit`.
        """
        self._check_names(None, estimator)
        self._check_width(width, estimator)

    def _check_width(self, width: int, estimator: Any) -> None:
        if width != self.n_features:
            raise ValueError(
                f"X has {width} features, but {_class_name(estimator)} is expecting "
                f"{self.n_features} features as input."
            )

    def _check_names(self, names: tuple[str, ...] | None, estimator: Any) -> None:
        """Match columns by name as scikit-learn does; its checks test these words."""
        model = _class_name(estimator)
        if self.named and names is None:
            message = f"X does not have valid feature names, but {model} was fitted with feature names"
        elif names is not None and not self.named:
            message = f"X has feature names, but {model} was fitted without feature names"
        elif names is not None and names != self.names:
            raise ValueError(_describe_name_changes(names, self.names))
        else:
            return
        warnings.warn(message, stacklevel=4)  # the line that called predict


@dataclass(frozen=True)
class Table:
    """Matrix that trees are grown from, and its schema.

    Parameters
    ----------
    values : array
        The matrix, (n_rows, n_features): numbers, codes of categories, NaN where missing.
    schema : Schema
        Names, kinds and categories of its columns.

    Examples
    --------
    >>> from hedgerow.data import read_table
    >>> table = read_table([[1, 2], [3, 4]])
    >>> table.values.flags.f_contiguous, table.schema.names
    (True, ('x0', 'x1'))
    """

    values: Floats
    schema: Schema


def read_table(
    X: Any, *, categorical_features: Any = "from_dtype", estimator: Any = None, column_major: bool = True
) -> Table:
    """Learn the columns of X and convert it, in `fit`; `column_major=False` keeps either order if that saves a copy.

    `categorical_features` says which columns are nominal, as in scikit-learn's histogram boosting: None,
    "from_dtype" (text and categorical columns of a frame), indices, a boolean mask, or column names.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
        Rows.
    categorical_features : "from_dtype", indices, mask, names or None, default="from_dtype"
        Which columns are nominal; by default text and categorical columns of a frame.
    estimator : object or None, default=None
        Estimator to name in messages.
    column_major : bool, default=True
        Whether the matrix is to be column-major, as growth reads it.

    Returns
    -------
    Table
        The matrix and the schema that was learned.

    Raises
    ------
    ValueError
        If X holds infinity, text in an array, dates, or two columns of one name; the message names the column.
    TypeError
        If X is no table of numbers or text.

    Examples
    --------
    >>> import pandas as pd
    >>> from hedgerow.data import read_table
    >>> table = read_table(pd.DataFrame({"age": [30, 61], "sex": ["f", "m"]}))
    >>> table.values
    array([[30.,  0.],
           [61.,  1.]])
    >>> table.schema.columns[1]
    Column(name='sex', kind=<Kind.NOMINAL: 'nominal'>, categories=('f', 'm'))
    """
    frame = as_frame(X)
    if frame is None:
        array = _as_array(X, estimator)
        numbers = _to_floats(array, _positional_names(array.shape[1]))
        schema = _learn_array(numbers, categorical_features)
        values = _encode_array(numbers, schema.columns)
    else:
        schema = _learn_frame(frame, categorical_features, estimator)
        values = _encode_frame(frame, schema.columns)
    as_it_is = not column_major and values.flags.forc and values.flags.aligned
    return Table(values if as_it_is else np.asfortranarray(values), schema)


# --- Arrays -------------------------------------------------------------------------------------------------


def _as_array(X: Any, estimator: Any) -> NDArray[Any]:
    """X as scikit-learn's `check_array` converts it, with its errors."""
    if type(X) is np.ndarray and X.dtype == np.float64 and X.ndim == 2 and X.size:
        return X
    if np.ma.isMaskedArray(X):
        X = unmask(X)
    from sklearn.utils import check_array  # imported late: it is slow, and frames do not need it

    return check_array(densify(X), dtype=None, ensure_all_finite=False, estimator=estimator, input_name="X")


def unmask(X: Any) -> NDArray[Any]:
    """Values of a masked array, with NaN for masked entries."""
    mask = np.ma.getmaskarray(X)
    if not mask.any() or X.dtype.kind not in "biufO":
        return X.data
    values: NDArray[Any] = X.data.astype(X.dtype if X.dtype.kind == "f" else object)  # integers stay exact
    values[mask] = np.nan
    return values


def _to_floats(array: NDArray[Any], names: Sequence[str]) -> Floats:
    if array.dtype.kind in "mM":
        raise ValueError(
            f"X has dtype {array.dtype}; convert dates and durations to numbers first, for example to "
            "days since a reference date."
        )
    try:
        # A long double beyond float64 becomes infinite here, and is refused below with its column.
        with np.errstate(over="ignore"):
            values = np.asarray(array, dtype=np.float64)
    except ValueError as error:
        raise ValueError(
            f"{error}. An array must hold numbers only; pass text in a pandas, polars or pyarrow table."
        ) from error
    _refuse_digits(array, names)
    if array.dtype.kind in "iuO":
        _refuse_huge_entries(array, values, names)
    _refuse_infinity(values, names)  # before codes replace the numbers of nominal columns
    return values


def _refuse_digits(array: NDArray[Any], names: Sequence[str]) -> None:
    """Text that reads as numbers may be labels, such as postal codes."""
    if array.dtype.kind not in "USO":
        return
    entries = array.ravel().tolist()
    position = next((at for at, entry in enumerate(entries) if isinstance(entry, str | bytes)), None)
    if position is not None:
        row, j = divmod(position, array.shape[1])
        raise ValueError(
            f"Input X contains text: column {names[j]!r} has {entries[position]!r} in row {row}. An array must hold "
            "numbers only; convert it by X.astype(float), or pass text in a pandas, polars or pyarrow table."
        )


def _refuse_huge_entries(array: NDArray[Any], values: Floats, names: Sequence[str]) -> None:
    # 2**53 + 1 is already rounded to 2**53 in `values`, so these are only candidates.
    for row, j in np.argwhere(np.abs(values) >= LARGEST_EXACT_INTEGER):
        if isinstance(array[row, j], Integral):
            refuse_huge_integer(int(array[row, j]), names[j])


def _learn_array(numbers: Floats, categorical_features: Any) -> Schema:
    names = _positional_names(numbers.shape[1])
    nominal = _find_nominal(categorical_features, names, named=False)
    if not nominal:
        return _numbers_only(numbers.shape[1])
    columns = [learn_numbers(numbers[:, j], name, j in nominal) for j, name in enumerate(names)]
    return Schema(tuple(columns), named=False)


@lru_cache(maxsize=8)
def _numbers_only(n_features: int) -> Schema:
    """Schema of an array without nominal columns; it depends on the number of columns alone."""
    return Schema(tuple(Column(name, Kind.NUMERIC) for name in _positional_names(n_features)), named=False)


def _encode_array(numbers: Floats, columns: Sequence[Column]) -> Floats:
    coded = [j for j, column in enumerate(columns) if column.kind != Kind.NUMERIC]
    if not coded:
        return numbers
    values = numbers.copy(order="F")
    for j in coded:
        values[:, j] = encode_numbers(numbers[:, j], columns[j])
    return values


# --- Frames -------------------------------------------------------------------------------------------------


def _column_names(frame: Frame) -> tuple[str, ...] | None:
    """Column names if they are strings; None for a frame with numbered columns."""
    names = tuple(frame.labels)
    types = {type(name) for name in names}
    if str in types and len(types) > 1:
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{sorted(kind.__qualname__ for kind in types)} as feature name / column name types. Convert "
            "them all to strings, for example by X.columns = X.columns.astype(str)."
        )
    return names if types == {str} else None


def _learn_frame(frame: Frame, categorical_features: Any, estimator: Any) -> Schema:
    names = _column_names(frame)
    _refuse_empty(frame, estimator)
    labels = names or _positional_names(frame.shape[1])
    nominal = _find_nominal(categorical_features, labels, named=names is not None)
    from_dtype = _is_from_dtype(categorical_features)
    columns = [
        learn_source(source, name, nominal=j in nominal, from_dtype=from_dtype)
        for j, (source, name) in enumerate(zip(frame.sources, labels, strict=True))
    ]
    return Schema(tuple(columns), named=names is not None)


def _encode_frame(frame: Frame, columns: Sequence[Column]) -> Floats:
    values = frame.float_block() if all(column.kind == Kind.NUMERIC for column in columns) else None
    if values is None and frame.shape[0] == 1:
        values = _encode_row(frame.only_row(), columns)
    may_be_infinite = values is not None
    if values is None:
        values = np.empty(frame.shape, order="F")
        for source, column, out in zip(frame.sources, columns, values.T, strict=True):
            may_be_infinite |= encode_source(source, column, out)
    if may_be_infinite:
        _refuse_infinity(values, [column.name for column in columns])
    return values


def _encode_row(row: Sequence[Any] | None, columns: Sequence[Column]) -> Floats | None:
    """A single row of a frame, (1, n_features); None where columns have to be read."""
    codes = [] if row is None else list(map(encode_value, row, columns))
    return np.array([codes]) if codes and None not in codes else None


# --- Which columns are nominal ------------------------------------------------------------------------------


def _find_nominal(categorical_features: Any, names: Sequence[str], *, named: bool) -> frozenset[int]:
    """Positions of the columns that `categorical_features` lists."""
    if categorical_features is None or _is_from_dtype(categorical_features):
        return frozenset()
    chosen = _listed(categorical_features)
    if all(isinstance(choice, bool | np.bool_) for choice in chosen):
        return _nominal_by_mask(chosen, len(names))
    if all(isinstance(choice, Integral) for choice in chosen):
        return _nominal_by_index(chosen, len(names))
    if all(isinstance(choice, str) for choice in chosen):
        return _nominal_by_name(chosen, names, named)
    raise _wrong_choice(categorical_features)


def _is_from_dtype(categorical_features: Any) -> bool:
    # The type comes first: an array would compare element by element.
    return isinstance(categorical_features, str) and categorical_features == "from_dtype"


def _listed(categorical_features: Any) -> list[Any]:
    if isinstance(categorical_features, str | bytes):
        raise _wrong_choice(categorical_features)
    try:
        return list(categorical_features)
    except TypeError as error:
        raise _wrong_choice(categorical_features) from error


def _nominal_by_mask(mask: list[bool], n_features: int) -> frozenset[int]:
    if mask and len(mask) != n_features:
        raise ValueError(
            f"categorical_features is a mask of {len(mask)} values, but X has {n_features} columns; give one "
            "value for each column."
        )
    return frozenset(compress(range(n_features), mask))


def _nominal_by_index(indices: list[int], n_features: int) -> frozenset[int]:
    for index in indices:
        if not 0 <= index < n_features:
            raise ValueError(
                f"categorical_features has index {index}, but X has {n_features} columns; indices go from 0 "
                f"to {n_features - 1}."
            )
    return frozenset(int(index) for index in indices)


def _nominal_by_name(chosen: list[str], names: Sequence[str], named: bool) -> frozenset[int]:
    if not named:
        raise ValueError(
            f"categorical_features names columns ({chosen[0]!r}), but X has no column names; give indices "
            "or a boolean mask, or pass X as a frame."
        )
    for name in chosen:
        if name not in names:
            similar = difflib.get_close_matches(name, names) or names[:10]
            raise ValueError(
                f"categorical_features names {name!r}, which is not a column of X; did you mean one of "
                f"{', '.join(map(repr, similar))}?"
            )
    return frozenset(names.index(name) for name in chosen)


# --- Errors and their texts ---------------------------------------------------------------------------------


def _refuse_infinity(
    values: Floats, names: Sequence[str], find_infinity: Callable[[Floats], int] = first_infinity
) -> None:
    # The core reads row-major matrices; the transpose of a column-major one is that, without a copy.
    if values.flags.f_contiguous:
        position = find_infinity(values.T)
        j, row = divmod(position, values.shape[0])
    else:
        position = find_infinity(np.ascontiguousarray(values))
        row, j = divmod(position, values.shape[1])
    if position >= 0:
        raise ValueError(
            f"Input X contains infinity: column {names[j]!r} has {values[row, j]} in row {row}. Replace it "
            "by a finite number, or by NaN if it stands for a missing value."
        )


def _refuse_empty(frame: Frame, estimator: Any) -> None:
    if 0 in frame.shape:
        from sklearn.utils import check_array

        check_array(np.empty(frame.shape), estimator=estimator)  # it knows the words that users know


def _wrong_choice(categorical_features: Any) -> ValueError:
    return ValueError(
        'categorical_features must be None, "from_dtype", or a list of indices, of booleans or of column '
        f"names; got {categorical_features!r}."
    )


def _describe_name_changes(names: Sequence[str], fitted: Sequence[str]) -> str:
    unseen, missing = sorted(set(names) - set(fitted)), sorted(set(fitted) - set(names))
    message = "The feature names should match those that were passed during fit.\n"
    if unseen:
        message += "Feature names unseen at fit time:\n" + _bullets(unseen)
    if missing:
        message += "Feature names seen at fit time, yet now missing:\n" + _bullets(missing)
    if not unseen and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
    return message


def _bullets(names: Sequence[str], at_most: int = 5) -> str:
    shown = [*names[:at_most], "..."] if len(names) > at_most else names
    return "".join(f"- {name}\n" for name in shown)


@lru_cache(maxsize=8)
def _positional_names(n_features: int) -> tuple[str, ...]:
    return tuple(f"x{j}" for j in range(n_features))


def _class_name(estimator: Any) -> str:
    return "this model" if estimator is None else type(estimator).__name__


# -- model files


def _stored(schema: Schema) -> dict[str, Any]:
    return {
        "named": schema.named,
        "names": list(schema.names),
        "kinds": [column.kind.value for column in schema.columns],
        "categories": [list(column.categories) for column in schema.columns],
    }


def _from_stored(values: dict[str, Any]) -> Schema:
    columns = zip(values["names"], values["kinds"], values["categories"], strict=True)
    return Schema(tuple(Column(name, Kind(kind), tuple(found)) for name, kind, found in columns), values["named"])


register(Schema, name="hedgerow.Schema", take=_stored, make=_from_stored)
