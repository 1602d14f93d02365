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

__all__ = ["Grown", "grow_forest", "grow_random_forest"]


@dataclass(frozen=True)
class Grown:
    """A forest and, if they were kept, the rows in each tree's bag and in each leaf."""

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
    """Grow `options.n_trees` trees; `progress` is called from time to time with the number of finished trees."""
    grown = grow(*training.arrays, options, progress)
    return _to_grown(grown, training, options.n_trees)


def grow_random_forest(
    training: Training, options: RandomGrowOptions, progress: Callable[[int], object] | None = None
) -> Grown:
    """Grow `options.n_trees` random decision trees; `progress` as in :func:`grow_forest`.

    Leaves count the rows without a missing value; :func:`hedgerow.walk.tally` adds the fractions of the others.
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
    return _to_grown(grown, training, options.n_trees)


def _to_grown(grown: tuple[NDArray[Any], ...], training: Training, n_trees: int) -> Grown:
    """Wrap the core's arrays, read-only."""
    (nodes, weight, payload, kind, missing, payload_start, payload_codes, leaf_values) = grown[:8]
    (tree_start, leaf_start, count_of, distinct_counts) = grown[8:12]
    (in_bag, leaf_rows_start, leaf_rows, leaf_row_weights) = grown[12:]
    regression = training.targets is not None
    leaves = leaf_values.reshape(-1, 3 if regression else training.n_classes)
    shared = DistinctCounts(distinct_counts.reshape(-1, training.n_classes), count_of) if len(count_of) else None
    forest = Forest.from_core(
        training.values.shape[1],
        nodes,
        weight=weight,
        payload=payload,
        kind=kind,
        missing=missing,
        tree_start=tree_start,
        leaf_start=leaf_start,
        payload_start=payload_start,
        payload_codes=payload_codes,
        payload_weights=np.zeros(0),
        leaf_counts=None if regression else leaves,
        leaf_stats=leaves if regression else None,
        shared_counts=shared,
    )
    for array in (in_bag, leaf_rows_start, leaf_rows, leaf_row_weights):
        array.flags.writeable = False
    return Grown(forest, in_bag.reshape(n_trees, -1), leaf_rows_start, leaf_rows, leaf_row_weights)
