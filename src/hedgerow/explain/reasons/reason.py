"""Interface of reasons for doubt: shares of the doubt about many rows, and a description for one row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from hedgerow._arrays import Floats
from hedgerow.explain.reasons.levels import Levels

__all__ = ["Described", "MissingColumn", "Outside", "Reason", "RowFacts", "Similar", "ValueOfColumn", "number"]


@dataclass(frozen=True)
class Described:
    """Description of a reason for one row, in words and numbers."""

    text: str
    remedy: str
    resolves: bool | None = None
    facts: dict[str, Any] = field(default_factory=dict)


class Outside(NamedTuple):
    """A value outside of the training range of its column."""

    column: str
    value: float
    low: float
    high: float


class Similar(NamedTuple):
    """A training row that shares leaves with a row, and has another class or number."""

    row: int
    label: Any
    proximity: float


class ValueOfColumn(NamedTuple):
    """Values that a missing column may turn out to have, all of which lead to the same answer."""

    values: str
    probability: float
    answer: tuple[Any, ...]
    """Classes of the set, or the class that is predicted; the number predicted at one of the values."""
    single: bool | None
    """Whether it is a single class; None where answers are no sets."""
    example: Any
    """One of the values, as in X."""


class MissingColumn(NamedTuple):
    """Answers once a missing column is known, other columns staying missing."""

    column: str
    gain: float
    """Doubt that is expected to go, in the measure of `next_question`."""
    decides: float | None
    """Probability of the values that make the answer single; None where answers are no sets."""
    values: tuple[ValueOfColumn, ...]


@dataclass(frozen=True)
class RowFacts:
    """Facts about one row that reasons name; fields that a model lacks keep their defaults."""

    of_classes: bool
    part: float
    """Doubt that the reason is worth."""
    n_rows: float = 0.0
    """Mean weight of the training rows in its leaves."""
    n_training: float = 0.0
    sets: bool = False
    """Whether answers are sets."""
    factor: int | None = None
    """Smallest whole factor up to ten by which all counts have to grow for the answer to be single."""
    sure: dict[Any, float] = field(default_factory=dict)
    """Share of the trees, by weight, that are sure of each class."""
    trees: tuple[float, float] | None = None
    """Least and largest number that a tree predicts."""
    similar: tuple[Similar, ...] | None = None
    """Nearest training rows of another class; None where no training rows were given."""
    missing: tuple[MissingColumn, ...] = ()
    outside: tuple[Outside, ...] = ()
    empty: float = 0.0
    """Share of its trees, by weight, whose leaf has no training row."""
    empty_columns: dict[str, float] = field(default_factory=dict)
    """Columns whose split leads to leaves without rows, and their shares of these."""
    separator: str | None = None
    distance: float | None = None
    """Distance to the boundary in units of the metric."""
    away: float | None = None
    """Distance to the separating threshold, in the unit of its column."""
    error_costs: dict[str, float] = field(default_factory=dict)
    """Part of the variance of the answer that is due to the error of each column, the largest first."""


class Reason(Protocol):
    """A reason for doubt: its name, the doubt that its remedy takes away, and its words."""

    @property
    def name(self) -> str:
        """Name in records, tables and texts."""

    def part(self, levels: Levels) -> Floats:
        """Doubt that it is worth in each row, (n,)."""

    def describe(self, facts: RowFacts) -> Described:
        """Describe the reason for one row."""


def number(value: float) -> str:
    """Three significant digits, with separators of thousands: "63,300", "0.0123"."""
    text = f"{value:.3g}"
    return f"{float(text):,.0f}" if 1000 <= np.abs(float(text)) < 1e9 else text
