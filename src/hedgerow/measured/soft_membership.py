"""Where U may be: P(U ∈ R_k | X = x) for regions R_k, as products over the columns that bound them.

Tami et al., Decision tree for uncertainty measures (2018), section 4: columns are independent, so that P_ik is the
product over j of P(U_j ∈ R_k^j | X_j = x_ij).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.data.table import read_table
from hedgerow.forest.forest import Forest
from hedgerow.forest.kinds import NodeKind
from hedgerow.measured.laws import CategoryLaw, ColumnLaw
from hedgerow.measured.learning import learn_laws, read_error_models
from hedgerow.measured.priors import prior as prior_of
from hedgerow.measured.sizes import read_cells, read_sigma

__all__ = ["Regions", "membership", "region_factors", "region_membership"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Regions:
    """Boxes of numbers, lower < u ≤ upper, and sets of categories; both unbounded where nothing was asked.

    `bounds` is (k, n_features, 2); `members` has, for the nominal columns that were asked about, which categories are
    inside, (k, n_categories).
    """

    bounds: Floats
    members: Mapping[int, Bools]

    @classmethod
    def of_forest(cls, forest: Forest, n_categories: NDArray[np.int32]) -> Regions:
        """The regions of the leaves of its one tree."""
        members: dict[int, Bools] = {}
        inner = np.flatnonzero(np.isin(forest.kind, (NodeKind.ONE_AGAINST_REST, NodeKind.SUBSET)))
        for j in np.unique(forest.feature[inner]):
            members[int(j)] = _members(forest, int(j), int(n_categories[j]))
        return cls(forest.boxes(), members)

    def __len__(self) -> int:
        return len(self.bounds)


def _members(forest: Forest, feature: int, n_categories: int) -> Bools:
    """Top-down: the first child keeps the categories that its parent names, the second the others."""
    inside = np.ones((forest.n_nodes, n_categories), dtype=bool)
    for node in np.flatnonzero(forest.kind != NodeKind.LEAF):
        first = forest.first_child[node]
        inside[first : first + 2] = inside[node]
        if forest.feature[node] == feature:
            asked = _asked(forest, int(node), n_categories)
            inside[first] &= asked
            inside[first + 1] &= ~asked
    return inside[forest.leaf_nodes]


def _asked(forest: Forest, node: int, n_categories: int) -> Bools:
    """The categories that a node sends to its first child."""
    if forest.kind[node] == NodeKind.ONE_AGAINST_REST:
        return np.asarray(np.arange(n_categories) == forest.threshold[node])
    start, end = forest.payload_start[forest.payload[node] : forest.payload[node] + 2]
    bits = np.unpackbits(forest.payload_codes[start:end].astype("<i4").view(np.uint8), bitorder="little")
    return bits[:n_categories].astype(bool)


def region_factors(regions: Regions, law: ColumnLaw, feature: int, x: Floats, sigma: Floats) -> Floats | None:
    """P(U_j ∈ R_k^j | X_j = x), (n, k), of one column; None if no region bounds it."""
    if isinstance(law, CategoryLaw):
        members = regions.members.get(feature)
        return None if members is None else law.within(x, members)
    lower, upper = regions.bounds[:, feature].T
    at = np.unique(np.concatenate([lower[np.isfinite(lower)], upper[np.isfinite(upper)]]))
    if not len(at):
        return None
    below = np.empty((len(x), len(at) + 2))
    below[:, 0], below[:, -1] = 0.0, 1.0
    below[:, 1:-1] = law.below(x, sigma, at)
    first = np.where(np.isfinite(lower), np.searchsorted(at, lower) + 1, 0)
    last = np.where(np.isfinite(upper), np.searchsorted(at, upper) + 1, len(at) + 1)
    return below[:, last] - below[:, first]


def region_membership(regions: Regions, laws: Sequence[ColumnLaw], values: Floats, sigma: Floats) -> Floats:
    """P(U ∈ R_k | X = x), (n, k); the rows of a partition add up to 1."""
    shares = np.ones((len(values), len(regions)))
    for j, law in enumerate(laws):
        factors = region_factors(regions, law, j, values[:, j], sigma[:, j])
        if factors is not None:
            shares *= factors
    return shares


def membership(
    regions: ArrayLike,
    X: Any,
    error_model: Any = "normal",
    *,
    sigma: Any = 0.0,
    prior: Any = "flat",
    X_err: Any = None,
) -> Floats:
    """P(U ∈ R_k | X = x) of rows X (n, d) measured with error, for boxes (k, d, 2) of lower < u ≤ upper; (n, k).

    Parameters
    ----------
    regions : array-like of shape (k, d, 2)
        Infinite where a region is not bounded.
    X : table of numbers, (n, d)
    error_model, sigma, prior
        As in :class:`hedgerow.MeasuredTreeRegressor`. A prior that is not flat is learned from X.
    X_err : array-like of shape (n, d) or None
        Standard deviations of the errors of all cells, instead of `sigma`.

    Examples
    --------
    >>> import numpy as np
    >>> halves = [[[-np.inf, 0]], [[0, np.inf]]]
    >>> membership(halves, [[-1.0], [0.0], [2.0]], "normal", sigma=1.0).round(3)
    array([[0.841, 0.159],
           [0.5  , 0.5  ],
           [0.023, 0.977]])
    """
    table = read_table(X, categorical_features=None)
    bounds = np.asarray(regions, dtype=np.float64)
    if bounds.ndim != 3 or bounds.shape[1:] != (table.schema.n_features, 2):
        raise ValueError(
            f"regions has shape {bounds.shape}, must be (k, {table.schema.n_features}, 2): lower and upper bounds for "
            "each column of X"
        )
    if not (bounds[..., 0] <= bounds[..., 1]).all():
        raise ValueError("regions has a lower bound above the upper one")
    sizes = read_sigma(sigma, table.schema)
    cells = (
        sizes.of_rows(table.values, table.schema.names)
        if X_err is None
        else read_cells(X_err, table.values, table.schema)
    )
    models = read_error_models(error_model, table.schema)
    laws = learn_laws(table.values, table.schema, cells, np.ones(len(table.values)), models, prior_of(prior))
    return region_membership(Regions(bounds, {}), laws, table.values, cells)
