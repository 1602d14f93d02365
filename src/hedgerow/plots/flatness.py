"""Why a picture of a tree is the same everywhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hedgerow.forest.forest import Forest
from hedgerow.forest.kinds import NodeKind
from hedgerow.plots.labels import literal_label

__all__ = ["why_flat"]

_ROUNDING = 1e-12


def why_flat(values: NDArray[np.float64], forest: Forest, features: Sequence[int], names: Sequence[str]) -> str | None:
    """A sentence for values that are all equal, drawn over these columns of a single tree; None where they differ."""
    if np.ptp(values) > _ROUNDING * np.abs(values).max():
        return None
    if forest.n_leaves == 1:
        return "all values are equal:\nthe tree has one leaf"
    drawn = " or ".join(literal_label(names[j]) for j in features)
    if not (np.isin(forest.feature, features).any() or (forest.kind == NodeKind.OBLIQUE).any()):
        return f"all values are equal:\nthe tree does not split on {drawn}"
    return f"all values are equal:\nno split on {drawn} changes the answer here"
