"""Layout of a tree of blocks of any size: no two overlap, and a parent stands at the middle of its children.

Each subtree is laid out on its own, and then moved as close to its neighbours as their outlines allow (Reingold and
Tilford, Tidier drawings of trees, 1981), for blocks that are not in layers (van der Ploeg, Drawing non-layered tidy
trees in linear time, 2014). An outline is an array over whole units of depth, so that a move is a maximum of arrays.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["tidy_positions"]

Floats = NDArray[np.float64]

_MOST_UNITS = 1500  # of an outline


def tidy_positions(
    children: Sequence[Sequence[int]], breadth: Floats, start: Floats, end: Floats, gap: float
) -> Floats:
    """Middle of each block across the tree, (n,); the least begin at 0.

    Parameters
    ----------
    children : numbers of each block's children, which follow their parent
    breadth : extent of each block across the tree
    start, end : where each block begins and ends along the tree; a block may not begin before its parent
    gap : least distance between blocks
    """
    n = len(children)
    unit = max(1.0, float(end.max()) / _MOST_UNITS)
    begin, stop = np.floor(start / unit).astype(int), np.ceil(end / unit).astype(int) + 1
    n_units = int(stop.max())
    offset = np.zeros(n)  # from the parent's middle
    outlines: dict[int, tuple[Floats, Floats]] = {}  # of finished subtrees, from their root's middle
    for node in range(n - 1, -1, -1):
        low, high = np.full(n_units, np.inf), np.full(n_units, -np.inf)
        at: list[float] = []
        for child in children[node]:
            child_low, child_high = outlines.pop(child)
            move = 0.0
            if at:
                room = high + gap - child_low
                # Without a common depth the middles still come in order.
                move = max(float(room.max()), at[-1] + gap)
            at.append(move)
            low, high = np.minimum(low, child_low + move), np.maximum(high, child_high + move)
        middle = (at[0] + at[-1]) / 2 if at else 0.0
        for child, move in zip(children[node], at, strict=True):
            offset[child] = move - middle
        low, high = low - middle, high - middle
        own = slice(begin[node], stop[node])
        low[own] = np.minimum(low[own], -breadth[node] / 2)
        high[own] = np.maximum(high[own], breadth[node] / 2)
        outlines[node] = low, high
    position = np.zeros(n)
    for node in range(n):
        for child in children[node]:
            position[child] = position[node] + offset[child]
    return position - float((position - breadth / 2).min())
