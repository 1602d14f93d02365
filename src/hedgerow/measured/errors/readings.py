"""Values and errors of columns from what was recorded: repeated measurements, and limits between which a value is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow._params import RowError, check_number, is_number

__all__ = ["Readings", "average_repeats", "read_limits"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Readings:
    """Values of a column and the standard deviations of their errors.

    Examples
    --------
    >>> from hedgerow import MeasuredTreeRegressor
    >>> from hedgerow.measured import average_repeats
    >>> repeats = [[1.0, 1.2], [3.1, 2.9], [2.0, 2.2], [4.1, 3.9]]
    >>> readings = average_repeats(repeats)
    >>> tree = MeasuredTreeRegressor(max_leaf_nodes=2)
    >>> tree = tree.fit(readings.value.reshape(-1, 1), [0, 1, 0, 1], X_err=readings.sigma.reshape(-1, 1))
    >>> tree.get_n_leaves()
    2
    """

    value: Floats
    """NaN where nothing was recorded."""
    sigma: Floats
    """0 where nothing was recorded."""


def average_repeats(values: Any, sigma: float | None = None) -> Readings:
    """Mean of repeated measurements of each row, and its error, with one unknown standard deviation for all of them.

    The variance of a single measurement is Σ_i Σ_k (x_ik − x̄_i)² / Σ_i (n_i − 1), over the n_i measurements of row i;
    that of their mean is 1/n_i of it.

    Parameters
    ----------
    values : array-like or frame of shape (n_samples, n_repeats)
        Measurements of the same quantity; NaN where there are fewer.
    sigma : float or None, default=None
        Standard deviation of a single measurement. None: it is estimated, which needs a row with two.

    Returns
    -------
    Readings
        Means and their standard errors, each of shape (n_samples,).

    Raises
    ------
    ValueError
        If values are not numbers or not finite, or no row has two measurements and `sigma` is None.

    Examples
    --------
    >>> from hedgerow.measured import average_repeats
    >>> average_repeats([[1.0, 1.2], [3.1, 2.9], [2.0, float("nan")]])
    Readings(value=array([1.1, 3. , 2. ]), sigma=array([0.1       , 0.1       , 0.14142136]))
    """
    native = nw.from_native(values, pass_through=True, eager_only=True)
    try:
        table = np.asarray(native.to_numpy() if isinstance(native, nw.DataFrame) else native, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            "values must be numbers: the repeated measurements of each row, NaN where one is missing"
        ) from None
    if table.ndim != 2 or np.isinf(table).any():
        raise ValueError(f"values has shape {table.shape}, must be finite numbers of shape (n_samples, n_repeats)")
    known = ~np.isnan(table)
    count = known.sum(axis=1)
    mean = np.where(count > 0, np.where(known, table, 0.0).sum(axis=1) / np.maximum(count, 1), np.nan)
    if sigma is None:
        more = int(np.maximum(count - 1, 0).sum())
        if more == 0:
            raise ValueError("values has no row with two measurements: pass sigma, the standard deviation of one")
        squares = np.where(known, table - mean[:, np.newaxis], 0.0) ** 2
        single = float(np.sqrt(squares.sum() / more))
    else:
        single = check_number("sigma", sigma, closed="left")
    return Readings(mean, np.where(count > 0, single / np.sqrt(np.maximum(count, 1)), 0.0))


def read_limits(low: ArrayLike, high: ArrayLike, *, least: float | None = None, most: float | None = None) -> Readings:
    """Values that are only known to be between two limits: rounded, below or above what can be detected.

    The middle, with an error that is uniform up to both limits: with ``error_model="uniform"`` a latent value then has
    its prior cut off at the limits, and a value whose limits are equal is exact.

    Parameters
    ----------
    low : array-like of shape (n_samples,)
        Lower limits; NaN or −∞ where there is none.
    high : array-like of shape (n_samples,)
        Upper limits; NaN or ∞ where there is none. Without both a value is missing.
    least : float or None, default=None
        What no value is below, in place of lower limits that are not there: 0 for a concentration.
    most : float or None, default=None
        What no value is above, in place of upper limits that are not there.

    Returns
    -------
    Readings
        Middles of the limits and standard deviations, each of shape (n_samples,).

    Raises
    ------
    ValueError
        If limits cross, are not of the same length, or one is missing without `least` or `most`.

    Examples
    --------
    >>> from hedgerow.measured import read_limits
    >>> read_limits([float("nan"), 0.3, 2.0], [0.1, 0.3, 3.0], least=0).value  # below 0.1; 0.3; between 2 and 3
    array([0.05, 0.3 , 2.5 ])
    """
    lower, upper = _ends("low", low, -np.inf), _ends("high", high, np.inf)
    if lower.shape != upper.shape:
        raise ValueError(f"low has {len(lower)} limits, high has {len(upper)}: one of each for every row")
    missing = np.isinf(lower) & np.isinf(upper)
    for name, ends, other in (("low", lower, ("least", least)), ("high", upper, ("most", most))):
        open_ = np.isinf(ends) & ~missing
        if open_.any():
            if other[1] is None:
                raise RowError(f"{name} is missing", int(np.argmax(open_)), f"pass {other[0]}, the limit of all values")
            if not is_number(other[1]) or not np.isfinite(other[1]):
                raise ValueError(f"{other[0]} is {other[1]!r}, must be a finite number")
            ends[open_] = other[1]
    crossed = ~missing & (lower > upper)
    if crossed.any():
        row = int(np.argmax(crossed))
        raise RowError(f"low is {lower[row]} and high {upper[row]}", row, "limits must not cross")
    lower[missing], upper[missing] = np.nan, np.nan
    half = 0.5 * (upper - lower)
    return Readings(lower + half, np.where(missing, 0.0, half / np.sqrt(3.0)))


def _ends(name: str, given: ArrayLike, missing: float) -> Floats:
    try:
        ends = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold a limit for each row, NaN where there is none") from None
    if ends.ndim != 1:
        raise ValueError(f"{name} has shape {ends.shape}, must be (n_samples,)")
    ends[np.isnan(ends) | np.isinf(ends)] = missing
    return ends
