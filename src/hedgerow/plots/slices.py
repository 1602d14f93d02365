"""Grids of rows that vary in one or two columns, with typical values in the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hedgerow._params import is_whole
from hedgerow.data.columns import Kind
from hedgerow.data.table import Schema
from hedgerow.forest.forest import Forest
from hedgerow.forest.kinds import NodeKind
from hedgerow.plots.display import Floats
from hedgerow.plots.labels import literal_label

__all__ = ["column_pair", "column_position", "median_row", "observed_row", "slice_rows", "why_flat"]

_ROUNDING = 1e-12


def slice_rows(
    schema: Schema,
    rows: Floats,
    columns: Sequence[int],
    resolution: int,
    *,
    others: Callable[[Schema, Floats], Floats],
    margin: float = 0.0,
) -> tuple[list[Floats], Floats]:
    """Span the range of each column in encoded rows, widened by `margin` of it, and combine the values to rows.

    `others` gives the values of the remaining columns. Returns the values of each column, and the rows.
    """
    values = [_span(schema.names[j], rows[:, j], resolution, margin) for j in columns]
    grid = np.stack(np.meshgrid(*values), axis=-1).reshape(-1, len(columns))
    sliced = np.tile(others(schema, rows), (len(grid), 1))
    sliced[:, columns] = grid
    return values, sliced


def _span(name: str, column: Floats, resolution: int, margin: float) -> Floats:
    if np.isnan(column).all():
        raise ValueError(f"column {name!r} of X has no values to draw: all are missing")
    low, high = np.nanmin(column), np.nanmax(column)
    beyond = (margin * (high - low) or 0.5) if margin else 0.0
    return np.linspace(low - beyond, high + beyond, resolution)


def observed_row(schema: Schema, rows: Floats) -> Floats:
    """Take the upper median of each column: an observed value, so that ranks and codes stay whole."""
    typical = np.full(rows.shape[1], np.nan)
    for j, column in enumerate(rows.T):
        known = np.sort(column[~np.isnan(column)])
        if len(known):
            typical[j] = known[len(known) // 2]
    return typical


def median_row(schema: Schema, rows: Floats) -> Floats:
    """Take the median of each column, of nominal ones the most frequent category; NaN if all values are missing."""
    typical = np.full(rows.shape[1], np.nan)
    for j, column in enumerate(schema.columns):
        known = rows[~np.isnan(rows[:, j]), j]
        if len(known):
            nominal = column.kind == Kind.NOMINAL
            typical[j] = np.bincount(known.astype(np.intp)).argmax() if nominal else np.median(known)
    return typical


def column_position(schema: Schema, feature: Any) -> int:
    """Find a numeric or ordinal column by its name or position."""
    names = schema.names
    position = names.index(feature) if isinstance(feature, str) and feature in names else feature
    if not is_whole(position) or not 0 <= position < len(names):
        shown = ", ".join(map(repr, names[:10]))
        raise ValueError(f"features has {feature!r}, must be one of {shown}, or a position from 0 to {len(names) - 1}")
    if schema.columns[position].kind == Kind.NOMINAL:
        raise ValueError(f"features has {feature!r}, which is nominal: choose a numeric or ordinal column")
    return int(position)


def column_pair(schema: Schema, features: Sequence[Any]) -> list[int]:
    """Find two numeric or ordinal columns by their names or positions."""
    if len(features) != 2:
        raise ValueError(f"features is {features!r}, must name two columns")
    return [column_position(schema, feature) for feature in features]


def why_flat(answers: Floats, forest: Forest, columns: Sequence[int], names: Sequence[str]) -> str | None:
    """Explain why all answers of a single tree over these columns are equal; None where they differ."""
    if np.ptp(answers) > _ROUNDING * np.abs(answers).max():
        return None
    if forest.n_leaves == 1:
        return "all values are equal:\nthe tree has one leaf"
    drawn = " or ".join(literal_label(names[j]) for j in columns)
    if not (np.isin(forest.feature, columns).any() or (forest.kind == NodeKind.OBLIQUE).any()):
        return f"all values are equal:\nthe tree does not split on {drawn}"
    return f"all values are equal:\nno split on {drawn} changes the answer here"
