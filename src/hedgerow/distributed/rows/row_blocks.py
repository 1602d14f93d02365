"""Rows of a part as arrays, which tasks compute with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats, Whole
from hedgerow._exact import round_shares
from hedgerow.data.table import Schema
from hedgerow.distributed.engine import Part

__all__ = ["Encoding", "RowBlock", "class_codes", "read_target", "read_weight", "without_dictionary"]


@dataclass(frozen=True)
class RowBlock:
    """Rows in order; the arrays have a row each."""

    first: int
    """Global number of the first row."""
    X: Floats
    """Row-major, categories as codes, NaN where missing."""
    target: NDArray[Any]
    """int32 class codes, or float64 targets; empty without a target."""
    weight: Floats
    """Whole numbers, or multiples of 2**-20."""

    def __len__(self) -> int:
        return len(self.X)

    @property
    def numbers(self) -> Whole:
        """Global numbers of the rows."""
        return np.arange(self.first, self.first + len(self.X))

    def take(self, at: NDArray[Any]) -> tuple[Whole, Floats, NDArray[Any], Floats]:
        """Numbers, inputs, targets and weights of some rows."""
        return self.first + np.asarray(at, np.int64), self.X[at], self.target[at], self.weight[at]


@dataclass(frozen=True)
class Encoding:
    """How columns become arrays: what the first pass has agreed on."""

    schema: Schema
    inputs: tuple[str, ...]
    target: str | None = None
    classes: NDArray[Any] | None = None
    """None for regression."""
    weight: str | None = None
    unit: float = 1.0
    """Weight that counts as one row."""
    class_weights: Floats | None = None
    """Factor of the weights of each class."""
    class_unit: float = 1.0
    """Divisor of the products."""
    rounds: bool = True
    """Whether weights are rounded to multiples of 2**-20."""

    @property
    def weighs(self) -> bool:
        """Whether rows have weights other than 1."""
        return self.weight is not None or self.class_weights is not None

    def read(self, part: Part) -> RowBlock:
        """All rows of a part, converted some at a time."""
        X = np.empty((part.n_rows, len(self.inputs)))
        kind = np.float64 if self.classes is None else np.int32
        target: NDArray[Any] = np.empty(0 if self.target is None else part.n_rows, kind)
        weight = np.ones(part.n_rows)
        at = 0
        for table in part.batches():
            rows = slice(at, at + table.num_rows)
            self._fill(table.select(list(self.inputs)), X[rows])
            if self.target is not None:
                column = read_target(table, self.target, part, at)
                known = self.classes
                target[rows] = column.to_numpy() if known is None else class_codes(column, known, self.target, part)
            if self.weight is not None:
                weight[rows] = read_weight(table, self.weight, part, at) / self.unit
            at = rows.stop
        if self.class_weights is not None:
            weight = weight * self.class_weights[target] / self.class_unit
        if self.weighs and self.rounds:
            weight = round_shares(weight)
        return RowBlock(part.first, X, target, weight)

    def _fill(self, table: Any, out: Floats) -> None:
        """Write the inputs of a table; numbers without a matrix between, as the first pass has refused infinity."""
        import pyarrow as pa

        kinds = table.schema.types
        if self.schema.all_numeric and all(pa.types.is_float64(kind) or pa.types.is_float32(kind) for kind in kinds):
            for j, column in enumerate(table.columns):
                out[:, j] = column.to_numpy()
        else:
            out[:] = self.schema.read(table)


def class_codes(column: Any, known: NDArray[Any], name: str, part: Part) -> NDArray[Any]:
    """Positions of labels in the known classes."""
    import pyarrow as pa
    import pyarrow.compute as pc

    classes = pa.array(known)
    codes = pc.index_in(column.cast(classes.type), value_set=classes)
    if codes.null_count:
        new = column.filter(codes.is_null())[0].as_py()
        raise ValueError(f"{part.label}: column {name!r} has the class {new!r}, which fit has not seen")
    return codes.to_numpy()


def read_target(table: Any, name: str, part: Part, at: int) -> Any:
    """Column of the target without its dictionary; no value may be missing."""
    column = without_dictionary(table.column(name))
    missing = column.is_null(nan_is_null=True).to_numpy()
    if missing.any():
        where = part.where(at + int(np.argmax(missing)))
        raise ValueError(f"{where} has no value of {name!r}: drop the rows whose target is not known")
    return column


def without_dictionary(column: Any) -> Any:
    """A column as its values: dictionaries differ between parts."""
    import pyarrow as pa

    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def read_weight(table: Any, name: str, part: Part, at: int) -> Floats:
    """Weights as given: finite and not negative."""
    import pyarrow as pa

    column = table.column(name)
    try:
        values: Floats = column.cast(pa.float64()).to_numpy()
    except pa.ArrowException:
        raise ValueError(f"{part.label}: column {name!r} has type {column.type}, weights must be numbers") from None
    wrong = ~(np.isfinite(values) & (values >= 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        where, given = part.where(at + row), column[row].as_py()
        raise ValueError(f"{where} has weight {given} in {name!r}: weights must be finite and not negative")
    return values
