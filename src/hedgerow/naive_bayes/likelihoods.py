"""What naive Bayes knows of a column: shares of slots with Laplace's correction, or a normal density for each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._params import check_number, choose
from hedgerow._registry import register
from hedgerow.naive_bayes.groups import weight_in

__all__ = [
    *("Entropy", "Gaussian", "Normals", "Numeric"),
    *("log_density", "log_prior", "log_shares", "normals_of", "numeric"),
]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

_SAME = 1e-14  # of the mean: a deviation that is nothing but rounding
_FARTHEST = 1e150  # deviations from the mean; their square is still a float64


@dataclass(frozen=True)
class Entropy:
    """Numbers are cut into intervals by entropy and description length (Fayyad and Irani, 1993), anew in every node."""

    def normal(self, n_categories: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which columns have a density."""
        return np.zeros(len(n_categories), dtype=bool)


@dataclass(frozen=True)
class Gaussian:
    """Numbers of a class are normal. `smoothing` times the column's own variance is added to that of each class."""

    smoothing: float = 1e-9

    def __post_init__(self) -> None:
        check_number("Gaussian: smoothing", self.smoothing, 0, 1, closed="right", hint=", such as 1e-9")

    def normal(self, n_categories: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which columns have a density."""
        densities: NDArray[np.bool_] = n_categories == 0
        return densities


Numeric = Entropy | Gaussian

for _strategy in (Entropy, Gaussian):
    register(_strategy, name=f"hedgerow.naive_bayes.{_strategy.__name__}")
_ALIASES: dict[str, Numeric] = {"entropy": Entropy(), "gaussian": Gaussian()}


def numeric(given: Any) -> Numeric:
    """The strategy for the parameter `numeric`: an alias or an instance."""
    chosen: Numeric = choose("numeric", given, _ALIASES, (Entropy, Gaussian))
    return chosen


def log_prior(counts: Floats) -> Floats:
    """log P(c) = log((n_c + 1)/(n + C)), over the last axis."""
    logs: Floats = np.log((counts + 1) / (counts.sum(axis=-1, keepdims=True) + counts.shape[-1]))
    return logs


def log_shares(counts: Floats, pair: Whole) -> Floats:
    """log P(slot | c) = log((n_sc + 1)/(n_c + V)) of slots (n_slots, …, n_classes); V slots share a `pair`.

    n_c counts the rows of the class whose value is known. A column with one slot says nothing: P = 1.
    """
    if not len(pair):
        return counts
    first = np.flatnonzero(np.append(True, pair[1:] != pair[:-1]))
    n_slots = np.diff(np.append(first, len(pair)))
    known = np.repeat(np.add.reduceat(counts, first, axis=0), n_slots, axis=0)
    width = np.repeat(n_slots, n_slots).reshape(-1, *[1] * (counts.ndim - 1))
    logs: Floats = np.log((counts + 1) / (known + width))
    return logs


@dataclass(frozen=True, eq=False)
class Normals:
    """Weight, mean and sum of squared deviations of a column, in any arrangement whose last axis is the classes."""

    n: Floats
    mean: Floats
    squares: Floats

    def merged(self, axis: int) -> Normals:
        """What all along an axis have in common (Chan, Golub and LeVeque, 1979); no differences of large sums."""
        n = self.n.sum(axis=axis, keepdims=True)
        mean = (self.n * self.mean).sum(axis=axis, keepdims=True) / np.where(n > 0, n, 1.0)
        squares = (self.squares + self.n * (self.mean - mean) ** 2).sum(axis=axis, keepdims=True)
        return Normals(n, mean, squares)

    def densities(self, smoothing: float) -> tuple[Floats, Floats]:
        """Mean and standard deviation for each class; NaN where all known numbers are the same, which says nothing.

        A class without a number is taken to be as all are.
        """
        everyone = self.merged(-1)
        variance = everyone.squares / np.where(everyone.n > 0, everyone.n, 1.0)
        of_class = np.where(self.n > 0, self.squares / np.where(self.n > 0, self.n, 1.0), variance)
        mean = np.where(self.n > 0, self.mean, everyone.mean)
        deviation = np.sqrt(of_class + smoothing * variance)
        # Rounding gives numbers that are all the same some variance; underflow takes it from numbers that are not.
        same = variance <= (_SAME * everyone.mean) ** 2
        speaks = ~same & (deviation > 0).all(axis=-1, keepdims=True)
        return mean, np.where(speaks, deviation, np.nan)


def normals_of(x: Floats, weight: Floats, cell: Whole, shape: tuple[int, ...]) -> Normals:
    """Of the numbers `x` in cells, which are numbered as in an array of `shape`."""
    n = weight_in(cell, weight, shape)
    mean = weight_in(cell, weight * x, shape) / np.where(n > 0, n, 1.0)
    return Normals(n, mean, weight_in(cell, weight * (x - mean.ravel()[cell]) ** 2, shape))


def log_density(x: Floats, mean: Floats, deviation: Floats) -> Floats:
    """−log σ − (x − μ)²/(2σ²), (n, n_classes), without the constant; 0 where x is missing or σ is NaN."""
    with np.errstate(over="ignore"):
        away = np.clip((x[:, np.newaxis] - mean) / deviation, -_FARTHEST, _FARTHEST)
    logs = -np.log(deviation) - away**2 / 2
    return np.where(np.isnan(logs), 0.0, logs)
