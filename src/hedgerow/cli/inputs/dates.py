"""Dates as numbers that trees can split: days, or parts such as year and month."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hedgerow.cli.errors import CommandError
from hedgerow.datasets.rows import decode, is_text

__all__ = ["date_parts", "holds_dates", "is_date", "part_name", "with_date_parts"]

_A_DAY = 86_400_000_000  # in microseconds

_FORMS = ("%d.%m.%Y", "%Y/%m/%d")  # not 03/04/2024, whose month may be either

_PARTS: dict[str, Callable[[Any], Any]] = {
    "days": lambda times: pc.divide(times.cast(pa.int64()).cast(pa.float64()), float(_A_DAY)),
    "year": pc.year,
    "month": pc.month,
    "day": pc.day,
    "weekday": lambda times: pc.add(pc.day_of_week(times), 1),
    "hour": pc.hour,
}


def is_date(kind: Any) -> bool:
    """Whether an Arrow type is that of dates, with or without the time of day."""
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def holds_dates(column: pa.ChunkedArray) -> bool:
    """Whether a column holds dates, as such or as text."""
    return is_date(column.type) or (
        is_text(column.type) and column.null_count < len(column) and _parse(column) is not None
    )


def part_name(column: str, part: str) -> str:
    """Name of the column of numbers that is made of a part of a date."""
    return f"{column}.{part}"


def date_parts(column: pa.ChunkedArray, name: str, how: str) -> dict[str, pa.ChunkedArray]:
    """Parts of dates by their names; the hour only where there are times of day.

    Days are counted from 1970-01-01; the weekday is 1 on Monday.

    >>> import datetime
    >>> dates = pa.chunked_array([[datetime.date(2024, 2, 29)]])
    >>> {part: values.to_pylist() for part, values in date_parts(dates, "when", "parts").items()}
    {'year': [2024.0], 'month': [2.0], 'day': [29.0], 'weekday': [4.0]}
    """
    times = _times(column, f"column {name!r}")
    if how == "days":
        return {"days": _part(times, "days")}
    has_times = bool((np.asarray(times.drop_null().cast(pa.int64())) % _A_DAY).any())
    names = [part for part in _PARTS if part != "days" and (part != "hour" or has_times)]
    return {part: _part(times, part) for part in names}


def with_date_parts(table: pa.Table, dates: Mapping[str, Sequence[str]], label: str) -> pa.Table:
    """Rows with the parts of their dates as columns; dates may be text of the form 2024-02-29 13:30."""
    for name, parts in dates.items():
        times = _times(table[name], f"{label}: column {name!r}")
        for part in parts:
            table = table.append_column(part_name(name, part), _part(times, part))
    return table


def _part(times: pa.ChunkedArray, part: str) -> pa.ChunkedArray:
    return _PARTS[part](times).cast(pa.float64())


def _times(column: pa.ChunkedArray, what: str) -> pa.ChunkedArray:
    """Microseconds without a time zone: UTC where the values have one."""
    column = decode(column)
    times = _parse(column)
    if times is None:
        wrong = next(
            text for text in column.to_pylist() if text is not None and _parse(pa.chunked_array([[text]])) is None
        )
        raise CommandError(f"{what} holds {wrong!r}, which is not a date; dates are written as 2024-02-29 13:30")
    return times


def _parse(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    # Nanoseconds second: text may have nine digits of a second, but only years 1678 to 2262 fit.
    for kind in (pa.timestamp(unit, zone) for unit in ("us", "ns") for zone in (None, "UTC")):
        try:
            return column.cast(kind, safe=False).cast(pa.timestamp("us"))
        except pa.ArrowInvalid:
            continue
    for form in _FORMS:
        times = pc.strptime(column, format=form, unit="us", error_is_null=True)
        if times.null_count == column.null_count:
            return times
    return None
