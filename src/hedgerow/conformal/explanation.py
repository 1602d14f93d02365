"""Explanations of conformal predictions: the model's own, and from which coverage on each class is kept.

``str`` of an explanation is a text for people; its fields are for programs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hedgerow._printable import printable
from hedgerow.explain.explained import Explained
from hedgerow.forest.names import number_text

__all__ = ["ConformalClassExplanation", "ConformalNumberExplanation"]

_MOST_CLASSES = 6  # that a text names


@dataclass(frozen=True)
class ConformalClassExplanation(Explained):
    """Explanation of the set for one row.

    `levels` are the coverages above which each class is in the set, `set` those in it at `coverage`, and `n_rows` the
    calibration rows that stand behind it: those of the row's group, with ``groups="class"`` of each class. `model` is
    the explanation by the estimator itself, of a forest of another library by its trees; None where there are no trees,
    and so no reasons for doubt.
    """

    answer: Any
    classes: tuple[Any, ...]
    probabilities: tuple[float, ...]
    coverage: float
    set: tuple[Any, ...]
    levels: tuple[float, ...]
    n_rows: tuple[float, ...]
    group: str | None
    model: Any

    @property
    def doubt(self) -> str:
        """Reasons for doubt about the answer of the estimator, as text."""
        return "" if self.model is None else str(self.model.doubt)

    def __str__(self) -> str:
        lines = str(self.model).splitlines() if self.model is not None else [self._plain()]
        return "\n".join([*lines, self._set_line(), self._levels_line()])

    def _plain(self) -> str:
        pairs = sorted(zip(self.probabilities, self.classes, strict=True), key=lambda pair: -pair[0])[:_MOST_CLASSES]
        said = ", ".join(f"{printable(name)} {p:.3g}" for p, name in pairs)
        return f"{printable(self.answer)}. Probabilities: {said}."

    def _set_line(self) -> str:
        names = ", ".join(map(printable, self.set)) or "no class: it is unlike all calibration rows"
        return f"Set at {self.coverage:.4g} coverage: {names} ({self._rows_text()})."

    def _rows_text(self) -> str:
        if len(self.n_rows) == 1:
            of_group = "" if self.group is None else f" of {self.group}"
            return f"{_rows(self.n_rows[0])}{of_group}"
        pairs = list(zip(self.classes, self.n_rows, strict=True))[:_MOST_CLASSES]
        return f"calibration rows: {', '.join(f'{printable(name)} {number_text(n)}' for name, n in pairs)}"

    def _levels_line(self) -> str:
        pairs = sorted(zip(self.levels, self.classes, strict=True), key=lambda pair: pair[0])
        shown, rest = pairs[:_MOST_CLASSES], pairs[_MOST_CLASSES:]
        said = ", ".join(f"{printable(name)} {_level_text(level)}" for level, name in shown)
        return f"Kept above a coverage of: {said}" + (f"; {len(rest)} others." if rest else ".")


@dataclass(frozen=True)
class ConformalNumberExplanation(Explained):
    """Explanation of the interval for one row.

    `n_rows` are the calibration rows that stand behind `interval` at `coverage`. `model` is the explanation by the
    estimator itself, of a forest of another library by its trees; None where there are no trees, and so no reasons for
    doubt.
    """

    answer: float
    coverage: float
    interval: tuple[float, float]
    n_rows: float
    group: str | None
    model: Any

    @property
    def doubt(self) -> str:
        """Reasons for doubt about the answer of the estimator, as text."""
        return "" if self.model is None else str(self.model.doubt)

    def __str__(self) -> str:
        lines = str(self.model).splitlines() if self.model is not None else [f"{number_text(self.answer)}."]
        low, high = (number_text(end) for end in self.interval)
        of_group = "" if self.group is None else f" of {self.group}"
        behind = f"{_rows(self.n_rows)}{of_group}"
        return "\n".join([*lines, f"Interval at {self.coverage:.4g} coverage: {low} to {high} ({behind})."])


def _rows(n: float) -> str:
    return f"{number_text(n)} calibration {'row' if n == 1 else 'rows'}"


def _level_text(level: float) -> str:
    return f"{level:.3f}" if 0 < level < 0.9995 else f"{level:.4g}"
