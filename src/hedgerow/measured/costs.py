"""Which column's error costs most."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hedgerow.measured.laws import CategoryLaw, ColumnLaw
from hedgerow.measured.soft_membership import Regions, region_factors

__all__ = ["error_costs"]

Floats = NDArray[np.float64]


def error_costs(regions: Regions, values: Floats, laws: Sequence[ColumnLaw], rows: Floats, sigma: Floats) -> Floats:
    """The mean over rows of Var(E[f(U) | x, U_j] | x) for each column j, (n_features,).

    f is the value of the region that U is in; `values` is (k, n_outputs), whose variances are added up. Answering with
    E[f(U) | x] has the squared error Var(f(U) | x); were U_j known too, the error would be lower by this much (law of
    total variance). Columns work together, so that all of them exact may save more than the sum.
    """
    factors = [region_factors(regions, law, j, rows[:, j], sigma[:, j]) for j, law in enumerate(laws)]
    costs = np.zeros(len(laws))
    for j, law in enumerate(laws):
        if factors[j] is None or isinstance(law, CategoryLaw) or not sigma[:, j].any():
            continue
        rest = np.ones((len(rows), len(regions)))
        for other in (factor for i, factor in enumerate(factors) if i != j and factor is not None):
            rest *= other
        lower, upper = regions.bounds[:, j].T
        ends = np.unique(np.concatenate([lower, upper]))
        pieces = Regions(_pieces(ends, regions.bounds.shape[1], j), {})
        masses = region_factors(pieces, law, j, rows[:, j], sigma[:, j])
        assert masses is not None
        covers = (lower <= ends[:-1, np.newaxis]) & (upper >= ends[1:, np.newaxis])  # (pieces, k)
        for output in values.T:
            expected = rest @ (covers * output).T  # E[f | x, U_j in a piece]
            mean = (masses * expected).sum(axis=1, keepdims=True)
            costs[j] += float((masses * (expected - mean) ** 2).sum(axis=1).mean())
    return costs


def _pieces(ends: Floats, n_features: int, feature: int) -> Floats:
    bounds = np.empty((len(ends) - 1, n_features, 2))
    bounds[...] = -np.inf, np.inf
    bounds[:, feature, 0], bounds[:, feature, 1] = ends[:-1], ends[1:]
    return bounds
