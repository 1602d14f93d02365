"""Bandwidths of the kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from hedgerow._arrays import Floats
from hedgerow._params import check_number, check_whole, choose, is_number
from hedgerow._registry import register

__all__ = ["Absolute", "Bandwidth", "CrossValidated", "HeldOut", "Relative", "bandwidth"]

Score = Callable[[Floats], float]


class Bandwidth(Protocol):
    """Choose bandwidths for the ranges of the kernel's features, in the same shape.

    `score` is the leave-one-out log-likelihood of the training rows for given bandwidths.
    """

    def __call__(self, ranges: Floats, score: Score) -> Floats: ...


@dataclass(frozen=True)
class Relative:
    """A fraction τ of the range of the algebraic distance over all training rows (section 4.1 of the paper).

    Parameters
    ----------
    fraction : float, default=0.1
        The fraction τ.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from hedgerow import BoundaryClassifier
    >>> from hedgerow.boundary import Relative
    >>> model = BoundaryClassifier(bandwidth=Relative(0.1)).fit(X, y)
    >>> model.bandwidth_.shape
    (3,)
    """

    fraction: float = 0.1

    def __post_init__(self) -> None:
        check_number("bandwidth", self.fraction)

    def __call__(self, ranges: Floats, score: Score) -> Floats:
        return float(self.fraction) * ranges


@dataclass(frozen=True)
class Absolute:
    """Constant bandwidth, in units of the metric.

    Parameters
    ----------
    width : float
        Bandwidth in units of the metric.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from hedgerow import BoundaryClassifier
    >>> from hedgerow.boundary import Absolute
    >>> model = BoundaryClassifier(bandwidth=Absolute(0.3)).fit(X, y)
    >>> model.bandwidth_.shape
    (3,)
    """

    width: float

    def __post_init__(self) -> None:
        check_number("Absolute: width", self.width)

    def __call__(self, ranges: Floats, score: Score) -> Floats:
        return np.full_like(ranges, self.width)


@dataclass(frozen=True)
class CrossValidated:
    """The fraction of the range with the largest leave-one-out likelihood of the training labels.

    Ties go to the largest fraction. The tree has seen the labels that are left out, so that rows look purer than new
    ones would and narrow bandwidths win: :class:`HeldOut` grows trees without them.

    Parameters
    ----------
    fractions : tuple[float, ...], default=(0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5)
        Fractions of the range that are tried.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from hedgerow import BoundaryClassifier
    >>> from hedgerow.boundary import CrossValidated
    >>> model = BoundaryClassifier(bandwidth=CrossValidated()).fit(X, y)
    >>> model.bandwidth_.shape
    (3,)
    """

    fractions: tuple[float, ...] = (0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5)

    def __post_init__(self) -> None:
        _check_fractions("CrossValidated", self.fractions)

    def __call__(self, ranges: Floats, score: Score) -> Floats:
        best = max(self.fractions, key=lambda fraction: (score(fraction * ranges), fraction))
        return best * ranges


@dataclass(frozen=True)
class HeldOut:
    """The fraction of the range with the least log-loss of held-out rows, which the tree has not seen.

    Trees are grown for `folds`-fold cross-validation. A frozen tree can't be grown again and has the fraction 0.1, the
    paper's.

    Parameters
    ----------
    fractions : tuple[float, ...], default=(0.03, 0.05, 0.1, 0.2)
        Fractions of the range that are tried.
    folds : int, default=3
        Number of folds of the cross-validation.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from hedgerow import BoundaryClassifier
    >>> from hedgerow.boundary import HeldOut
    >>> model = BoundaryClassifier(bandwidth=HeldOut(folds=2)).fit(X, y)
    >>> model.bandwidth_.shape
    (3,)
    """

    fractions: tuple[float, ...] = (0.03, 0.05, 0.1, 0.2)
    folds: int = 3

    def __post_init__(self) -> None:
        _check_fractions("HeldOut", self.fractions)
        check_whole("HeldOut: folds", self.folds, 2)

    def __call__(self, ranges: Floats, score: Score) -> Floats:
        return Relative()(ranges, score)


def _check_fractions(name: str, given: Any) -> None:
    if not isinstance(given, tuple) or not given:
        raise ValueError(f"{name}: fractions is {given!r}, must be a tuple of positive numbers")
    for fraction in given:
        if not is_number(fraction) or not 0 < float(fraction) < np.inf:
            raise ValueError(f"{name}: fractions holds {fraction!r}, must be a positive number")


for _strategy in (Relative, Absolute, CrossValidated, HeldOut):
    register(_strategy, name=f"hedgerow.boundary.{_strategy.__name__}")


def bandwidth(given: Any) -> Bandwidth:
    """Return the strategy for the parameter `bandwidth`; a number is a fraction of the range."""
    if is_number(given):
        return Relative(float(given))
    aliases = {"held_out": HeldOut(), "cv": CrossValidated()}
    return choose("bandwidth", given, aliases, (Relative, Absolute, CrossValidated, HeldOut))
