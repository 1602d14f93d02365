"""What each candidate of a region would gain, and which is best; kept up to date while the basis grows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.measured.categories import Categories, CategoryMoments
from hedgerow.measured.inheritance import Inheritance
from hedgerow.measured.thresholds import Moments

__all__ = ["CategoryScores", "FixedScores", "Parent", "Scores", "ThresholdScores", "drop_everywhere", "drop_in_node"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# What must be new of a candidate column, of the squared length of the smaller part that it makes. With exact columns it
# is at least a half, so that plain trees are not touched. Less means that the data hardly tell the parts apart: their
# values would be differences of huge numbers.
NEARLY_IN_SPAN = 0.1

_ROUNDING = 1e-9
_TIED = 1e-10  # gains that differ by less, relatively, are the same: the first of them is taken


class Scores(Protocol):
    """The candidates of numeric columns, or of one nominal one, in one region."""

    def best(self) -> tuple[float, int | Bools] | None:
        """The largest gain, and the number of its threshold or its set of categories; None if there is none."""

    def advance(self, products: Floats, step: Floats) -> None:
        """A direction q has joined the basis: products c·q of the candidates, and q·r of the residuals before."""

    def forget(self) -> None:
        """The best one has turned out to bring nothing new."""


def _best_of(gains: Floats) -> tuple[float, int] | None:
    """The first of the largest, if any is positive."""
    if not len(gains) or not (largest := float(gains.max())) > 0:
        return None
    first = int(np.argmax(gains >= largest * (1 - _TIED)))
    return float(gains[first]), first


@dataclass(frozen=True)
class Parent:
    """The region that is divided: Qᵀp of its own column p, which is in the span, and the rows expected in it."""

    basis: Floats
    rows: float
    least: float
    """Rows that each part must have."""

    @property
    def length(self) -> float:
        """‖p‖"""
        return float(np.linalg.norm(self.basis))

    def judged(self, moments: Moments, rows: Floats) -> tuple[Floats, Bools]:
        """min(‖c‖², ‖p − c‖²) of the two parts, (m,), and which candidates leave enough in both.

        `rows` are those expected in the first part, (m,). Rows that are hardly in a part tell little about it. Where
        they are in it with weight κ = Σ w P²/Σ w P, the value of the part must move by 1/κ to move their answers by 1,
        so that they tell what κ²·Σ P rows tell that are wholly in it; one is the least. An exact column has no fewer.
        """
        since = moments.basis[:, : len(self.basis)]  # p has no part in directions that joined after it
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
    """(c·r)²/(‖c‖² − ‖Qᵀc‖²), added up over the outputs; −∞ for a column nearly in the span.

    `new` is the denominator, which must be above `least`.
    """
    drop: Floats = np.divide(_squares(residuals), new, out=np.full(len(new), -np.inf), where=new > least)
    return drop


def drop_in_node(all_rows: Moments, node_rows: Moments, smaller: Floats, gram: Floats, fitted: Floats) -> Floats:
    """How far the squared residuals of the rows in the node fall when all rows are fitted with one more column.

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


class ThresholdScores:
    """Drops in the risk over all rows, of thresholds; `rows` are those expected below each.

    With `reckoned` the moments are kept up to date, so that a part of the region may inherit them; it is the length of
    the column of the region for which they were reckoned.

    What is new of a candidate, ‖c‖² − ‖Qᵀc‖², loses a square with each of b directions. Their roundings add up to no
    more than b·ε·‖c‖², which is what they come to where all squares are added at once: nothing is gained by that.
    """

    def __init__(
        self, moments: Moments, rows: Floats, parent: Parent, inside: Bools, reckoned: float | None = None
    ) -> None:
        smaller, allowed = parent.judged(moments, rows)
        self._least = np.where(allowed & inside, NEARLY_IN_SPAN * smaller, np.inf)
        self._new = moments.norms - _squares(moments.basis)
        # Copies: views would hold on to the products of all other regions.
        self._residuals, self._rows = moments.residuals.copy(), rows.copy()
        self.reckoned = reckoned
        self._basis = [] if reckoned is None else [moments.basis]

    def best(self) -> tuple[float, int] | None:
        return _best_of(drop_everywhere(self._residuals, self._new, self._least))

    def advance(self, products: Floats, step: Floats) -> None:
        self._residuals = self._residuals - np.outer(products, step)
        self._new = self._new - products**2
        if self.reckoned is not None:
            self._basis.append(products[:, np.newaxis])

    def forget(self) -> None:
        if (found := self.best()) is not None:
            self._least[found[1]] = np.inf

    def inheritance(self) -> Inheritance:
        """What a part of the region can have from it, if it was kept up to date; rows ride along with the residuals."""
        return Inheritance(np.concatenate(self._basis, axis=1), np.column_stack([self._residuals, self._rows]))


class CategoryScores:
    """The same of sets of categories, which are chosen anew as the residuals change."""

    def __init__(
        self, moments: CategoryMoments, parent: Parent, column: Categories, inside: Bools, rows: Floats
    ) -> None:
        self._moments, self._parent = moments, parent
        self._column, self._inside, self._rows = column, inside, rows

    def best(self) -> tuple[float, Bools] | None:
        sets = self._column.candidate_sets(self._inside, self._moments)
        of_sets = self._moments.of_sets(sets, self._column.law.shares)
        new = of_sets.norms - _squares(of_sets.basis)
        smaller, allowed = self._parent.judged(of_sets, sets @ self._rows)
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
        self._inside = np.zeros_like(self._inside)  # rows of a column that is exact are always new: all or nothing


class FixedScores:
    """Gains that are reckoned once, when the region is made."""

    def __init__(self, gains: Floats, sets: Bools | None = None) -> None:
        found = _best_of(gains)
        self._best = None if found is None else (found[0], found[1] if sets is None else sets[found[1]])

    def best(self) -> tuple[float, int | Bools] | None:
        return self._best

    def advance(self, products: Floats, step: Floats) -> None:
        """Nothing: what it says is about the basis that there was."""

    def forget(self) -> None:
        self._best = None
