"""What is believed about U before x is read: strategies that learn a law from a column.

With an informative prior a value far out is partly put down to its error, and drawn in; "flat" takes it as it is.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._params import check_whole, choose
from hedgerow.measured.deconvolution import deconvolved
from hedgerow.measured.errors import ErrorModel
from hedgerow.measured.laws import FlatLaw, HistogramLaw, NormalLaw, NumberLaw
from hedgerow.storage import register

__all__ = ["FlatPrior", "KdePrior", "NormalPrior", "Prior", "empirical", "prior"]

Floats = NDArray[np.float64]

_MOST_PLACES = 1024  # of the values that stand for a missing one


class Prior(ABC):
    """A strategy: column in, law out."""

    @abstractmethod
    def learn(self, x: Floats, sigma: Floats, weight: Floats, error: ErrorModel, name: str) -> NumberLaw:
        """The law of a column from its known values, (n,), n ≥ 1, their errors and weights; `name` for warnings."""


def empirical(x: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Rising places, at most so many, and the share of the rows at or below each."""
    places, of_row = np.unique(x, return_inverse=True)
    reached = np.bincount(of_row, weights=weight).cumsum()
    reached /= reached[-1]
    if len(places) > _MOST_PLACES:
        kept = np.unique(np.searchsorted(reached, np.arange(1, _MOST_PLACES + 1) / _MOST_PLACES - 1e-12))
        places, reached = places[kept], reached[kept]
    return places, reached


@dataclass(frozen=True)
class NormalPrior(Prior):
    """U ~ N(m, v) with m the mean of X and v = max(var X − mean σ², 0): what the errors leave of the variance."""

    def learn(self, x: Floats, sigma: Floats, weight: Floats, error: ErrorModel, name: str) -> NumberLaw:
        mean = float(np.average(x, weights=weight))
        with np.errstate(over="ignore"):
            spread = float(np.average((x - mean) ** 2, weights=weight))
            noise = float(np.average(sigma**2, weights=weight))
        if 0 < spread < noise:
            warnings.warn(
                f"column {name!r} has a variance of {spread:.3g}, less than the {noise:.3g} of its errors: nothing is "
                'left for what was measured, and the column tells nothing. Give it a smaller sigma, or prior="flat"',
                stacklevel=7,
            )
        return NormalLaw(error, mean, max(spread - noise, 0.0))


@dataclass(frozen=True)
class FlatPrior(Prior):
    """Nothing is believed: U given x has the error's law around x."""

    def learn(self, x: Floats, sigma: Floats, weight: Floats, error: ErrorModel, name: str) -> NumberLaw:
        return FlatLaw(error, *empirical(x, weight))


@dataclass(frozen=True)
class KdePrior(Prior):
    """U has the law that remains of X's when the errors are taken out, whatever its shape.

    Estimated on `bins` bins by :func:`hedgerow.measured.deconvolution.deconvolved`, which smooths as a kernel does.
    """

    bins: int = 128

    def __post_init__(self) -> None:
        check_whole("KdePrior: bins", self.bins, 8, 4096)

    def learn(self, x: Floats, sigma: Floats, weight: Floats, error: ErrorModel, name: str) -> NumberLaw:
        edges, shares = deconvolved(x, sigma, weight, error, self.bins)
        return HistogramLaw(error, edges, shares)


_ALIASES: dict[str, Prior] = {"normal": NormalPrior(), "flat": FlatPrior(), "kde": KdePrior()}
for _prior in (NormalPrior, FlatPrior, KdePrior):
    register(_prior, name=f"hedgerow.measured.{_prior.__name__}")


def prior(given: Any) -> Prior:
    """The strategy for an alias or an instance."""
    chosen: Prior = choose("prior", given, _ALIASES, (Prior,))
    return chosen
