"""The core's walks, with their arguments checked."""

from __future__ import annotations

import os
from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow._core import fold as core_fold
from hedgerow._core import route as core_route
from hedgerow._core import spread as core_spread
from hedgerow._core import tally as core_tally
from hedgerow.forest.forest import Forest
from hedgerow.walk.leaf_table import LeafTable

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = [
    *("check_n_jobs", "check_rows", "empty_fold", "fold", "gather", "n_threads", "route", "spread", "tally"),
]

_MAX_THREADS = 2**31


def n_threads(n_jobs: int | None) -> int:
    """Threads for scikit-learn's `n_jobs`: None is 1 (or what ``joblib.parallel_config`` says), -1 all cores.

    In a worker of joblib, whose neighbours take the other cores, a negative number means the worker's share: the number
    of threads that joblib grants to a process (``OMP_NUM_THREADS``), and one in a thread.

    Parameters
    ----------
    n_jobs : int or None
        Number of threads; None is 1, -1 all cores. Results do not depend on it.

    Returns
    -------
    int
        Number of threads, at least 1.

    Raises
    ------
    ValueError
        If `n_jobs` is 0, or not a whole number.

    Examples
    --------
    >>> from hedgerow.walk import n_threads
    >>> n_threads(None), n_threads(4)
    (1, 4)
    """
    check_n_jobs(n_jobs)
    if n_jobs == 1:
        return 1
    from joblib import effective_n_jobs  # late, like scipy below: slow to import, rarely needed
    from joblib.parallel import get_active_backend

    threads = int(effective_n_jobs(n_jobs))
    if n_jobs is None or n_jobs > 0 or not get_active_backend()[0].nesting_level:
        return threads
    granted = os.environ.get("OMP_NUM_THREADS", "")
    return min(threads, max(int(granted), 1)) if granted.isdecimal() else 1


def check_n_jobs(n_jobs: Any) -> None:
    """Raise ValueError unless `n_jobs` is a valid number of threads.

    Parameters
    ----------
    n_jobs : int or None
        Number of threads; None is 1, -1 all cores. Results do not depend on it.

    Raises
    ------
    ValueError
        If it is 0, or not a whole number.

    Examples
    --------
    >>> from hedgerow.walk import check_n_jobs
    >>> check_n_jobs(-1)
    """
    if n_jobs is None or (isinstance(n_jobs, Integral) and 0 < abs(int(n_jobs)) <= _MAX_THREADS):
        return
    raise ValueError(f"n_jobs is {n_jobs!r}, must be None, a positive number of threads, or negative (-1: all cores)")


def route(
    forest: Forest, X: NDArray[np.float64], *, heaviest: bool = True, n_jobs: int | None = None
) -> NDArray[np.int32]:
    """Number of the leaf that each row reaches in each tree, (n_rows, n_trees).

    A row that a node would spread, because its value is missing or an unseen category, follows the heaviest child; with
    ``heaviest=False`` it gets -1.

    Parameters
    ----------
    forest : Forest
        The trees.
    X : array of shape (n_samples, n_features)
        Rows, converted: float64, row-major.
    heaviest : bool, default=True
        Whether a row that would be spread follows the heaviest child; else it gets -1.
    n_jobs : int or None, default=None
        Number of threads; None is 1, -1 all cores. Results do not depend on it.

    Returns
    -------
    int32 ndarray of shape (n_samples, n_trees)
        Numbers of leaves, within their tree.

    Raises
    ------
    ValueError
        If rows do not fit the forest.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.forest import build_forest, leaf, threshold
    >>> from hedgerow.walk import route
    >>> forest = build_forest([threshold(0, 2.0, leaf([3, 1]), leaf([0, 5]))], n_features=1)
    >>> route(forest, np.array([[1.0], [np.nan]])).tolist()  # the second leaf is the heavier
    [[0], [1]]
    """
    check_rows(forest, X)
    leaves = np.empty((len(X), forest.n_trees), dtype=np.int32)
    core_route(forest.core_for(X), X, leaves, heaviest, n_threads(n_jobs))
    return leaves


def spread(forest: Forest, X: NDArray[np.float64], *, n_jobs: int | None = None) -> csr_array:
    """Weight with which each row reaches each leaf of the forest, sparse (n_rows, n_leaves).

    The weights of a row add up to 1 in each tree; the leaves of tree t are columns leaf_start[t] .. leaf_start[t+1].

    Parameters
    ----------
    forest : Forest
        The trees.
    X : array of shape (n_samples, n_features)
        Rows, converted: float64, row-major.
    n_jobs : int or None, default=None
        Number of threads; None is 1, -1 all cores. Results do not depend on it.

    Returns
    -------
    csr_array of shape (n_samples, n_leaves)
        Weights above 0.

    Raises
    ------
    ValueError
        If rows do not fit the forest.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.forest import build_forest, leaf, threshold
    >>> from hedgerow.walk import spread
    >>> forest = build_forest([threshold(0, 2.0, leaf([3, 1]), leaf([0, 12]))], n_features=1)
    >>> spread(forest, np.array([[1.0], [np.nan]])).toarray()
    array([[1.  , 0.  ],
           [0.25, 0.75]])
    """
    from scipy.sparse import csr_array

    check_rows(forest, X)
    row_start, leaves, weights = core_spread(forest.core_for(X), X, n_threads(n_jobs))
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
    per_tree: Sequence[bool] | None = None,
    n_jobs: int | None = None,
) -> list[NDArray[np.float64]]:
    """Walk each row through all trees once and fold each table over them: one (n_rows, m) array per table.

    Parameters
    ----------
    forest : Forest
        The trees.
    X : array of shape (n_samples, n_features)
        Rows, converted: float64, row-major.
    tables : sequence of LeafTable
        Their rows are the leaves of the trees in `trees`.
    trees : (first, last) or None, default=None
        A range of trees, `last` not included. With `out` a wide table can be built for some trees at a time.
    tree_weights : (n_trees,) or None, default=None
        A sum column adds weight · linked value. A tree of weight 0 is left out, also of min and max.
    skip : uint8 (n_trees, ceil(n_rows / 8)) or None, default=None
        Bit mask of rows to leave out of each tree, as ``numpy.packbits(..., axis=1, bitorder="little")`` makes it.
    out : sequence of arrays or None, default=None
        Accumulated into (and returned) instead of new arrays.
    n_used : int64 (n_rows,) or None, default=None
        The number of trees that took part is added to it.
    per_tree : sequence of bool or None, default=None
        For each table whether trees are kept apart, which gives (n_rows, n_trees in range, m) instead.
    n_jobs : int or None, default=None
        Number of threads; None is 1, -1 all cores. Results do not depend on it.

    Returns
    -------
    list of ndarray
        An array of shape (n_samples, m) for each table, or (n_samples, n_trees, m) where `per_tree` is set.

    Raises
    ------
    ValueError
        If tables, trees, weights or rows do not fit the forest.

    Notes
    -----
    Trees ascending, leaves ascending within a tree, plain double additions: results are identical for any `n_jobs` and
    any number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.forest import build_forest, leaf, threshold
    >>> from hedgerow.walk import LeafTable, fold
    >>> trees = [threshold(0, at, leaf([3, 1]), leaf([0, 4])) for at in (2.0, 5.0)]
    >>> forest = build_forest(trees, n_features=1)
    >>> fold(forest, np.array([[3.0]]), [LeafTable.of(forest.leaf_counts)])  # the second leaf, and the first
    [array([[3., 5.]])]
    """
    check_rows(forest, X)
    check_n_jobs(n_jobs)
    n_trees = forest.n_trees
    first, last = (0, n_trees) if trees is None else trees
    if trees is not None and not 0 <= first <= last <= n_trees:
        raise ValueError(f"trees is ({first}, {last}), must be a range within 0 .. {n_trees}")
    n_leaves = forest.n_leaves if trees is None else forest.leaf_start[last] - forest.leaf_start[first]
    for table in tables:
        if table.n_leaves != n_leaves:
            raise ValueError(f"a table has {table.n_leaves} rows, trees {first} .. {last} have {n_leaves} leaves")
    apart = [False] * len(tables) if per_tree is None else list(per_tree)
    if len(apart) != len(tables):
        raise ValueError(f"per_tree has {len(apart)} entries for {len(tables)} tables")
    if out is None:
        n_kept = [last - first if kept else None for kept in apart]
        out = [empty_fold(table, len(X), n) for table, n in zip(tables, n_kept, strict=True)]
    elif len(out) != len(tables):
        raise ValueError(f"out has {len(out)} arrays for {len(tables)} tables")
    else:
        for one, table, kept in zip(out, tables, apart, strict=True):
            shape = (len(X), last - first, len(table.ops)) if kept else (len(X), len(table.ops))
            _check_array("out", one, shape, np.float64)
    if tree_weights is not None:
        _check_array("tree_weights", tree_weights, (forest.n_trees,), np.float64)
        if not (np.isfinite(tree_weights) & (tree_weights >= 0)).all():
            raise ValueError("tree_weights must be finite and not negative")
    if skip is not None:
        _check_array("skip", skip, (forest.n_trees, -(-len(X) // 8)), np.uint8)
    if n_used is not None:
        _check_array("n_used", n_used, (len(X),), np.int64)
    # Walking a few rows takes less time than joblib's effective_n_jobs.
    threads = 1 if len(X) < 8 else n_threads(n_jobs)
    made = list(out)
    cores = [table.core for table in tables]
    core_fold(forest.core_for(X), X, cores, made, first, last, tree_weights, skip, n_used, threads)
    return made


def gather(
    forest: Forest, X: NDArray[np.float64], values: ArrayLike | LeafTable, *, n_jobs: int | None = None
) -> NDArray[np.float64]:
    """Row of `values` of the leaf that each row reaches in each tree, (n_rows, n_trees, m), in one walk.

    `values` has a row for each leaf, or is a table of sums without a link; for a row that reaches several leaves of a
    tree, the result is their weighted mean.

    Parameters
    ----------
    forest : Forest
        The trees.
    X : array of shape (n_samples, n_features)
        Rows, converted: float64, row-major.
    values : array of shape (n_leaves, m) or LeafTable
        Numbers of each leaf.
    n_jobs : int or None, default=None
        Number of threads; None is 1, -1 all cores. Results do not depend on it.

    Returns
    -------
    ndarray of shape (n_samples, n_trees, m)
        Values.

    Raises
    ------
    ValueError
        If rows or values do not fit the forest.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.forest import build_forest, leaf, threshold
    >>> from hedgerow.walk import gather
    >>> forest = build_forest([threshold(0, 2.0, leaf([3, 1]), leaf([0, 4]))], n_features=1)
    >>> gather(forest, np.array([[1.0], [9.0]]), [[10.0], [20.0]])
    array([[[10.]],
           [[20.]]])
    """
    table = values if isinstance(values, LeafTable) else LeafTable.of(values)
    return fold(forest, X, [table], per_tree=[True], n_jobs=n_jobs)[0]


def tally(
    forest: Forest,
    X: NDArray[np.float64],
    labels: NDArray[np.int32],
    weights: NDArray[np.float64],
    *,
    unit: float = 0.0,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Class counts that rows add to each leaf of a classification forest, (n_leaves, n_classes).

    A row adds its weight to the count of its label, divided over the leaves of a tree as :func:`spread` divides it.
    With a `unit`, a power of two, each part is rounded to a multiple of it: if the weights are multiples too, counts
    add up exactly, in whatever order rows are counted.
    Rows ascending in each tree: results are identical for any `n_jobs`.

    Parameters
    ----------
    forest : Forest
        The trees.
    X : array of shape (n_samples, n_features)
        Rows, converted: float64, row-major.
    labels : array of shape (n_samples,)
        Position of the class of each row.
    weights : array of shape (n_samples,)
        Weight of each row.
    unit : float, default=0.0
        Weights are multiples of this power of two, which makes sums exact; 0 for none.
    n_jobs : int or None, default=None
        Number of threads; None is 1, -1 all cores. Results do not depend on it.

    Returns
    -------
    ndarray of shape (n_leaves, n_classes)
        Counts.

    Raises
    ------
    ValueError
        If a label is no class, or a weight is negative or not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.forest import build_forest, leaf, threshold
    >>> from hedgerow.walk import tally
    >>> forest = build_forest([threshold(0, 2.0, leaf([3, 1]), leaf([0, 4]))], n_features=1)
    >>> tally(forest, np.array([[1.0], [np.nan]]), np.array([0, 1], np.int32), np.ones(2))
    array([[1. , 0.5],
           [0. , 0.5]])
    """
    check_rows(forest, X)
    _check_array("labels", labels, (len(X),), np.int32)
    _check_array("weights", weights, (len(X),), np.float64)
    n_classes = forest.n_classes
    labels = labels.copy()  # they index memory, and another thread could change them after the check
    if len(labels) and not 0 <= labels.min() <= labels.max() < n_classes:
        wrong = labels[(labels < 0) | (labels >= n_classes)][0]
        raise ValueError(f"labels holds {wrong}, must be class numbers in 0 .. {n_classes - 1}")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError("weights must be finite and not negative")
    counts = np.zeros((forest.n_leaves, n_classes))
    core_tally(forest.core_for(X), X, labels, weights, counts, unit, n_threads(n_jobs))
    return counts


def empty_fold(table: LeafTable, n_rows: int, n_trees: int | None) -> NDArray[np.float64]:
    """Initial output: folded, or one per tree for `n_trees` trees."""
    if n_trees is None:
        return table.start(n_rows)
    if table.links.any() or table.ops.any():
        raise ValueError("only sums without a link can be kept apart by tree: use op='sum' and link='identity'")
    return np.zeros((n_rows, n_trees, len(table.ops)))


def check_rows(forest: Forest, X: NDArray[np.float64]) -> None:
    """Check that rows fit the forest, and return them as a float64 matrix.

    Parameters
    ----------
    forest : Forest
        The trees.
    X : array-like
        Rows to be checked.

    Raises
    ------
    TypeError
        If X is an array of a GPU.
    ValueError
        If X has another number of columns, or is not a row-major float64 matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.forest import build_forest, leaf
    >>> from hedgerow.walk import check_rows
    >>> forest = build_forest([leaf([3, 1])], n_features=2)
    >>> try:
    ...     check_rows(forest, np.zeros((1, 3)))
    ... except ValueError as error:
    ...     print(error)
    X has shape (1, 3), this forest needs (n_rows, 2)
    """
    if not isinstance(X, np.ndarray):
        raise TypeError(f"this answer needs rows in the memory of the host: pass X as a NumPy array, not {type(X)}")
    if X.ndim != 2 or X.shape[1] != forest.n_features:
        raise ValueError(f"X has shape {X.shape}, this forest needs (n_rows, {forest.n_features})")
    if X.dtype != np.float64 or not X.flags.c_contiguous:
        order = "" if X.flags.c_contiguous else " that is not row-major"
        raise ValueError(f"X is {X.dtype}{order}: pass numpy.ascontiguousarray(X, dtype=numpy.float64)")


def _check_array(name: str, array: NDArray[Any], shape: tuple[int, ...], dtype: type) -> None:
    if array.shape != shape or array.dtype != dtype or not array.flags.c_contiguous:
        raise ValueError(f"{name} is {array.dtype} {array.shape}, must be C-contiguous {np.dtype(dtype)} {shape}")
