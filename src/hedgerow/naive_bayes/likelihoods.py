"""Likelihoods of a column: slot frequencies with Laplace's correction, or a normal density per class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats, Whole
from hedgerow._params import check_number, choose
from hedgerow._registry import register
from hedgerow.naive_bayes.groups import sum_weights

__all__ = [
    *("Entropy", "Gaussian", "Normals", "Numeric"),
    *("log_density", "log_prior", "log_shares", "fit_normals", "numeric"),
]

_SAME = 1e-14  # relative to the mean: a standard deviation that is only rounding
_FARTHEST = 1e150  # standard deviations from the mean; the square is still finite


@dataclass(frozen=True)
class Entropy:
    """Discretise numbers in every node by entropy and description length (Fayyad and Irani, 1993).

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.naive_bayes import Entropy
    >>> Entropy().normal(np.array([0, 3]))  # no column has a density
    array([False, False])
    """

    def normal(self, n_categories: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Mask of the columns with a density.

        Parameters
        ----------
        n_categories : array of shape (n_features,)
            Number of categories of each column; 0 for numbers.

        Returns
        -------
        bool ndarray of shape (n_features,)
            The mask.
        """
        return np.zeros(len(n_categories), dtype=bool)


@dataclass(frozen=True)
class Gaussian:
    """Fit a normal density per class; `smoothing` times the column's variance is added to each class's variance.

    Parameters
    ----------
    smoothing : float, default=1e-09
        Share of the column's variance that is added to each class's.

    Examples
    --------
    >>> from hedgerow import NaiveBayesTreeClassifier
    >>> from hedgerow.naive_bayes import Gaussian
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> NaiveBayesTreeClassifier(Gaussian(smoothing=1e-6), random_state=0).fit(X, y).get_n_leaves()
    1
    """

    smoothing: float = 1e-9

    def __post_init__(self) -> None:
        check_number("Gaussian: smoothing", self.smoothing, 0, 1, closed="right", hint=", such as 1e-9")

    def normal(self, n_categories: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Mask of the columns with a density.

        Parameters
        ----------
        n_categories : array of shape (n_features,)
            Number of categories of each column; 0 for numbers.

        Returns
        -------
        bool ndarray of shape (n_features,)
            The mask.
        """
        return n_categories == 0


Numeric = Entropy | Gaussian

for _strategy in (Entropy, Gaussian):
    register(_strategy, name=f"hedgerow.naive_bayes.{_strategy.__name__}")
_ALIASES: dict[str, Numeric] = {"entropy": Entropy(), "gaussian": Gaussian()}


def numeric(given: Any) -> Numeric:
    """Return the strategy for the parameter `numeric`, an alias or an instance."""
    return choose("numeric", given, _ALIASES, (Entropy, Gaussian))


def log_prior(counts: Floats) -> Floats:
    """log P(c) = log((n_c + 1)/(n + C)), over the last axis."""
    return np.log((counts + 1) / (counts.sum(axis=-1, keepdims=True) + counts.shape[-1]))


def log_shares(counts: Floats, pair: Whole) -> Floats:
    """log P(slot | c) = log((n_sc + 1)/(n_c + V)), (n_slots, …, n_classes), for the V slots of each `pair`.

    n_c counts the rows of the class with a known value. P = 1 for a column with one slot.
    """
    if not len(pair):
        return counts
    first = np.flatnonzero(np.append(True, pair[1:] != pair[:-1]))
    n_slots = np.diff(np.append(first, len(pair)))
    known = np.repeat(np.add.reduceat(counts, first, axis=0), n_slots, axis=0)
    width = np.repeat(n_slots, n_slots).reshape(-1, *[1] * (counts.ndim - 1))
    return np.log((counts + 1) / (known + width))


@dataclass(frozen=True, eq=False)
class Normals:
    """Weight, mean and sum of squared deviations of a column; the last axis is the classes."""

    n: Floats
    mean: Floats
    squares: Floats

    def pool(self, axis: int) -> Normals:
        """Pool along an axis without cancellation (Chan, Golub and LeVeque, 1979)."""
        n = self.n.sum(axis=axis, keepdims=True)
        mean = (self.n * self.mean).sum(axis=axis, keepdims=True) / np.where(n > 0, n, 1.0)
        squares = (self.squares + self.n * (self.mean - mean) ** 2).sum(axis=axis, keepdims=True)
        return Normals(n, mean, squares)

    def densities(self, smoothing: float) -> tuple[Floats, Floats]:
        """Mean and standard deviation of each class; NaN where all known values are equal.

        A class without a known value gets the moments of all classes.
        """
        pooled = self.pool(-1)
        variance = pooled.squares / np.where(pooled.n > 0, pooled.n, 1.0)
        of_class = np.where(self.n > 0, self.squares / np.where(self.n > 0, self.n, 1.0), variance)
        mean = np.where(self.n > 0, self.mean, pooled.mean)
        deviation = np.sqrt(of_class + smoothing * variance)
        # Rounding can give equal values some variance; underflow can take it from values that differ.
        same = variance <= (_SAME * pooled.mean) ** 2
        informative = ~same & (deviation > 0).all(axis=-1, keepdims=True)
        return mean, np.where(informative, deviation, np.nan)


def fit_normals(x: Floats, weight: Floats, cell: Whole, shape: tuple[int, ...]) -> Normals:
    """Compute the moments of the numbers `x` by cell; cells are flat indices into an array of `shape`."""
    n = sum_weights(cell, weight, shape)
    mean = sum_weights(cell, weight * x, shape) / np.where(n > 0, n, 1.0)
    return Normals(n, mean, sum_weights(cell, weight * (x - mean.ravel()[cell]) ** 2, shape))


def log_density(x: Floats, mean: Floats, deviation: Floats) -> Floats:
    """−log σ − (x − μ)²/(2σ²), (n, n_classes), without the constant; 0 where x is missing or σ is NaN."""
    with np.errstate(over="ignore"):
        z = np.clip((x[:, np.newaxis] - mean) / deviation, -_FARTHEST, _FARTHEST)
    logs = -np.log(deviation) - z**2 / 2
    return np.where(np.isnan(logs), 0.0, logs)
