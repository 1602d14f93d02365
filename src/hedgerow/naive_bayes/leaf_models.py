"""Naive Bayes classifiers of all leaves, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats, Whole
from hedgerow._rebuild import reduce_to_constructor
from hedgerow._registry import register
from hedgerow.naive_bayes.discretisation import discretise
from hedgerow.naive_bayes.groups import Examples, Groups, sum_weights
from hedgerow.naive_bayes.likelihoods import Gaussian, Numeric, fit_normals, log_density, log_prior, log_shares

__all__ = ["LeafModels"]

_LEAST_LOG = -750.0  # of the least float64 above 0
_SHAPES = {
    "log_prior": (np.float64, 2),
    "slot_start": (np.int64, 1),
    "edge": (np.float64, 1),
    "log_share": (np.float64, 2),
    "nominal": (np.bool_, 1),
    "scale": (np.float64, 1),
    "mean": (np.float64, 3),
    "deviation": (np.float64, 3),
}


@partial(register, name="hedgerow.naive_bayes.LeafModels")
@dataclass(frozen=True, eq=False)
class LeafModels:
    """Naive Bayes parameters of each leaf.

    The slots of column j in leaf l are slot_start[l·n_features + j] .. slot_start[l·n_features + j + 1]: intervals, by
    their upper edges (inclusive), or categories, by their codes.

    Parameters
    ----------
    slot_start : int array
        Where each column's numbers begin.
    edge : array
        Edges of the intervals of numeric columns.

    Examples
    --------
    >>> from hedgerow import NaiveBayesTreeClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> models = NaiveBayesTreeClassifier(random_state=0).fit(X, y).leaf_models_
    >>> models.log_prior.shape
    (1, 3)
    """

    log_prior: Floats
    """(n_leaves, n_classes): log((n_c + 1)/(n + C))."""
    slot_start: Whole
    edge: Floats
    log_share: Floats
    """(n_slots, n_classes): log((n_sc + 1)/(n_c + V))."""
    nominal: NDArray[np.bool_]
    """(n_features,): whether slots are categories."""
    scale: Floats
    """(n_features,): unit of means and deviations."""
    mean: Floats
    """(n_leaves, n_features, n_classes) with Gaussian densities, else (n_leaves, 0, n_classes)."""
    deviation: Floats
    """Shaped like `mean`; NaN where a column is uninformative."""

    @classmethod
    def of(cls, examples: Examples, leaves: Groups, numeric: Numeric) -> LeafModels:
        """Estimate the parameters; each group is a leaf.

        Parameters
        ----------
        examples : Examples
            Training rows.
        leaves : Groups
            Rows of each leaf.
        numeric : str or an instance
            How numeric columns are modelled.

        Returns
        -------
        LeafModels
            The parameters.
        """
        n_leaves, n_features, n_classes = leaves.n_groups, examples.n_features, examples.n_classes
        normal = numeric.normal(examples.n_categories)
        chosen = ~normal[leaves.entry_column]
        slots = discretise(examples, leaves, chosen)
        at = leaves.entry_at[chosen]
        key = slots.entry_slot * n_classes + examples.labels[leaves.row[at]]
        counts = sum_weights(key, leaves.weight[at], (len(slots.pair), n_classes))
        shape = (n_leaves, n_features if normal.any() else 0, n_classes)
        mean, deviation = np.zeros(shape), np.full(shape, np.nan)
        if isinstance(numeric, Gaussian):
            for column in np.flatnonzero(normal):
                x = examples.values[leaves.row, column] / examples.scales[column]
                known = ~np.isnan(x)
                cell = (leaves.group * n_classes + examples.labels[leaves.row])[known]
                normals = fit_normals(x[known], leaves.weight[known], cell, (n_leaves, n_classes))
                mean[:, column], deviation[:, column] = normals.densities(numeric.smoothing)
        return cls(
            log_prior(leaves.class_counts(examples)),
            np.searchsorted(slots.pair, np.arange(n_leaves * n_features + 1)),
            slots.edge,
            log_shares(counts, slots.pair),
            examples.n_categories > 0,
            examples.scales,
            mean,
            deviation,
        )

    def __post_init__(self) -> None:
        """Check what predictions rely on."""
        for name, (dtype, n_dim) in _SHAPES.items():
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != n_dim:
                raise ValueError(f"leaf models: {name} must be a {n_dim}-D {np.dtype(dtype)} array")
        (n_leaves, n_classes), n_features, n_slots = self.log_prior.shape, len(self.nominal), len(self.edge)
        start = self.slot_start
        if len(start) != n_leaves * n_features + 1 or start[0] != 0 or start[-1] != n_slots:
            raise ValueError(f"leaf models: slot_start must run from 0 to {n_slots}, over all leaves and columns")
        if (start[1:] < start[:-1]).any():
            raise ValueError("leaf models: slot_start must not decrease")
        if self.log_share.shape != (n_slots, n_classes) or self.scale.shape != (n_features,):
            raise ValueError("leaf models: log_share must have a row for each slot, scale a number for each column")
        if self.mean.shape != self.deviation.shape or self.mean.shape not in (
            *((n_leaves, 0, n_classes), (n_leaves, n_features, n_classes)),
        ):
            raise ValueError("leaf models: mean and deviation must be of all leaves, columns and classes, or of none")
        for name in ("log_prior", "log_share"):
            logs = getattr(self, name)
            if not ((logs >= _LEAST_LOG) & (logs <= 0)).all():
                raise ValueError(f"leaf models: {name} must be logarithms of probabilities")
        if np.isnan(self.edge).any() or not np.isfinite(self.mean).all():
            raise ValueError("leaf models: edges must be numbers, and means finite")
        if not (np.isfinite(self.scale) & (self.scale > 0)).all():
            raise ValueError("leaf models: scales must be positive and finite")
        if not (np.isnan(self.deviation) | (np.isfinite(self.deviation) & (self.deviation > 0))).all():
            raise ValueError("leaf models: deviations must be positive and finite, or NaN")

    __reduce__ = reduce_to_constructor

    @property
    def n_leaves(self) -> int:
        return len(self.log_prior)

    @property
    def n_features(self) -> int:
        return len(self.nominal)

    @property
    def n_classes(self) -> int:
        return int(self.log_prior.shape[1])

    def predict_proba(self, X: Floats, leaf: Whole) -> Floats:
        """P(c | x) ∝ P(c)·Π P(x_j | c) of each row in its leaf, (n, n_classes).

        Missing values, and categories not seen in the leaf, are left out of the product.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Rows, converted.
        leaf : array of shape (n_samples,)
            Leaf of each row.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities.
        """
        scores = self.log_prior[leaf]
        densities = self.mean.shape[1] > 0
        table = np.concatenate([self.log_share, np.zeros((1, self.n_classes))])
        for column in range(self.n_features):
            x = X[:, column]
            scores += table[self._slot(x, leaf * self.n_features + column, bool(self.nominal[column]))]
            if densities and not self.nominal[column]:
                with np.errstate(over="ignore"):
                    scaled = np.clip(x / self.scale[column], -np.finfo(np.float64).max, np.finfo(np.float64).max)
                scores += log_density(scaled, self.mean[leaf, column], self.deviation[leaf, column])
        shares: Floats = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        return shares

    def _slot(self, x: Floats, pair: Whole, nominal: bool) -> Whole:
        """Find the slot of each value by binary search; the number of slots where there is none."""
        low, end = self.slot_start[pair], self.slot_start[pair + 1]
        high, none = end.copy(), len(self.edge)
        if not none:
            return low
        while (searching := low < high).any():
            middle = (low + high) // 2
            below = searching & (self.edge[np.minimum(middle, none - 1)] < x)
            low = np.where(below, middle + 1, low)
            high = np.where(searching & ~below, middle, high)
        found = (low < end) & ~np.isnan(x)
        if nominal:
            found &= self.edge[np.minimum(low, none - 1)] == x
        return np.where(found, low, none)
