"""Rows down trees: which leaf (:func:`route`), which leaves with what weight (:func:`spread`), and what the numbers
of the leaves add up to (:func:`fold`); and which rows leaves hold (:func:`tally`).

A combination rule is a :class:`LeafTable` and what is done with its fold; so every rule costs one walk.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow._core import fold as core_fold
from hedgerow._core import route as core_route
from hedgerow._core import spread as core_spread
from hedgerow._core import tally as core_tally
from hedgerow.counts import DistinctCounts
from hedgerow.forest import Forest

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["LeafTable", "check_rows", "fold", "gather", "n_threads", "route", "spread", "tally"]

Link = Literal["identity", "log"]
Op = Literal["sum", "min", "max"]

_LINKS = {"identity": 0, "log": 1}
_OPS = {"sum": 0, "min": 1, "max": 2}
_NEUTRAL = np.array([0.0, np.inf, -np.inf])  # by op


@dataclass(frozen=True, eq=False)
class LeafTable:
    """Linear quantities (counts, probabilities, commonalities), a row for each leaf, and how each column folds.

    For each tree the weighted mean of the reached leaves' rows is formed, the column's link applied, and the
    result folded over trees by the column's op. Make one with :meth:`of`, or of class counts with :meth:`by_counts`;
    `linked` is the link applied once.
    """

    values: NDArray[np.float64]
    linked: NDArray[np.float64]
    logs: NDArray[np.uint8]
    ops: NDArray[np.uint8]
    row_of: NDArray[np.uint32] | None = None
    """The row of each leaf, where several share one; None: each has its own."""

    def __post_init__(self) -> None:
        if self.row_of is None:
            return
        _check_array("row_of", self.row_of, (self.row_of.size,), np.uint32)
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
        """A table of (n_leaves, m) `values`; `link` and `op` for all columns or one for each; `name` for errors."""
        table = np.ascontiguousarray(values, dtype=np.float64)
        if table.ndim != 2:
            raise ValueError(f"values of {name} must be 2-D (a row for each leaf), got {table.ndim}-D")
        logs = _per_column("link", link, _LINKS, table.shape[1])
        ops = _per_column("op", op, _OPS, table.shape[1])
        if not logs.any():
            return cls(table, table, logs, ops)
        under_log = table[:, logs == 1]
        bad = ~(np.isfinite(under_log) & (under_log > 0))
        if bad.any():
            leaf = int(np.argmax(bad.any(axis=1)))
            raise ValueError(
                f"{name}: row {leaf} has {under_log[leaf][bad[leaf]][0]} in a column under log, "
                "which must be finite and positive: keep the entries away from 0"
            )
        linked = table.copy()
        linked[:, logs == 1] = np.log(under_log)
        return cls(table, linked, logs, ops)

    @classmethod
    def by_counts(
        cls, leaves: DistinctCounts, make: Callable[[NDArray[np.float64]], LeafTable] | None = None
    ) -> LeafTable:
        """What `make` makes of the class counts of the leaves, (n, n_classes), or these themselves.

        Leaves with the same counts share a row: `make` is given each once, and its rows must depend on nothing else.
        """
        return replace((make or cls.of)(leaves.counts), row_of=leaves.row_of)

    @property
    def n_leaves(self) -> int:
        return len(self.values if self.row_of is None else self.row_of)

    @property
    def of_each_leaf(self) -> NDArray[np.float64]:
        """The values, (n_leaves, m)."""
        return self.values if self.row_of is None else self.values[self.row_of]

    def crossing(self, out: NDArray[np.float64]) -> tuple[Any, ...]:
        """What the core is given, in the order in which it wants it."""
        return self.values, self.linked, self.logs, self.ops, self.row_of, out


def _per_column(name: str, given: str | Sequence[str], known: dict[str, int], n: int) -> NDArray[np.uint8]:
    names = [given] * n if isinstance(given, str) else list(given)
    if len(names) != n:
        raise ValueError(f"{name} names {len(names)} columns, the table has {n}")
    if unknown := [one for one in names if one not in known]:
        raise ValueError(f"{name} is {unknown[0]!r}, must be one of {', '.join(known)}")
    return np.array([known[one] for one in names], dtype=np.uint8)


def n_threads(n_jobs: int | None) -> int:
    """Threads for scikit-learn's `n_jobs`: None is 1 (or what ``joblib.parallel_config`` says), -1 all cores."""
    _check_n_jobs(n_jobs)
    if n_jobs == 1:
        return 1
    from joblib import effective_n_jobs  # here, as scipy below: who walks in one thread need not wait for them

    return int(effective_n_jobs(n_jobs))


def _check_n_jobs(n_jobs: int | None) -> None:
    if n_jobs == 0:
        raise ValueError("n_jobs is 0, must be None, a positive number of threads, or negative (-1: all cores)")


def route(
    forest: Forest, X: NDArray[np.float64], *, heaviest: bool = True, n_jobs: int | None = None
) -> NDArray[np.int32]:
    """The number of the leaf that each row reaches in each tree, (n_rows, n_trees).

    A row that comes to a node that spreads it, because its value is missing or was not seen there, follows the heaviest
    child; or gets -1 instead of a number if not `heaviest`.
    """
    check_rows(forest, X)
    leaves = np.empty((len(X), forest.n_trees), dtype=np.int32)
    core_route(forest.arrays_for(X), X, leaves, heaviest, n_threads(n_jobs))
    return leaves


def spread(forest: Forest, X: NDArray[np.float64], *, n_jobs: int | None = None) -> csr_array:
    """The weight with which each row reaches each leaf of the forest: sparse (n_rows, n_leaves).

    The weights of a row add up to 1 in each tree; the leaves of tree t are columns leaf_start[t] .. leaf_start[t+1].
    """
    from scipy.sparse import csr_array

    check_rows(forest, X)
    row_start, leaves, weights = core_spread(forest.arrays_for(X), X, n_threads(n_jobs))
    return csr_array((weights, leaves, row_start), shape=(len(X), forest.n_leaves))


def fold(
    forest: Forest,
    X: NDArray[np.float64],
    tables: Sequence[LeafTable],
    *,
    trees: tuple[int, int] | None = None,
    tree_weights: NDArray[np.float64] | None = None,
    skip: NDArray[np.uint8] | None = None,
    out: Sequence[NDArray[np.float64]] | None = None,
    n_used: NDArray[np.int64] | None = None,
    n_jobs: int | None = None,
) -> list[NDArray[np.float64]]:
    """Walk each row through all trees once and fold each table over them: one (n_rows, m) array a table.

    Parameters
    ----------
    tables : sequence of LeafTable
        Their rows are the leaves of the trees in `trees`.
    trees : (first, last), optional
        A range of trees, `last` not included. With `out` a wide table can be built for some trees at a time.
    tree_weights : (n_trees,), optional
        A sum column adds weight · linked value. A tree of weight 0 is left out, also of min and max.
    skip : uint8 (n_trees, ceil(n_rows / 8)), optional
        Bit mask of rows to leave out of each tree, as ``numpy.packbits(..., axis=1, bitorder="little")`` makes it.
    out : sequence of arrays, optional
        Accumulated into (and returned) instead of new arrays.
    n_used : int64 (n_rows,), optional
        The number of trees that took part is added to it.

    Notes
    -----
    Trees ascending, leaves ascending within a tree, plain double additions: the result has the same bits for
    every `n_jobs`, and for one row as for many.
    """
    check_rows(forest, X)
    _check_n_jobs(n_jobs)
    first, last = (0, forest.n_trees) if trees is None else trees
    if trees is not None and not 0 <= first <= last <= forest.n_trees:
        raise ValueError(f"trees is ({first}, {last}), must be a range within 0 .. {forest.n_trees}")
    n_leaves = forest.leaf_start[last] - forest.leaf_start[first]
    for table in tables:
        if table.n_leaves != n_leaves:
            raise ValueError(f"a table has {table.n_leaves} rows, trees {first} .. {last} have {n_leaves} leaves")
    if out is None:
        out = [_start(table, len(X)) for table in tables]
    elif len(out) != len(tables):
        raise ValueError(f"out has {len(out)} arrays for {len(tables)} tables")
    else:
        for one, table in zip(out, tables, strict=True):
            _check_array("out", one, (len(X), len(table.ops)), np.float64)
    if tree_weights is not None:
        _check_array("tree_weights", tree_weights, (forest.n_trees,), np.float64)
        if not (np.isfinite(tree_weights) & (tree_weights >= 0)).all():
            raise ValueError("tree_weights must be finite and not negative")
    if skip is not None:
        _check_array("skip", skip, (forest.n_trees, -(-len(X) // 8)), np.uint8)
    if n_used is not None:
        _check_array("n_used", n_used, (len(X),), np.int64)
    crossing = [table.crossing(one[:, np.newaxis]) for table, one in zip(tables, out, strict=True)]
    # A few rows are walked in less time than joblib needs to tell how many threads there are.
    threads = 1 if len(X) < 8 else n_threads(n_jobs)
    core_fold(forest.arrays_for(X), X, crossing, first, last, tree_weights, skip, n_used, threads)
    return list(out)


def gather(
    forest: Forest, X: NDArray[np.float64], values: ArrayLike | LeafTable, *, n_jobs: int | None = None
) -> NDArray[np.float64]:
    """The row of `values` of the leaf that each row reaches in each tree, (n_rows, n_trees, m), in one walk.

    `values` has a row for each leaf, or is a table of sums without a link; for a row that reaches several leaves of a
    tree, their weighted mean.
    """
    check_rows(forest, X)
    table = values if isinstance(values, LeafTable) else LeafTable.of(values)
    if table.n_leaves != forest.n_leaves or table.logs.any() or table.ops.any():
        raise ValueError(f"values must be sums, a row for each of {forest.n_leaves} leaves, got {table.n_leaves} rows")
    out = np.zeros((len(X), forest.n_trees, len(table.ops)))
    core_fold(forest.arrays_for(X), X, [table.crossing(out)], 0, forest.n_trees, None, None, None, n_threads(n_jobs))
    return out


def tally(
    forest: Forest,
    X: NDArray[np.float64],
    labels: NDArray[np.int32],
    weights: NDArray[np.float64],
    *,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """What rows add to the counts of each leaf of a classification forest, (n_leaves, n_classes).

    A row adds its weight to the count of its label, divided over the leaves of a tree as :func:`spread` divides it.
    Rows ascending in each tree: the same bits for every `n_jobs`.
    """
    check_rows(forest, X)
    _check_array("labels", labels, (len(X),), np.int32)
    _check_array("weights", weights, (len(X),), np.float64)
    n_classes = forest.n_classes
    labels = labels.copy()  # they index memory: what is checked must not change before it is used
    if len(labels) and not 0 <= labels.min() <= labels.max() < n_classes:
        wrong = labels[(labels < 0) | (labels >= n_classes)][0]
        raise ValueError(f"labels holds {wrong}, must be class numbers in 0 .. {n_classes - 1}")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError("weights must be finite and not negative")
    counts = np.zeros((forest.n_leaves, n_classes))
    core_tally(forest.arrays_for(X), X, labels, weights, counts, n_threads(n_jobs))
    return counts


def _start(table: LeafTable, n_rows: int) -> NDArray[np.float64]:
    """What a fold begins with: the neutral element of each column's op."""
    if not table.ops.any():
        return np.zeros((n_rows, len(table.ops)))
    return np.tile(_NEUTRAL[table.ops], (n_rows, 1))


def check_rows(forest: Forest, X: NDArray[np.float64]) -> None:
    if X.ndim != 2 or X.shape[1] != forest.n_features:
        raise ValueError(f"X has shape {X.shape}, this forest needs (n_rows, {forest.n_features})")
    if X.dtype != np.float64 or not X.flags.c_contiguous:
        order = "" if X.flags.c_contiguous else " that is not row-major"
        raise ValueError(f"X is {X.dtype}{order}: pass numpy.ascontiguousarray(X, dtype=numpy.float64)")


def _check_array(name: str, array: NDArray[Any], shape: tuple[int, ...], dtype: type) -> None:
    if array.shape != shape or array.dtype != dtype or not array.flags.c_contiguous:
        raise ValueError(f"{name} is {array.dtype} {array.shape}, must be C-contiguous {np.dtype(dtype)} {shape}")
