"""Infinite numbers, refused with the row of the file that they are in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from hedgerow.cli.errors import CommandError

__all__ = ["check_finite", "finite_parts"]


def check_finite(table: pa.Table, label: str, row_number: Callable[[int], int]) -> None:
    """Refuse infinite numbers; `row_number` maps positions in the table to rows of the file, counted from 1."""
    for name, column in zip(table.column_names, table.columns, strict=True):
        if not pa.types.is_floating(column.type):
            continue
        at = pc.index(pc.is_inf(column), True).as_py()
        if at >= 0:
            raise CommandError(
                f"{label}: column {name!r} is {column[at].as_py()} in row {row_number(at)}: "
                "replace it by a finite number, or leave it empty if it stands for a missing value"
            )


def finite_parts(parts: Iterable[pa.Table], label: str) -> Iterator[pa.Table]:
    """Pass on the parts of a file, checked."""
    n_before = 0
    for part in parts:
        check_finite(part, label, (n_before + 1).__add__)
        n_before += part.num_rows
        yield part
