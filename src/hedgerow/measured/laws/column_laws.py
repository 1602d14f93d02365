"""Laws: what is known about the latent value U of a column, given X = x or where x is missing.

A law gives P(U ≤ t | X = x) for all rows and thresholds at once. An error of size 0 means U = x, whatever the prior; a
missing value follows the law of U itself. :mod:`hedgerow.measured.laws.priors` learns laws from data.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import coarse_normal_below
from hedgerow._rebuild import reduce_to_constructor
from hedgerow._registry import register
from hedgerow.measured.errors.error_model import ErrorModel, Laplace, Normal, normal_cdf

__all__ = ["CategoryLaw", "ColumnLaw", "ExactLaw", "FlatLaw", "HistogramLaw", "NormalLaw", "NumberLaw"]

Floats = NDArray[np.float64]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
# Panel edges on both sides of a centre. The normal factor vanishes beyond 10 standard deviations; the error's tails
# become smoother with distance, so their panels may widen.
_NORMAL_STEPS = np.array([0.0, 1, 2, 3, 4, 5, 6.5, 8, 10])
_ERROR_STEPS = np.array([0.0, 0.125, 0.25, 0.5, 1, 2, 4, 8, 16, 32])
_VALUES_AT_ONCE = 1 << 20
_LEAST_KNOWN = 1e-8  # part of a variance that a reading at least explains


@dataclass(frozen=True, eq=False)
class NumberLaw(ABC):
    """Abstract: distribution of a numeric column, and the model of its measurement errors."""

    error: ErrorModel

    __reduce__ = reduce_to_constructor

    @abstractmethod
    def of_missing(self, at: Floats) -> Floats:
        """P(U ≤ at), (m,)."""

    @abstractmethod
    def of_measured(self, x: Floats, sigma: Floats, at: Floats) -> Floats:
        """P(U ≤ at | X = x), (n, m), for errors of size sigma > 0."""

    def as_normal(self, x: Floats, sigma: Floats) -> tuple[Floats, Floats] | None:
        """Mean and standard deviation of U given X = x, (n,) each, for errors of size sigma > 0, if it is normal."""
        return None

    def normal_prior(self) -> tuple[float, float] | None:
        """Mean and variance of U before x is read, infinite if flat; None if U is not normal given x."""
        return None

    def as_reading(self, centre: Floats, spread: Floats) -> tuple[Floats, Floats]:
        """Readings and sizes of errors, (n,) each, given which U is N(centre, spread²); see :meth:`normal_prior`."""
        raise NotImplementedError(f"{type(self).__name__} is not normal")

    def fill_coarsely(self, x: Floats, sigma: Floats, at: Floats, out: Floats) -> None:
        """As :meth:`below`, off by less than 0.0008, into columns of an array, (n, m)."""
        measured = (sigma > 0) & ~np.isnan(x)
        normal = self.as_normal(x[measured], sigma[measured])
        if normal is None:
            out[:] = self.below(x, sigma, at)
            return
        centre, spread = map(np.ascontiguousarray, normal)
        if measured.all():
            coarse_normal_below(centre, spread, at, out)
            return
        part = np.empty((len(centre), len(at)))
        coarse_normal_below(centre, spread, at, part)
        out[measured], out[~measured] = part, self.below(x[~measured], sigma[~measured], at)

    def below(self, x: Floats, sigma: Floats, at: Floats) -> Floats:
        """P(U ≤ at | X = x), (n, m), for x and sigma (n,) and rising thresholds `at` (m,); NaN in x is missing."""
        missing = np.isnan(x)
        measured = ~missing & (sigma > 0)
        if measured.all():
            return self.of_measured(x, sigma, at)
        result = (x[:, np.newaxis] <= at).astype(np.float64)
        if missing.any():
            result[missing] = self.of_missing(at)
        if measured.any():
            result[measured] = self.of_measured(x[measured], sigma[measured], at)
        return result


@dataclass(frozen=True, eq=False)
class NormalLaw(NumberLaw):
    """U ~ N(mean, variance)."""

    mean: float
    variance: float

    def __post_init__(self) -> None:
        if not isinstance(self.error, ErrorModel) or not np.isfinite(self.mean) or not self.variance >= 0:
            raise ValueError("a normal law needs a model of the error, a finite mean and a variance")

    def of_missing(self, at: Floats) -> Floats:
        if self.variance == 0:
            return (self.mean <= at).astype(np.float64)
        return normal_cdf((at - self.mean) / np.sqrt(self.variance))

    def of_measured(self, x: Floats, sigma: Floats, at: Floats) -> Floats:
        return normal_posterior(self.error, self.mean, self.variance, x, sigma, at)

    def normal_prior(self) -> tuple[float, float] | None:
        return (self.mean, self.variance) if isinstance(self.error, Normal) else None

    def as_reading(self, centre: Floats, spread: Floats) -> tuple[Floats, Floats]:
        if self.variance == 0:  # it says nothing about U
            return centre, spread
        square = np.minimum(spread**2, self.variance * (1.0 - _LEAST_KNOWN))
        error = self.variance * square / (self.variance - square)
        return self.mean + (centre - self.mean) * (1.0 + error / self.variance), np.sqrt(error)

    def as_normal(self, x: Floats, sigma: Floats) -> tuple[Floats, Floats] | None:
        if self.variance == 0 or not isinstance(self.error, Normal):
            return None
        return _normal_given(self.mean, self.variance, x, sigma)


@dataclass(frozen=True, eq=False)
class _ObservedLaw(NumberLaw):
    """Abstract: a missing value follows the observed distribution of x.

    `places` increase; `reached` is the fraction of training rows at or below each.
    """

    places: Floats
    reached: Floats

    def __post_init__(self) -> None:
        _check_error(self.error)
        _check_rising("places", self.places)
        _check_rising("reached", self.reached)
        if self.places.shape != self.reached.shape or not 0 < self.reached[0] <= self.reached[-1] <= 1 + 1e-9:
            raise ValueError("reached must have a share for each of places")

    def of_missing(self, at: Floats) -> Floats:
        shares = np.concatenate([[0.0], self.reached])
        below: Floats = shares[np.searchsorted(self.places, at, side="right")]
        return below


@dataclass(frozen=True, eq=False)
class FlatLaw(_ObservedLaw):
    """Flat prior: U has the error's distribution around x."""

    def of_measured(self, x: Floats, sigma: Floats, at: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return self.error.cdf((at[:, np.newaxis] - x) / sigma).T

    def normal_prior(self) -> tuple[float, float] | None:
        return (0.0, np.inf) if isinstance(self.error, Normal) else None

    def as_reading(self, centre: Floats, spread: Floats) -> tuple[Floats, Floats]:
        return centre, spread

    def as_normal(self, x: Floats, sigma: Floats) -> tuple[Floats, Floats] | None:
        return (x, sigma) if isinstance(self.error, Normal) else None


@dataclass(frozen=True, eq=False)
class ExactLaw(_ObservedLaw):
    """A column that was exact in training; `otherwise` is the law for rows measured with error."""

    otherwise: NumberLaw

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.otherwise, NumberLaw):
            raise ValueError("otherwise must be a law of numbers")

    def of_measured(self, x: Floats, sigma: Floats, at: Floats) -> Floats:
        return self.otherwise.of_measured(x, sigma, at)

    def normal_prior(self) -> tuple[float, float] | None:
        return self.otherwise.normal_prior()

    def as_reading(self, centre: Floats, spread: Floats) -> tuple[Floats, Floats]:
        return self.otherwise.as_reading(centre, spread)

    def as_normal(self, x: Floats, sigma: Floats) -> tuple[Floats, Floats] | None:
        return self.otherwise.as_normal(x, sigma)


@dataclass(frozen=True, eq=False)
class HistogramLaw(NumberLaw):
    """U has a density that is constant between `edges`; `shares` add up to 1.

    For any error model, P(U ≤ t | x) is Σ ρ_g M_g(t) / Σ ρ_g M_g(∞), with ρ_g the density in bin g and M_g(t) the
    error's mass from the bin's left edge to t.
    """

    edges: Floats
    shares: Floats

    def __post_init__(self) -> None:
        _check_error(self.error)
        _check_rising("edges", self.edges)
        if not isinstance(self.shares, np.ndarray) or self.shares.shape != (len(self.edges) - 1,):
            raise ValueError("shares must have one number between two edges")
        if not (np.isfinite(self.shares) & (self.shares >= 0)).all() or not abs(self.shares.sum() - 1) < 1e-9:
            raise ValueError("shares must not be negative, and add up to 1")

    def of_missing(self, at: Floats) -> Floats:
        reached = np.concatenate([[0.0], self.shares.cumsum()])
        below: Floats = np.interp(at, self.edges, reached / reached[-1])
        return below

    def of_measured(self, x: Floats, sigma: Floats, at: Floats) -> Floats:
        result = np.empty((len(x), len(at)))
        step = max(1, (1 << 20) // (len(self.edges) + len(at)))
        for first in range(0, len(x), step):
            rows = slice(first, first + step)
            result[rows] = self._of_block(x[rows, np.newaxis], sigma[rows, np.newaxis], at)
        return result

    def _of_block(self, x: Floats, sigma: Floats, at: Floats) -> Floats:
        edges = self.edges
        density = self.shares / np.diff(edges)
        masses = density * self.error.mass((edges[:-1] - x) / sigma, (edges[1:] - x) / sigma)
        cumulated = np.concatenate([np.zeros((len(x), 1)), masses.cumsum(axis=1)], axis=1)
        bin_ = np.clip(np.searchsorted(edges, at, side="right") - 1, 0, len(density) - 1)
        end = np.clip(at, edges[bin_], edges[bin_ + 1])
        part = density[bin_] * self.error.mass((edges[bin_] - x) / sigma, (end - x) / sigma)
        below = cumulated[:, bin_] + np.minimum(part, masses[:, bin_])
        total = cumulated[:, -1:]
        # Too far from every bin for any mass: U is at the nearest edge.
        nearest = np.clip(x, *edges[[0, -1]])
        return np.where(total > 0, np.clip(below / np.where(total > 0, total, 1.0), 0.0, 1.0), nearest <= at)


@dataclass(frozen=True, eq=False)
class CategoryLaw:
    """A nominal column; a missing value has each category with its training frequency.

    `given` has P(true | recorded) of each recorded category, (n_categories, n_categories); None: it is exact.
    """

    shares: Floats
    given: Floats | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.shares, np.ndarray) or self.shares.ndim != 1 or self.shares.dtype != np.float64:
            raise ValueError("shares must be a 1-D float64 array")
        if not (np.isfinite(self.shares) & (self.shares >= 0)).all():
            raise ValueError("shares must be finite and not negative")
        if len(self.shares) and not abs(self.shares.sum() - 1) < 1e-9:
            raise ValueError("shares must add up to 1")
        if self.given is None:
            return
        n = len(self.shares)
        if not isinstance(self.given, np.ndarray) or self.given.dtype != np.float64 or self.given.shape != (n, n):
            raise ValueError("given must have a row of probabilities for each category")
        if not (self.given >= 0).all() or not (np.abs(self.given.sum(axis=1) - 1) < 1e-9).all():
            raise ValueError("the rows of given must not be negative, and add up to 1")

    __reduce__ = reduce_to_constructor

    def within(self, codes: Floats, members: NDArray[np.bool_]) -> Floats:
        """P(U is one of the members | code), (n, k), for sets of categories (k, n_categories); NaN is missing."""
        known = ~np.isnan(codes)
        result = np.empty((len(codes), len(members)))
        of_code = members.T if self.given is None else self.given @ members.T
        result[known] = of_code[codes[known].astype(np.intp)]
        result[~known] = members @ self.shares
        return result


ColumnLaw = NumberLaw | CategoryLaw


def _check_error(error: Any) -> None:
    if not isinstance(error, ErrorModel):
        raise ValueError("a law of numbers needs a model of their errors")


def _check_rising(name: str, values: Any) -> None:
    if not isinstance(values, np.ndarray) or values.dtype != np.float64 or values.ndim != 1 or len(values) < 1:
        raise ValueError(f"{name} must be a 1-D float64 array")
    if not np.isfinite(values).all() or not (values[1:] > values[:-1]).all():
        raise ValueError(f"{name} must be finite and rise")


for _law in (NormalLaw, FlatLaw, ExactLaw, HistogramLaw, CategoryLaw):
    register(_law, name=f"hedgerow.measured.{_law.__name__}")


# --- Posterior of a normal U ---------------------------------------------------------------------------------
#
# With a normal error U given x is normal: mean m + λ(x − m) and variance λσ² with λ = v/(v + σ²). With a uniform error
# it is U's own law truncated at x ± √3·σ. In general its density, proportional to φ((u − m)/√v)·f((x − u)/σ), is
# integrated by Gauss-Legendre quadrature on panels that are fine where either factor bends.


def normal_posterior(error: ErrorModel, mean: float, variance: float, x: Floats, sigma: Floats, at: Floats) -> Floats:
    """P(U ≤ at | X = x), (n, m), for rows x with errors of size sigma > 0, both (n,), and U ~ N(mean, variance)."""
    if variance == 0:
        return np.broadcast_to((mean <= at).astype(np.float64), (len(x), len(at)))
    if isinstance(error, Normal):
        centre, spread = _normal_given(mean, variance, x, sigma)
        with np.errstate(over="ignore"):
            return normal_cdf((at[:, np.newaxis] - centre) / spread).T
    result = np.empty((len(x), len(at)))
    for rows in _blocks(len(x), len(at)):
        result[rows] = _integrate(error, mean, float(np.sqrt(variance)), x[rows], sigma[rows], at)
    return result


def _normal_given(mean: float, variance: float, x: Floats, sigma: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation of a normal U given x with a normal error, (n,) each."""
    share = 1.0 / (1.0 + sigma**2 / variance)
    return mean + share * (x - mean), np.sqrt(share) * sigma


def _blocks(n_rows: int, n_at: int) -> Iterator[slice]:
    n_panels = 2 * len(_ERROR_STEPS) + 4 * len(_NORMAL_STEPS)
    step = max(1, _VALUES_AT_ONCE // (len(_NODES) * (n_panels + n_at)))
    return (slice(first, first + step) for first in range(0, n_rows, step))


def _integrate(error: ErrorModel, mean: float, spread: float, x: Floats, sigma: Floats, at: Floats) -> Floats:
    edges = _panel_edges(error, mean, spread, x, sigma)

    def log_density(u: Floats) -> Floats:
        shape = (-1,) + (1,) * (u.ndim - 1)
        return -0.5 * ((u - mean) / spread) ** 2 + error.log_density((x.reshape(shape) - u) / sigma.reshape(shape))

    places, widths = _nodes(edges[:, :-1], edges[:, 1:])
    logs = log_density(places)
    peak = logs.max(axis=(1, 2))
    masses = (np.exp(logs - peak[:, np.newaxis, np.newaxis]) * _WEIGHTS).sum(axis=2) * widths
    cumulated = np.concatenate([np.zeros((len(x), 1)), masses.cumsum(axis=1)], axis=1)

    panel = (edges[:, np.newaxis, 1:-1] <= at[:, np.newaxis]).sum(axis=2)  # index of the panel that contains each `at`
    start = np.take_along_axis(edges, panel, axis=1)
    end = np.clip(at, start, np.take_along_axis(edges, panel + 1, axis=1))
    places, widths = _nodes(start, end)
    part = (np.exp(log_density(places) - peak[:, np.newaxis, np.newaxis]) * _WEIGHTS).sum(axis=2) * widths
    within = np.take_along_axis(masses, panel, axis=1)
    below = np.take_along_axis(cumulated, panel, axis=1) + np.minimum(part, within)
    total = cumulated[:, -1:]
    # All panels have width 0 where x ± σ rounds to x.
    return np.where(total > 0, np.clip(below / np.where(total > 0, total, 1.0), 0.0, 1.0), x[:, np.newaxis] <= at)


def _panel_edges(error: ErrorModel, mean: float, spread: float, x: Floats, sigma: Floats) -> Floats:
    """Panel edges around x, the prior mean and the peak between them, clipped to the error's reach."""
    error_steps = np.concatenate([-_ERROR_STEPS[:0:-1], _ERROR_STEPS])
    normal_steps = np.concatenate([-_NORMAL_STEPS[:0:-1], _NORMAL_STEPS])
    peak = _peak(error, mean, spread, x, sigma)
    edges = np.concatenate(
        [
            x[:, np.newaxis] + sigma[:, np.newaxis] * error_steps,
            np.broadcast_to(mean + spread * normal_steps, (len(x), len(normal_steps))),
            peak[:, np.newaxis] + spread * normal_steps,
        ],
        axis=1,
    )
    if np.isfinite(error.reach):
        reach = (error.reach * sigma)[:, np.newaxis]
        edges = np.clip(edges, x[:, np.newaxis] - reach, x[:, np.newaxis] + reach)
    edges.sort(axis=1)
    return edges


def _peak(error: ErrorModel, mean: float, spread: float, x: Floats, sigma: Floats) -> Floats:
    """Mode of the density, where it is neither x nor the prior mean."""
    if isinstance(error, Laplace):  # the exponential factor shifts the normal one
        moved = 2**0.5 * spread**2 / sigma
        return np.where(x > mean, np.minimum(mean + moved, x), np.maximum(mean - moved, x))
    if np.isfinite(error.reach):
        nearest: Floats = np.clip(mean, x - error.reach * sigma, x + error.reach * sigma)
        return nearest
    return x


def _nodes(start: Floats, end: Floats) -> tuple[Floats, Floats]:
    """Quadrature nodes between start and end, with one more axis, and the half lengths that scale the weights."""
    half = 0.5 * (end - start)
    return (0.5 * (start + end))[..., np.newaxis] + half[..., np.newaxis] * _NODES, half
