"""Grow forests in the core."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import GrowOptions, RandomGrowOptions, grow, grow_random
from hedgerow.data.training import Training
from hedgerow.forest.counts import DistinctCounts
from hedgerow.forest.forest import Forest

__all__ = ["Grown", "grow_forest", "grow_random_forest", "to_grown"]


@dataclass(frozen=True)
class Grown:
    """A forest and, if they were kept, the rows in each tree's bag and in each leaf.

    Parameters
    ----------
    forest : Forest
        The trees.
    leaf_rows_start : int64 array
        Where the rows of each leaf begin.
    leaf_rows : int32 array
        Positions of the rows in each leaf.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.growth import Growth, Training, grow_forest
    >>> values, labels = np.asfortranarray([[1.0], [2.0]]), np.array([0, 1], np.int32)
    >>> rows = Training(values, np.zeros(1, np.int32), np.ones(2), labels, n_classes=2)
    >>> options = Growth("gini").options(rows.sample_weight, 1, ("gini",), seed=0)
    >>> grow_forest(rows, options).forest.n_leaves
    2
    """

    forest: Forest
    in_bag: NDArray[np.uint8]
    """Bit mask of the in-bag rows of each tree, (n_trees, ceil(n_rows / 8))."""
    leaf_rows_start: NDArray[np.int64]
    leaf_rows: NDArray[np.int32]
    leaf_row_weights: NDArray[np.float64]
    """Leaf i has the rows and weights leaf_rows_start[i] .. leaf_rows_start[i + 1]."""

    @property
    def leaf_samples(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """Starts, rows and weights of all leaves."""
        return self.leaf_rows_start, self.leaf_rows, self.leaf_row_weights


def grow_forest(training: Training, options: GrowOptions, progress: Callable[[int], object] | None = None) -> Grown:
    """Grow `options.n_trees` trees; `progress` is called from time to time with the number of finished trees.

    Parameters
    ----------
    training : Training
        Rows to grow the trees from.
    options : GrowOptions
        Settings, from the `options` method.
    progress : callable or None, default=None
        Called from time to time with the number of finished trees.

    Returns
    -------
    Grown
        The forest.

    Raises
    ------
    ValueError
        If the arrays of `training` do not belong together.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.growth import Growth, Training, grow_forest
    >>> values = np.asfortranarray([[1.0], [2.0], [3.0]])
    >>> rows = Training(values, np.zeros(1, np.int32), np.ones(3), targets=np.array([10.0, 10.0, 40.0]))
    >>> options = Growth("squared_error").options(rows.sample_weight, 1, ("squared_error",), seed=0)
    >>> print(grow_forest(rows, options).forest.to_text())
    x0 <= 2.5: 10 ± 0 (n = 2)
    x0 > 2.5: 40 ± 0 (n = 1)
    """
    grown = grow(*training.arrays, options, progress)
    return to_grown(grown, training.values.shape[1], training.n_classes, options.n_trees)


def grow_random_forest(
    training: Training, options: RandomGrowOptions, progress: Callable[[int], object] | None = None
) -> Grown:
    """Grow `options.n_trees` random decision trees; `progress` as in :func:`grow_forest`.

    Leaves count the rows without a missing value; :func:`hedgerow.walk.tally` adds the fractions of the others.

    Parameters
    ----------
    training : Training
        Rows to grow the trees from.
    options : RandomGrowOptions
        Settings, from the `options` method.
    progress : callable or None, default=None
        Called from time to time with the number of finished trees.

    Returns
    -------
    Grown
        The forest.

    Raises
    ------
    ValueError
        If there are no labels, or a weight is not positive.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.growth import RandomGrowth, Training, grow_random_forest
    >>> rows = Training(
    ...     np.array([[1.0], [2.0]]), np.zeros(1, np.int32), np.ones(2), np.array([0, 1], np.int32), n_classes=2
    ... )
    >>> grow_random_forest(rows, RandomGrowth().options(n_rows=2, n_trees=3, seed=0)).forest.n_trees
    3
    """
    if training.labels is None:
        raise ValueError("random decision trees need labels")
    if not (training.sample_weight > 0).all():
        raise ValueError("random decision trees need positive weights: leave rows of weight 0 out")
    grown = grow_random(
        training.values,
        training.n_categories,
        training.sample_weight,
        training.labels,
        training.n_classes,
        options,
        progress,
    )
    return to_grown(grown, training.values.shape[1], training.n_classes, options.n_trees)


def to_grown(grown: dict[str, Any], n_features: int, n_classes: int, n_trees: int) -> Grown:
    """Wrap the core's arrays, read-only; without classes the leaves have targets."""
    arrays: dict[str, Any] = grown["forest"]
    leaf_values, count_of = arrays.pop("leaf_values"), grown["count_of"]
    if not n_classes:
        leaves: dict[str, Any] = {"leaf_stats": leaf_values.reshape(-1, 3)}
    elif count_of is None:
        leaves = {"leaf_counts": leaf_values.reshape(-1, n_classes)}
    else:
        counts = grown["distinct_counts"].reshape(-1, n_classes)
        leaves = {"distinct_counts": DistinctCounts(counts, count_of)}
    forest = Forest.trusted(n_features=n_features, **arrays, **leaves)
    kept = [grown[name] for name in ("in_bag", "leaf_rows_start", "leaf_rows", "leaf_row_weights")]
    for array in kept:
        array.flags.writeable = False
    in_bag, *leaf_rows = kept
    return Grown(forest, in_bag.reshape(n_trees, -1), *leaf_rows)
