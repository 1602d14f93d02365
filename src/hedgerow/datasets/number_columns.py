"""Numbers that a table holds as text: which columns hold them, and why the others do not."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from hedgerow.datasets.numerals import (
    MISSING_NUMBERS,
    Numerals,
    integer_literals,
    is_plain_number,
    looks_numeric,
    read_numerals,
)
from hedgerow.datasets.rows import LARGEST_EXACT, MISSING, Reading, is_text, markers_to_null

__all__ = ["Recognised", "exact_integers", "recognise_numbers"]

_N_EXAMPLES = 10_000


@dataclass(frozen=True)
class Recognised:
    """A table whose columns of numbers are numbers, how later rows must be read, and remarks for the user."""

    table: pa.Table
    reading: Reading
    remarks: tuple[tuple[str, str], ...]
    """Names of columns, and what was found out about them."""


def recognise_numbers(table: pa.Table, reading: Reading) -> Recognised:
    """Turn text into numbers in columns where every value is a number or a usual word for a missing value."""
    missing = (*MISSING, *reading.missing)
    decimal = reading.decimal or "."
    units = dict(reading.units)
    remarks: list[tuple[str, str]] = []
    for at, name in enumerate(table.column_names):
        column = table.column(at)
        if name in reading.text or not is_text(column.type) or not looks_numeric(column, missing):
            continue
        found = read_numerals(column, decimal, missing)
        if not found.n_strange and found.n_values:
            table = table.set_column(at, name, _exact(column, found, missing))
            remarks += _conversion(column, name, found, reading)
            if found.unit:
                units[name] = found.unit
        elif found.mostly_numbers or found.other_decimal:
            remarks.append((name, f"column {name!r} is taken for categories: {found.complaint()}"))
    return Recognised(table, replace(reading, units=units), tuple(remarks))


def _exact(column: pa.ChunkedArray, found: Numerals, missing: tuple[str, ...]) -> pa.ChunkedArray:
    """Numbers; integers that float64 can't hold as decimals, so that they can be refused by their exact value."""
    if (np.abs(found.values) >= LARGEST_EXACT).any():
        written = markers_to_null(column, (*missing, *MISSING_NUMBERS))
        if integer_literals(written):
            return exact_integers(written)
    return pa.chunked_array([pa.array(found.values, from_pandas=True)])


def exact_integers(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """Integers of any size; as decimals, which Arrow has up to 76 digits of, or as text beyond."""
    try:
        return text.cast(pa.decimal256(76, 0))
    except pa.ArrowInvalid:
        return text


def _conversion(column: pa.ChunkedArray, name: str, found: Numerals, reading: Reading) -> list[tuple[str, str]]:
    """Report how values that are no plain numbers were read, with an example."""
    for text, value in zip(column.slice(0, _N_EXAMPLES).to_pylist(), found.values.tolist(), strict=False):
        if text is not None and value == value and not is_plain_number(text):
            either = reading.decimal is None and "," in text and "." not in text
            doubt = "; if not: --decimal ," if either else ""
            return [(name, f"column {name!r}: {text!r} is read as {value:.15g}{doubt}")]
    return []
