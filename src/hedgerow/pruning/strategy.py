"""The protocol of pruning strategies, and what they require."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.training import Training
from hedgerow.forest.forest import Forest
from hedgerow.forest.importance import Impurity

__all__ = ["Grower", "Pruning", "need_classes", "need_one_tree"]


@dataclass(frozen=True)
class Grower:
    """Growth of the tree to be pruned, from all rows or some of them.

    Parameters
    ----------
    grow : Callable[[Training], Forest]
        Function that grows a tree from training rows.
    impurity : Impurity
        Impurity of nodes by their counts.
    class_names : array or None, default=None
        Labels, for messages.

    Examples
    --------
    >>> from hedgerow.forest import build_forest, leaf
    >>> from hedgerow.pruning import Grower
    >>> grower = Grower(lambda rows: build_forest([leaf([1, 1])], n_features=1), "gini", min_fraction=0.0)
    >>> grower(None).n_leaves
    1
    """

    grow: Callable[[Training], Forest]
    impurity: Impurity
    min_fraction: float
    """Of :class:`~hedgerow.growth.Fractional`: a smaller fraction of a row is not split further."""
    class_names: NDArray[Any] | None = None

    def __call__(self, training: Training) -> Forest:
        return self.grow(training)


@runtime_checkable
class Pruning(Protocol):
    """A pruning strategy.

    Examples
    --------
    A strategy that cuts below the root:

    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.pruning import cut
    >>> class Stump:
    ...     def __call__(self, training, grower, seed):
    ...         return self.prune(grower(training), training, grower)
    ...
    ...     def prune(self, forest, rows, grower):
    ...         return cut(forest, forest.node_depths() > 0)
    >>> X, y = [[1], [2], [3], [4]], [0, 1, 0, 1]
    >>> TreeClassifier.cart().fit(X, y).get_n_leaves(), TreeClassifier.cart(pruning=Stump()).fit(X, y).get_n_leaves()
    (4, 2)
    """

    def __call__(self, training: Training, grower: Grower, seed: int) -> Forest:
        """Grow a tree from the rows and prune it."""

    def prune(self, forest: Forest, rows: Training, grower: Grower) -> Forest:
        """Prune a grown tree by rows that the caller has chosen.

        Parameters
        ----------
        forest : Forest
            The tree to prune.
        rows : Training
            Rows to prune by.
        grower : Grower
            Grows the tree again, from all rows or some of them.

        Returns
        -------
        Forest
            The pruned tree.
        """


def need_one_tree(forest: Forest) -> None:
    """Raise for a forest of several trees."""
    if forest.n_trees != 1:
        raise ValueError(f"this pruning strategy takes one tree, the forest has {forest.n_trees}")


def need_classes(strategy: object, training: Training) -> NDArray[np.int32]:
    """Return the labels; raise for regression."""
    if training.labels is None:
        raise ValueError(
            f"pruning is {strategy!r}, which counts errors: a regression tree has none, use 'cost_complexity' or "
            "'reduced_error'"
        )
    return training.labels
