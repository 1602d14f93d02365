"""A single column: its content, what `fit` learns about it, and the conversion of its values to numbers.

Numbers stay as they are, categories become codes 0, 1, 2, ..., and missing values and categories unseen in `fit` are
NaN. Categories depend on the values alone, not on the dataframe library.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from itertools import compress, repeat
from numbers import Integral, Real
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow._core import place_codes
from hedgerow._lazy import lazy
from hedgerow._rebuild import reduce_to_constructor
from hedgerow.data.sources import LARGEST_EXACT_INTEGER, Series, Source

__all__ = [
    "Column",
    "Floats",
    "Kind",
    "encode_numbers",
    "encode_source",
    "encode_value",
    "learn_numbers",
    "learn_source",
    "refuse_huge_integer",
]

# Names of the numbers 0 and 1 of a boolean column, which is split like any numeric one.
TRUTH_VALUES = (False, True)

# Types of stored categories, and of the missing marker.
PLAIN_TYPES = frozenset({str, int, float, bool, type(None)})

# Types of single values that are numbers, as frames return them.
_FLOATS = frozenset({float, bool, np.float64, np.float32, np.bool_})
_INTEGERS = frozenset({int, *(np.dtype(code).type for code in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"))})


class Kind(StrEnum):
    """How a tree may split a column: numeric and ordinal by threshold, nominal by membership.

    Examples
    --------
    >>> import pandas as pd
    >>> from hedgerow.data import Kind, read_table
    >>> sizes = pd.Categorical(["S", "L"], categories=["S", "M", "L"], ordered=True)
    >>> read_table(pd.DataFrame({"size": sizes})).schema.columns[0].kind is Kind.ORDINAL
    True
    """

    NUMERIC = "numeric"
    ORDINAL = "ordinal"
    NOMINAL = "nominal"


@dataclass(frozen=True)
class Column:
    """One column; code i stands for `categories[i]`. Numeric columns have none, except booleans.

    Parameters
    ----------
    name : str
        Name of the column.
    kind : Kind
        Numeric, nominal or ordinal.
    categories : tuple[object, ...], default=()
        The categories, by code; none in numeric columns.

    Examples
    --------
    >>> from hedgerow.data import Column, Kind
    >>> Column("size", Kind.ORDINAL, ("S", "M", "L")).categories[1]
    'M'
    """

    name: str
    kind: Kind
    categories: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ValueError(f"a column's name is {self.name!r}, must be text")
        if type(self.kind) is not Kind:  # formats that store only plain types return its text
            object.__setattr__(self, "kind", _as_kind(self.kind, self.name))
        if self.kind == Kind.NUMERIC and self.categories not in ((), TRUTH_VALUES):
            raise ValueError(f"column {self.name!r} is numeric and has categories: it must have none")
        families = {_family(kind) for kind in set(map(type, self.categories))}
        if len(families) > 1 or None in families:
            raise ValueError(f"column {self.name!r} has categories that are not all text, truth values or numbers")
        if len(set(self.categories)) < len(self.categories) or any(c != c for c in self.categories):
            raise ValueError(f"column {self.name!r} has a category twice, or NaN among its categories")

    __reduce__ = reduce_to_constructor

    @lazy
    def code_of(self) -> Mapping[Any, float]:
        """Code of each category. Infinity is never one and keeps its value: the finished matrix is checked for it."""
        codes = {category: float(code) for code, category in enumerate(self.categories)}
        return codes | {np.inf: np.inf, -np.inf: -np.inf}


def _as_kind(given: Any, name: str) -> Kind:
    try:
        return Kind(given)
    except ValueError:
        known = ", ".join(repr(kind.value) for kind in Kind)
        raise ValueError(f"column {name!r} has kind {given!r}, must be one of {known}") from None


# --- Columns of arrays --------------------------------------------------------------------------------------


def learn_numbers(values: Floats, name: str, nominal: bool) -> Column:
    if not nominal:
        return Column(name, Kind.NUMERIC)
    seen = np.unique(values[~np.isnan(values)])
    return Column(name, Kind.NOMINAL, tuple(_python_value(value) for value in seen))


def encode_numbers(values: Floats, column: Column) -> Floats:
    codes = np.full(values.shape, np.nan)
    if not column.categories or np.isnan(values).all():
        return codes
    if isinstance(column.categories[0], str):
        raise _changed_type(column, next(value for value in values.tolist() if value == value))
    categories = np.array(column.categories, dtype=np.float64)
    order = np.argsort(categories)  # ordinal levels are in their declared order, not sorted
    nearest = order[np.searchsorted(categories, values, sorter=order).clip(max=len(order) - 1)]
    known = categories[nearest] == values
    codes[known] = nearest[known]
    return codes


# --- Columns of frames --------------------------------------------------------------------------------------


def learn_source(source: Source, name: str, *, nominal: bool, from_dtype: bool) -> Column:
    content = _content(source, name)
    if content is _Content.LEVELS:
        kept = source.dictionary
        levels = source.series.dtype.categories if kept is None else kept.levels  # type: ignore[attr-defined]
        return Column(name, Kind.NOMINAL if nominal else Kind.ORDINAL, _declared_levels(levels, name, source))
    if nominal or (content is _Content.LABELS and from_dtype):
        return Column(name, Kind.NOMINAL, _sorted_categories(_present(source), name, source))
    if content is _Content.LABELS:
        raise ValueError(
            f"column {name!r} holds categories ({source.dtype_name}), but categorical_features leaves it out; "
            'add it there, use categorical_features="from_dtype", or convert the column to numbers.'
        )
    return Column(name, Kind.NUMERIC, TRUTH_VALUES if _holds_truth_values(source, name) else ())


def _holds_truth_values(source: Source, name: str) -> bool:
    if source.numbers is not None:
        return source.numbers.dtype == np.bool_
    if _is_untyped(source.series):
        return _one_family(_present(source), name, source) == "truth value"
    return bool(source.series.dtype == nw.Boolean)


def encode_source(source: Source, column: Column, out: Floats) -> bool:
    """Write the numbers or category codes of a column to `out`; return whether infinities are possible."""
    if column.kind != Kind.NUMERIC:
        return _encode_categories(source, column, out)
    out[:] = _numeric_values(source, column)
    return True


def encode_value(value: Any, column: Column) -> float | None:
    """Number or category code of a single value; None where its column has to be read to tell, or to refuse it."""
    kind = type(value)
    if value is None or (kind is float and value != value):
        return np.nan
    if column.kind != Kind.NUMERIC:
        return column.code_of.get(value) if kind is str else None
    if kind in _FLOATS or (kind in _INTEGERS and abs(int(value)) < LARGEST_EXACT_INTEGER):
        return float(value)
    return None


def _numeric_values(source: Source, column: Column) -> NDArray[Any]:
    if source.numbers is not None:
        return _exact_numbers(source.numbers, column.name)
    content, series = _content(source, column.name), source.series
    if series.null_count() == len(series):
        return np.full(len(series), np.nan)
    if content is not _Content.NUMBERS:
        return _numeric_categories(source, column)
    if _is_untyped(series):
        return _convert_objects(series, column.name)
    if series.dtype.is_integer():
        for value in (series.min(), series.max()):
            refuse_huge_integer(int(value), column.name)
    return series.cast(nw.Float64).to_numpy()


def _numeric_categories(source: Source, column: Column) -> Floats:
    """Values of categories that are all numbers, such as those of a pandas category column of 1, 2, 3."""
    for value in _present(source):
        if _family(type(value)) != "number":
            raise ValueError(
                f"column {column.name!r} was numeric in fit, but now holds the category {value!r}, which is not a "
                "number; pass numbers, or fit again with this column as categories."
            )
        if isinstance(value, Integral):
            refuse_huge_integer(int(value), column.name)
    missing = source.series.is_null().to_list()
    values = _python_values(source)
    return np.array([np.nan if gone else float(value) for value, gone in zip(values, missing, strict=True)])


def _exact_numbers(numbers: NDArray[Any], name: str) -> NDArray[Any]:
    if numbers.dtype.kind in "iu" and numbers.dtype.itemsize == 8 and len(numbers):
        for value in (numbers.min(), numbers.max()):
            refuse_huge_integer(int(value), name)
    return numbers


def _convert_objects(series: Series, name: str) -> Floats:
    missing = series.is_null().to_list()
    values = series.to_list()
    for value in compress(values, (not gone for gone in missing)):
        if isinstance(value, Integral):
            refuse_huge_integer(int(value), name)
    return np.array([np.nan if gone else float(value) for value, gone in zip(values, missing, strict=True)])


def _encode_categories(source: Source, column: Column, out: Floats) -> bool:
    kept = source.dictionary
    if kept is None:
        _content(source, column.name)  # raises for unhashable values, such as lists
        out[:] = _codes_of(_python_values(source), column.code_of)
    else:
        place_codes(kept.codes, _codes_of(kept.levels, column.code_of), out)
    if column.categories and out[0] != out[0] and np.isnan(out).all():
        present = _present(source)
        if present and _family(type(present[0])) != _family(type(column.categories[0])):
            raise _changed_type(column, present[0])
    if kept is None:
        return source.texts is None
    return np.inf in kept.levels or -np.inf in kept.levels


def _codes_of(values: Sequence[Any], code_of: Mapping[Any, float]) -> Floats:
    """Code of each value; NaN for values without one."""
    return np.fromiter(map(code_of.get, values, repeat(np.nan)), dtype=np.float64, count=len(values))


# --- Content of a column of a frame -------------------------------------------------------------------------


class _Content(StrEnum):
    """Type of the values of a column, before `categorical_features` is applied."""

    NUMBERS = "numbers"
    LABELS = "labels"  # text or unordered categories
    LEVELS = "levels"  # categories with a declared order


def _content(source: Source, name: str) -> _Content:
    if source.numbers is not None:
        return _Content.NUMBERS
    if source.texts is not None:
        return _Content.LABELS
    if source.dictionary is not None:
        return _Content.LEVELS if source.dictionary.ordered else _Content.LABELS
    if _is_untyped(source.series):
        family = _one_family(_present(source), name, source)
        return _Content.LABELS if family == "text" else _Content.NUMBERS
    dtype = source.series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        return _Content.NUMBERS
    if dtype == nw.Enum:
        return _Content.LEVELS
    if dtype in (nw.Categorical, nw.String):
        return _Content.LABELS
    raise _unusable_dtype(name, source.dtype_name)


def _is_untyped(series: Series) -> bool:
    """Whether only the values tell the type: object columns, and types that narwhals does not know.

    narwhals infers String for a pandas object column of None.
    """
    return series.dtype in (nw.Object, nw.Unknown) or str(getattr(series.to_native(), "dtype", "")) == "object"


def _python_values(source: Source) -> list[Any]:
    if source.numbers is not None:
        return source.numbers.tolist()
    if source.texts is not None:
        return source.texts()
    series = source.series
    if series.dtype == nw.Decimal:
        return series.cast(nw.Float64).to_list()
    values = series.to_list()
    if _is_untyped(series) and not PLAIN_TYPES.issuperset(map(type, values)):
        return [_python_value(value) for value in values]
    return values


def _present(source: Source) -> list[Any]:
    """Values that are not missing; each once if the column has a dictionary."""
    if source.dictionary is not None:
        return source.dictionary.present
    values = _python_values(source)
    if source.numbers is not None or source.texts is not None:
        return [value for value in values if value is not None and value == value]
    return list(compress(values, (~source.series.is_null()).to_list()))


def _python_value(value: Any) -> Any:
    """Convert to plain str, int, float or bool, so that categories do not depend on the library."""
    if isinstance(value, Decimal | float | np.floating):
        return float(value) + 0.0  # -0.0 and 0.0 are one category
    return value.item() if isinstance(value, np.generic) else value


def _sorted_categories(present: Sequence[Any], name: str, source: Source) -> tuple[Any, ...]:
    """Categories sorted by value: the declared order of unordered ones differs between libraries."""
    distinct = set(present)
    if set(map(type, distinct)) == {str}:
        return tuple(sorted(distinct))
    _one_family(present, name, source)
    return tuple(sorted(_python_value(value) for value in distinct if value == value))


def _declared_levels(levels: Iterable[Any], name: str, source: Source) -> tuple[Any, ...]:
    declared = [_python_value(level) for level in levels if level is not None]
    _one_family(declared, name, source)
    return tuple(dict.fromkeys(declared))


def _one_family(values: Iterable[Any], name: str, source: Source) -> str:
    """The type family of all values, "" without values; raises if there are several, which have no common order."""
    families = {_family(kind): kind for kind in dict.fromkeys(map(type, values))}
    if None in families:
        raise _unusable_dtype(name, f"{source.dtype_name} with values of type {families[None].__name__}")
    if len(families) > 1:
        mixture = " and ".join(kind.__name__ for kind in families.values())
        raise ValueError(f"column {name!r} mixes {mixture}; convert it to one type first, for example to text.")
    return next(iter(families), None) or ""


def _family(kind: type) -> str | None:
    if issubclass(kind, str):
        return "text"
    if issubclass(kind, bool | np.bool_):
        return "truth value"
    if issubclass(kind, Real | Decimal):
        return "number"
    return None


# --- Errors -------------------------------------------------------------------------------------------------


def refuse_huge_integer(value: int, name: str) -> None:
    if abs(value) > LARGEST_EXACT_INTEGER:
        raise ValueError(
            f"column {name!r} holds the integer {value}, beyond 2**53, where float64 can't tell neighbours "
            "apart; subtract an offset, drop the column, or, if it is an identifier, pass it as text."
        )


def _changed_type(column: Column, value: Any) -> ValueError:
    return ValueError(
        f"column {column.name!r} changed its type: in fit it held categories such as "
        f"{column.categories[0]!r}, now it holds {value!r}; pass values of the same type as in fit."
    )


def _unusable_dtype(name: str, dtype: str) -> ValueError:
    return ValueError(
        f"column {name!r} has dtype {dtype}, which trees can't split; drop it, or convert it first: to a "
        "number (a date, for example, to days since a reference date), to text, or to categories of either."
    )
