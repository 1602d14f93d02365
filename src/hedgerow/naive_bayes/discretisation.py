"""Numbers into intervals by entropy and description length, for all columns of all groups at once.

Fayyad and Irani, Multi-interval discretization of continuous-valued attributes for classification learning, 1993: an
interval is cut where the classes on both sides are least mixed, as long as that shortens the description of the classes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.naive_bayes.groups import Examples, Groups, whole

__all__ = ["Slots", "cut_points", "best_thresholds", "midpoints", "slots_of"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

_ROUNDING = 1e-9  # bits per row: cuts that differ by less are equally good


@dataclass(frozen=True, eq=False)
class Slots:
    """What naive Bayes counts: the intervals of numeric columns and the categories of nominal ones, by group and column.

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
    """Entries of the same group, column and value; pairs are those of group and column."""

    value: Floats
    pair: Whole
    upto: Floats
    """Class counts of all cells before, (n_cells + 1, n_classes)."""
    entry_cell: Whole


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
    values = numbers[:, np.newaxis]
    examples = Examples(values, labels.astype(np.int64), len(classes), np.zeros(1, dtype=np.int32))
    return slots_of(examples, whole(examples)).edge[:-1]


def slots_of(examples: Examples, groups: Groups, entries: NDArray[np.bool_] | None = None) -> Slots:
    """The slots of all columns, or only of the columns whose `entries` are chosen."""
    cells = _cells_of(examples, groups, entries)
    numeric = examples.n_categories[cells.pair % examples.n_features] == 0
    starts = _starts(cells.pair)
    ends_slot = ~numeric  # every category is a slot
    ends_slot[np.append(starts[1:], len(cells.pair))[: len(starts)] - 1] = True
    begin, end = starts, np.append(starts[1:], len(cells.pair))
    of_numbers = numeric[begin] if len(begin) else np.zeros(0, dtype=bool)
    ends_slot[_cuts(cells, begin[of_numbers], end[of_numbers])] = True

    slot = np.cumsum(ends_slot) - ends_slot
    last = np.flatnonzero(ends_slot)
    following = np.minimum(last + 1, len(cells.value) - 1)
    edge = np.where(numeric[last], midpoints(cells.value[last], cells.value[following]), cells.value[last])
    closes = np.append(cells.pair[last][1:] != cells.pair[last][:-1], True)[: len(last)]
    edge[closes & numeric[last]] = np.inf
    return Slots(edge, cells.pair[last], slot[cells.entry_cell])


def best_thresholds(examples: Examples, node: Groups) -> Floats:
    """The threshold of each numeric column with the least class entropy on both sides; NaN where there is none."""
    cells = _cells_of(examples, node, examples.n_categories[node.entry_column] == 0)
    begin = _starts(cells.pair)
    end = np.append(begin[1:], len(cells.pair))[: len(begin)]
    several = end - begin > 1
    thresholds = np.full(examples.n_features, np.nan)
    if several.any():
        last, _ = _best_places(cells.upto, begin[several], end[several])
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
    key = cell * n_classes + examples.labels[groups.row[at]]
    counts = np.bincount(key, weights=groups.weight[at], minlength=n_cells * n_classes).reshape(n_cells, n_classes)
    upto = np.zeros((n_cells + 1, n_classes))
    np.cumsum(counts, axis=0, out=upto[1:])
    return _Cells(value[begins], pair[begins], upto, cell)


def _starts(pair: Whole) -> Whole:
    """Where a pair begins."""
    changes = np.ones(len(pair), dtype=bool)
    changes[1:] = pair[1:] != pair[:-1]
    return np.flatnonzero(changes)


def _cuts(cells: _Cells, begin: Whole, end: Whole) -> Whole:
    """The last cell before each cut: intervals are cut, and their halves again, until none is worth it."""
    found = [np.zeros(0, dtype=np.int64)]
    while (several := end - begin > 1).any():
        begin, end = begin[several], end[several]
        last, bits = _best_places(cells.upto, begin, end)
        worth = _shortens(cells.upto, begin, last + 1, end, bits)
        begin, middle, end = begin[worth], last[worth] + 1, end[worth]
        found.append(last[worth])
        begin, end = np.concatenate([begin, middle]), np.concatenate([middle, end])
    return np.concatenate(found)


def _best_places(upto: Floats, begin: Whole, end: Whole) -> tuple[Whole, Floats]:
    """For intervals of at least two cells: the last cell before the best cut, and the bits that remain in both sides.

    The first of equals.
    """
    n_places = end - begin - 1
    first = np.cumsum(n_places) - n_places
    interval = np.repeat(np.arange(len(begin)), n_places)
    cell = np.arange(len(interval)) + (begin - first)[interval]
    at_cut = upto[cell + 1]
    bits = _bits(at_cut - upto[begin][interval]) + _bits(upto[end][interval] - at_cut)
    tolerance = _ROUNDING * (upto[end] - upto[begin]).sum(axis=1)
    good = np.flatnonzero(bits <= (np.minimum.reduceat(bits, first) + tolerance)[interval])
    chosen = good[np.searchsorted(good, first)]
    return cell[chosen], bits[chosen]


def _shortens(upto: Floats, begin: Whole, middle: Whole, end: Whole, remaining: Floats) -> NDArray[np.bool_]:
    """Fayyad and Irani's criterion: Gain > (log2(N − 1) + Δ)/N, here times N.

    Δ = log2(3^k − 2) − (k·Ent(S) − k₁·Ent(S₁) − k₂·Ent(S₂)), of k classes in the interval S. N is a sum of weights, which
    parts of rows may bring below 2: there is at least one place to cut.
    """
    counts = upto[end] - upto[begin]
    n = counts.sum(axis=1)
    k = (counts > _ROUNDING).sum(axis=1)
    delta = k * np.log2(3.0) + np.log2(1 - 2 * 3.0**-k) - k * _entropy(counts)
    for side in (upto[middle] - upto[begin], upto[end] - upto[middle]):
        delta += (side > _ROUNDING).sum(axis=1) * _entropy(side)
    worth: NDArray[np.bool_] = _bits(counts) - remaining > np.log2(np.maximum(n - 1, 1)) + delta
    return worth


def _entropy(counts: Floats) -> Floats:
    shares: Floats = _bits(counts) / counts.sum(axis=1)
    return shares


def _bits(counts: Floats) -> Floats:
    """Weight times class entropy: n·log2 n − Σ n_c·log2 n_c."""
    counts = np.maximum(counts, 0.0)  # differences of sums of parts of rows
    bits: Floats = _x_log_x(counts.sum(axis=1)) - _x_log_x(counts).sum(axis=1)
    return np.maximum(bits, 0.0)


def _x_log_x(x: Floats) -> Floats:
    product: Floats = x * np.log2(np.where(x > 0, x, 1.0))
    return product
