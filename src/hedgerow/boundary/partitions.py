"""Partitions of the training rows that an estimate uses: all, by separator, or by leaf."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._params import check_choice
from hedgerow.boundary.decision_boundary import DecisionBoundary, Nearest

__all__ = ["groups", "n_groups", "partition"]

Groups = NDArray[np.int64]


def _no_subsets(boundary: DecisionBoundary, nearest: Nearest) -> Groups:
    return np.full(nearest.distance.shape, -1, dtype=np.int64)


def _leaves(boundary: DecisionBoundary, nearest: Nearest) -> Groups:
    leaves = nearest.fractions.leaves[:, np.newaxis].astype(np.int64)
    return np.repeat(leaves, nearest.distance.shape[1], axis=1)


# Number of subsets, and the subset of each fraction for each class (-1: none).
_PARTITIONS: dict[str, tuple[Callable[[DecisionBoundary], int], Callable[[DecisionBoundary, Nearest], Groups]]] = {
    "global": (lambda boundary: 0, _no_subsets),
    "separator": (lambda boundary: boundary.n_separators, DecisionBoundary.separator_numbers),
    "leaf": (lambda boundary: boundary.forest.n_leaves, _leaves),
}


def partition(given: Any) -> str:
    """Check the parameter `partition`."""
    return check_choice("partition", given, _PARTITIONS)


def n_groups(name: str, boundary: DecisionBoundary) -> int:
    """Number of subsets of a partition, besides the group of all rows."""
    return _PARTITIONS[name][0](boundary)


def groups(name: str, boundary: DecisionBoundary, nearest: Nearest) -> Groups:
    """Subset of each fraction for each class, (n_fractions, n_classes); -1 for none.

    "separator" is section 5.1 of the paper: rows whose projection lies on the same piece of hyperplane; with several
    classes, the projection onto the boundary of each.
    """
    return _PARTITIONS[name][1](boundary, nearest)
