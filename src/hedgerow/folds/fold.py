"""Fold: a leaf table, a fold over trees, and a finish."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from hedgerow._arrays import Floats
from hedgerow.folds.additive import Additive
from hedgerow.folds.conditions import Conditions
from hedgerow.forest.counts import DistinctCounts, check_counts
from hedgerow.walk import LeafTable, Link, Op, Query
from hedgerow.walk.leaf_table import fold_trees

__all__ = ["Fold"]

Context = TypeVar("Context")
Answer = TypeVar("Answer")

_FOLDS = [(link, op) for link in ("identity", "log", "entropy") for op in ("sum", "min", "max")]


class Fold(ABC, Generic[Context, Answer]):
    """Turns the numbers of leaves into an answer about the rows that reach them, at the cost of one walk.

    `table` computes a row of numbers for each leaf, once; the core folds these over the trees; `finish` turns the fold
    into the answer. `context` is their second argument: the class prior for a combination rule, s for a credal
    aggregate.

    >>> import numpy as np
    >>> from hedgerow.folds import Fold
    >>> class Purest(Fold):
    ...     fold = ("identity", "max")
    ...
    ...     def table(self, leaves, context):
    ...         return (leaves / leaves.sum(axis=1, keepdims=True)).max(axis=1, keepdims=True)
    ...
    ...     def finish(self, folded, n_trees, context):
    ...         return folded[:, 0]
    >>> Purest().of_trees([[[3, 1], [1, 1]], [[0, 5], [2, 2]]], None)
    array([0.75, 1.  ])
    """

    fold: ClassVar[tuple[Link, Op]] = ("identity", "sum")
    """Link and op of all columns, unless `table` returns a :class:`~hedgerow.walk.LeafTable` with its own."""

    @property
    def name(self) -> str:
        """Name for messages and plots."""
        return type(self).__name__.lower()

    @abstractmethod
    def table(self, leaves: Floats, context: Context) -> Floats | LeafTable:
        """Linear quantities of each leaf, (n_leaves, m), from its numbers: class counts, or weight, mean and squares.

        They depend on nothing else: leaves with equal numbers share a row, and are passed once.

        Parameters
        ----------
        leaves : array of shape (n_leaves, n_classes) or (n_leaves, 3)
            Class counts of the leaves, or weight, mean and squares.
        context : object
            What the fold needs beside the leaves: `s` of an aggregate, the prior of a rule.

        Returns
        -------
        ndarray of shape (n_leaves, m), or LeafTable
            The quantities.
        """

    @abstractmethod
    def finish(self, folded: Floats, n_trees: Any, context: Context) -> Answer:
        """Answer from the folded table, (n, m).

        `n_trees` is a number, or (n, 1) where rows were folded over different numbers of trees. Weighted trees count
        as much as their weights.

        Parameters
        ----------
        folded : array of shape (n_samples, m)
            The table, folded over the trees.
        n_trees : int or array of shape (n_samples,)
            Number of trees, or their total weight, in the fold.
        context : object
            What the fold needs beside the leaves: `s` of an aggregate, the prior of a rule.

        Returns
        -------
        object
            The answer about each row.
        """

    def bind(self, context: Context) -> Callable[[Floats, Any], Answer]:
        """Return `finish` for this context; override it where part of the work depends on the context alone.

        Parameters
        ----------
        context : object
            What the fold needs beside the leaves: `s` of an aggregate, the prior of a rule.

        Returns
        -------
        callable
            ``finish(folded, n_trees)`` for this context.
        """
        return lambda folded, n_trees: self.finish(folded, n_trees, context)

    def conditions(self, code: int, n_classes: int, n_trees: int, context: Context) -> Conditions | None:
        """Conditions for class `code` to be the answer, alone; None where none are linear in the folded table.

        Parameters
        ----------
        code : int
            Position of the class.
        n_classes : int
            Number of classes.
        n_trees : int or array of shape (n_samples,)
            Number of trees, or their total weight, in the fold.
        context : object
            What the fold needs beside the leaves: `s` of an aggregate, the prior of a rule.

        Returns
        -------
        Conditions or None
            The conditions; None where none are linear.
        """
        return None

    def additive(self, n_trees: int, context: Context) -> Additive:
        """Return an answer of this fold that is a sum over trees and leaves; ValueError where it has none.

        Parameters
        ----------
        n_trees : int or array of shape (n_samples,)
            Number of trees, or their total weight, in the fold.
        context : object
            What the fold needs beside the leaves: `s` of an aggregate, the prior of a rule.

        Returns
        -------
        Additive
            The answer as a linear function of the folded table.

        Raises
        ------
        ValueError
            If the answers of this fold do not add up over trees.
        """
        raise ValueError(
            f"{self._title} has no answer that adds up over its trees: choose one that averages, such as "
            "'probability', or adds evidence up, such as 'tempered'"
        )

    def leaf_table(self, leaves: Floats, context: Context) -> LeafTable:
        """Return the table with its links and ops, checked.

        Parameters
        ----------
        leaves : array of shape (n_leaves, n_classes) or (n_leaves, 3)
            Class counts of the leaves, or weight, mean and squares.
        context : object
            What the fold needs beside the leaves: `s` of an aggregate, the prior of a rule.

        Returns
        -------
        LeafTable
            The table.

        Raises
        ------
        ValueError
            If `fold` is not valid, or the table has a wrong shape or values that are not finite.
        """
        made = self.table(leaves, context)
        if isinstance(made, LeafTable):
            return made
        if not isinstance(self.fold, tuple) or self.fold not in _FOLDS:
            raise ValueError(f"{self._title}: its fold is {self.fold!r}, must be one of {_FOLDS}")
        values = np.asarray(made, dtype=np.float64)
        if values.ndim != 2 or len(values) != len(leaves):
            raise ValueError(
                f"{self._title}: its table has shape {values.shape}, must have a row for each of the "
                f"{len(leaves)} rows of counts"
            )
        if not np.isfinite(values).all():
            leaf = int(np.argmin(np.isfinite(values).all(axis=1)))
            raise ValueError(f"{self._title}: its table is not finite for a leaf with counts {leaves[leaf]}")
        link, op = self.fold
        return LeafTable.of(values, link=link, op=op, name=self._title)

    def table_of(self, leaves: DistinctCounts, context: Context) -> LeafTable:
        """Return the table of the leaves of a forest; leaves with equal counts share a row.

        Parameters
        ----------
        leaves : DistinctCounts
            Counts of the leaves.
        context : object
            What the fold needs beside the leaves: `s` of an aggregate, the prior of a rule.

        Returns
        -------
        LeafTable
            The table, with a row for each leaf or each distinct count.
        """
        return LeafTable.by_counts(leaves, lambda counts: self.leaf_table(counts, context))

    def query(self, table: LeafTable, context: Context, tree_weights: Floats | None = None) -> Query[Answer]:
        """Bind the fold to its table in a forest, for :func:`hedgerow.walk.ask`.

        Parameters
        ----------
        table : LeafTable
            Table of the leaves.
        context : object
            What the fold needs beside the leaves: `s` of an aggregate, the prior of a rule.
        tree_weights : array of shape (n_trees,) or None, default=None
            Weight of each tree; None weighs all alike.

        Returns
        -------
        Query
            Table and finish, to be asked together with others.
        """
        return Query(table, self.bind(context), tree_weights=tree_weights)

    def of_trees(
        self, counts: ArrayLike, context: Context, finish: Callable[[Floats, Any, Context], Any] | None = None
    ) -> Any:
        """Answer (…) from the leaf counts of all trees, (…, n_trees, n_classes): the fold in NumPy.

        `finish` replaces the fold's own.

        Parameters
        ----------
        counts : array-like of shape (…, n_trees, n_classes)
            Class counts of the leaf that a row reaches in each tree.
        context : object
            What the fold needs beside the leaves: `s` of an aggregate, the prior of a rule.
        finish : callable or None, default=None
            What is done with the folded table; None is :meth:`finish`.

        Returns
        -------
        object
            What `finish` returns, with the leading axes of `counts`.
        """
        leaves = check_counts(counts, of_trees=True)
        *shape, n_trees, n_classes = leaves.shape
        table = self.leaf_table(leaves.reshape(-1, n_classes), context)
        linked = table.linked.reshape(-1, n_trees, table.linked.shape[1])
        answer: Any = (finish or self.finish)(fold_trees(linked, table.ops), n_trees, context)
        return answer.reshape((*shape, *answer.shape[1:]))

    @property
    def _title(self) -> str:
        """Kind and name, for errors."""
        return f"fold {self.name}"
