"""A model file, and rows read as it wants them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from hedgerow.cli.console import note
from hedgerow.cli.errors import CommandError, nearest
from hedgerow.cli.reading import make_reading, open_data
from hedgerow.columns import Column, Kind
from hedgerow.datasets.rows import As, Reading, Rows
from hedgerow.storage import load, read_notes

__all__ = ["Loaded", "open_model", "opened_rows"]


@dataclass(frozen=True)
class Loaded:
    """A fitted model, and what was noted when it was fitted."""

    model: Any
    notes: dict[str, Any]

    @property
    def columns(self) -> tuple[Column, ...]:
        columns: tuple[Column, ...] = self.model.schema_.columns
        return columns

    @property
    def target(self) -> str | None:
        return self.notes.get("target")


def open_model(path: str) -> Loaded:
    """A model file of any hedgerow; all threads are used to answer."""
    loaded = Loaded(load(path), read_notes(path))
    if not loaded.model.schema_.named:
        raise CommandError(
            f"{path}: its columns have no names, so that a file's can't be told apart: fit it to a frame"
        )
    if "n_jobs" in loaded.model.get_params(deep=False):
        loaded.model.set_params(n_jobs=-1)
    return loaded


def opened_rows(
    loaded: Loaded,
    data: str,
    missing: str | None,
    format_name: str | None,
    delimiter: str | None,
    folder: str | None,
    keep: Sequence[str] = (),
) -> Iterator[pa.Table]:
    """Rows of DATA, some at a time: the columns of the model, and those to `keep` as text."""
    wanted: dict[str, As] = {column.name: _how(column) for column in loaded.columns}
    reading = make_reading(missing, [], format_name, delimiter)
    if missing is None and "missing" in loaded.notes:
        reading = Reading(tuple(loaded.notes["missing"]), reading.text, reading.format, reading.delimiter)
    rows = open_data(data, folder, reading)
    _check_columns(loaded, rows, keep)
    return rows.batches(wanted | dict.fromkeys([name for name in keep if name not in wanted], "text"))


def _how(column: Column) -> As:
    """Categories are text, unless they were numbers in `fit`."""
    if column.kind is Kind.NUMERIC or (column.categories and not isinstance(column.categories[0], str)):
        return "number"
    return "text"


def _check_columns(loaded: Loaded, rows: Rows, keep: Sequence[str]) -> None:
    needed = [column.name for column in loaded.columns]
    strange = [
        name for name in rows.names if name not in {*needed, *keep, loaded.target, *loaded.notes.get("ignored", [])}
    ]
    absent = [name for name in needed if name not in rows.names]
    if absent:
        others = f"; unknown to it: {_named(strange)}" if strange else ""
        raise CommandError(f"{rows.label} has no column {_named(absent)}, which the model needs{others}")
    for name in keep:
        if name not in rows.names:
            raise CommandError(f"{rows.label} has no column {name!r} (--keep); {nearest(name, rows.names)}")
    if strange:
        note(f"the model does not know {_named(strange)}, and does not use it")


def _named(names: Sequence[str], at_most: int = 5) -> str:
    shown = ", ".join(map(repr, names[:at_most]))
    return f"{shown} and {len(names) - at_most} more" if len(names) > at_most else shown
