"""The contributions of columns to the answers for some rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._printable import printable
from hedgerow.data.table import Schema
from hedgerow.forest.names import number_text

__all__ = ["Contributions", "RowContributions"]

Floats = NDArray[np.float64]

_MOST_COLUMNS = 5  # that a text names


@dataclass(frozen=True)
class RowContributions:
    """Contributions of the columns of one row to one answer; the largest first, up or down.

    Examples
    --------
    >>> from hedgerow import TreeRegressor
    >>> tree = TreeRegressor(pruning=None).fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 10, 11])
    >>> row = tree.contributions([[1, 0]]).of_row(0)
    >>> row.values
    {'x0': '1', 'x1': '0'}
    >>> print("\\n".join(row.lines()))
    Contributions to the prediction: 5.5 without any column, 10 with all:
      +5: x0 = 1
      -0.5: x1 = 0
    """

    of: str
    """The answer, such as "probability of yes"."""
    base: float
    """Answer where no column is known."""
    answer: float
    """`base` and all contributions."""
    columns: dict[str, float]
    """Contribution of each column by its name."""
    values: dict[str, str]
    """The row's value in each column, as text."""

    def lines(self, at_most: int = _MOST_COLUMNS) -> list[str]:
        """Lines of text: the answer, the largest contributions, and the rest as one.

        Parameters
        ----------
        at_most : int, default=5
            Columns that are named.

        Returns
        -------
        list of str
            The lines.
        """
        pairs = [(name, value) for name, value in self.columns.items() if value]
        shown = pairs[: at_most if len(pairs) > at_most + 1 else len(pairs)]
        rest = pairs[len(shown) :]
        base, answer = (number_text(float(f"{value:.3g}")) for value in (self.base, self.answer))
        lines = [f"Contributions to the {self.of}: {base} without any column, {answer} with all:"]
        lines += [f"  {_signed(value)}: {printable(name)} = {self.values[name]}" for name, value in shown]
        return lines + ([f"  {_signed(sum(value for _, value in rest))}: {len(rest)} other columns"] if rest else [])


def _signed(value: float) -> str:
    return f"{'+' if value >= 0 else '-'}{abs(value):.3g}"


@dataclass(frozen=True, eq=False, repr=False)
class Contributions:
    """Shapley values of the columns: ``base + values.sum(axis=1)`` is the answer named by `of`, row for row.

    Examples
    --------
    >>> from hedgerow import TreeRegressor
    >>> tree = TreeRegressor(pruning=None).fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 10, 11])
    >>> found = tree.contributions([[1, 0]])
    >>> found.base, found.values, found.answers
    (5.5, array([[ 5. , -0.5]]), array([10.]))
    """

    values: Floats
    """Contribution of each column, (n, n_columns), or (n, n_columns, n_classes) with an answer for each class."""
    base: float | Floats
    """Answer where no column is known: a number, or one for each class."""
    interactions: Floats | None
    """Interactions of pairs, (n, n_columns, n_columns[, n_classes]): symmetric, a column alone on the diagonal; the
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

        Returns
        -------
        Contributions
            Contributions without the axis of classes.

        Raises
        ------
        ValueError
            If there is no such class.
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

    def of_row(self, row: int, label: Any = None) -> RowContributions:
        """Contributions to one row's answer for a class, by default the last; all columns, the largest first.

        Parameters
        ----------
        row : int
            Number of the row.
        label : label or None, default=None
            The class; None is the last.

        Returns
        -------
        RowContributions
            Contributions and values by the names of the columns.

        Raises
        ------
        ValueError
            If there is no such class.
        """
        of = self.of_class(label)
        values = of.values[row]
        order = np.argsort(-np.abs(values), kind="stable").tolist()
        return RowContributions(
            of=of.of,
            base=float(of.base),
            answer=float(of.answers[row]),
            columns={of.columns[j]: float(values[j]) for j in order},
            values={of.columns[j]: of.cell(row, j) for j in order},
        )

    def cell(self, row: int, column: int) -> str:
        """Value of a row in a column, as text: the name of a category, "missing" where there is none.

        Parameters
        ----------
        row : int
            Number of the row.
        column : int
            Number of the column.

        Returns
        -------
        str
            The text.
        """
        value, known = float(self.rows[row, column]), self.schema.columns[column].categories
        if np.isnan(value):
            return "missing"
        return printable(known[int(value)]) if known else number_text(value)

    def to_shap(self) -> Any:
        """Return a ``shap.Explanation`` for the plots of the shap package; needs shap.

        Returns
        -------
        shap.Explanation
            The same values, base and rows.

        Raises
        ------
        ImportError
            If shap is not installed.
        """
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
