"""Training rows, and how they are handed down a tree: the rows of several nodes side by side, ready to be counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow._lazy import lazy
from hedgerow.growth import Fractional

__all__ = ["Examples", "Groups", "divide", "joined", "weight_in", "whole"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

_MIN_FRACTION = Fractional().min_fraction  # a smaller part of a row is not divided further


@dataclass(frozen=True, eq=False)
class Examples:
    """What there is to learn from: rows ordered by class and, within a class, at random.

    In this order every fifth row of any node is a fold of it in which the classes have their shares.
    """

    values: Floats
    """(n, n_features), NaN where missing, codes in nominal columns."""
    labels: Whole
    n_classes: int
    n_categories: NDArray[np.int32]
    """Of nominal columns; 0 for those that are split by threshold."""

    @classmethod
    def dealt(
        cls, values: Floats, labels: NDArray[np.int32], n_classes: int, n_categories: NDArray[np.int32], seed: int
    ) -> Examples:
        """The rows in an order that `seed` draws."""
        drawn = np.random.RandomState(seed).permutation(len(labels))  # its stream never changes
        order = drawn[np.argsort(labels[drawn], kind="stable")]
        return cls(np.asfortranarray(values[order]), labels[order].astype(np.int64), n_classes, n_categories)

    @property
    def n_features(self) -> int:
        return int(self.values.shape[1])

    @lazy
    def scales(self) -> Floats:
        """A power of two for each column, near its largest number, so that squares of numbers over it stay finite."""
        largest = np.nanmax(np.abs(self.values), axis=0, initial=0.0)
        scales: Floats = np.ldexp(1.0, np.frexp(largest)[1] - 1)
        return scales


@dataclass(frozen=True, eq=False)
class Groups:
    """Rows, or parts of rows, of one or several nodes, with an entry for each value that is known.

    Rows stand by group, in each as in :class:`Examples`; entries by group, column and value.
    """

    n_groups: int
    row: Whole
    weight: Floats
    group: Whole
    entry_at: Whole
    """Which of the rows above an entry belongs to."""
    entry_column: Whole
    entry_value: Floats

    def total(self) -> Floats:
        """The weight of each group."""
        return weight_in(self.group, self.weight, (self.n_groups,))

    def class_counts(self, examples: Examples) -> Floats:
        """The weight of each class in each group, (n_groups, n_classes)."""
        cell = self.group * examples.n_classes + examples.labels[self.row]
        return weight_in(cell, self.weight, (self.n_groups, examples.n_classes))

    def number(self) -> Whole:
        """The place of each row in its group."""
        first = np.searchsorted(self.group, np.arange(self.n_groups))
        places: Whole = np.arange(len(self.row)) - first[self.group]
        return places

    def only(self, group: int) -> Groups:
        """One of the groups, alone."""
        begin, end = np.searchsorted(self.group, [group, group + 1])
        first, last = np.searchsorted(self.group[self.entry_at], [group, group + 1])
        return Groups(
            1,
            self.row[begin:end],
            self.weight[begin:end],
            np.zeros(end - begin, dtype=np.int64),
            self.entry_at[first:last] - begin,
            self.entry_column[first:last],
            self.entry_value[first:last],
        )


def weight_in(cell: Whole, weight: Floats, shape: tuple[int, ...]) -> Floats:
    """The sum of the weights in each cell; cells are numbered as in an array of `shape`."""
    sums = np.bincount(cell, weights=weight, minlength=int(np.prod(shape)))
    return sums.astype(np.float64, copy=False).reshape(shape)  # NumPy sums nothing in whole numbers


def whole(examples: Examples) -> Groups:
    """All rows as one group."""
    n_rows, n_features = examples.values.shape
    by_value = np.argsort(examples.values, axis=0, kind="stable")  # missing values last
    n_known = (~np.isnan(examples.values)).sum(axis=0)
    column = np.repeat(np.arange(n_features), n_known)
    at = np.concatenate([by_value[:n, j] for j, n in enumerate(n_known)])
    nothing = np.zeros(n_rows, dtype=np.int64)
    return Groups(1, np.arange(n_rows), np.ones(n_rows), nothing, at, column, examples.values[at, column])


def divide(node: Groups, branch: Whole, n_branches: int) -> Groups:
    """The rows of one node by branch; a row whose branch is -1 goes down all of them, in parts.

    The parts are in proportion to the rows that have a branch (Quinlan, C4.5, 1993). As elsewhere, a part of a row that
    is small already is not divided: it follows the heaviest branch.
    """
    known = branch >= 0
    shares = weight_in(branch[known], node.weight[known], (n_branches,))
    branch = np.where(~known & (node.weight < _MIN_FRACTION), shares.argmax(), branch)
    shares /= shares.sum()
    parts = np.where(branch < 0, n_branches, 1)
    at, part = _repeated(parts)
    to = np.where(branch[at] < 0, part, branch[at])
    weight = node.weight[at] * np.where(branch[at] < 0, shares[to], 1.0)
    order = _by_small_number(to, n_branches)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))

    entry, part = _repeated(parts[node.entry_at])
    first = np.cumsum(parts) - parts
    entry_at = place[first[node.entry_at[entry]] + part]
    entry_order = _by_small_number(to[order][entry_at], n_branches)
    entry = entry[entry_order]
    return Groups(
        n_branches,
        node.row[at][order],
        weight[order],
        to[order],
        entry_at[entry_order],
        node.entry_column[entry],
        node.entry_value[entry],
    )


def joined(nodes: Sequence[Groups]) -> Groups:
    """Groups of one node each, side by side."""
    sizes = np.array([len(node.row) for node in nodes])
    first = np.cumsum(sizes) - sizes
    return Groups(
        len(nodes),
        np.concatenate([node.row for node in nodes]),
        np.concatenate([node.weight for node in nodes]),
        np.repeat(np.arange(len(nodes)), sizes),
        np.concatenate([node.entry_at + begin for node, begin in zip(nodes, first, strict=True)]),
        np.concatenate([node.entry_column for node in nodes]),
        np.concatenate([node.entry_value for node in nodes]),
    )


def _repeated(times: Whole) -> tuple[Whole, Whole]:
    """Each position as often as `times` says, and the number of each repetition."""
    at = np.repeat(np.arange(len(times)), times)
    return at, np.arange(len(at)) - (np.cumsum(times) - times)[at]


def _by_small_number(number: Whole, n_numbers: int) -> Whole:
    """A stable order; narrow types are sorted by digits, in linear time."""
    order: Whole = np.argsort(number.astype(np.min_scalar_type(n_numbers)), kind="stable")
    return order
