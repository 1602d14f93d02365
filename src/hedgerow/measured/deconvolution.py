"""The law of U on bins, from measurements X = U + ε whose errors are known: the general case of the paper's section 4.

Maximum likelihood by expectation and maximisation, each step followed by a little smoothing (Silverman, Jones, Wilson
and Nychka, A smoothed EM approach to indirect estimation problems, 1990). Unlike a quotient of Fourier transforms it
never goes below 0, takes errors of a different size in each row, and any law of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.measured.errors import ErrorModel

__all__ = ["deconvolved"]

Floats = NDArray[np.float64]

_STEPS = 40
_KERNEL = np.array([1.0, 2.0, 1.0]) / 4
_MOST_ROWS = 2048  # a column has few features that more rows would show


def deconvolved(x: Floats, sigma: Floats, weight: Floats, error: ErrorModel, n_bins: int) -> tuple[Floats, Floats]:
    """Edges of bins over the range of x, and the share of U in each; for values, errors and weights (n,)."""
    x, sigma, weight = _thinned(x, sigma, weight)
    edges = _edges(x, n_bins)
    n_bins = len(edges) - 1
    likelihood = _likelihood(x, sigma, edges, error)
    weight = weight / weight.sum()
    shares = np.full(n_bins, 1 / n_bins)
    for _ in range(_STEPS):
        shares = shares * (likelihood.T @ (weight / (likelihood @ shares)))
        padded = np.concatenate([shares[:1], shares, shares[-1:]])
        shares = np.convolve(padded, _KERNEL, mode="valid")
        shares /= shares.sum()
    return edges, shares


def _thinned(x: Floats, sigma: Floats, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """At most so many rows, equally spaced in the order of x: the same whatever order they came in."""
    order = np.lexsort((weight, sigma, x))
    if len(x) > _MOST_ROWS:
        order = order[np.linspace(0, len(x) - 1, _MOST_ROWS).round().astype(np.intp)]
    return x[order], sigma[order], weight[order]


def _edges(x: Floats, n_bins: int) -> Floats:
    low, high = float(x.min()), float(x.max())
    if not high > low:  # one value: a narrow bin around it
        around = 1e-9 * max(abs(low), 1.0)
        return np.array([low - around, low + around])
    edges: Floats = np.unique(np.linspace(low, high, n_bins + 1))
    return edges


def _likelihood(x: Floats, sigma: Floats, edges: Floats, error: ErrorModel) -> Floats:
    """How likely each x is if U is in a bin, (n, n_bins), up to a factor for each row."""
    inside = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, len(edges) - 2)
    likelihood = np.zeros((len(x), len(edges) - 1))
    likelihood[np.arange(len(x)), inside] = 1.0
    measured = np.flatnonzero(sigma > 0)
    at, of = x[measured, np.newaxis], sigma[measured, np.newaxis]
    masses = error.mass((edges[:-1] - at) / of, (edges[1:] - at) / of) / np.diff(edges)
    peaks = masses.max(axis=1, keepdims=True)
    likelihood[measured] = np.where(peaks > 0, masses / np.where(peaks > 0, peaks, 1.0), likelihood[measured])
    return likelihood
