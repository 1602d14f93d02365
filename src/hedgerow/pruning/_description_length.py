"""Pruning by minimum description length: of the tree, and of the rows that it misclassifies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from hedgerow._arrays import Floats
from hedgerow._core import cheapest_leaves
from hedgerow.data.training import Training
from hedgerow.forest.forest import Forest
from hedgerow.forest.kinds import NodeKind
from hedgerow.forest.splits import splits_by_kind
from hedgerow.pruning.strategy import Grower, need_classes
from hedgerow.pruning.subtrees import cut, node_errors

__all__ = ["DescriptionLength", "description_length"]


@dataclass(frozen=True)
class DescriptionLength:
    """Turn a node into a leaf if that does not increase the bits for the tree and its exceptions.

    Honavar, Decision Trees and Forests, the slide on post-pruning: minimise size(tree) + size(exceptions), coded in the
    manner of Quinlan and Rivest (1989). Every node takes 1 bit, leaf or not. An inner node takes log2(columns), and the
    choice of its split within the column: log2(distinct values − 1) for a threshold, log2(categories) for one against
    the rest, categories − 1 for a subset, nothing for a multiway split. A leaf takes log2(classes), and
    log2(n + 1) + log2 binom(n, e) for the e of its n rows of other classes, fractions by the gamma function.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.pruning import DescriptionLength
    >>> TreeClassifier(pruning=DescriptionLength(), random_state=0).fit(X, y).get_n_leaves()
    3
    """

    def __call__(self, training: Training, grower: Grower, seed: int) -> Forest:
        need_classes(self, training)
        return self.prune(grower(training), training, grower)

    def prune(self, forest: Forest, rows: Training, grower: Grower | None = None) -> Forest:
        """Return the pruned tree.

        Parameters
        ----------
        forest : Forest
            The tree to prune, grown from all rows.
        rows : Training
            Training rows.
        grower : Grower, default=None
            Grows the tree again from some of the rows.

        Returns
        -------
        Forest
            The pruned tree.
        """
        return description_length(forest, rows.values, rows.n_categories)


def description_length(forest: Forest, X: ArrayLike, n_categories: ArrayLike | None = None) -> Forest:
    """Remove the subtrees that increase the description length of a forest grown from the rows X.

    `n_categories` of each column, 0 for numeric ones; by default the distinct values in X. See
    :class:`DescriptionLength`.

    Parameters
    ----------
    forest : Forest
        The trees.
    X : array-like of shape (n_samples, n_features)
        Rows as the tree reads them: numbers and codes.
    n_categories : array-like of shape (n_features,) or None, default=None
        Number of categories of each column, 0 for numbers; None: the number of distinct values in X.

    Returns
    -------
    Forest
        The pruned tree.

    Raises
    ------
    ValueError
        If it is a regression tree, or rows do not fit the tree.

    Examples
    --------
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.pruning import description_length
    >>> X, y = [[float(i)] for i in range(20)], [0] * 9 + [1, 0] + [1] * 9
    >>> description_length(TreeClassifier.cart().fit(X, y).forest_, X).n_leaves
    2
    """
    if forest.leaf_counts is None:
        raise ValueError("description length counts errors: a regression forest has none, prune it by cost_complexity")
    values = np.asarray(X, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != forest.n_features:
        raise ValueError(f"X has shape {values.shape}, this forest needs (n_rows, {forest.n_features})")
    counts = forest.node_counts()
    as_leaf = 1 + np.log2(forest.n_classes) + _exception_bits(counts.sum(axis=1), node_errors(counts))
    splits, inner = _split_bits(forest, values, n_categories)
    tolerance = 1e-9 * float(as_leaf[forest.tree_start[:-1]].sum())
    return cut(forest, cheapest_leaves(forest.parent, inner, as_leaf, splits, tolerance) == 1)


def _exception_bits(n: Floats, errors: Floats) -> Floats:
    log_binomial = gammaln(n + 1) - gammaln(errors + 1) - gammaln(n - errors + 1)
    return np.log2(n + 1) + log_binomial / np.log(2)


def _split_bits(forest: Forest, values: Floats, n_categories: ArrayLike | None) -> tuple[Floats, NDArray[np.uint8]]:
    """Bits of each inner node, 0 for leaves, and whether it is one."""
    n_distinct = np.array([len(np.unique(column[~np.isnan(column)])) for column in values.T])
    categories = n_distinct if n_categories is None else np.maximum(np.asarray(n_categories), 1)
    of_column = {
        NodeKind.THRESHOLD: np.log2(np.maximum(n_distinct - 1, 1)),
        NodeKind.ONE_AGAINST_REST: np.log2(np.maximum(categories, 1)),
        NodeKind.SUBSET: np.maximum(categories - 1.0, 0.0),
        NodeKind.MULTIWAY: np.zeros(forest.n_features),
    }
    bits, inner = np.zeros(forest.n_nodes), np.zeros(forest.n_nodes, dtype=np.uint8)
    for kind, (nodes, features) in splits_by_kind(forest).items():
        if kind not in of_column:
            raise ValueError("description length has no code for oblique splits: prune in another way")
        bits[nodes] = 1 + np.log2(forest.n_features) + of_column[kind][features]
        inner[nodes] = 1
    return bits, inner
