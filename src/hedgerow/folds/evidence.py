"""Evidence of the leaves themselves, tree by tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow.forest.forest import Forest
from hedgerow.walk import LeafTable, Query

__all__ = ["leaf_counts", "leaf_moments", "tree_votes"]


def leaf_counts(forest: Forest) -> Query[Floats]:
    """Class counts of the leaf that a row reaches in each tree, (n, n_trees, n_classes).

    For a row that reaches several leaves of a tree, the weighted mean of their counts.

    Parameters
    ----------
    forest : Forest
        The trees.

    Returns
    -------
    Query
        Its answer is an array of shape (n_samples, n_trees, n_classes).

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.folds import leaf_counts
    >>> from hedgerow.forest import build_forest, leaf, threshold
    >>> from hedgerow.walk import ForestWalk, ask
    >>> forest = build_forest([threshold(0, 2.0, leaf([3, 1]), leaf([0, 4]))], n_features=1)
    >>> ask(ForestWalk(forest, None), np.array([[1.0], [np.nan]]), [leaf_counts(forest)])[0]
    array([[[3. , 1. ]],
           [[1.5, 2.5]]])
    """
    return Query(LeafTable.by_counts(forest.distinct_counts), lambda counts, _: counts, per_tree=True)


def tree_votes(forest: Forest) -> Query[NDArray[np.intp]]:
    """Class with most counts in the leaf that a row reaches in each tree, (n, n_trees); the first of equals.

    A leaf without rows votes as the node above it.

    Parameters
    ----------
    forest : Forest
        The trees.

    Returns
    -------
    Query
        Its answer is an int array of shape (n_samples, n_trees).

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.folds import tree_votes
    >>> from hedgerow.forest import build_forest, leaf, threshold
    >>> from hedgerow.walk import ForestWalk, ask
    >>> forest = build_forest([threshold(0, 2.0, leaf([3, 1]), leaf([0, 4]))], n_features=1)
    >>> ask(ForestWalk(forest, None), np.array([[1.0], [9.0]]), [tree_votes(forest)])[0]
    array([[0], [1]])
    """
    table = LeafTable.of(forest.answer_counts())
    return Query(table, lambda counts, _: counts.argmax(axis=2), per_tree=True)


def leaf_moments(forest: Forest) -> Query[Floats]:
    """Weight, mean, squared mean and variance of the leaf that a row reaches in each tree, (n, n_trees, 4).

    Parameters
    ----------
    forest : Forest
        The trees.

    Returns
    -------
    Query
        Its answer is an array of shape (n_samples, n_trees, 4).

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.folds import leaf_moments
    >>> from hedgerow.forest import build_forest, threshold, value
    >>> from hedgerow.walk import ForestWalk, ask
    >>> low, high = value(3.0, weight=2, squares=8), value(5.0)
    >>> forest = build_forest([threshold(0, 2.0, low, high)], n_features=1, regression=True)
    >>> ask(ForestWalk(forest, None), np.array([[1.0]]), [leaf_moments(forest)])[0]
    array([[[2., 3., 9., 4.]]])
    """
    weight, mean, squares = forest.stats.T
    variance = squares / np.where(weight > 0, weight, 1.0)
    table = LeafTable.of(np.stack([weight, mean, mean**2, variance], axis=1))
    return Query(table, lambda reached, _: reached, per_tree=True)
