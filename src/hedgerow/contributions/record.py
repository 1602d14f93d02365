"""The contributions of columns to the answers for some rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._printable import printable
from hedgerow.data.table import Schema
from hedgerow.forest.names import number_text

__all__ = ["Contributions"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Contributions:
    """Shapley values of the columns: ``base + values.sum(axis=1)`` is the answer named by `of`, row for row."""

    values: Floats
    """What each column adds, (n, n_columns), or (n, n_columns, n_classes) where there is an answer for each class."""
    base: float | Floats
    """Answer where no column is known: a number, or one for each class."""
    interactions: Floats | None
    """What pairs of columns add, (n, n_columns, n_columns[, n_classes]): symmetric, a column alone on the diagonal; the
    sum over the second column is `values`. None unless asked for."""
    of: str
    """Answer that is divided: "prediction" (regression); "probability"; "uncalibrated probability", the mean over the
    trees before a forest calibrates it; "log-odds" of the second class, or "centred log-probability", each class's less
    their mean, for rules that add up evidence."""
    classes: tuple[Any, ...]
    """Classes of the last axis of `values`; empty where it has none."""
    rows: Floats
    """The rows as the trees read them, (n, n_columns): numbers and codes, NaN where a value is missing or new."""
    schema: Schema
    """Names, kinds and categories of the columns."""

    @property
    def answers(self) -> Floats:
        """The answers that are divided, (n,) or (n, n_classes)."""
        total: Floats = self.base + self.values.sum(axis=1)
        return total

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.schema.names)

    def __len__(self) -> int:
        return len(self.values)

    def of_class(self, label: Any = None) -> Contributions:
        """Contributions to the answer for one class, by default the last; themselves where there is one answer.

        Parameters
        ----------
        label : label or None, default=None
            The class; None is the last.
        """
        if not self.classes:
            if label is not None:
                raise ValueError(f"class is {label!r}, but these are contributions to one {self.of}: leave it out")
            return self
        if label is not None and label not in self.classes:
            raise ValueError(f"class is {label!r}, must be one of {list(self.classes)}")
        at = len(self.classes) - 1 if label is None else self.classes.index(label)
        pairs = None if self.interactions is None else np.ascontiguousarray(self.interactions[..., at])
        values, base = np.ascontiguousarray(self.values[..., at]), float(np.asarray(self.base)[at])
        name = f"{self.of} of {printable(self.classes[at])}"
        return Contributions(values, base, pairs, name, (), self.rows, self.schema)

    def cell(self, row: int, column: int) -> str:
        """Value of a row in a column, as text: the name of a category, "missing" where there is none.

        Parameters
        ----------
        row : int
            Number of the row.
        column : int
            Number of the column.
        """
        value, known = float(self.rows[row, column]), self.schema.columns[column].categories
        if np.isnan(value):
            return "missing"
        return printable(known[int(value)]) if known else number_text(value)

    def to_shap(self) -> Any:
        """Return a ``shap.Explanation`` for the plots of the shap package; needs shap."""
        try:
            from shap import Explanation
        except ImportError as absent:
            raise ImportError("to_shap needs the shap package: pip install shap") from absent
        base = np.broadcast_to(np.asarray(self.base), (len(self), *np.shape(self.base)))
        return Explanation(
            self.values,
            base_values=base.copy(),
            data=self.rows,
            feature_names=list(self.columns),
            output_names=list(map(str, self.classes)) or None,
        )

    def __repr__(self) -> str:
        return f"<Contributions of {self.values.shape[1]} columns to the {self.of} of {len(self)} rows>"
