"""Quantiles and intervals of targets: the answer plus residuals of training rows that are likely to be alike.

A quantile regression forest (Meinshausen, Quantile Regression Forests, 2006) estimates the law of y given x by training
targets, weighted by how often a row shares leaves with theirs. Here a row shares a region as far as it may be in it,

    w_i(x) = 1/T Σ_t Σ_k P(U ∈ R_tk | x) · 1[R_tk is the most probable region of row i in tree t] / n_tk,

and what is weighted are residuals e_i = y_i − f(x_i) by the trees that have not seen row i. Targets themselves would be
blurred by the errors of the inputs twice, once in training and once in the answer: least squares undoes the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow._lazy import lazy
from hedgerow._rebuild import reduce_to_constructor
from hedgerow._registry import register
from hedgerow.measured.errors.error_model import normal_cdf

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["IntervalParts", "Residuals", "check_levels", "mixture_quantiles", "row_blocks"]

Floats = NDArray[np.float64]

_ROUNDING = 1e-9  # of shares that add up to 1
_HALVINGS = 60  # of an interval that contains a quantile
_ROWS_AT_ONCE = 256
_VALUES_AT_ONCE = 1 << 21


@dataclass(frozen=True)
class IntervalParts:
    """Intervals, and the standard deviations of what makes them wide, an array each; squares add up to `total`'s.

    Each part is at most what those before it in the list have left.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow import MeasuredForestRegressor
    >>> rng = np.random.default_rng(0)
    >>> latent = rng.uniform(size=(200, 1))
    >>> X, y = latent + rng.normal(scale=0.1, size=(200, 1)), np.where(latent[:, 0] > 0.5, 1.0, 0.0)
    >>> forest = MeasuredForestRegressor(sigma=0.1, n_estimators=10, random_state=0).fit(X, y)
    >>> parts = forest.interval_parts([[0.2], [0.5]])
    >>> bool(parts.inputs[1] > parts.inputs[0])  # at the step the error of the input matters most
    True
    """

    prediction: Floats
    """Answers over all regions, which `predict` gives with ``n_points=None``."""
    lower: Floats
    """Lower ends."""
    upper: Floats
    """Upper ends."""
    total: Floats
    """How far targets are from answers."""
    target: Floats
    """The error of the target itself."""
    inputs: Floats
    """How far the forest's answer varies over where the latent values of the row may be."""
    model: Floats
    """How far the answers of single trees differ."""
    noise: Floats
    """The rest: by what such rows differ though nothing of them is unknown."""

    def to_dict(self) -> dict[str, Floats]:
        """Arrays by name, as ``pandas.DataFrame`` takes them.

        Returns
        -------
        dict of str to ndarray of shape (n_samples,)
            The arrays.
        """
        return {field.name: getattr(self, field.name) for field in fields(self)}


@partial(register, name="hedgerow.measured.Residuals")
@dataclass(frozen=True, eq=False)
class Residuals:
    """Residuals of training rows, ascending, with the weights and target errors of the rows, and the rows of leaves.

    `rows` has the positions of the residuals of leaf k in ``start[k] : start[k + 1]``. A leaf that is no row's most
    probable one has none.
    """

    start: NDArray[np.int64]
    rows: NDArray[np.int32]
    values: Floats
    weight: Floats
    y_err: Floats
    """Standard deviations of the errors of the targets; 0 where they are unknown"""

    def __post_init__(self) -> None:
        """Check what answers rely on."""
        n = len(self.values)
        for name, dtype in (("start", np.int64), ("rows", np.int32)):
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
                raise ValueError(f"residuals: {name} must be a 1-D {np.dtype(dtype)} array")
        for name in ("values", "weight", "y_err"):
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.dtype != np.float64 or array.shape != (n,) or n == 0:
                raise ValueError(f"residuals: {name} must be a float64 array with a number for each row")
            if not np.isfinite(array).all():
                raise ValueError(f"residuals: {name} must be finite")
        if (np.diff(self.values) < 0).any() or not (self.weight > 0).all() or not (self.y_err >= 0).all():
            raise ValueError("residuals must ascend, weights be positive and errors of targets not negative")
        if self.start[0] != 0 or self.start[-1] != len(self.rows) or (np.diff(self.start) < 0).any():
            raise ValueError(f"residuals: start must rise from 0 to {len(self.rows)}")
        if len(self.rows) and not 0 <= self.rows.min() <= self.rows.max() < n:
            raise ValueError("residuals: rows must be positions of residuals")

    __reduce__ = reduce_to_constructor

    @classmethod
    def of(
        cls, leaves: NDArray[np.int64], n_leaves: int, residuals: Floats, weight: Floats, y_err: Floats
    ) -> Residuals:
        """For rows whose most probable leaves, numbered over all trees, are `leaves`, (n, n_trees)."""
        order = np.argsort(residuals, kind="stable")
        of_row = leaves[order]
        rows = np.repeat(np.arange(len(order), dtype=np.int32), of_row.shape[1])
        by_leaf = np.argsort(of_row.reshape(-1), kind="stable")
        counts = np.bincount(of_row.reshape(-1), minlength=n_leaves)
        start = np.concatenate([[0], counts.cumsum()]).astype(np.int64)
        return cls(start, rows[by_leaf], residuals[order], weight[order], y_err[order])

    @lazy
    def _of_leaves(self) -> csr_array:
        """Weights of residuals in each leaf, (n_leaves, n), which add up to 1 where there are any."""
        from scipy.sparse import csr_array

        n_leaves, held = len(self.start) - 1, self.weight[self.rows]
        leaf = np.repeat(np.arange(n_leaves), np.diff(self.start))
        sizes = np.bincount(leaf, weights=held, minlength=n_leaves)
        return csr_array((held / sizes[leaf], self.rows, self.start), shape=(n_leaves, len(self.values)))

    def weights(self, reached: csr_array) -> Floats:
        """w_i(x) for rows that reach leaves with weights `reached`, (n, n_leaves); each row adds up to 1."""
        found: Floats = (reached @ self._of_leaves).toarray()
        total = found.sum(axis=1, keepdims=True)
        everywhere = self.weight / self.weight.sum()  # no region that the row may be in has rows
        return np.where(total > 0, found / np.where(total > 0, total, 1.0), everywhere)

    def variances(self, weights: Floats) -> tuple[Floats, Floats]:
        """Mean squares of the residuals, and of the targets' own errors in them, (n,) each."""
        return weights @ self.values**2, weights @ self.y_err**2

    def quantiles(self, weights: Floats, levels: Floats, y_err: Floats | None) -> Floats:
        """Quantiles of what is added to the answers, (n, len(levels)).

        With `y_err` None of residuals as they are: the smallest with Σ w_i 1[e_i ≤ e] ≥ level. Else of targets whose
        own errors are N(0, y_err²), (n,): residuals without the errors that training targets had, each
        N(λ_i e_i, λ_i s_i²) with λ_i = v/(v + s_i²), s_i the error of the target and v the variance of the residuals
        less that of these errors, convolved with the new error.
        """
        if y_err is None:
            reached = weights.cumsum(axis=1)
            needed = levels * (1.0 - _ROUNDING) * reached[:, -1:]
            at = [np.minimum((reached < needed[:, [q]]).sum(axis=1), len(self.values) - 1) for q in range(len(levels))]
            return self.values[np.stack(at, axis=1)]
        square, own = self.variances(weights)
        left = np.maximum(square - own, 0.0)[:, np.newaxis]
        total = left + self.y_err**2
        kept = np.where(self.y_err > 0, left / np.where(total > 0, total, 1.0), 1.0)
        spread = np.sqrt(kept * self.y_err**2 + y_err[:, np.newaxis] ** 2)
        return mixture_quantiles(kept * self.values, spread, weights, levels)


def mixture_quantiles(centres: Floats, spreads: Floats, weights: Floats, levels: Floats) -> Floats:
    """Quantiles of mixtures of normal laws, (n, len(levels)), for (n, k) parts; a spread of 0 is a single value.

    By halving an interval that contains the quantile until it is a rounding error.
    """
    found = np.empty((len(centres), len(levels)))
    for i, (centre, spread, weight) in enumerate(zip(centres, spreads, weights, strict=True)):
        used = weight > 0
        centre, spread, weight = centre[used], spread[used], weight[used] / weight[used].sum()
        sure = spread == 0
        for q, level in enumerate(levels):
            low = float((centre - 9 * spread).min())
            high = float((centre + 9 * spread).max())
            for _ in range(_HALVINGS):
                middle = 0.5 * (low + high)
                z = (middle - centre) / np.where(sure, 1.0, spread)
                below = np.where(sure, centre <= middle, normal_cdf(z))
                if weight @ below >= level * (1.0 - _ROUNDING):
                    high = middle
                else:
                    low = middle
            found[i, q] = high
    return found


def row_blocks(n_rows: int, n_residuals: int) -> Iterator[slice]:
    """Rows whose weights are computed together."""
    step = max(1, min(_ROWS_AT_ONCE, _VALUES_AT_ONCE // max(n_residuals, 1)))
    return (slice(first, first + step) for first in range(0, n_rows, step))


def check_levels(q: ArrayLike) -> Floats:
    """Levels of quantiles as an array."""
    levels = np.atleast_1d(np.asarray(q, dtype=np.float64))
    if levels.ndim != 1 or not ((levels >= 0) & (levels <= 1)).all():
        raise ValueError(f"q is {q!r}, must be one or several numbers in [0, 1]")
    return levels
