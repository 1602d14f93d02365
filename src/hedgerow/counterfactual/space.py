"""Allowed changes of a row: columns, bounds, and the cost of each change."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow._params import is_number, is_whole
from hedgerow.counterfactual.values import Cells, cells_of
from hedgerow.data.columns import Kind
from hedgerow.data.table import Schema
from hedgerow.forest.forest import Forest
from hedgerow.forest.kinds import NodeKind

__all__ = ["Candidates", "Space", "check_columns"]

Floats = NDArray[np.float64]

_MANY = 20  # whole numbers in a range: to round to one moves a value by little


class Candidates(NamedTuple):
    """Values that each column of a row may take, in the core's order, and the position of its own among them."""

    start: NDArray[np.int64]
    values: Floats
    costs: Floats
    home: NDArray[np.int32]

    def chosen(self, choices: NDArray[np.int32]) -> Floats:
        """The row with these choices."""
        row: Floats = self.values[self.start[:-1] + choices]
        return row

    def distance(self, choices: NDArray[np.int32]) -> float:
        return float(self.costs[self.start[:-1] + choices].sum())


@dataclass(frozen=True, eq=False)
class Space:
    """Columns that may change, and the distance: Σ cost·|change|/range over numbers, plus cost of each new category.

    Parameters
    ----------
    schema : Schema
        Names, kinds and categories of the columns.
    costs : array
        Cost of changing each column by its range, or to another category.
    ranges : array
        Smallest and largest value of each column.
    free : bool array
        Whether each column may change.
    direction : int64 array
        1 and −1 where a column may only rise or fall, else 0.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.counterfactual import Space
    >>> tree = TreeClassifier().fit([[1, 5], [2, 5], [3, 5]], [0, 0, 1])
    >>> space = Space.of(
    ...     tree.schema_, tree.forest_, tree.training_range_, immutable=(), monotone=None, ranges=None, costs=np.ones(2)
    ... )
    >>> space.free  # no split tests the second column
    array([ True, False])
    """

    schema: Schema
    costs: Floats
    ranges: Floats
    cells: tuple[Cells | None, ...]
    """None for columns that stay as they are, and for nominal ones."""
    free: NDArray[np.bool_]
    direction: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        schema: Schema,
        forest: Forest,
        trained: Floats | None,
        *,
        immutable: Any,
        monotone: Any,
        ranges: Any,
        costs: Floats,
    ) -> Space:
        """Check the arguments of `counterfactual`; `trained` are the ranges of the training data.

        Parameters
        ----------
        schema : Schema
            Names, kinds and categories of the columns.
        forest : Forest
            The trees.
        trained : array of shape (n_features, 2) or None
            Ranges of the training data.
        immutable : names or positions of columns
            Columns that must stay as they are.
        monotone : mapping of columns to +1 or -1, or None
            Columns that may only increase, or only decrease.
        ranges : mapping of columns to (low, high), or None
            Values that numbers may take.
        costs : array of shape (n_features,)
            Cost of changing each column.

        Returns
        -------
        Space
            The space, checked.

        Raises
        ------
        ValueError
            If splits are oblique, no column is left to change, or a name or a range is not valid.
        """
        if (forest.kind == NodeKind.OBLIQUE).any():
            raise ValueError("counterfactuals need splits on one column each, and this model has oblique splits")
        fixed = check_columns("immutable", immutable, schema)
        free = forest.split_features
        if not free.any():
            raise ValueError("the model has no split: its answer is the same for all rows")
        free[fixed] = False
        if not free.any():
            raise ValueError(
                "immutable leaves nothing to change: the model splits on no column but "
                + ", ".join(repr(schema.names[j]) for j in np.flatnonzero(forest.split_features)[:10].tolist())
            )
        bounds = _ranges(ranges, trained, schema)
        cells = []
        for j in range(schema.n_features):
            is_number = free[j] and not schema.n_categories[j]
            cells.append(_cells(forest, j, schema, bounds[j]) if is_number else None)
        return cls(schema, costs, bounds, tuple(cells), free, _directions(monotone, schema))

    def candidates(self, row: Floats) -> Candidates:
        """Values that each column of a row may take. Missing values stay missing.

        Parameters
        ----------
        row : array of shape (n_features,)
            The converted row.

        Returns
        -------
        Candidates
            Values of all columns, one column after the other, with what it costs to move there.
        """
        values, costs, home = [], [], []
        for j, x in enumerate(row.tolist()):
            own, at = np.array([x]), 0
            cells = self.cells[j]
            if self.free[j] and x == x:
                if cells is None:
                    codes = np.arange(float(self.schema.n_categories[j]))
                    own = np.concatenate([own, codes[codes != x]])
                else:
                    own, at = cells.candidates(x, int(self.direction[j]))
            low, high = self.ranges[j]
            moves = cells is not None and x == x  # a missing value stays missing, at no cost
            step = np.abs(own - x) / ((high - low) or 1.0) if moves else (np.arange(len(own)) > 0)
            values.append(own)
            costs.append(self.costs[j] * step)
            home.append(at)
        start = np.concatenate([[0], np.cumsum([len(own) for own in values])])
        return Candidates(
            start.astype(np.int64),
            np.concatenate(values),
            np.concatenate(costs).astype(np.float64),
            np.array(home, dtype=np.int32),
        )


def _cells(forest: Forest, column: int, schema: Schema, bounds: Floats) -> Cells:
    low, high = bounds
    if not low <= high:
        name = schema.names[column]
        raise ValueError(
            f"the training range of column {name!r} is unknown to this model: pass ranges={{{name!r}: (low, high)}}, "
            "or make it immutable"
        )
    thresholds = forest.threshold[(forest.feature == column) & (forest.kind == NodeKind.THRESHOLD)]
    thresholds = np.unique(thresholds[np.isfinite(thresholds)]) + 0.0
    known = schema.columns[column]
    whole = known.kind == Kind.ORDINAL or bool(known.categories) or _seems_whole(thresholds, bounds)
    return cells_of(thresholds, float(low), float(high), whole=whole)


def _seems_whole(thresholds: Floats, bounds: Floats) -> bool:
    """Whether a column has whole numbers, as far as its range and thresholds tell.

    Thresholds midway between whole numbers tell it; drawn ones lie anywhere, and a long range has to do.
    """
    if (bounds != np.floor(bounds)).any():
        return False
    return bool(bounds[1] - bounds[0] >= _MANY or (2 * thresholds == np.floor(2 * thresholds)).all())


def _ranges(given: Any, trained: Floats | None, schema: Schema) -> Floats:
    ranges = np.full((schema.n_features, 2), np.nan) if trained is None else trained.copy()
    for column, bounds in _by_column("ranges", given, schema).items():
        low, high = bounds if np.ndim(bounds) == 1 and len(bounds) == 2 else (np.nan, np.nan)
        if not (is_number(low) and is_number(high) and -np.inf < low < high < np.inf):
            raise ValueError(f"ranges of column {schema.names[column]!r} is {bounds!r}, must be (low, high)")
        ranges[column] = low, high
    return ranges


def _directions(given: Any, schema: Schema) -> NDArray[np.int64]:
    directions = np.zeros(schema.n_features, dtype=np.int64)
    for column, sign in _by_column("monotone", given, schema).items():
        if not is_whole(sign) or sign not in (-1, 1):
            raise ValueError(
                f"monotone of column {schema.names[column]!r} is {sign!r}, must be 1 (may only rise) or -1 (only fall)"
            )
        if schema.n_categories[column]:
            raise ValueError(f"monotone names column {schema.names[column]!r}, whose categories have no order")
        directions[column] = sign
    return directions


def _by_column(name: str, given: Any, schema: Schema) -> dict[int, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ValueError(f"{name} is {given!r}, must map columns, such as {{{schema.names[0]!r}: ...}}")
    return dict(zip(check_columns(name, given, schema), given.values(), strict=True))


def check_columns(name: str, given: Any, schema: Schema) -> list[int]:
    """Positions of columns given by name or position."""
    if isinstance(given, str) or not isinstance(given, Collection):
        raise ValueError(f"{name} is {given!r}, must be a list of columns, such as [{schema.names[0]!r}]")
    found = []
    for one in given:
        if is_whole(one) and 0 <= one < schema.n_features:
            found.append(int(one))
        elif isinstance(one, str) and one in schema.names:
            found.append(schema.names.index(one))
        else:
            raise ValueError(
                f"{name} names {one!r}, which is not a column of X: they are {', '.join(schema.names[:10])}"
            )
    return found
