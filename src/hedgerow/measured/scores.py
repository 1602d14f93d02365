"""What each candidate of a region would gain, and which is best; kept up to date while the basis grows."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.measured.basis import NEARLY_IN_SPAN
from hedgerow.measured.categories import Categories, CategoryMoments
from hedgerow.measured.thresholds import Moments

__all__ = ["CategoryScores", "FixedScores", "Scores", "ThresholdScores", "best_of", "drop_everywhere", "drop_in_node"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_TIED = 1e-10  # gains that differ by less, relatively, are the same: the first of them is taken


class Scores(Protocol):
    """The candidates of one column in one region."""

    def best(self) -> tuple[float, int | Bools] | None:
        """The largest gain, and its threshold's position or its set of categories; None if there is none."""

    def advance(self, products: Floats, step: Floats) -> None:
        """A direction q has joined the basis: products c·q of the candidates, and q·r of the residuals before."""


def best_of(gains: Floats) -> tuple[float, int] | None:
    """The first of the largest, if any is positive."""
    if not len(gains) or not (largest := float(gains.max())) > 0:
        return None
    first = int(np.argmax(gains >= largest * (1 - _TIED)))
    return float(gains[first]), first


def drop_everywhere(residuals: Floats, new: Floats, norms: Floats) -> Floats:
    """(c·r)²/(‖c‖² − ‖Qᵀc‖²), added up over the outputs; −∞ for a column nearly in the span. `new` is the denominator."""
    fresh = new > NEARLY_IN_SPAN * norms
    drop: Floats = np.where(fresh, (residuals**2).sum(axis=1) / np.where(fresh, new, 1.0), -np.inf)
    return drop


def drop_in_node(all_rows: Moments, node_rows: Moments, gram: Floats, fitted: Floats) -> Floats:
    """How far the squared residuals of the rows in the node fall when all rows are fitted with one more column.

    With c' = c − Q·Qᵀc and α = c'·r/‖c'‖² the residuals become r − α·c', and their squares over the node fall by
    2α·(r·c') − α²·(c'·c'), both over the node. `node_rows` are the moments over the node, `gram` is QᵀQ and `fitted`
    Qᵀr over it.
    """
    new = all_rows.norms - (all_rows.basis**2).sum(axis=1)
    fresh = new > NEARLY_IN_SPAN * all_rows.norms
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
    """Drops in the risk over all rows, of a column's thresholds; `allowed` are those that leave rows on both sides."""

    def __init__(self, moments: Moments, allowed: Bools) -> None:
        self._norms = moments.norms
        self._new = moments.norms - (moments.basis**2).sum(axis=1)
        self._residuals = moments.residuals
        self._allowed = allowed

    def best(self) -> tuple[float, int] | None:
        gains = drop_everywhere(self._residuals, self._new, self._norms)
        return best_of(np.where(self._allowed, gains, -np.inf))

    def advance(self, products: Floats, step: Floats) -> None:
        self._residuals = self._residuals - np.outer(products, step)
        self._new = self._new - products**2


class CategoryScores:
    """The same of sets of categories, which are chosen anew as the residuals change."""

    def __init__(self, moments: CategoryMoments, column: Categories, inside: Bools, rows: Floats, least: float) -> None:
        self._moments, self._column, self._inside = moments, column, inside
        self._rows, self._least = rows, least

    def best(self) -> tuple[float, Bools] | None:
        sets = self._column.candidate_sets(self._inside, self._moments)
        sets = sets[enough_rows(self._rows, sets, self._inside, self._least)]
        of_sets = self._moments.of_sets(sets, self._column.law.shares)
        gains = drop_everywhere(of_sets.residuals, of_sets.norms - (of_sets.basis**2).sum(axis=1), of_sets.norms)
        found = best_of(gains)
        return None if found is None else (found[0], sets[found[1]])

    def advance(self, products: Floats, step: Floats) -> None:
        moments = self._moments
        self._moments = replace(
            moments,
            basis=np.concatenate([moments.basis, products[:, np.newaxis]], axis=1),
            residuals=moments.residuals - np.outer(products, step),
        )


class FixedScores:
    """Gains that are reckoned once, when the region is made."""

    def __init__(self, gains: Floats, sets: Bools | None = None) -> None:
        found = best_of(gains)
        self._best = None if found is None else (found[0], found[1] if sets is None else sets[found[1]])

    def best(self) -> tuple[float, int | Bools] | None:
        return self._best

    def advance(self, products: Floats, step: Floats) -> None:
        """Nothing: what it says is about the basis that there was."""


def enough_rows(rows: Floats, sets: Bools, inside: Bools, least: float) -> Bools:
    """Which sets leave at least so many rows in both parts; `rows` are those of each category."""
    first = sets @ rows
    enough: Bools = (first >= least) & (rows[inside].sum() - first >= least)
    return enough
