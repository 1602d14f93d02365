"""Which training rows an estimate looks at: all, those at the same separator, or those in the same leaf."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._params import check_choice
from hedgerow.boundary.walls import Nearest, Walls

__all__ = ["groups", "n_groups", "partition"]

Groups = NDArray[np.int64]

# How many subsets there are, and which one each part is in for each class (-1: none).
_PARTITIONS: dict[str, tuple[Callable[[Walls], int], Callable[[Walls, Nearest], Groups]]] = {
    "global": (lambda walls: 0, lambda walls, nearest: np.full(nearest.distance.shape, -1, dtype=np.int64)),
    "separator": (lambda walls: walls.n_separators, lambda walls, nearest: walls.separator_numbers(nearest)),
    "leaf": (
        lambda walls: walls.forest.n_leaves,
        lambda walls, nearest: np.repeat(nearest.parts.leaves[:, np.newaxis], nearest.distance.shape[1], axis=1).astype(
            np.int64
        ),
    ),
}


def partition(given: Any) -> str:
    """The name of a partition, or a clear error."""
    return check_choice("partition", given, _PARTITIONS)


def n_groups(name: str, walls: Walls) -> int:
    """How many subsets a partition has, beside the whole."""
    return _PARTITIONS[name][0](walls)


def groups(name: str, walls: Walls, nearest: Nearest) -> Groups:
    """The subset of each part for each class, (n_parts, n_classes); -1 where it is in none.

    "separator" is section 5.1 of the paper: rows whose projection lies on the same piece of hyperplane; of several
    classes, the projection onto the boundary of each.
    """
    return _PARTITIONS[name][1](walls, nearest)
