"""P(U ≤ t | X = x) where U is normal and X = U + ε, for any law of the error.

With a normal error the law of U given x is normal again: mean m + λ(x − m) and variance λσ² with λ = v/(v + σ²). With a
uniform error it is U's own law cut off at x ± √3·σ. Otherwise its density, proportional to φ((u − m)/√v)·f((x − u)/σ),
is integrated by Gauss and Legendre's rule on panels that are fine where either factor bends.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hedgerow.measured.errors import ErrorModel, Laplace, Normal
from hedgerow.measured.normal import normal_cdf

__all__ = ["normal_posterior"]

Floats = NDArray[np.float64]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
# Edges of panels on both sides of a centre: the normal factor is gone beyond 10 standard deviations; the error's tails
# grow smoother with the distance, so that panels may too.
_NORMAL_STEPS = np.array([0.0, 1, 2, 3, 4, 5, 6.5, 8, 10])
_ERROR_STEPS = np.array([0.0, 0.125, 0.25, 0.5, 1, 2, 4, 8, 16, 32])
_VALUES_AT_ONCE = 1 << 20


def normal_posterior(error: ErrorModel, mean: float, variance: float, x: Floats, sigma: Floats, at: Floats) -> Floats:
    """P(U ≤ at | X = x), (n, m), for rows x with errors of size sigma > 0, both (n,), and U ~ N(mean, variance)."""
    if variance == 0:
        return np.broadcast_to((mean <= at).astype(np.float64), (len(x), len(at)))
    if isinstance(error, Normal):
        share = 1.0 / (1.0 + sigma**2 / variance)
        centre, spread = mean + share * (x - mean), np.sqrt(share) * sigma
        with np.errstate(over="ignore"):
            return normal_cdf((at[:, np.newaxis] - centre) / spread).T
    result = np.empty((len(x), len(at)))
    for rows in _blocks(len(x), len(at)):
        result[rows] = _integrated(error, mean, float(np.sqrt(variance)), x[rows], sigma[rows], at)
    return result


def _blocks(n_rows: int, n_at: int) -> Iterator[slice]:
    n_panels = 2 * len(_ERROR_STEPS) + 4 * len(_NORMAL_STEPS)
    step = max(1, _VALUES_AT_ONCE // (len(_NODES) * (n_panels + n_at)))
    return (slice(first, first + step) for first in range(0, n_rows, step))


def _integrated(error: ErrorModel, mean: float, spread: float, x: Floats, sigma: Floats, at: Floats) -> Floats:
    edges = _panel_edges(error, mean, spread, x, sigma)

    def log_density(u: Floats) -> Floats:
        shape = (-1,) + (1,) * (u.ndim - 1)
        return -0.5 * ((u - mean) / spread) ** 2 + error.log_density((x.reshape(shape) - u) / sigma.reshape(shape))

    places, widths = _nodes(edges[:, :-1], edges[:, 1:])
    logs = log_density(places)
    peak = logs.max(axis=(1, 2))
    masses = (np.exp(logs - peak[:, np.newaxis, np.newaxis]) * _WEIGHTS).sum(axis=2) * widths
    cumulated = np.concatenate([np.zeros((len(x), 1)), masses.cumsum(axis=1)], axis=1)

    panel = (edges[:, np.newaxis, 1:-1] <= at[:, np.newaxis]).sum(axis=2)  # the one that holds each `at`
    start = np.take_along_axis(edges, panel, axis=1)
    end = np.clip(at, start, np.take_along_axis(edges, panel + 1, axis=1))
    places, widths = _nodes(start, end)
    part = (np.exp(log_density(places) - peak[:, np.newaxis, np.newaxis]) * _WEIGHTS).sum(axis=2) * widths
    within = np.take_along_axis(masses, panel, axis=1)
    below = np.take_along_axis(cumulated, panel, axis=1) + np.minimum(part, within)
    total = cumulated[:, -1:]
    # No panel has a width where x ± σ can't be told from x.
    return np.where(total > 0, np.clip(below / np.where(total > 0, total, 1.0), 0.0, 1.0), x[:, np.newaxis] <= at)


def _panel_edges(error: ErrorModel, mean: float, spread: float, x: Floats, sigma: Floats) -> Floats:
    """Edges around x, around the mean, and around the peak between them; cut off where the error can't reach."""
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
    """Where the density is largest, if that is neither at x nor at the mean."""
    if isinstance(error, Laplace):  # an exponential factor moves the normal one to the side
        moved = 2**0.5 * spread**2 / sigma
        return np.where(x > mean, np.minimum(mean + moved, x), np.maximum(mean - moved, x))
    if np.isfinite(error.reach):
        nearest: Floats = np.clip(mean, x - error.reach * sigma, x + error.reach * sigma)
        return nearest
    return x


def _nodes(start: Floats, end: Floats) -> tuple[Floats, Floats]:
    """Places of the rule between start and end, with one more axis, and half the lengths, which weigh them."""
    half = 0.5 * (end - start)
    return (0.5 * (start + end))[..., np.newaxis] + half[..., np.newaxis] * _NODES, half
