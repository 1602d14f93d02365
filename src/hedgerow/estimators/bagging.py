"""Bags: which rows each tree is grown from, and what the trees say about the rows that they have not seen."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.forest import Forest
from hedgerow.walk import LeafTable, fold

__all__ = ["n_draws", "out_of_bag"]

Floats = NDArray[np.float64]


def n_draws(bootstrap: Any, max_samples: Any, oob_score: Any, sample_weight: Floats) -> int:
    """Rows drawn for each tree; 0 without bootstrap. A fraction is one of the sum of weights, as in scikit-learn."""
    if not bootstrap:
        if oob_score:
            raise ValueError("oob_score needs bootstrap=True: without it every tree has seen every row")
        if max_samples is not None:
            raise ValueError(f"max_samples is {max_samples!r}, but bootstrap=False draws no rows: set it to None")
        return 0
    if max_samples is None:
        return len(sample_weight)
    if isinstance(max_samples, Integral) and not isinstance(max_samples, bool) and int(max_samples) >= 1:
        return int(max_samples)
    if isinstance(max_samples, Real) and not isinstance(max_samples, Integral) and 0 < float(max_samples) <= 1:
        return max(1, int(float(max_samples) * float(sample_weight.sum())))
    raise ValueError(
        f"max_samples is {max_samples!r}, must be a whole number of at least 1, a fraction in (0, 1], or None for as "
        "many as there are rows"
    )


def out_of_bag(
    forest: Forest, X: Floats, in_bag: NDArray[np.uint8], used: NDArray[np.bool_], table: LeafTable, n_jobs: int | None
) -> Floats:
    """The mean of a table over the trees that have not seen a row, (n_rows, m); NaN, said so, where all have.

    `in_bag` has a bit for each of the `used` rows; a row that was not used has been seen by no tree.
    """
    skip = np.zeros((forest.n_trees, -(-len(X) // 8)), dtype=np.uint8)
    places = np.flatnonzero(used)
    for tree, bits in enumerate(in_bag):  # tree by tree: a byte for each row and tree would be eight times the memory
        seen = np.zeros(len(X), dtype=bool)
        seen[places] = np.unpackbits(bits, count=len(places), bitorder="little").astype(bool)
        skip[tree] = np.packbits(seen, bitorder="little")
    n_used = np.zeros(len(X), dtype=np.int64)
    total = fold(forest, X, [table], skip=skip, n_used=n_used, n_jobs=n_jobs)[0]
    never = int((n_used == 0).sum())
    if never:
        warnings.warn(
            f"{never} of {len(X)} rows are in the bag of every tree and have no out-of-bag prediction (NaN): "
            "grow more trees",
            stacklevel=4,
        )
    return np.where(n_used[:, np.newaxis] > 0, total / np.maximum(n_used, 1)[:, np.newaxis], np.nan)
