"""Validators for parameters: each returns the value, or raises an error with the parameter, its value and the fix."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from inspect import isabstract
from math import ceil, inf
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

__all__ = [
    *("RowError", "check_bool", "check_choice", "check_number", "check_rows", "check_whole", "choose"),
    *("is_fraction", "is_number", "is_whole"),
]

Closed = Literal["both", "left", "right", "neither"]


class RowError(ValueError):
    """A wrong value in one row of X; `row` counts from 0."""

    def __init__(self, problem: str, row: int, requirement: str) -> None:
        super().__init__(problem, row, requirement)
        self.row = row

    def __str__(self) -> str:
        return self.in_row(self.row)

    def in_row(self, number: int) -> str:
        """Message with another number for the row."""
        problem, _, requirement = self.args
        return f"{problem} in row {number}, {requirement}"


def is_whole(value: Any) -> bool:
    """Whether a value is an integer; True and False are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether a value is a real number; True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_fraction(value: Any) -> bool:
    """Whether a value is a float in (0, 1]; the integer 1 is a count."""
    return isinstance(value, Real) and not isinstance(value, Integral) and 0 < float(value) <= 1


def check_whole(name: str, value: Any, least: int, most: int | None = None, *, hint: str = "") -> int:
    """Return an integer of at least `least` and at most `most`; `hint` ends the error message."""
    if not is_whole(value) or value < least or (most is not None and value > most):
        allowed = f"of at least {least}" if most is None else f"in {least} .. {most}"
        raise ValueError(f"{name} is {value!r}, must be a whole number {allowed}{hint}")
    return int(value)


def check_number(
    name: str, value: Any, low: float = 0, high: float = inf, *, closed: Closed = "neither", hint: str = ""
) -> float:
    """Return a number between two bounds, by default a positive one; `closed` names the bounds that are allowed."""
    if is_number(value):
        number = float(value)
        above = number >= low if closed in ("both", "left") else number > low
        below = number <= high if closed in ("both", "right") else number < high
        if above and below:
            return number
    raise ValueError(f"{name} is {value!r}, must be {_interval(low, high, closed)}{hint}")


def _interval(low: float, high: float, closed: Closed) -> str:
    if high == inf and closed == "neither":
        return "a positive number" if low == 0 else f"a finite number above {low}"
    if high == inf and closed == "left":
        return f"a number of at least {low}"
    brackets = {"both": "[]", "left": "[)", "right": "(]", "neither": "()"}[closed]
    return f"a number in {brackets[0]}{low}, {high}{brackets[1]}"


def check_rows(name: str, value: Any, least: int, n_rows: int) -> int:
    """Return a number of rows, at least `least`, given as such or as a fraction of `n_rows`, as in scikit-learn."""
    if is_whole(value) and value >= least:
        return int(value)
    if is_fraction(value):
        return max(least, ceil(float(value) * n_rows))
    raise ValueError(f"{name} is {value!r}, must be a whole number of at least {least} rows, or a fraction in (0, 1]")


def check_bool(name: str, value: Any, *, hint: str = "") -> bool:
    """Return True or False; `hint` ends the error message."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} is {value!r}, must be True or False{hint}")
    return bool(value)


def check_choice(name: str, value: Any, choices: Collection[str], expected: str | None = None) -> str:
    """Return one of several strings; `expected` replaces the list of them in the error message."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} is {value!r}, must be {expected or 'one of ' + ', '.join(map(repr, choices))}")
    return value


def choose(name: str, value: Any, aliases: Mapping[str, Any], kinds: tuple[type, ...], hint: str = "") -> Any:
    """Return the strategy for an alias, or an instance of one of `kinds` as it is; `hint` ends the error message."""
    if isinstance(value, kinds):
        return value
    if isinstance(value, str) and value in aliases:
        return aliases[value]
    known = dict.fromkeys([*(kind for kind in kinds if not isabstract(kind)), *map(type, aliases.values())])
    instances = ", ".join(f"{kind.__name__}(...)" for kind in known)
    raise ValueError(
        f"{name} is {value!r}, must be one of {', '.join(map(repr, aliases))}, or an instance: {instances}{hint}"
    )
