"""Laws of rows whose errors are correlated between columns: a mixture of rows whose errors are not.

With errors N(0, Σ) and U ~ N(μ, diag v) the latent values of a row are N(m, S) given x, with m = x − ΣM⁻¹(x − μ),
S = Σ − ΣM⁻¹Σ and M = Σ + diag v; under a flat prior N(x, Σ). With s² the diagonal of S, R its correlations and λ the
least eigenvalue of R, S is s·(LLᵀ + λI)·s: common factors f ~ N(0, I) move the columns by s·Lf, and given these columns
are independent, U_j ~ N(m_j + s_j(Lf)_j, λs_j²). So the row is a mixture of rows with independent errors, one for each
point f, and whatever is known of such rows holds: walks, regions and explanations need no other arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from hedgerow.measured.errors.correlations import covariance_of_cells, pairs_of_cells
from hedgerow.measured.laws.boxes import posterior_share
from hedgerow.measured.laws.column_laws import CategoryLaw, ColumnLaw

__all__ = ["JointLaw", "JointRows", "factor_points"]

Floats = NDArray[np.float64]
Pairs = NDArray[np.intp]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class JointLaw:
    """Law of the latent values of rows, by the laws of their columns and the pairs whose errors are correlated.

    `cells` are the standard deviations of the errors, (n, n_features), followed by the correlations of pairs, if rows
    have any (:func:`~hedgerow.measured.errors.correlations.pairs_of_cells`).
    """

    laws: Sequence[ColumnLaw]
    pairs: Pairs
    """Pairs of columns, (m, 2)"""

    def is_correlated(self, cells: Floats) -> bool:
        """Whether correlations follow the sizes of errors."""
        return cells.shape[1] > len(self.laws)

    def check(self, cells: Floats, names: Sequence[str]) -> None:
        """Refuse correlated errors of columns whose latent values have no normal law."""
        if not self.is_correlated(cells):
            return
        pairs = pairs_of_cells(cells.shape[1], len(self.laws), self.pairs)
        some = pairs[(cells[:, len(self.laws) :] != 0).any(axis=0)]
        for j in np.unique(some).tolist():
            law = self.laws[j]
            if isinstance(law, CategoryLaw) or law.normal_prior() is None:
                what = "nominal" if isinstance(law, CategoryLaw) else f"error_model {law.error!r} and this prior"
                raise ValueError(
                    f"the errors of column {names[j]!r} are correlated with others, and it has {what}: correlated "
                    "errors need error_model='normal', and prior='normal' or 'flat'"
                )

    def marginal(self, rows: Floats, cells: Floats) -> tuple[Floats, Floats]:
        """Readings and errors, (n, n_features) each, by which each column has its law given the whole row."""
        if not self.is_correlated(cells):
            return rows, cells
        given = self._posterior(rows, cells)
        spread = np.sqrt(np.diagonal(given.covariance, axis1=1, axis2=2))[given.of_row]
        return self._readings(rows, cells, given.columns, given.active, given.centre, spread)

    def mixture(self, rows: Floats, cells: Floats, n_parts: int) -> tuple[Floats, Floats]:
        """Readings and independent errors of `n_parts` equally likely rows for each, (n·n_parts, n_features) each.

        The points of the common factors are the same for every row.
        """
        if not self.is_correlated(cells):
            return np.repeat(rows, n_parts, axis=0), np.repeat(cells, n_parts, axis=0)
        given = self._posterior(rows, cells)
        loadings, own = _factors(given.covariance)
        moves = factor_points(n_parts, loadings.shape[2]) @ np.swapaxes(loadings, 1, 2)
        shape = (-1, len(given.columns))
        centre = (given.centre[:, np.newaxis] + moves[given.of_row]).reshape(shape)
        wide, errors = np.repeat(rows, n_parts, axis=0), np.repeat(cells, n_parts, axis=0)
        active, spread = np.repeat(given.active, n_parts, axis=0), np.repeat(own[given.of_row], n_parts, axis=0)
        return self._readings(wide, errors, given.columns, active, centre, spread)

    def two_columns(self, rows: Floats, cells: Floats) -> tuple[Pairs, Floats, Floats] | None:
        """Where two columns alone are correlated, both known: their positions, mean and covariance of U; else None."""
        given = self._posterior(rows, cells)
        if len(given.columns) != 2 or not given.active.all():
            return None
        return given.columns, given.centre, given.covariance[given.of_row]

    def reveal(self, row: Floats, cells: Floats, feature: int, values: Floats) -> tuple[Floats, Floats]:
        """The row if the latent value of a column were one of `values`: (m, n_features) and the errors that are left.

        The error of that column is then known too, and so is what it says about those that are correlated with it.
        """
        known, exact = (np.repeat(one[np.newaxis], len(values), axis=0) for one in (row, cells))
        size = cells[feature]
        if self.is_correlated(cells[np.newaxis]) and size > 0 and not np.isnan(row[feature]):
            d = len(self.laws)
            pairs = pairs_of_cells(cells.shape[0], d, self.pairs)
            covariance = covariance_of_cells(cells[np.newaxis], d, pairs)[0]
            slope = covariance[feature] / covariance[feature, feature]
            known = known - slope * (row[feature] - values)[:, np.newaxis]
            left = covariance - np.outer(covariance[feature], slope)
            sizes = np.sqrt(np.maximum(np.diag(left), 0.0))
            products = sizes[pairs[:, 0]] * sizes[pairs[:, 1]]
            some = products > 1e-12 * size**2
            rest = np.where(some, left[pairs[:, 0], pairs[:, 1]] / np.where(some, products, 1.0), 0.0)
            exact = np.repeat(np.concatenate([sizes, np.clip(rest, -1.0, 1.0)])[np.newaxis], len(values), axis=0)
        known[:, feature], exact[:, feature] = values, 0.0
        return known, exact

    def _posterior(self, rows: Floats, cells: Floats) -> _Posterior:
        d = len(self.laws)
        pairs = pairs_of_cells(cells.shape[1], d, self.pairs)
        columns = np.unique(pairs)
        x = rows[:, columns]
        active = ~np.isnan(x) & (cells[:, columns] > 0)
        errors = np.hstack([np.where(active, cells[:, columns], 0.0), cells[:, d:]])
        alike, of_row = np.unique(errors, axis=0, return_inverse=True)
        of_row = of_row.reshape(-1)
        mean, variance = np.array([self._prior(j) for j in columns.tolist()]).T
        covariance = covariance_of_cells(alike, len(columns), np.searchsorted(columns, pairs))
        share, spread = posterior_share(covariance, variance)
        x = np.where(active, x, mean)
        centre = x - (share[of_row] @ (x - mean)[:, :, np.newaxis])[:, :, 0]
        return _Posterior(columns, active, spread, of_row, centre)

    def _prior(self, feature: int) -> tuple[float, float]:
        law = self.laws[feature]
        prior = None if isinstance(law, CategoryLaw) else law.normal_prior()
        assert prior is not None, "fit refuses correlated errors of other laws"
        return prior

    def _readings(
        self, rows: Floats, cells: Floats, columns: Pairs, active: Bools, centre: Floats, spread: Floats
    ) -> tuple[Floats, Floats]:
        rows, errors = rows.copy(), cells[:, : len(self.laws)].copy()
        for i, j in enumerate(columns.tolist()):
            some, law = active[:, i], self.laws[j]
            assert not isinstance(law, CategoryLaw)
            rows[some, j], errors[some, j] = law.as_reading(centre[some, i], spread[some, i])
        return rows, errors


@dataclass(frozen=True, eq=False)
class JointRows:
    """Rows, their errors, and the law of their latent values."""

    joint: JointLaw
    rows: Floats
    """(n, n_features), row-major"""
    cells: Floats

    def take(self, some: NDArray[Any]) -> JointRows:
        """Some of the rows."""
        return JointRows(self.joint, self.rows[some], self.cells[some])

    def marginal(self) -> tuple[Floats, Floats]:
        """As :meth:`JointLaw.marginal`."""
        return self.joint.marginal(self.rows, self.cells)


@dataclass(frozen=True, eq=False)
class _Posterior:
    """Normal law of the correlated columns of each row."""

    columns: Pairs
    """(c,)"""
    active: Bools
    """Values that are known up to an error, (n, c); others keep the law of their column"""
    covariance: Floats
    """Of each different row of errors, (u, c, c)"""
    of_row: Pairs
    """Which of these is a row's, (n,)"""
    centre: Floats
    """(n, c)"""


def _factors(covariance: Floats) -> tuple[Floats, Floats]:
    """Loadings s·L of common factors, (u, c, c − 1), the heaviest first, and what is left to each column, (u, c)."""
    spread = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    products = spread[:, :, np.newaxis] * spread[:, np.newaxis, :]
    ones = np.eye(covariance.shape[1])
    correlation = np.where(products > 0, covariance / np.where(products > 0, products, 1.0), ones)
    values, vectors = np.linalg.eigh(correlation)
    least = np.maximum(values[:, :1], 0.0)
    loadings = vectors * np.sqrt(np.maximum(values - least, 0.0))[:, np.newaxis, :]
    return spread[:, :, np.newaxis] * loadings[:, :, :0:-1], spread * np.sqrt(least)


def factor_points(n_points: int, n_factors: int) -> Floats:
    """Points of independent N(0, 1) factors, (n_points, n_factors).

    A lattice (Korobov's form, by powers of the generalised golden ratio) with its mirror image; in each coordinate the
    points are the means of N(0, 1) within equally likely intervals, so that sums of functions of one factor converge
    fast.
    """
    half = np.arange(-(-n_points // 2))
    ratio = 2.0
    for _ in range(30):  # the root of r^(k + 1) = r + 1, of k coordinates
        ratio = (1.0 + ratio) ** (1.0 / max(n_factors, 2))
    places = np.empty((len(half), n_factors))
    places[:, :1] = ((half + 0.5) / n_points)[:, np.newaxis]
    places[:, 1:] = (0.5 + np.outer(half + 1, ratio ** -np.arange(1.0, max(n_factors, 1)))) % 1.0
    both = np.concatenate([places, 1.0 - places[::-1]])[:n_points]
    ends = ndtri(np.linspace(0.0, 1.0, n_points + 1))
    means = -n_points * np.diff(np.exp(-0.5 * ends**2)) / np.sqrt(2.0 * np.pi)
    points: Floats = means[both.argsort(axis=0).argsort(axis=0)]
    return points
