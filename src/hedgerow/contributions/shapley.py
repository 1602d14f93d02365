"""Shapley values of a forest's columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import contribute as core_contribute
from hedgerow._core import expected_values
from hedgerow.contributions.by_row import Contributions
from hedgerow.contributions.mixtures import mixture_gains
from hedgerow.data.table import Schema
from hedgerow.folds import Additive
from hedgerow.forest.forest import Forest
from hedgerow.forest.kinds import NodeKind
from hedgerow.walk import LeafTable, n_threads
from hedgerow.walk.walks import check_rows

__all__ = ["contribute"]

Floats = NDArray[np.float64]


def contribute(
    forest: Forest,
    rows: Floats,
    table: LeafTable,
    additive: Additive,
    schema: Schema,
    *,
    classes: tuple[object, ...] = (),
    tree_weights: Floats | None = None,
    background: Floats | None = None,
    interactions: bool = False,
    n_jobs: int | None = None,
) -> Contributions:
    """Divide an answer among the columns by their Shapley values (Shapley, 1953), exactly.

    Columns are the players. A set S of known columns is worth what the forest answers if a row takes its own branch at
    splits on columns of S and, at all others,

    - without `background`: every branch, with its share of the training weight (path-dependent: Lundberg et al., From
      local explanations to global understanding with explainable AI for trees, 2020, algorithm 1);
    - with `background`: the branch of a background row, mean over these rows (interventional, algorithm 3).

    A row, or background row, that a node spreads takes all branches by their shares of the training weight there too,
    so that a missing value of an unknown kind contributes nothing. Where a rule takes logarithms of each tree's answer,
    the leaves' logarithms are divided; what a row with missing values gains because its leaves are mixed first is
    divided equally among the columns at which it is spread (:mod:`hedgerow.contributions.mixtures`).

    `pairs` of columns have half of their Shapley interaction index each way (the same paper, equation 9).

    Parameters
    ----------
    forest : Forest
        The trees.
    rows : array of shape (n_samples, n_features)
        Rows, converted.
    table : LeafTable
        Numbers of the leaves.
    additive : Additive
        How the sum over the trees becomes the answer.
    schema : Schema
        Names, kinds and categories of the columns.
    classes : tuple, default=()
        Labels of the outputs; empty where there is one.
    tree_weights : array of shape (n_trees,) or None, default=None
        Weight of each tree; None weighs all alike.
    background : array of shape (n_rows, n_features) or None, default=None
        Rows that stand for a column whose value is not known; None: the training weights in the trees.
    interactions : bool, default=False
        Whether to divide further, among pairs of columns.
    n_jobs : int or None, default=None
        Number of threads; None is 1, -1 all cores. Results do not depend on it.

    Returns
    -------
    Contributions
        Contributions to the answer for each row.

    Raises
    ------
    ValueError
        If the forest has oblique splits, or `background` no rows.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow import TreeRegressor
    >>> from hedgerow.contributions import contribute
    >>> from hedgerow.folds import Mean
    >>> tree = TreeRegressor(pruning=None).fit([[1], [2]], [10, 20])
    >>> forest, fold = tree.forest_, Mean()
    >>> table = fold.leaf_table(forest.stats, None)
    >>> contribute(forest, np.array([[2.0]]), table, fold.additive(1, None), tree.schema_).values
    array([[5.]])
    """
    check_rows(forest, rows)
    if (forest.kind == NodeKind.OBLIQUE).any():
        raise ValueError("contributions need splits on single columns: this forest has oblique splits")
    if background is not None and not len(background):
        raise ValueError("background has no rows: give at least one, or None")
    linked = table.linked if table.row_of is None else table.linked[table.row_of]
    leaf_values = linked @ additive.scale
    if tree_weights is not None:
        leaf_values *= np.repeat(tree_weights, np.diff(forest.leaf_start))[:, np.newaxis]
    # Probabilities of all classes add up to 1, and what columns add to them to 0: one class need not be computed.
    complement = additive.by_class and _sums_are_equal(leaf_values)
    wanted = np.ascontiguousarray(leaf_values[:, 1:] if complement else leaf_values)
    values = np.zeros((len(rows), forest.n_features, wanted.shape[1]))
    pairs = np.zeros((len(rows), *(forest.n_features,) * 2, wanted.shape[1])) if interactions else None
    core = forest.core_with_weight
    core_contribute(core, rows, background, wanted, values, pairs, n_threads(n_jobs))
    if complement:
        values = _with_complement(values)
        pairs = None if pairs is None else _with_complement(pairs)
    if table.links.any():
        for gain in mixture_gains(forest, rows, table, tree_weights):
            gain.add(additive.scale, values, pairs)
    base = additive.offset + _base(forest, leaf_values, background, n_jobs)
    if additive.by_class:
        return Contributions(values, base, pairs, additive.of, classes, rows, schema)
    pairs = None if pairs is None else pairs[..., 0]
    return Contributions(values[..., 0], float(base[0]), pairs, additive.of, (), rows, schema)


def _base(forest: Forest, leaf_values: Floats, background: Floats | None, n_jobs: int | None) -> Floats:
    if background is None:
        return expected_values(forest.core_with_weight, np.ascontiguousarray(leaf_values))
    from hedgerow.walk import fold

    mean: Floats = fold(forest, background, [LeafTable.of(leaf_values)], n_jobs=n_jobs)[0].mean(axis=0)
    return mean


def _sums_are_equal(leaf_values: Floats) -> bool:
    """Whether the values of the classes have the same sum in all leaves of a tree that weigh alike."""
    if leaf_values.shape[1] < 2:
        return False
    sums = leaf_values.sum(axis=1)
    return bool(np.ptp(sums) <= 1e-13 * np.abs(leaf_values).max(initial=0.0))


def _with_complement(values: Floats) -> Floats:
    return np.concatenate([-values.sum(axis=-1, keepdims=True), values], axis=-1)
