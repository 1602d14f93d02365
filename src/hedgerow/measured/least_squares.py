"""The least-squares problem of a tree of soft regions, and its solution one region after another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.measured.errors.correlations import no_pairs
from hedgerow.measured.laws.column_laws import ColumnLaw
from hedgerow.measured.laws.joint_law import JointLaw, JointRows
from hedgerow.measured.regions import GrowingRegion, Regions, joint_membership, region_membership

__all__ = [
    *("Basis", "Fit", "Problem", "least_squares", "least_squares_on_simplex", "solve_normal_equations"),
    "solve_on_simplex",
]

Floats = NDArray[np.float64]

_ROUNDING = 1e-12  # of a column's squared length: a smaller remainder means that the column is in the span
_MOST_STEPS = 20_000  # of projected gradients; they end when values stand still
_STILL = 1e-12
_NEGLIGIBLE = 1e-9  # singular values below this fraction of the largest are rounding errors
_NEGLIGIBLE_SQUARE = 1e-11  # and their squares, where memberships were rounded to 2**-20 before they were multiplied


@dataclass(frozen=True, eq=False)
class Problem:
    """Training rows of positive weight; `features` are the columns that may be split on.

    `values` and `sigma` are readings of single columns and their errors; where those of a row are correlated they say
    of each column what the whole row does (:meth:`~hedgerow.measured.laws.joint_law.JointLaw.marginal`).
    """

    values: Floats
    """(n, n_features), column-major"""
    sigma: Floats
    """Standard deviations of the errors, of the same shape"""
    laws: tuple[ColumnLaw, ...]
    features: NDArray[np.intp]
    weight: Floats
    """Number of rows that each row stands for, (n,)"""
    precision: Floats
    """1/variance of y's error up to a factor, (n,); 1 where it is unknown"""
    targets: Floats
    """(n, n_outputs)"""
    measured: JointRows | None = None
    """Rows as they were measured; None: as `values` and `sigma`"""

    @property
    def as_measured(self) -> JointRows:
        """Rows as they were measured, with all that is known of them together."""
        if self.measured is not None:
            return self.measured
        return JointRows(JointLaw(self.laws, no_pairs()), np.ascontiguousarray(self.values), self.sigma)

    def membership(self, regions: Regions) -> Floats:
        """P(U ∈ R_k | x) of each row, (n, k)."""
        if self.measured is None:
            return region_membership(regions, self.laws, self.values, self.sigma)
        return joint_membership(regions, self.measured.joint, self.measured.rows, self.measured.cells)

    @property
    def fit_weight(self) -> Floats:
        """Weight of each squared residual."""
        return self.weight * self.precision

    def take(self, rows: NDArray[Any]) -> Problem:
        """The problem restricted to some rows."""
        return replace(
            self,
            values=np.asfortranarray(self.values[rows]),
            sigma=np.asfortranarray(self.sigma[rows]),
            measured=None if self.measured is None else self.measured.take(rows),
            weight=self.weight[rows],
            precision=self.precision[rows],
            targets=self.targets[rows],
        )


def least_squares(shares: Floats, targets: Floats, weight: Floats) -> Floats:
    """γ = (PᵀWP)⁻¹PᵀWy, (k, n_outputs): equation 6 of Tami et al. (2018), with weights.

    The memberships of a row add up to 1, so γ is the mean of y plus a correction. Where the data can't (or can hardly)
    separate regions, the correction is the shortest of all solutions, the limit of ridge regression for a penalty of 0.
    """
    root = np.sqrt(weight / weight.sum())[:, np.newaxis]
    mean = np.average(targets, axis=0, weights=weight)
    added: Floats = np.linalg.lstsq(root * shares, root * (targets - mean), rcond=_NEGLIGIBLE)[0]
    return mean + added


def least_squares_on_simplex(shares: Floats, targets: Floats, weight: Floats) -> Floats:
    """Values (k, n_classes) of least squares whose rows are probabilities: not negative, with a sum of 1.

    They are those of :func:`least_squares` where these are probabilities already. Else projected gradients with
    momentum (Beck and Teboulle, A fast iterative shrinkage-thresholding algorithm, 2009), restarted where the momentum
    points uphill (O'Donoghue and Candès, Adaptive restart for accelerated gradient schemes, 2015). The memberships of a
    row add up to 1, so that diag(PᵀW1) − PᵀWP has no negative eigenvalue, which gives the step of each region.
    """
    values = least_squares(shares, targets, weight)
    if values.min() >= -_ROUNDING:
        return _project_on_simplex(values)
    scaled = (weight / weight.sum())[:, np.newaxis] * shares
    return _descend(values, shares.T @ scaled, scaled.T @ targets, scaled.sum(axis=0))


def solve_normal_equations(gram: Floats, products: Floats, mass: Floats, mean: Floats) -> Floats:
    """:func:`least_squares` from sums over rows per unit of weight: PᵀWP, PᵀWy, PᵀW1 and the mean of y.

    Directions in which the rows differ by less than their rounding, as squares that sums have, get no correction.
    """
    values, directions = np.linalg.eigh(gram)
    seen = values > _NEGLIGIBLE_SQUARE * values[-1]
    aside = directions[:, seen].T @ (products - mass[:, np.newaxis] * mean)
    solved: Floats = mean + directions[:, seen] @ (aside / values[seen, np.newaxis])
    return solved


def solve_on_simplex(gram: Floats, products: Floats, mass: Floats, mean: Floats) -> Floats:
    """:func:`least_squares_on_simplex` from the sums of :func:`solve_normal_equations`."""
    values = solve_normal_equations(gram, products, mass, mean)
    if values.min() >= -_ROUNDING:
        return _project_on_simplex(values)
    return _descend(values, gram, products, mass)


def _descend(values: Floats, gram: Floats, products: Floats, mass: Floats) -> Floats:
    """Projected gradients from the values of least squares."""
    mass = np.maximum(mass, np.finfo(np.float64).tiny)[:, np.newaxis]
    values = _project_on_simplex(values)
    ahead, pace = values, 1.0
    for _ in range(_MOST_STEPS):
        step = _project_on_simplex(ahead + (products - gram @ ahead) / mass)
        moved = step - values
        if np.abs(moved).max() <= _STILL and np.abs(step - ahead).max() <= _STILL:
            return step
        if ((ahead - step) * moved).sum() > 0:
            pace = 1.0
        faster = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * pace * pace))
        ahead, values, pace = step + (pace - 1.0) / faster * moved, step, faster
    return values


def _project_on_simplex(points: Floats) -> Floats:
    """Nearest probabilities to each row (Held, Wolfe and Crowder, Validation of subgradient optimization, 1974)."""
    falling = -np.sort(-points, axis=1)
    shifts = (falling.cumsum(axis=1) - 1.0) / np.arange(1, points.shape[1] + 1)
    last = (falling > shifts).sum(axis=1) - 1
    projected: Floats = np.maximum(points - shifts[np.arange(len(points)), last][:, np.newaxis], 0.0)
    return projected


class Basis:
    """Orthonormal basis that grows by one column per split; Gram-Schmidt twice, so that it stays orthogonal."""

    def __init__(self, first: Floats) -> None:
        self._columns = np.empty((len(first), 8), order="F")
        self._columns[:, 0] = first / np.linalg.norm(first)
        self._size = 1

    @property
    def columns(self) -> Floats:
        """(n, size)."""
        return self._columns[:, : self._size]

    def add(self, column: Floats) -> Floats | None:
        """Add the direction that a column brings and return it; None if the column is in the span."""
        new = column.copy()
        for _ in range(2):
            new -= self.columns @ (self.columns.T @ new)
        length = np.linalg.norm(new)
        if not length**2 > _ROUNDING * (column @ column):
            return None
        new /= length
        if self._size == self._columns.shape[1]:
            larger = np.empty((len(new), 2 * self._size), order="F")
            larger[:, : self._size] = self._columns
            self._columns = larger
        self._columns[:, self._size] = new
        self._size += 1
        return new


class Fit:
    """Basis of the membership columns, each row times √w, and the residuals of the targets.

    `root` is √w, scaled so that its squares add up to 1; `rows` is how many rows each one stands for.
    """

    def __init__(self, problem: Problem) -> None:
        weight = problem.fit_weight
        self.root: Floats = np.sqrt(weight / weight.sum())
        self.rows = problem.weight
        self._basis = Basis(self.root)
        mean = np.average(problem.targets, axis=0, weights=weight)
        self.residuals: Floats = self.root[:, np.newaxis] * (problem.targets - mean)

    @property
    def basis(self) -> Floats:
        """(n, size), column-major."""
        return self._basis.columns

    @property
    def risk(self) -> float:
        """Residual sum of squares per unit of weight."""
        return float((self.residuals**2).sum())

    def residuals_and_rows(self) -> Floats:
        """Residuals, and a last column whose product with a candidate is its expected number of rows, Σ w·c/√w."""
        return np.column_stack([self.residuals, self.rows / self.root])

    def add(self, region: GrowingRegion) -> tuple[Floats, Floats] | None:
        """Direction that a region adds to the basis, and its product with the residuals; None if it adds nothing."""
        direction = self._basis.add(self.root * region.share)
        if direction is None:
            return None
        step = direction @ self.residuals
        self.residuals = self.residuals - np.outer(direction, step)
        return direction, step
