"""Training rows, and the rows of several nodes side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats, Whole
from hedgerow._lazy import lazy
from hedgerow.growth import Fractional

__all__ = ["Examples", "Groups", "all_rows", "concatenate", "divide", "sum_weights"]

_MISSING = Fractional()


@dataclass(frozen=True, eq=False)
class Examples:
    """Training rows ordered by class and, within a class, at random.

    In this order every fifth row of a node is a stratified fold.

    Parameters
    ----------
    labels : int array
        Class of each row.
    n_classes : int
        Number of classes.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.naive_bayes import Examples
    >>> values, labels = np.arange(4.0).reshape(-1, 1), np.array([1, 0, 1, 0], np.int32)
    >>> rows = Examples.shuffle(values, labels, 2, np.zeros(1, np.int32), seed=0)
    >>> rows.labels
    array([0, 0, 1, 1])
    """

    values: Floats
    """(n, n_features), NaN where missing, codes in nominal columns."""
    labels: Whole
    n_classes: int
    n_categories: NDArray[np.int32]
    """0 for columns that are split by threshold."""

    @classmethod
    def shuffle(
        cls, values: Floats, labels: NDArray[np.int32], n_classes: int, n_categories: NDArray[np.int32], seed: int
    ) -> Examples:
        """Put rows into an order drawn by `seed`.

        Parameters
        ----------
        values : array of shape (n_rows, n_features)
            The matrix; nominal columns have codes.
        labels : array of shape (n_rows,)
            Position of the class of each row.
        n_classes : int
            Number of classes.
        n_categories : array of shape (n_features,)
            Number of categories of each column; 0 for numbers.
        seed : int
            Seed of the draws.

        Returns
        -------
        Examples
            The rows, by class.
        """
        drawn = np.random.RandomState(seed).permutation(len(labels))  # its stream is frozen by NumPy's policy
        order = drawn[np.argsort(labels[drawn], kind="stable")]
        return cls(np.asfortranarray(values[order]), labels[order].astype(np.int64), n_classes, n_categories)

    @property
    def n_features(self) -> int:
        return int(self.values.shape[1])

    @lazy
    def scales(self) -> Floats:
        """Power of two near the largest magnitude of each column: squares of values / scale do not overflow."""
        largest = np.nanmax(np.abs(self.values), axis=0, initial=0.0)
        return np.ldexp(1.0, np.frexp(largest)[1] - 1)


@dataclass(frozen=True, eq=False)
class Groups:
    """Rows, or fractions of rows, of one or several nodes (groups), with an entry for each known value.

    Rows are sorted by group, then as in :class:`Examples`; entries by group, column and value.
    """

    n_groups: int
    row: Whole
    weight: Floats
    group: Whole
    entry_at: Whole
    """Index into `row` of each entry."""
    entry_column: Whole
    entry_value: Floats

    def class_counts(self, examples: Examples) -> Floats:
        """Weight of each class in each group, (n_groups, n_classes)."""
        cell = self.group * examples.n_classes + examples.labels[self.row]
        return sum_weights(cell, self.weight, (self.n_groups, examples.n_classes))

    def positions(self) -> Whole:
        """Position of each row in its group."""
        first = np.searchsorted(self.group, np.arange(self.n_groups))
        return np.arange(len(self.row)) - first[self.group]

    def select(self, group: int) -> Groups:
        """Return a single group."""
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


def sum_weights(cell: Whole, weight: Floats, shape: tuple[int, ...]) -> Floats:
    """Sum weights by cell; cells are flat indices into an array of `shape`."""
    sums = np.bincount(cell, weights=weight, minlength=int(np.prod(shape)))
    return sums.astype(np.float64, copy=False).reshape(shape)  # of no cells at all NumPy returns integers


def all_rows(examples: Examples) -> Groups:
    """Return all rows as one group."""
    n_rows, n_features = examples.values.shape
    by_value = np.argsort(examples.values, axis=0, kind="stable")  # missing values last
    n_known = (~np.isnan(examples.values)).sum(axis=0)
    column = np.repeat(np.arange(n_features), n_known)
    at = np.concatenate([by_value[:n, j] for j, n in enumerate(n_known)])
    group = np.zeros(n_rows, dtype=np.int64)
    return Groups(1, np.arange(n_rows), np.ones(n_rows), group, at, column, examples.values[at, column])


def divide(node: Groups, branch: Whole, n_branches: int) -> Groups:
    """Divide the rows of one node over branches; a row whose branch is -1 is split over all of them."""
    n_fractions, target, weight = _MISSING.divide(branch, node.weight, n_branches)
    order = _stable_order(target, n_branches)
    position = np.empty_like(order)
    position[order] = np.arange(len(order))

    of_entry = n_fractions[node.entry_at]
    entry = np.repeat(np.arange(len(of_entry)), of_entry)
    number = np.arange(len(entry)) - (np.cumsum(of_entry) - of_entry)[entry]
    first = np.cumsum(n_fractions) - n_fractions
    entry_at = position[first[node.entry_at[entry]] + number]
    entry_order = _stable_order(target[order][entry_at], n_branches)
    entry = entry[entry_order]
    return Groups(
        n_branches,
        np.repeat(node.row, n_fractions)[order],
        weight[order],
        target[order],
        entry_at[entry_order],
        node.entry_column[entry],
        node.entry_value[entry],
    )


def concatenate(nodes: Sequence[Groups]) -> Groups:
    """Concatenate single groups."""
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


def _stable_order(number: Whole, n_numbers: int) -> Whole:
    """Return a stable sorting order; NumPy sorts narrow integers in linear time."""
    return np.argsort(number.astype(np.min_scalar_type(n_numbers)), kind="stable")
