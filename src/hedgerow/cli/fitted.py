"""A model file, and rows read for its model."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from hedgerow.cli.console import note
from hedgerow.cli.errors import CommandError, nearest
from hedgerow.cli.figures import listed
from hedgerow.cli.inputs.dates import part_name, with_date_parts
from hedgerow.cli.inputs.finite import finite_parts
from hedgerow.cli.inputs.reading import make_reading, open_data
from hedgerow.cli.options import FileOptions
from hedgerow.data.columns import Column, Kind
from hedgerow.data.table import Schema
from hedgerow.datasets.rows import As, Rows
from hedgerow.storage import load, read_fitted, read_notes

__all__ = ["Extra", "Loaded", "open_model", "read_rows"]


class Loaded:
    """A model file: its columns and notes at once, the fitted model when it is needed.

    The model needs scikit-learn, whose import takes as long as reading some hundred megabytes of rows.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._identity = _identity(path)
        _, self._found = read_fitted(path, ("schema_",))
        self.notes = read_notes(path)

    @cached_property
    def model(self) -> Any:
        """The fitted model, set to use all threads."""
        model = load(self._path)
        if _identity(self._path) != self._identity:  # its columns may be others than those that rows are read by
            raise CommandError(f"{self._path} was replaced while it was read: run the command again")
        if "n_jobs" in model.get_params(deep=False):
            model.set_params(n_jobs=-1)
        return model

    @cached_property
    def schema(self) -> Schema:
        """The columns of the model; a wrapper has those of the model inside."""
        if "schema_" not in self._found:
            return self.model.schema_
        return self._found["schema_"]

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.schema.columns

    @property
    def dates(self) -> dict[str, list[str]]:
        """Parts of each column of dates that are columns of the model."""
        return self.notes.get("dates", {})

    @property
    def target(self) -> str | None:
        return self.notes.get("target")


def _identity(path: str) -> tuple[int, int, int]:
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_mtime_ns


def open_model(path: str) -> Loaded:
    """Open a model file of any version of hedgerow."""
    loaded = Loaded(path)
    if not loaded.schema.named:
        raise CommandError(
            f"{path}: its columns have no names, so that those of a file can't be matched: fit it to a frame"
        )
    return loaded


@dataclass(frozen=True)
class Extra:
    """A column to read beside those of the model, as numbers or text, and what names it: an option."""

    name: str
    how: As
    named_by: str


def read_rows(loaded: Loaded, data: str, files: FileOptions, extras: Sequence[Extra] = ()) -> Iterator[pa.Table]:
    """Read rows of DATA some at a time: the columns of the model, and extra ones."""
    dates = loaded.dates
    from_dates = {part_name(name, part) for name, parts in dates.items() for part in parts}
    wanted: dict[str, As] = {column.name: _how(column) for column in loaded.columns if column.name not in from_dates}
    wanted |= dict.fromkeys(dates, "text")
    rows = open_data(data, files.folder, make_reading(files, [], loaded.notes))
    _check_columns(loaded, list(wanted), rows, extras)
    parts = rows.batches(wanted | {extra.name: extra.how for extra in extras if extra.name not in wanted})
    finite = finite_parts(parts, rows.label)
    return (with_date_parts(part, dates, rows.label) for part in finite) if dates else finite


def _how(column: Column) -> As:
    """Return how to read a column: categories are text, unless they were numbers in `fit`."""
    if column.kind == Kind.NUMERIC or (column.categories and not isinstance(column.categories[0], str)):
        return "number"
    return "text"


def _check_columns(loaded: Loaded, needed: Sequence[str], rows: Rows, extras: Sequence[Extra]) -> None:
    known = {*needed, *(extra.name for extra in extras), loaded.target, *loaded.notes.get("ignored", [])}
    strange = [name for name in rows.names if name not in known]
    absent = [name for name in needed if name not in rows.names]
    if absent:
        others = f"; unknown to it: {_named(strange)}" if strange else ""
        raise CommandError(f"{rows.label} has no column {_named(absent)}, which the model needs{others}")
    for extra in extras:
        if extra.name not in rows.names:
            raise CommandError(
                f"{rows.label} has no column {extra.name!r} ({extra.named_by}); {nearest(extra.name, rows.names)}"
            )
    if strange:
        note(f"the model does not know {_named(strange)}, and does not use it")


def _named(names: Sequence[str]) -> str:
    return listed(list(map(repr, names)), at_most=5)
