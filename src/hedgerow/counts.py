"""Class counts of leaves, as users hand them in."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["as_numbers", "check_counts"]

Floats = NDArray[np.float64]


def as_numbers(name: str, given: ArrayLike) -> Floats:
    """An array of float64, or an error that says what is none."""
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is {given!r}, must be an array of numbers ({error})") from None


def check_counts(counts: ArrayLike, *, of_trees: bool = False) -> Floats:
    """Counts as float64 (…, n_classes), `of_trees` (…, n_trees, n_classes), or a clear error."""
    leaves = as_numbers("counts", counts)
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
