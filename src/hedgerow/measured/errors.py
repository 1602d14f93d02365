"""Laws of the error ε in X = U + ε: symmetric about 0, and scaled so that σ is always the standard deviation.

Tami et al., Decision tree for uncertainty measures (2018), equation 2, leave the law open. A model here knows the law
of ε/σ; all that others need of it is its distribution function and its density.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from hedgerow._params import check_number, choose
from hedgerow.measured.normal import normal_cdf
from hedgerow.storage import register

__all__ = ["ErrorModel", "Laplace", "Normal", "Student", "Uniform", "error_model"]

Floats = NDArray[np.float64]


class ErrorModel(ABC):
    """The law of ε/σ: mean 0, variance 1, symmetric."""

    reach: float = np.inf
    """The largest error, in standard deviations."""

    @abstractmethod
    def cdf(self, z: Floats) -> Floats:
        """P(ε/σ ≤ z)."""

    @abstractmethod
    def log_density(self, z: Floats) -> Floats:
        """The logarithm of the density of ε/σ, up to a constant; −∞ where there is none."""

    def mass(self, low: Floats, high: Floats) -> Floats:
        """P(low < ε/σ ≤ high), also far out, where both distribution functions are next to 1."""
        # The law is symmetric: what is right of 0 is reckoned from the left.
        swapped = low > 0
        from_left = self.cdf(np.where(swapped, -low, high)) - self.cdf(np.where(swapped, -high, low))
        return np.maximum(from_left, 0.0)


@dataclass(frozen=True)
class Normal(ErrorModel):
    """ε ~ N(0, σ²)."""

    def cdf(self, z: Floats) -> Floats:
        return normal_cdf(z)

    def log_density(self, z: Floats) -> Floats:
        return -0.5 * z * z


@dataclass(frozen=True)
class Uniform(ErrorModel):
    """ε is uniform on ±√3·σ, as the error of rounding is."""

    reach = 3**0.5

    def cdf(self, z: Floats) -> Floats:
        return np.clip(0.5 + z / (2 * self.reach), 0.0, 1.0)

    def log_density(self, z: Floats) -> Floats:
        return np.where(np.abs(z) <= self.reach, 0.0, -np.inf)


@dataclass(frozen=True)
class Laplace(ErrorModel):
    """ε has the density exp(−|ε|/b)/(2b) with the scale b = σ/√2."""

    def cdf(self, z: Floats) -> Floats:
        half = 0.5 * np.exp(-(2**0.5) * np.abs(z))
        return np.where(z < 0, half, 1.0 - half)

    def log_density(self, z: Floats) -> Floats:
        return -(2**0.5) * np.abs(z)


@dataclass(frozen=True)
class Student(ErrorModel):
    """ε has Student's t with `df` degrees of freedom, scaled by σ·√((df − 2)/df): now and then far off."""

    df: float = 5.0

    def __post_init__(self) -> None:
        check_number("Student: df", self.df, 2, hint=": with fewer degrees of freedom there is no standard deviation")

    @property
    def _scale(self) -> float:
        return float(np.sqrt((self.df - 2) / self.df))

    def cdf(self, z: Floats) -> Floats:
        below: Floats = stdtr(float(self.df), z / self._scale)
        return below

    def log_density(self, z: Floats) -> Floats:
        t = z / self._scale
        logs: Floats = -0.5 * (self.df + 1) * np.log1p(t * t / self.df)
        return logs


_ALIASES: dict[str, ErrorModel] = {
    "normal": Normal(),
    "uniform": Uniform(),
    "laplace": Laplace(),
    "student": Student(),
}
for _model in (Normal, Uniform, Laplace, Student):
    register(_model, name=f"hedgerow.measured.{_model.__name__}")


def error_model(given: Any) -> ErrorModel:
    """The model for an alias or an instance; an error that lists the known ones for anything else."""
    chosen: ErrorModel = choose("error_model", given, _ALIASES, (ErrorModel,), "; or a mapping from columns to these")
    return chosen
