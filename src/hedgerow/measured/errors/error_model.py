"""Error models: the distribution of ε in X = U + ε, symmetric about 0, with standard deviation σ.

Tami et al., Decision tree for uncertainty measures (2018), equation 2, leave the distribution open. A model describes
ε/σ by its distribution function and its density.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from hedgerow._core import normal_cdf as fill_normal_cdf
from hedgerow._params import check_number, choose
from hedgerow._registry import register

__all__ = ["ErrorModel", "Laplace", "Normal", "Student", "Uniform", "error_model", "normal_cdf"]

Floats = NDArray[np.float64]


def normal_cdf(z: Floats) -> Floats:
    """P(Z ≤ z) for a standard normal Z and `z` of any shape."""
    out = np.empty(z.shape)
    fill_normal_cdf(z.reshape(-1), out.reshape(-1))
    return out


class ErrorModel(ABC):
    """Abstract: the distribution of ε/σ, symmetric with mean 0 and variance 1.

    Examples
    --------
    Errors of a triangular density, of standard deviation 1:

    >>> import numpy as np
    >>> from hedgerow.measured import ErrorModel
    >>> class Triangular(ErrorModel):
    ...     def cdf(self, z):
    ...         t = np.clip(z / np.sqrt(6.0), -1.0, 1.0)
    ...         return np.where(t < 0, (1 + t) ** 2 / 2, 1 - (1 - t) ** 2 / 2)
    ...
    ...     def log_density(self, z):
    ...         with np.errstate(divide="ignore"):
    ...             return np.log(np.maximum(1 - np.abs(z) / np.sqrt(6.0), 0.0))
    >>> Triangular().mass(np.array([-1.0]), np.array([1.0])).round(2)
    array([0.65])
    """

    reach: float = np.inf
    """Largest possible error in standard deviations."""

    @abstractmethod
    def cdf(self, z: Floats) -> Floats:
        """P(ε/σ ≤ z).

        Parameters
        ----------
        z : array
            Errors in standard deviations.

        Returns
        -------
        ndarray of the shape of `z`
            Values.
        """

    @abstractmethod
    def log_density(self, z: Floats) -> Floats:
        """Log density of ε/σ, up to a constant; −∞ where the density is 0.

        Parameters
        ----------
        z : array
            Errors in standard deviations.

        Returns
        -------
        ndarray of the shape of `z`
            Values.
        """

    def mass(self, low: Floats, high: Floats) -> Floats:
        """P(low < ε/σ ≤ high), accurate in both tails.

        Parameters
        ----------
        low : array
            Lower ends, in standard deviations.
        high : array
            Upper ends, in standard deviations.

        Returns
        -------
        ndarray of the shape of the ends
            Probabilities.
        """
        # Mirror intervals to the right of 0: there the difference of two values near 1 would cancel.
        swapped = low > 0
        from_left = self.cdf(np.where(swapped, -low, high)) - self.cdf(np.where(swapped, -high, low))
        return np.maximum(from_left, 0.0)


@dataclass(frozen=True)
class Normal(ErrorModel):
    """ε ~ N(0, σ²).

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.measured import Normal
    >>> Normal().mass(np.array([-1.0]), np.array([1.0])).round(2)  # within one standard deviation
    array([0.68])
    """

    def cdf(self, z: Floats) -> Floats:
        return normal_cdf(z)

    def log_density(self, z: Floats) -> Floats:
        return -0.5 * z * z


@dataclass(frozen=True)
class Uniform(ErrorModel):
    """ε is uniform on ±√3·σ, like a rounding error.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.measured import Uniform
    >>> Uniform().mass(np.array([-1.0]), np.array([1.0])).round(2)  # within one standard deviation
    array([0.58])
    """

    reach = 3**0.5

    def cdf(self, z: Floats) -> Floats:
        return np.clip(0.5 + z / (2 * self.reach), 0.0, 1.0)

    def log_density(self, z: Floats) -> Floats:
        return np.where(np.abs(z) <= self.reach, 0.0, -np.inf)


@dataclass(frozen=True)
class Laplace(ErrorModel):
    """ε has the density exp(−|ε|/b)/(2b) with the scale b = σ/√2.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.measured import Laplace
    >>> Laplace().mass(np.array([-1.0]), np.array([1.0])).round(2)  # within one standard deviation
    array([0.76])
    """

    def cdf(self, z: Floats) -> Floats:
        half = 0.5 * np.exp(-(2**0.5) * np.abs(z))
        return np.where(z < 0, half, 1.0 - half)

    def log_density(self, z: Floats) -> Floats:
        return -(2**0.5) * np.abs(z)


@dataclass(frozen=True)
class Student(ErrorModel):
    """ε has Student's t with `df` degrees of freedom, scaled by σ·√((df − 2)/df): heavy tails.

    Parameters
    ----------
    df : float, default=5.0
        Degrees of freedom, above 2.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.measured import Student
    >>> Student().mass(np.array([-1.0]), np.array([1.0])).round(2)  # within one standard deviation
    array([0.75])
    """

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
    """Error model for an alias or an instance."""
    chosen: ErrorModel = choose("error_model", given, _ALIASES, (ErrorModel,), "; or a mapping from columns to these")
    return chosen
