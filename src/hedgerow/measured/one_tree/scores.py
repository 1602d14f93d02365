"""Gains of the candidate splits of a region, kept up to date while the basis grows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.measured.one_tree.categories import Categories, CategoryMoments
from hedgerow.measured.one_tree.threshold_columns import Moments

__all__ = [
    *("LEAST_LENGTH", "CategoryScores", "FixedScores", "Parent", "Scores", "ThresholdScores"),
    *("drop_everywhere", "drop_in_node", "larger_part"),
]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Least new part of a candidate column, as a fraction of the squared length of the smaller part that it makes. Exact
# columns have at least a half, so plain trees are unaffected. With less, the data hardly separate the parts, and their
# values would be differences of huge numbers.
NEARLY_IN_SPAN = 0.1
LEAST_LENGTH = 1 / 32

_ROUNDING = 1e-9
_TIED = 1e-10  # gains within this relative difference are ties, and the first is taken


class Scores(Protocol):
    """Gains of the candidates of all numeric columns, or of one nominal column, in one region."""

    def best(self) -> tuple[float, int | Bools] | None:
        """The largest gain, and its threshold number or its set of categories; None if nothing gains."""

    def advance(self, products: Floats, step: Floats) -> None:
        """Account for a direction q that joined the basis: `products` are c·q of the candidates, `step` is q·r."""

    def forget(self) -> None:
        """Drop the best candidate, which turned out to be in the span."""


def _best_of(gains: Floats) -> tuple[float, int] | None:
    """The largest positive gain, the first of ties, and its position."""
    if not len(gains) or not (largest := float(gains.max())) > 0:
        return None
    first = int(np.argmax(gains >= largest * (1 - _TIED)))
    return float(gains[first]), first


@dataclass(frozen=True)
class Parent:
    """The region to be split: Qᵀp of its own column p, which is in the span, and its expected number of rows."""

    basis: Floats
    rows: float
    least: float
    """Rows that each part must have."""

    @property
    def length(self) -> float:
        """‖p‖"""
        return float(np.linalg.norm(self.basis))

    def assess(self, moments: Moments, rows: Floats) -> tuple[Floats, Bools]:
        """min(‖c‖², ‖p − c‖²) of the two parts, (m,), and which candidates leave enough rows in both.

        `rows` are those expected in the first part, (m,). Rows with a low probability of being in a part say little
        about it. If that probability is κ = Σ w P²/Σ w P on average, the value of the part must move by 1/κ to move
        their predictions by 1, so they are worth κ²·Σ P rows that are wholly inside; at least one is required. In an
        exact column κ is 1.
        """
        since = moments.basis[:, : len(self.basis)]  # p is orthogonal to directions that joined after it
        norms, others = moments.norms, moments.norms - 2 * since @ self.basis + self.basis @ self.basis
        others = np.maximum(others, 0.0)
        # The first direction is √w, so that the first products are Σ w P.
        mass = moments.basis[:, 0]
        wholly = _ratio(norms, mass) ** 2 * rows
        others_wholly = _ratio(others, self.basis[0] - mass) ** 2 * (self.rows - rows)
        enough: Bools = np.minimum(rows, self.rows - rows) >= self.least * (1 - _ROUNDING)
        return np.minimum(norms, others), enough & (np.minimum(wholly, others_wholly) >= 1 - _ROUNDING)


def _squares(rows: Floats) -> Floats:
    """Squared lengths of rows."""
    lengths: Floats = np.einsum("ij,ij->i", rows, rows)
    return lengths


def _ratio(top: Floats, bottom: Floats) -> Floats:
    return np.where(bottom > 0, top / np.where(bottom > 0, bottom, 1.0), 0.0)


def drop_everywhere(residuals: Floats, new: Floats, least: Floats) -> Floats:
    """(c·r)²/(‖c‖² − ‖Qᵀc‖²), summed over the outputs; −∞ for a column nearly in the span.

    `new` is the denominator, which must be above `least`.
    """
    drop: Floats = np.divide(_squares(residuals), new, out=np.full(len(new), -np.inf), where=new > least)
    return drop


def drop_in_node(all_rows: Moments, node_rows: Moments, smaller: Floats, gram: Floats, fitted: Floats) -> Floats:
    """Decrease of the squared residuals of the rows in the node when all rows are fitted with one more column.

    With c' = c − Q·Qᵀc and α = c'·r/‖c'‖² the residuals become r − α·c', and their squares over the node fall by
    2α·(r·c') − α²·(c'·c'), both over the node. `node_rows` are the moments over the node, `gram` is QᵀQ and `fitted`
    Qᵀr over it.
    """
    new = all_rows.norms - _squares(all_rows.basis)
    fresh = new > NEARLY_IN_SPAN * smaller
    alpha = all_rows.residuals / np.where(fresh, new, 1.0)[:, np.newaxis]
    linear = node_rows.residuals - all_rows.basis @ fitted
    square = (
        node_rows.norms
        - 2 * (all_rows.basis * node_rows.basis).sum(axis=1)
        + ((all_rows.basis @ gram) * all_rows.basis).sum(axis=1)
    )
    drop = (2 * alpha * linear).sum(axis=1) - (alpha**2).sum(axis=1) * square
    return np.where(fresh, drop, -np.inf)


def larger_part(
    parent: tuple[Floats, Floats], smaller: Moments, norms: Floats, candidates: slice, position: int, above: bool
) -> Moments:
    """Subtraction trick: moments of the larger part = those of the split region − those of the smaller part.

    `parent` has the region's products with basis and residuals, `norms` the squared lengths of the larger part, which
    are not linear. `candidates` are those of the column that was split at `position` among them, none for a nominal
    column; `above` says that the larger part is the upper one. In the split column, candidates below the threshold s
    are the parent's, and those above it are c_t − c_s.

    Each difference adds a rounding error of about ε·‖p‖ to a product with a unit vector, p being the region's column.
    The larger part is at least half as long as the region, but lengths may fall along a chain of subtractions. After d
    of them products are off by at most d·ε·‖p‖ with the p for which they were last computed directly. A part shorter
    than `LEAST_LENGTH` of that is computed directly, so that errors stay below d·ε/LEAST_LENGTH of the part's length.
    """
    basis, residuals = parent[0] - smaller.basis, parent[1] - smaller.residuals
    for found, of_parent in zip((basis, residuals), parent, strict=True):
        found[candidates] = of_parent[candidates]
        if above:
            found[candidates] -= of_parent[candidates.start + position]
    return Moments(norms, basis, residuals)


class ThresholdScores:
    """Decreases of the risk over all rows by thresholds; `rows` are those expected below each.

    With `computed_at` all products are kept up to date, so that :func:`larger_part` can use them; it is the length of
    the region's column for which they were last computed directly.

    The new part of a candidate, ‖c‖² − ‖Qᵀc‖², loses a square with each of b directions. The rounding errors add up to
    at most b·ε·‖c‖², as they would if all squares were summed at once.
    """

    def __init__(
        self, moments: Moments, rows: Floats, parent: Parent, inside: Bools, computed_at: float | None = None
    ) -> None:
        smaller, allowed = parent.assess(moments, rows)
        self._least = np.where(allowed & inside, NEARLY_IN_SPAN * smaller, np.inf)
        self._new = moments.norms - _squares(moments.basis)
        # Copies: views would keep the products of all other regions alive.
        self._residuals, self._rows = moments.residuals.copy(), rows.copy()
        self.computed_at = computed_at
        self._basis = [] if computed_at is None else [moments.basis]

    def best(self) -> tuple[float, int] | None:
        return _best_of(drop_everywhere(self._residuals, self._new, self._least))

    def advance(self, products: Floats, step: Floats) -> None:
        self._residuals = self._residuals - np.outer(products, step)
        self._new = self._new - products**2
        if self.computed_at is not None:
            self._basis.append(products[:, np.newaxis])

    def forget(self) -> None:
        if (found := self.best()) is not None:
            self._least[found[1]] = np.inf

    def products(self) -> tuple[Floats, Floats]:
        """Products with the basis, and with the residuals and the rows; only with `computed_at`."""
        return np.concatenate(self._basis, axis=1), np.column_stack([self._residuals, self._rows])


class CategoryScores:
    """Decreases of the risk over all rows by sets of categories, which are chosen again as the residuals change."""

    def __init__(
        self, moments: CategoryMoments, parent: Parent, column: Categories, inside: Bools, rows: Floats
    ) -> None:
        self._moments, self._parent = moments, parent
        self._column, self._inside, self._rows = column, inside, rows

    def best(self) -> tuple[float, Bools] | None:
        sets = self._column.candidate_sets(self._inside, self._moments)
        of_sets = self._moments.of_sets(sets)
        new = of_sets.norms - _squares(of_sets.basis)
        smaller, allowed = self._parent.assess(of_sets, sets @ self._rows)
        found = _best_of(drop_everywhere(of_sets.residuals, new, np.where(allowed, NEARLY_IN_SPAN * smaller, np.inf)))
        return None if found is None else (found[0], sets[found[1]])

    def advance(self, products: Floats, step: Floats) -> None:
        moments = self._moments
        self._moments = replace(
            moments,
            basis=np.concatenate([moments.basis, products[:, np.newaxis]], axis=1),
            residuals=moments.residuals - np.outer(products, step),
        )

    def forget(self) -> None:
        self._inside = np.zeros_like(self._inside)  # a set of an exact column in the span: no other set is new either


class FixedScores:
    """Gains that are computed once, when the region is made."""

    def __init__(self, gains: Floats, sets: Bools | None = None) -> None:
        found = _best_of(gains)
        self._best = None if found is None else (found[0], found[1] if sets is None else sets[found[1]])

    def best(self) -> tuple[float, int | Bools] | None:
        return self._best

    def advance(self, products: Floats, step: Floats) -> None:
        """Do nothing: gains refer to the basis at the time."""

    def forget(self) -> None:
        self._best = None
