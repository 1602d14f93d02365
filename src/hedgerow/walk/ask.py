"""Several answers about the same rows in one walk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.walk.engines import Walk
from hedgerow.walk.leaf_table import LeafTable

__all__ = ["Query", "ask"]

Floats = NDArray[np.float64]
Answer = TypeVar("Answer")


@dataclass(frozen=True, eq=False)
class Query(Generic[Answer]):
    """A leaf table of one forest, and how its fold becomes an answer.

    Parameters
    ----------
    table : LeafTable
        Numbers of the leaves.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.forest import build_forest, leaf, threshold
    >>> from hedgerow.walk import ForestWalk, LeafTable, Query, ask
    >>> forest = build_forest([threshold(0, 2.0, leaf([3, 1]), leaf([0, 4]))], n_features=1)
    >>> rows_in_leaf = Query(LeafTable.of(forest.leaf_counts), lambda counts, n_trees: counts.sum(axis=1) / n_trees)
    >>> ask(ForestWalk(forest, None), np.array([[1.0], [9.0]]), [rows_in_leaf])
    [array([4., 4.])]
    """

    table: LeafTable
    finish: Callable[..., Answer]
    """Answer from the folded table, (n, m) or (n, n_trees, m), and the number of trees."""
    per_tree: bool = False
    """Keep the trees apart instead of folding over them."""
    tree_weights: Floats | None = None
    """Weight of each tree in sums; None: all 1."""
    with_rows: bool = False
    """Whether `finish` takes the rows themselves, (n, n_features), as its third argument."""

    def answer(self, folded: Floats, n_trees: int, rows: Floats) -> Answer:
        """Finish the fold of these rows.

        Parameters
        ----------
        folded : array of shape (n_samples, m)
            The table, folded over the trees.
        n_trees : int or array of shape (n_samples,)
            Number of trees, or their total weight, in the fold.
        rows : array of shape (n_samples, n_features)
            Rows, converted.

        Returns
        -------
        object
            What `finish` returns.
        """
        return self.finish(folded, n_trees, rows) if self.with_rows else self.finish(folded, n_trees)


def ask(walk: Walk, rows: Floats, queries: Sequence[Query[Any]]) -> list[Any]:
    """Answer every query about `rows`, in its order, in one walk.

    Queries that share a table share its fold. Queries with other tree weights take a walk of their own.

    Parameters
    ----------
    walk : Walk
        How rows reach leaves.
    rows : array of shape (n_samples, n_features)
        Rows, converted.
    queries : sequence of Query
        The queries.

    Returns
    -------
    list
        The answer to each query, in their order.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.folds import leaf_counts, tree_votes
    >>> from hedgerow.forest import build_forest, leaf, threshold
    >>> from hedgerow.walk import ForestWalk, ask
    >>> forest = build_forest([threshold(0, 2.0, leaf([3, 1]), leaf([0, 4]))], n_features=1)
    >>> counts, votes = ask(ForestWalk(forest, None), np.array([[1.0]]), [leaf_counts(forest), tree_votes(forest)])
    >>> counts, votes
    (array([[[3., 1.]]]), array([[0]]))
    """
    if len(queries) == 1:  # the usual case: grouping would take as long as walking a row
        (query,) = queries
        folded = walk.fold(rows, [query.table], query.tree_weights, per_tree=[query.per_tree])
        return [query.answer(folded[0], walk.forest.n_trees, rows)]
    answers: list[Any] = [None] * len(queries)
    waiting = list(range(len(queries)))
    while waiting:
        weights = queries[waiting[0]].tree_weights
        together = [i for i in waiting if _same(queries[i].tree_weights, weights)]
        waiting = [i for i in waiting if i not in together]
        tables = {(id(queries[i].table), queries[i].per_tree): queries[i].table for i in together}
        folded = walk.fold(rows, list(tables.values()), weights, per_tree=[kept for _, kept in tables])
        by_table = dict(zip(tables, folded, strict=True))
        for i in together:
            query = queries[i]
            answers[i] = query.answer(by_table[id(query.table), query.per_tree], walk.forest.n_trees, rows)
    return answers


def _same(weights: Floats | None, others: Floats | None) -> bool:
    if weights is None or others is None:
        return weights is others
    return np.array_equal(weights, others)
