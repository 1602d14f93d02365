"""One counterfactual, for people and for programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._printable import printable
from hedgerow.data.columns import Column, Kind
from hedgerow.data.table import Schema
from hedgerow.forest.names import number_text

__all__ = ["Counterfactual"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Counterfactual:
    """The nearest row whose answer is `target`.

    `row` has a value for each column, numbers and categories as in X; `changes` maps the names of those that differ to
    the value before and after. `distance` is the sum of the changes, in training ranges, times their costs. No accepted
    row is nearer than (1 − gap)·distance: a gap of 0 is a proof that none is, a larger one means that the search was
    stopped.

    Parameters
    ----------
    row : tuple[object, ...]
        A value for each column, numbers and categories as in X.
    target
        The answer of the new row.
    distance : float
        Sum of the changes in training ranges, times their costs.
    gap : float
        How much nearer another row could be at most, as a share of the distance; 0: none is nearer.
    changes : dict[str, tuple[object, object]]
        Value before and after, by the name of each column that differs.

    Examples
    --------
    >>> from hedgerow import TreeClassifier
    >>> tree = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> nearest = tree.counterfactual([[1.0]])[0][0]
    >>> nearest.target, nearest.changes, nearest.gap
    ('yes', {'x0': (1.0, 3.0)}, 0.0)
    """

    row: tuple[Any, ...]
    target: Any
    distance: float
    gap: float
    changes: dict[str, tuple[Any, Any]]

    def __str__(self) -> str:
        if isinstance(self.target, tuple):
            said = f"{_text(self.target[0])} to {_text(self.target[1])}"
        else:
            said = printable(self.target)
        changes = [f"{printable(name)} {_text(a)} → {_text(b)}" for name, (a, b) in self.changes.items()]
        proven = "none is nearer" if self.gap == 0 else f"none is nearer than {(1 - self.gap) * self.distance:.3g}"
        return f"{said}: {', '.join(changes) or 'no change'} (distance {self.distance:.3g}, {proven})"

    @classmethod
    def of(
        cls, schema: Schema, before: Floats, after: Floats, target: Any, distance: float, gap: float
    ) -> Counterfactual:
        """Record of a change of one converted row to another.

        Parameters
        ----------
        schema : Schema
            Names, kinds and categories of the columns.
        before : array of shape (n_features,)
            The converted row.
        after : array of shape (n_features,)
            The converted row with its changes.
        target : label or (low, high)
            Answer of the model for this row.
        distance : float
            Sum of the changes, in training ranges, times their costs.
        gap : float
            0 if it is proven that no row is nearer; else no row is nearer than (1 − gap)·distance.

        Returns
        -------
        Counterfactual
            The record, with names and categories in place of positions and codes.
        """
        old, new = (
            [_value(column, x) for column, x in zip(schema.columns, row.tolist(), strict=True)]
            for row in (before, after)
        )
        changed = np.flatnonzero((before != after) & ~np.isnan(before)).tolist()
        changes = {schema.names[j]: (old[j], new[j]) for j in changed}
        return cls(tuple(new), target, distance, gap, changes)


def _value(column: Column, x: float) -> Any:
    if np.isnan(x):
        return None if column.categories else x
    if column.categories and (column.kind != Kind.NUMERIC or x in (0.0, 1.0)):
        return column.categories[int(x)]
    return x


def _text(value: Any) -> str:
    if not isinstance(value, float):
        return printable(value)
    short = number_text(value) if np.isfinite(value) else str(value)
    return short if float(short) == value else repr(value)
