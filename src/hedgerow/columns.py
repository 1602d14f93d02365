"""One column: what it holds, what `fit` learns about it, and how its values become numbers.

Numbers stay as they are, categories become codes 0, 1, 2, ..., and what is missing or was not seen in `fit`
is NaN. Categories follow their values, not the library that holds them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from itertools import chain, compress, repeat
from numbers import Integral, Real
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

__all__ = [
    "LARGEST_EXACT_INTEGER",
    "Column",
    "Floats",
    "Kind",
    "Series",
    "encode_numbers",
    "encode_series",
    "learn_numbers",
    "learn_series",
    "refuse_huge_integer",
]

Floats: TypeAlias = NDArray[np.float64]
Series: TypeAlias = nw.Series[Any]

# Beyond this, neighbouring integers fall on the same float64.
LARGEST_EXACT_INTEGER = 2**53

# What categories are kept as, and what marks them as missing.
PLAIN_TYPES = frozenset({str, int, float, bool, type(None)})


class Kind(StrEnum):
    """How a tree may split a column: numeric and ordinal by threshold, nominal by membership."""

    NUMERIC = "numeric"
    ORDINAL = "ordinal"
    NOMINAL = "nominal"


@dataclass(frozen=True, slots=True)
class Column:
    """One column; code i stands for `categories[i]`, and numeric columns have no categories."""

    name: str
    kind: Kind
    categories: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ValueError(f"a column's name is {self.name!r}, must be text")
        if self.kind is Kind.NUMERIC and self.categories:
            raise ValueError(f"column {self.name!r} is numeric and has categories: it must have none")
        families = {_family(type(category)) for category in self.categories}
        if len(families) > 1 or None in families:
            raise ValueError(f"column {self.name!r} has categories that are not all text, truth values or numbers")
        if len(set(self.categories)) < len(self.categories) or any(c != c for c in self.categories):
            raise ValueError(f"column {self.name!r} has a category twice, or NaN among its categories")


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
    order = np.argsort(categories)  # ordinal levels stand in their declared order, not by value
    nearest = order[np.searchsorted(categories, values, sorter=order).clip(max=len(order) - 1)]
    known = categories[nearest] == values
    codes[known] = nearest[known]
    return codes


# --- Columns of frames --------------------------------------------------------------------------------------


def learn_series(series: Series, name: str, *, nominal: bool, from_dtype: bool) -> Column:
    dictionary = _dictionary(series)
    content = _content(series, name) if dictionary is None else dictionary.content
    if content is _Content.LEVELS:
        levels = series.dtype.categories if dictionary is None else dictionary.levels  # type: ignore[attr-defined]
        kind = Kind.NOMINAL if nominal else Kind.ORDINAL
        return Column(name, kind, _declared_levels(levels, name, str(series.dtype)))
    if nominal or (content is _Content.LABELS and from_dtype):
        present = _present(series) if dictionary is None else dictionary.present
        return Column(name, Kind.NOMINAL, _sorted_categories(present, name, str(series.dtype)))
    if content is _Content.LABELS:
        raise ValueError(
            f"column {name!r} holds categories ({series.dtype}), but categorical_features leaves it out; "
            'add it there, use categorical_features="from_dtype", or convert the column to numbers.'
        )
    return Column(name, Kind.NUMERIC)


def encode_series(series: Series, column: Column) -> Floats:
    """The numbers of a numeric column, the codes of any other."""
    return (_encode_numeric if column.kind is Kind.NUMERIC else _encode_categories)(series, column)


def _encode_numeric(series: Series, column: Column) -> Floats:
    content = _content(series, column.name)
    if series.null_count() == len(series):
        return np.full(len(series), np.nan)
    if content is not _Content.NUMBERS:
        raise ValueError(
            f"column {column.name!r} was numeric in fit, but now holds {_present(series)[0]!r}; pass "
            "numbers, or fit again with this column as categories."
        )
    if _is_untyped(series):
        return _convert_objects(series, column.name)
    if series.dtype.is_integer():
        for value in (series.min(), series.max()):
            refuse_huge_integer(int(value), column.name)
    return series.cast(nw.Float64).to_numpy()


def _convert_objects(series: Series, name: str) -> Floats:
    missing = series.is_null().to_list()
    values = series.to_list()
    for value in compress(values, (not gone for gone in missing)):
        if isinstance(value, Integral):
            refuse_huge_integer(int(value), name)
    return np.array([np.nan if gone else float(value) for value, gone in zip(values, missing, strict=True)])


def _encode_categories(series: Series, column: Column) -> Floats:
    code_of = {category: float(code) for code, category in enumerate(column.categories)}
    code_of |= {np.inf: np.inf, -np.inf: -np.inf}  # no category: the finished matrix shows it, and is refused
    dictionary = _dictionary(series)
    if dictionary is None:
        _content(series, column.name)  # refuses what can't be looked up, such as lists
        codes = _codes_of(_python_values(series), code_of)[:-1]
    else:
        codes = _codes_of(dictionary.levels, code_of)[dictionary.codes]
    if column.categories and np.isnan(codes).all():
        present = _present(series) if dictionary is None else dictionary.present
        if present and _family(type(present[0])) != _family(type(column.categories[0])):
            raise _changed_type(column, present[0])
    return codes


def _codes_of(values: Sequence[Any], code_of: Mapping[Any, float]) -> Floats:
    """The code of each value, NaN where it has none; and NaN at the end, where -1 finds it."""
    codes = map(code_of.get, chain(values, [None]), repeat(np.nan))
    return np.fromiter(codes, dtype=np.float64, count=len(values) + 1)


# --- What a column of a frame holds -------------------------------------------------------------------------


class _Content(StrEnum):
    """What the values of a column are, before anyone has said how to use them."""

    NUMBERS = "numbers"
    LABELS = "labels"  # text or unordered categories
    LEVELS = "levels"  # categories with a declared order


def _content(series: Series, name: str) -> _Content:
    """Of a column that has no :class:`_Dictionary`."""
    if _is_untyped(series):
        family = _one_family(_present(series), name, str(series.dtype))
        return _Content.LABELS if family == "text" else _Content.NUMBERS
    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        return _Content.NUMBERS
    if dtype == nw.Enum:
        return _Content.LEVELS
    if dtype in (nw.Categorical, nw.String):
        return _Content.LABELS
    raise _unusable_dtype(name, str(dtype))


def _is_untyped(series: Series) -> bool:
    """Only the values themselves can tell: objects, and types that narwhals does not know.

    narwhals guesses String for a pandas column of None; its object dtype claims nothing of the kind.
    """
    return series.dtype in (nw.Object, nw.Unknown) or str(getattr(series.to_native(), "dtype", "")) == "object"


def _arrow_dictionary(series: Series) -> Any:
    """A pyarrow DictionaryArray where the column is one, also inside pandas; else None.

    Arrow keeps the order of the levels in its type, out of narwhals' sight.
    """
    if series.dtype != nw.Categorical:
        return None
    if series.implementation.is_pyarrow() or hasattr(series.to_native().dtype, "pyarrow_dtype"):
        return series.to_arrow()
    return None


@dataclass(frozen=True)
class _Dictionary:
    """A column as its library keeps categories: `levels[codes]`, -1 where missing."""

    levels: list[Any]
    codes: NDArray[np.intp]
    ordered: bool

    @property
    def content(self) -> _Content:
        return _Content.LEVELS if self.ordered else _Content.LABELS

    @property
    def present(self) -> list[Any]:
        """The levels that occur."""
        occurs = np.bincount(self.codes + 1, minlength=len(self.levels) + 1)[1:] > 0
        return list(compress(self.levels, occurs.tolist()))


def _dictionary(series: Series) -> _Dictionary | None:
    """What pandas and Arrow keep of a column of categories; None for any other column.

    Rows need not be looked at value by value, and narwhals, which takes longer than these rows, need not be asked.
    """
    native = series.to_native()
    if _is_pandas_categorical(native):
        kept = native.array
        return _Dictionary(kept.categories.tolist(), kept.codes.astype(np.intp), bool(kept.ordered))
    arrow = _arrow_dictionary(series)
    if arrow is None:
        return None
    levels = arrow.dictionary.to_pylist()
    codes = arrow.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.intp)
    gone = [number for number, level in enumerate(levels) if level is None]
    return _Dictionary(levels, np.where(np.isin(codes, gone), -1, codes) if gone else codes, arrow.type.ordered)


def _is_pandas_categorical(native: Any) -> bool:
    return type(getattr(native, "dtype", None)).__name__ == "CategoricalDtype"  # without importing pandas


def _python_values(series: Series) -> list[Any]:
    if series.dtype == nw.Decimal:
        return series.cast(nw.Float64).to_list()
    values = series.to_list()
    if _is_untyped(series) and not PLAIN_TYPES.issuperset(map(type, values)):
        return [_python_value(value) for value in values]
    return values


def _present(series: Series) -> list[Any]:
    """The values that are not missing."""
    return list(compress(_python_values(series), (~series.is_null()).to_list()))


def _python_value(value: Any) -> Any:
    """Plain str, int, float or bool, so that categories do not depend on the library."""
    if isinstance(value, Decimal | float | np.floating):
        return float(value) + 0.0  # -0.0 and 0.0 are one category
    return value.item() if isinstance(value, np.generic) else value


def _sorted_categories(present: Sequence[Any], name: str, dtype: str) -> tuple[Any, ...]:
    """Sorted by value: the declared order of unordered categories differs between libraries."""
    _one_family(present, name, dtype)
    return tuple(sorted(_python_value(value) for value in set(present) if value == value))


def _declared_levels(levels: Iterable[Any], name: str, dtype: str) -> tuple[Any, ...]:
    declared = [_python_value(level) for level in levels if level is not None]
    _one_family(declared, name, dtype)
    return tuple(dict.fromkeys(declared))


def _one_family(values: Iterable[Any], name: str, dtype: str) -> str:
    """The one family that all values belong to, "" if there are none; values of two can't be put in order."""
    families = {_family(kind): kind for kind in dict.fromkeys(map(type, values))}
    if None in families:
        raise _unusable_dtype(name, f"{dtype} with values of type {families[None].__name__}")
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


# --- Refusals -----------------------------------------------------------------------------------------------


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
