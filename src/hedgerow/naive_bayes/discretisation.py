"""Numbers into intervals by entropy and description length, for all columns of all groups at once.

Fayyad and Irani, Multi-interval discretization of continuous-valued attributes for classification learning, 1993: an
interval is cut where the classes on both sides are least mixed, as long as that shortens the description of classes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.naive_bayes.groups import Examples, Groups, weight_in, whole

__all__ = ["Slots", "best_thresholds", "cut_points", "midpoints", "slots_of"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

_ROUNDING = 1e-11  # of weights, and relative of bits: cuts that differ by less are equally good


@dataclass(frozen=True, eq=False)
class Slots:
    """What naive Bayes counts: intervals of numeric columns and categories of nominal ones, by group and column.

    Only slots with rows are there. A numeric slot ends at its edge, which belongs to it; the edge of a category is its
    code.
    """

    edge: Floats
    pair: Whole
    """group · n_features + column of each slot, ascending."""
    entry_slot: Whole
    """The slot of each entry that was given."""


@dataclass(frozen=True, eq=False)
class _Cells:
    """Entries of the same group, column and value, which no cut can part; pairs are those of group and column."""

    value: Floats
    pair: Whole
    upto: Floats
    """Class counts of all cells before, (n_classes, n_cells + 1)."""
    places: Whole
    """The cells after which a cut may be the best."""
    n_places: Whole
    """Places before each cell, (n_cells + 1,)."""
    entry_cell: Whole

    def pairs(self) -> tuple[Whole, Whole]:
        """The first cell of each pair, and the first behind it."""
        begins = np.ones(len(self.pair), dtype=bool)
        begins[1:] = self.pair[1:] != self.pair[:-1]
        first = np.flatnonzero(begins)
        return first, np.append(first[1:], len(self.pair))[: len(first)]

    def counts(self, begin: Whole, end: Whole) -> Floats:
        """The classes of the cells from `begin` up to `end`, (n_classes, n)."""
        between: Floats = np.take(self.upto, end, axis=1)
        between -= np.take(self.upto, begin, axis=1)
        return np.maximum(between, 0.0, out=between)  # sums of parts of rows are not exact

    def n_places_in(self, begin: Whole, end: Whole) -> Whole:
        """How many places there are to cut the cells from `begin` up to `end`."""
        n: Whole = self.n_places[end - 1] - self.n_places[begin]
        return n


def cut_points(x: ArrayLike, y: ArrayLike) -> Floats:
    """Where Fayyad and Irani cut the numbers `x` whose classes are `y`, ascending; missing numbers do not count.

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
    examples = Examples.dealt(column, labels.astype(np.int32), len(classes), kind, seed=0)
    return slots_of(examples, whole(examples)).edge[:-1]


def slots_of(examples: Examples, groups: Groups, entries: NDArray[np.bool_] | None = None) -> Slots:
    """The slots of all columns, or only of the columns whose `entries` are chosen."""
    cells = _cells_of(examples, groups, entries)
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
    """The threshold of each numeric column with the least class entropy on both sides.

    NaN where there is none: all known numbers are the same, or all their rows of one class.
    """
    cells = _cells_of(examples, node, examples.n_categories[node.entry_column] == 0)
    begin, end = cells.pairs()
    thresholds = np.full(examples.n_features, np.nan)
    divisible = cells.n_places_in(begin, end) > 0
    if divisible.any():
        last, _ = _best_places(cells, begin[divisible], end[divisible])
        thresholds[cells.pair[last]] = midpoints(cells.value[last], cells.value[last + 1])
    return thresholds


def midpoints(low: Floats, high: Floats) -> Floats:
    """Between two numbers; the lower one where float64 has none between them. `low` ≤ midpoint < `high`."""
    middle = low / 2 + high / 2  # the sum itself may overflow
    between: Floats = np.where((middle >= low) & (middle < high), middle, low)
    return between


def _cells_of(examples: Examples, groups: Groups, entries: NDArray[np.bool_] | None) -> _Cells:
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
    np.cumsum(weight_in(key, groups.weight[at], (n_classes, n_cells)), axis=1, out=upto[:, 1:])
    # Between two values of one and the same class a cut is never best (Fayyad and Irani, 1992, theorem 1). The rows of
    # a cell stand by class, so that its first and its last tell.
    first = np.flatnonzero(begins)
    lowest, highest = label[first], label[np.append(first[1:], len(at))[: len(first)] - 1]
    value, pair = value[first], pair[first]
    may_be_cut = np.zeros(n_cells, dtype=bool)
    may_be_cut[:-1] = (pair[1:] == pair[:-1]) & ((lowest[:-1] != highest[1:]) | (highest[:-1] != lowest[1:]))
    n_places = np.concatenate([[0], np.cumsum(may_be_cut)])
    return _Cells(value, pair, upto, np.flatnonzero(may_be_cut), n_places, cell)


def _cuts(cells: _Cells, begin: Whole, end: Whole) -> Whole:
    """The last cell before each cut: intervals are cut, and their halves again, until none is worth it."""
    found = [np.zeros(0, dtype=np.int64)]
    while (divisible := cells.n_places_in(begin, end) > 0).any():
        begin, end = begin[divisible], end[divisible]
        last, bits = _best_places(cells, begin, end)
        worth = _shortens(cells, begin, last + 1, end, bits)
        begin, middle, end = begin[worth], last[worth] + 1, end[worth]
        found.append(last[worth])
        begin, end = np.concatenate([begin, middle]), np.concatenate([middle, end])
    return np.concatenate(found)


def _best_places(cells: _Cells, begin: Whole, end: Whole) -> tuple[Whole, Floats]:
    """For intervals that can be cut: the last cell before the best cut, and the bits that remain in both sides.

    The first of equals.
    """
    n_places = cells.n_places_in(begin, end)
    first = np.cumsum(n_places) - n_places
    interval = np.repeat(np.arange(len(begin)), n_places)
    cell = cells.places[np.arange(len(interval)) + (cells.n_places[begin] - first)[interval]]
    bits = _bits(cells.counts(begin[interval], cell + 1))
    bits += _bits(cells.counts(cell + 1, end[interval]))
    n = cells.counts(begin, end).sum(axis=0)
    enough = np.minimum.reduceat(bits, first) + _ROUNDING * (1 + _x_log_x(n + 1))
    good = np.flatnonzero(bits <= enough[interval])
    chosen = good[np.searchsorted(good, first)]
    return cell[chosen], bits[chosen]


def _shortens(cells: _Cells, begin: Whole, middle: Whole, end: Whole, remaining: Floats) -> NDArray[np.bool_]:
    """Fayyad and Irani's criterion: Gain > (log2(N − 1) + Δ)/N, here times N.

    Δ = log2(3^k − 2) − (k·Ent(S) − k₁·Ent(S₁) − k₂·Ent(S₂)), of k classes in the interval S. N is a sum of weights,
    which parts of rows may bring below 2: there is at least one place to cut.
    """
    counts = cells.counts(begin, end)
    n, k, bits = counts.sum(axis=0), _n_classes(counts), _bits(counts)
    delta = k * np.log2(3.0) + np.log2(1 - 2 * 3.0**-k) - k * bits / n
    for side in (cells.counts(begin, middle), cells.counts(middle, end)):
        delta += _n_classes(side) * _bits(side) / side.sum(axis=0)
    worth: NDArray[np.bool_] = bits - remaining > np.log2(np.maximum(n - 1, 1)) + delta
    return worth


def _n_classes(counts: Floats) -> Floats:
    n: Floats = (counts > _ROUNDING).sum(axis=0).astype(np.float64)
    return n


def _bits(counts: Floats) -> Floats:
    """Weight times class entropy: n·log2 n − Σ n_c·log2 n_c."""
    bits: Floats = _x_log_x(counts.sum(axis=0))
    for of_class in counts:
        bits -= _x_log_x(of_class)
    return np.maximum(bits, 0.0, out=bits)


def _x_log_x(x: Floats) -> Floats:
    product: Floats = x * np.log2(np.where(x > 0, x, 1.0))
    return product
