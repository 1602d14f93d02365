"""Growth of many soft trees, in the core.

Every split is scored by what it lowers the squared residuals of all rows by, if the values of its two parts may step
and the others stay: with v_L and v_R the parts' memberships, r the residuals and W the weights, bᵀ(G + λ)⁻¹b less what
a step of the undivided region would, where b = (v_L·Wr, v_R·Wr) and G is their Gram matrix. It is the gain of the full
least-squares problem (Tami et al., Decision tree for uncertainty measures, 2018, equation 7) but for the overlap with
other regions, which costs a tenth of the time and less; the values of all regions follow by conjugate gradients on the
full problem (equation 6).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import SoftGrowOptions, grow_soft
from hedgerow.forest.forest import Forest
from hedgerow.measured.least_squares import Problem
from hedgerow.measured.many_trees.cells import CellColumn

__all__ = ["SoftGrown", "grow_soft_trees"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SoftGrown:
    """Trees, γ of their leaves, (n_leaves, n_outputs), and the bags and fitted values, if they were kept."""

    forest: Forest
    values: Floats
    in_bag: NDArray[np.uint8]
    """Bit mask of the in-bag rows of each tree, (n_trees, ceil(n_rows / 8))."""
    fitted: Floats
    """Σ γ P(U ∈ R | x) of each training row, (n_trees, n_rows, n_outputs)."""


def grow_soft_trees(
    problem: Problem,
    columns: Sequence[CellColumn],
    options: SoftGrowOptions,
    *,
    classes: bool = False,
    progress: Callable[[int], object] | None = None,
) -> SoftGrown:
    """Grow `options.n_trees` trees; leaves hold soft class counts, or weight, γ and squared deviations from it."""
    targets = np.ascontiguousarray(problem.targets)
    grown: dict[str, Any] = grow_soft(
        [column.arrays for column in columns],
        problem.features.astype(np.int32),
        problem.weight,
        problem.precision,
        targets,
        options,
        progress,
    )
    arrays: dict[str, Any] = grown["forest"]
    n_outputs = targets.shape[1]
    found = arrays.pop("leaf_values").reshape(-1, 1 + 3 * n_outputs)
    values = np.ascontiguousarray(found[:, 1::3])
    leaves: dict[str, Any]
    if classes:
        leaves = {"leaf_counts": np.ascontiguousarray(found[:, 2::3])}
    else:
        leaves = {"leaf_stats": np.ascontiguousarray(found[:, [0, 1, 3]])}
    forest = Forest.trusted(n_features=len(columns), **arrays, **leaves)
    fitted = grown["fitted"].reshape(-1, len(targets), n_outputs)
    return SoftGrown(forest, values, grown["in_bag"].reshape(options.n_trees, -1), fitted)
