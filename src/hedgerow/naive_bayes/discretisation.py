"""Entropy-based discretisation with the MDL stopping rule, for all columns of all groups at once.

Fayyad and Irani, Multi-interval discretization of continuous-valued attributes for classification learning, 1993: cut
an interval where the class entropy of both sides is least, as long as that shortens the description of the classes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow._arrays import Floats, Whole
from hedgerow.naive_bayes.groups import Examples, Groups, all_rows, sum_weights

__all__ = ["Slots", "best_thresholds", "cut_points", "discretise", "midpoints"]

_ROUNDING = 1e-11  # of weights, and relative of bits: cuts that differ by less tie


@dataclass(frozen=True, eq=False)
class Slots:
    """Intervals of numeric columns and categories of nominal ones, by group and column; only those with rows.

    A numeric slot includes its upper edge; the edge of a category is its code.
    """

    edge: Floats
    pair: Whole
    """group · n_features + column of each slot, ascending."""
    entry_slot: Whole
    """Slot of each entry."""


@dataclass(frozen=True, eq=False)
class _Cells:
    """Entries with the same group, column and value; a pair is a group and a column."""

    value: Floats
    pair: Whole
    upto: Floats
    """Cumulative class counts of the cells before, (n_classes, n_cells + 1)."""
    candidates: Whole
    """Cells after which a cut can be optimal."""
    n_candidates: Whole
    """Number of candidates before each cell, (n_cells + 1,)."""
    entry_cell: Whole

    def pairs(self) -> tuple[Whole, Whole]:
        """First cell of each pair, and the end of its range."""
        begins = np.ones(len(self.pair), dtype=bool)
        begins[1:] = self.pair[1:] != self.pair[:-1]
        first = np.flatnonzero(begins)
        return first, np.append(first[1:], len(self.pair))[: len(first)]

    def counts(self, begin: Whole, end: Whole) -> Floats:
        """Class counts of the cells begin .. end, (n_classes, n)."""
        between: Floats = np.take(self.upto, end, axis=1)
        between -= np.take(self.upto, begin, axis=1)
        return np.maximum(between, 0.0, out=between)  # sums of fractions of rows are inexact

    def n_candidates_in(self, begin: Whole, end: Whole) -> Whole:
        """Number of candidate cuts in the cells begin .. end."""
        return self.n_candidates[end - 1] - self.n_candidates[begin]


def cut_points(x: ArrayLike, y: ArrayLike) -> Floats:
    """Discretise the numbers `x` with classes `y` and return the cut points, ascending; NaN is ignored.

    Parameters
    ----------
    x : array-like of shape (n_rows,)
        Numbers.
    y : array-like of shape (n_rows,)
        Class of each.

    Returns
    -------
    ndarray of shape (n_cuts,)
        Cut points.

    Raises
    ------
    ValueError
        If `x` and `y` differ in shape, or `x` is infinite.

    Examples
    --------
    >>> from hedgerow.naive_bayes import cut_points
    >>> cut_points([1, 2, 3, 4, 11, 12, 13, 14], ["a", "a", "a", "a", "b", "b", "b", "b"])
    array([7.5])
    """
    numbers = np.asarray(x, dtype=np.float64)
    classes, labels = np.unique(np.asarray(y), return_inverse=True)
    if numbers.ndim != 1 or numbers.shape != labels.shape:
        raise ValueError(f"x has shape {numbers.shape} and y {labels.shape}: they must be one number and class a row")
    if np.isinf(numbers).any():
        raise ValueError("x contains infinity: replace it by a finite number, or by NaN if it is missing")
    column, kind = numbers[:, np.newaxis], np.zeros(1, dtype=np.int32)
    examples = Examples.shuffle(column, labels.astype(np.int32), len(classes), kind, seed=0)
    return discretise(examples, all_rows(examples)).edge[:-1]


def discretise(examples: Examples, groups: Groups, entries: NDArray[np.bool_] | None = None) -> Slots:
    """Discretise all columns, or only those of the selected `entries`."""
    cells = _make_cells(examples, groups, entries)
    numeric = examples.n_categories[cells.pair % examples.n_features] == 0
    begin, end = cells.pairs()
    ends_slot = ~numeric  # every category is a slot
    ends_slot[end - 1] = True
    of_numbers = numeric[begin]
    ends_slot[_cuts(cells, begin[of_numbers], end[of_numbers])] = True

    slot = np.cumsum(ends_slot) - ends_slot
    last = np.flatnonzero(ends_slot)
    edge = cells.value[last]
    edge[numeric[last]] = np.inf
    cut = np.flatnonzero(numeric[last] & ~np.isin(last + 1, end))
    edge[cut] = midpoints(cells.value[last[cut]], cells.value[last[cut] + 1])
    return Slots(edge, cells.pair[last], slot[cells.entry_cell])


def best_thresholds(examples: Examples, node: Groups) -> Floats:
    """Threshold of least class entropy for each numeric column.

    NaN where there is none: all known values are equal, or all their rows are of one class.
    """
    cells = _make_cells(examples, node, examples.n_categories[node.entry_column] == 0)
    begin, end = cells.pairs()
    thresholds = np.full(examples.n_features, np.nan)
    divisible = cells.n_candidates_in(begin, end) > 0
    if divisible.any():
        last, _ = _best_cuts(cells, begin[divisible], end[divisible])
        thresholds[cells.pair[last]] = midpoints(cells.value[last], cells.value[last + 1])
    return thresholds


def midpoints(low: Floats, high: Floats) -> Floats:
    """Return midpoints, low ≤ midpoint < high; the lower number where there is no float64 between."""
    middle = low / 2 + high / 2  # the sum itself may overflow
    return np.where((middle >= low) & (middle < high), middle, low)


def _make_cells(examples: Examples, groups: Groups, entries: NDArray[np.bool_] | None) -> _Cells:
    chosen = slice(None) if entries is None else np.flatnonzero(entries)
    at, column, value = groups.entry_at[chosen], groups.entry_column[chosen], groups.entry_value[chosen]
    pair = groups.group[at] * examples.n_features + column
    begins = np.ones(len(at), dtype=bool)
    begins[1:] = (pair[1:] != pair[:-1]) | (value[1:] != value[:-1])
    cell = np.cumsum(begins) - 1
    n_cells, n_classes = int(begins.sum()), examples.n_classes
    label = examples.labels[groups.row[at]]
    key = label * n_cells + cell
    upto = np.zeros((n_classes, n_cells + 1))
    np.cumsum(sum_weights(key, groups.weight[at], (n_classes, n_cells)), axis=1, out=upto[:, 1:])
    # A cut between two values of the same single class is never optimal (Fayyad and Irani, 1992, theorem 1). The rows
    # of a cell are sorted by class: its first and last classes suffice.
    first = np.flatnonzero(begins)
    lowest, highest = label[first], label[np.append(first[1:], len(at))[: len(first)] - 1]
    value, pair = value[first], pair[first]
    is_candidate = np.zeros(n_cells, dtype=bool)
    is_candidate[:-1] = (pair[1:] == pair[:-1]) & ((lowest[:-1] != highest[1:]) | (highest[:-1] != lowest[1:]))
    n_candidates = np.concatenate([[0], np.cumsum(is_candidate)])
    return _Cells(value, pair, upto, np.flatnonzero(is_candidate), n_candidates, cell)


def _cuts(cells: _Cells, begin: Whole, end: Whole) -> Whole:
    """Cut intervals recursively while that pays; return the last cell before each cut."""
    found = [np.zeros(0, dtype=np.int64)]
    while (divisible := cells.n_candidates_in(begin, end) > 0).any():
        begin, end = begin[divisible], end[divisible]
        last, bits = _best_cuts(cells, begin, end)
        worth = _shortens(cells, begin, last + 1, end, bits)
        begin, middle, end = begin[worth], last[worth] + 1, end[worth]
        found.append(last[worth])
        begin, end = np.concatenate([begin, middle]), np.concatenate([middle, end])
    return np.concatenate(found)


def _best_cuts(cells: _Cells, begin: Whole, end: Whole) -> tuple[Whole, Floats]:
    """Return the last cell before the best cut of each interval, and the bits of both sides; ties go to the first."""
    n_candidates = cells.n_candidates_in(begin, end)
    first = np.cumsum(n_candidates) - n_candidates
    interval = np.repeat(np.arange(len(begin)), n_candidates)
    cell = cells.candidates[np.arange(len(interval)) + (cells.n_candidates[begin] - first)[interval]]
    bits = _bits(cells.counts(begin[interval], cell + 1))
    bits += _bits(cells.counts(cell + 1, end[interval]))
    n = cells.counts(begin, end).sum(axis=0)
    limit = np.minimum.reduceat(bits, first) + _ROUNDING * (1 + _x_log_x(n + 1))
    good = np.flatnonzero(bits <= limit[interval])
    chosen = good[np.searchsorted(good, first)]
    return cell[chosen], bits[chosen]


def _shortens(cells: _Cells, begin: Whole, middle: Whole, end: Whole, remaining: Floats) -> NDArray[np.bool_]:
    """Fayyad and Irani's criterion: Gain > (log2(N − 1) + Δ)/N, here times N.

    Δ = log2(3^k − 2) − (k·Ent(S) − k₁·Ent(S₁) − k₂·Ent(S₂)) for k classes in the interval S. N is a sum of weights and
    can be below 2 with fractions of rows; there is at least one candidate then, too.
    """
    counts = cells.counts(begin, end)
    n, k, bits = counts.sum(axis=0), _n_classes(counts), _bits(counts)
    delta = k * np.log2(3.0) + np.log2(1 - 2 * 3.0**-k) - k * bits / n
    for side in (cells.counts(begin, middle), cells.counts(middle, end)):
        delta += _n_classes(side) * _bits(side) / side.sum(axis=0)
    return bits - remaining > np.log2(np.maximum(n - 1, 1)) + delta


def _n_classes(counts: Floats) -> Floats:
    return (counts > _ROUNDING).sum(axis=0).astype(np.float64)


def _bits(counts: Floats) -> Floats:
    """Weight times class entropy: n·log2 n − Σ n_c·log2 n_c."""
    bits: Floats = _x_log_x(counts.sum(axis=0))
    for of_class in counts:
        bits -= _x_log_x(of_class)
    return np.maximum(bits, 0.0, out=bits)


def _x_log_x(x: Floats) -> Floats:
    return x * np.log2(np.where(x > 0, x, 1.0))
