"""Leaf tables: numbers for every leaf, and how each column is folded over trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow._core import TableArrays
from hedgerow._lazy import lazy
from hedgerow.forest.counts import DistinctCounts

__all__ = ["LeafTable", "Link", "Op"]

Floats = NDArray[np.float64]

Link = Literal["identity", "log", "entropy"]
Op = Literal["sum", "min", "max"]

_LINKS = {"identity": 0, "log": 1, "entropy": 2}  # the core's numbers
_OPS = {"sum": 0, "min": 1, "max": 2}
_REDUCE = (np.add, np.minimum, np.maximum)  # by op
_NEUTRAL = np.array([0.0, np.inf, -np.inf])  # by op


@dataclass(frozen=True, eq=False)
class LeafTable:
    """Linear quantities (counts, probabilities, commonalities), one row per leaf, and how each column folds.

    For each tree the weighted mean of the reached leaves' rows is formed, the column's link applied, and the result
    folded over trees by the column's op. The link "log" is the natural logarithm, "entropy" is −p·log2 p. Make a table
    with :meth:`of`, or from class counts with :meth:`by_counts`; `linked` is the link applied once.

    Parameters
    ----------
    values : array
        Numbers of the leaves, (n_leaves, m).
    linked : array
        The same with the links applied.
    links : uint8 array
        Link of each column: identity or logarithm.
    ops : uint8 array
        How each column folds: sum, least or largest.

    Examples
    --------
    >>> from hedgerow.walk import LeafTable
    >>> table = LeafTable.of([[0.5, 0.5], [0.25, 0.75]], link="log")
    >>> table.linked.round(2)
    array([[-0.69, -0.69],
           [-1.39, -0.29]])
    """

    values: Floats
    linked: Floats
    links: NDArray[np.uint8]
    ops: NDArray[np.uint8]
    row_of: NDArray[np.uint32] | None = None
    """The row of each leaf where leaves share rows; None: one row per leaf."""

    def __post_init__(self) -> None:
        if self.row_of is None:
            return
        if self.row_of.ndim != 1 or self.row_of.dtype != np.uint32 or not self.row_of.flags.c_contiguous:
            raise ValueError(f"row_of is {self.row_of.dtype} {self.row_of.shape}, must be C-contiguous uint32, 1-D")
        if self.row_of.max(initial=0) >= len(self.values):
            raise ValueError(f"row_of holds {self.row_of.max()}, this table has {len(self.values)} rows")

    @classmethod
    def of(
        cls,
        values: ArrayLike,
        *,
        link: Link | Sequence[Link] = "identity",
        op: Op | Sequence[Op] = "sum",
        name: str = "this table",
    ) -> LeafTable:
        """Table of (n_leaves, m) `values`; `link` and `op` for all columns or one per column; `name` for errors.

        Parameters
        ----------
        values : array of shape (n_leaves, m)
            Quantities of each leaf.
        link : {"identity", "log"} or a sequence, default="identity"
            Link of all columns, or of each.
        op : {"sum", "min", "max"} or a sequence, default="sum"
            Fold of all columns, or of each.
        name : str, default="this table"
            What messages call the table.

        Returns
        -------
        LeafTable
            The table.

        Raises
        ------
        ValueError
            If values are not a matrix of finite numbers, or a link or op is not known.
        """
        table = np.ascontiguousarray(values, dtype=np.float64)
        if table.ndim != 2:
            raise ValueError(f"values of {name} must be 2-D (a row for each leaf), got {table.ndim}-D")
        links = _per_column("link", link, _LINKS, table.shape[1])
        ops = _per_column("op", op, _OPS, table.shape[1])
        return cls(table, apply_links(table, links, name) if links.any() else table, links, ops)

    @classmethod
    def by_counts(cls, leaves: DistinctCounts, make: Callable[[Floats], LeafTable] | None = None) -> LeafTable:
        """Table that `make` computes from the class counts of the leaves, (n, n_classes); by default the counts.

        Leaves with equal counts share a row: `make` sees each once, and its rows must depend on nothing else.

        Parameters
        ----------
        leaves : DistinctCounts
            Counts of the leaves.
        make : callable or None, default=None
            Computes the table from distinct counts; None: the counts themselves.

        Returns
        -------
        LeafTable
            The table.
        """
        return replace((make or cls.of)(leaves.counts), row_of=leaves.row_of)

    @property
    def n_leaves(self) -> int:
        return len(self.values if self.row_of is None else self.row_of)

    @property
    def of_each_leaf(self) -> Floats:
        """Values of every leaf, (n_leaves, m)."""
        return self.values if self.row_of is None else self.values[self.row_of]

    def start(self, n_rows: int) -> Floats:
        """Output of an empty fold, (n_rows, m): the neutral element of each column's op.

        Parameters
        ----------
        n_rows : int
            Number of rows.

        Returns
        -------
        ndarray of shape (n_rows, m)
            Neutral elements.
        """
        if self.adds_up:
            return np.zeros((n_rows, len(self.ops)))
        return np.tile(_NEUTRAL[self.ops], (n_rows, 1))

    @lazy
    def core(self) -> TableArrays:
        """The arrays as functions of the core take them."""
        return TableArrays(self.values, self.linked, self.links, self.ops, self.row_of)

    @lazy
    def adds_up(self) -> bool:
        """Whether every column is a sum."""
        return not self.ops.any()


def apply_links(values: Floats, links: NDArray[np.uint8], name: str = "this table") -> Floats:
    """Values (n, m) with each column's link applied; entries under log must be finite and positive."""
    linked = values.copy()
    logs, entropies = links == _LINKS["log"], links == _LINKS["entropy"]
    if logs.any():
        under_log = values[:, logs]
        bad = ~(np.isfinite(under_log) & (under_log > 0))
        if bad.any():
            leaf = int(np.argmax(bad.any(axis=1)))
            raise ValueError(
                f"{name}: row {leaf} has {under_log[leaf][bad[leaf]][0]} in a column under log, "
                "which must be finite and positive: keep the entries away from 0"
            )
        linked[:, logs] = np.log(under_log)
    if entropies.any():
        shares = values[:, entropies]
        linked[:, entropies] = -shares * np.log2(np.where(shares > 0, shares, 1.0)) + 0.0  # not -0.0
    return linked


def fold_trees(linked: Floats, ops: NDArray[np.uint8]) -> Floats:
    """Fold linked values of several trees, (n, n_trees, m), by each column's op: (n, m), as the core folds them."""
    folded = np.empty((len(linked), linked.shape[2]))
    for op, reduce in enumerate(_REDUCE):
        columns = ops == op
        folded[:, columns] = reduce.reduce(np.compress(columns, linked, axis=2), axis=1)
    return folded


def _per_column(name: str, given: str | Sequence[str], known: dict[str, int], n: int) -> NDArray[np.uint8]:
    names = [given] * n if isinstance(given, str) else list(given)
    if len(names) != n:
        raise ValueError(f"{name} names {len(names)} columns, the table has {n}")
    if unknown := [one for one in names if one not in known]:
        raise ValueError(f"{name} is {unknown[0]!r}, must be one of {', '.join(known)}")
    return np.array([known[one] for one in names], dtype=np.uint8)
