"""Detection of columns that only identify rows, from which nothing can be learned."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hedgerow.datasets.rows import is_text

__all__ = ["identifies_rows"]

_LEAST_ROWS = 20  # with fewer, a column of distinct values may well be something else
_ID_NAME = re.compile(
    r"(column \d+|unnamed: ?\d+|index|idx|rownames?|row|no|nr|key|uuid|guid|.*(^|[_\s.-])id|id[_\s.-].*|.*[a-z]I[dD])",
)
_ID_TEXT = r"^[A-Za-z]{0,8}[-_/#.]?[0-9][0-9A-Za-z_-]*$|^[0-9A-Fa-f]{8}-[0-9A-Fa-f-]{27}$"


def identifies_rows(column: pa.ChunkedArray, name: str, *, first: bool = False) -> str:
    """Describe how a column identifies rows; "" if it does not seem to.

    Its name, its values, and whether it is the first column count.

    >>> identifies_rows(pa.chunked_array([list(range(30))]), "column 1")
    'row numbers'
    >>> identifies_rows(pa.chunked_array([[f"P{i:03}" for i in range(30)]]), "patient")
    'a different text in every row'
    """
    n = len(column)
    if column.null_count or n < 2:
        return ""
    by_name = _ID_NAME.fullmatch(name) is not None or _ID_NAME.fullmatch(name.lower()) is not None
    if n < _LEAST_ROWS and not by_name:
        return ""
    if (by_name or first) and _are_row_numbers(column):
        return "row numbers"
    whole, text = _is_whole(column.type), is_text(column.type)
    if n < _LEAST_ROWS or not (whole or text) or len(pc.unique(column)) < n:
        return ""
    if whole:
        return "a different whole number in every row" if by_name else ""
    looks_alike = by_name or pc.all(pc.match_substring_regex(column, _ID_TEXT)).as_py()
    return "a different text in every row" if looks_alike else ""


def _are_row_numbers(column: pa.ChunkedArray) -> bool:
    """0, 1, 2, ... or 1, 2, 3, ..."""
    if not (_is_whole(column.type) or pa.types.is_floating(column.type)):
        return False
    values = column.cast(pa.float64(), safe=False).to_numpy()
    return values[0] in (0.0, 1.0) and bool((np.diff(values) == 1.0).all())


def _is_whole(kind: Any) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_decimal(kind))
