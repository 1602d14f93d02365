"""Class counts of leaves, as users hand them in."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["check_counts"]

Floats = NDArray[np.float64]


def check_counts(counts: ArrayLike, *, of_trees: bool = False) -> Floats:
    """Counts as float64 (…, n_classes), `of_trees` (…, n_trees, n_classes), or a clear error."""
    leaves = np.asarray(counts, dtype=np.float64)
    least = 2 if of_trees else 1
    if leaves.ndim < least or not all(leaves.shape[-least:]):
        shape = "(..., n_trees, n_classes)" if of_trees else "(..., n_classes)"
        raise ValueError(f"counts have shape {leaves.shape}, must have shape {shape}")
    bad = ~(np.isfinite(leaves) & (leaves >= 0))
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(f"counts{list(where)} is {leaves[where]}, must be finite and not negative")
    with np.errstate(over="ignore"):
        if not np.isfinite(leaves.sum(axis=-1)).all():
            raise ValueError("the counts of a leaf add up to infinity: divide all counts, and s, by the same number")
    return leaves
