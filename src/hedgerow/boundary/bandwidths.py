"""Bandwidths of the kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow._params import check_number, choose, is_number
from hedgerow._registry import register

__all__ = ["Absolute", "Bandwidth", "CrossValidated", "Relative", "bandwidth"]

Floats = NDArray[np.float64]
Score = Callable[[Floats], float]


class Bandwidth(Protocol):
    """Choose bandwidths for the ranges of the kernel's features, in the same shape.

    `score` is the leave-one-out log-likelihood of the training rows for given bandwidths.
    """

    def __call__(self, ranges: Floats, score: Score) -> Floats: ...


@dataclass(frozen=True)
class Relative:
    """A fraction τ of the range of the algebraic distance over all training rows (section 4.1 of the paper)."""

    fraction: float = 0.1

    def __post_init__(self) -> None:
        check_number("bandwidth", self.fraction)

    def __call__(self, ranges: Floats, score: Score) -> Floats:
        return float(self.fraction) * ranges


@dataclass(frozen=True)
class Absolute:
    """Constant bandwidth, in units of the metric."""

    width: float

    def __post_init__(self) -> None:
        check_number("Absolute: width", self.width)

    def __call__(self, ranges: Floats, score: Score) -> Floats:
        return np.full_like(ranges, self.width)


@dataclass(frozen=True)
class CrossValidated:
    """The fraction of the range with the largest leave-one-out likelihood of the training labels.

    Ties go to the largest fraction.
    """

    fractions: tuple[float, ...] = (0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5)

    def __post_init__(self) -> None:
        if not isinstance(self.fractions, tuple) or not self.fractions:
            raise ValueError(f"CrossValidated: fractions is {self.fractions!r}, must be a tuple of positive numbers")
        for fraction in self.fractions:
            if not is_number(fraction) or not 0 < float(fraction) < np.inf:
                raise ValueError(f"CrossValidated: fractions holds {fraction!r}, must be a positive number")

    def __call__(self, ranges: Floats, score: Score) -> Floats:
        best = max(self.fractions, key=lambda fraction: (score(fraction * ranges), fraction))
        return best * ranges


for _strategy in (Relative, Absolute, CrossValidated):
    register(_strategy, name=f"hedgerow.boundary.{_strategy.__name__}")


def bandwidth(given: Any) -> Bandwidth:
    """Return the strategy for the parameter `bandwidth`; a number is a fraction of the range."""
    if is_number(given):
        return Relative(float(given))
    chosen: Bandwidth = choose("bandwidth", given, {"cv": CrossValidated()}, (Relative, Absolute, CrossValidated))
    return chosen
