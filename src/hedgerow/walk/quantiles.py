"""Quantiles of a regression forest, from the training targets in its leaves.

A quantile regression forest (Meinshausen, Quantile Regression Forests, 2006) estimates the whole distribution of y
given x: F(y|x) is the weighted share of training targets up to y, where every tree gives its leaf the same weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow._core import quantiles as core_quantiles
from hedgerow._params import check_number
from hedgerow._rebuild import reduce_to_constructor
from hedgerow._registry import register
from hedgerow.forest.forest import Forest
from hedgerow.walk.walks import check_rows, n_threads

__all__ = ["LeafSamples", "central_interval", "predict_quantiles"]


_DTYPES = {"start": np.int64, "ranks": np.int32, "shares": np.float64, "values": np.float64}
_ROUNDING = 1e-9  # of shares that add up to 1


@partial(register, name="hedgerow.LeafSamples")
@dataclass(frozen=True, eq=False)
class LeafSamples:
    """Training targets of each leaf: flat arrays plus offsets, as ranks among the distinct targets.

    A row that was drawn twice is listed twice, so all samples of a leaf weigh the same and `shares` is empty: half the
    memory, which limits the speed. With other weights `shares` is each sample's fraction of its leaf.
    """

    start: NDArray[np.int64]
    ranks: NDArray[np.int32]
    shares: NDArray[np.float64]
    values: NDArray[np.float64]

    def __post_init__(self) -> None:
        """Check what the core relies on."""
        for name, dtype in _DTYPES.items():
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
                raise ValueError(f"leaf samples: {name} must be a 1-D {np.dtype(dtype)} array")
            if not array.size and name != "shares":
                raise ValueError(f"leaf samples: {name} is empty")
        start, n_samples = self.start, len(self.ranks)
        if start[0] != 0 or start[-1] != n_samples or (start[1:] <= start[:-1]).any():
            raise ValueError(f"leaf samples: start must increase from 0 to {n_samples}")
        if not 0 <= self.ranks.min() <= self.ranks.max() < len(self.values):
            raise ValueError("leaf samples: each sample needs a rank among the values")
        if not np.isfinite(self.values).all() or (self.values[1:] <= self.values[:-1]).any():
            raise ValueError("leaf samples: values must be finite and increase")
        if not self.shares.size:
            return
        if len(self.shares) != n_samples:
            raise ValueError(f"leaf samples: shares must be empty, or one for each of {n_samples} samples")
        totals = np.add.reduceat(self.shares, start[:-1]) if self.shares.min() >= 0 else start
        if not (np.abs(totals - 1.0) < _ROUNDING).all():
            raise ValueError("leaf samples: the shares of each leaf must not be negative, and add up to 1")

    __reduce__ = reduce_to_constructor

    @classmethod
    def of(
        cls,
        start: NDArray[np.int64],
        rows: NDArray[np.int32],
        weights: NDArray[np.float64],
        targets: NDArray[np.float64],
    ) -> LeafSamples:
        """Samples of leaves from their training rows and weights, leaf i having start[i] .. start[i + 1]."""
        values, rank_of_row = np.unique(targets + 0.0, return_inverse=True)  # -0.0 is 0.0
        ranks = rank_of_row.astype(np.int32)[rows]
        found = np.zeros(len(values), bool)
        found[ranks] = True
        if not found.all():
            values, ranks = values[found], (np.cumsum(found, dtype=np.int32) - np.int32(1))[ranks]
        return cls.of_ranks(start, ranks, weights, values)

    @classmethod
    def of_ranks(
        cls,
        start: NDArray[np.int64],
        ranks: NDArray[np.int32],
        weights: NDArray[np.float64],
        values: NDArray[np.float64],
    ) -> LeafSamples:
        """Samples of leaves from ranks among distinct values, and weights; each value occurs."""
        totals = np.add.reduceat(weights, start[:-1])
        if weights.sum() <= 2 * len(ranks) and (weights == np.floor(weights)).all():
            start = np.concatenate([[0], np.cumsum(totals.astype(np.int64))])
            return cls(start, np.repeat(ranks, weights.astype(np.int64)), np.zeros(0), values)
        return cls(start, ranks, weights / np.repeat(totals, np.diff(start)), values)


def predict_quantiles(
    forest: Forest,
    samples: LeafSamples,
    X: NDArray[np.float64],
    q: ArrayLike,
    *,
    skip: NDArray[np.uint8] | None = None,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Smallest training target y with F(y|x) ≥ q, (n_rows, len(q)).

    `skip` is a bit mask of rows to leave out of each tree, as in :func:`hedgerow.walk.fold`; rows that all trees leave
    out get the smallest target of all.
    """
    check_rows(forest, X)
    probabilities = np.atleast_1d(np.asarray(q, dtype=np.float64))
    if probabilities.ndim != 1 or not ((probabilities >= 0) & (probabilities <= 1)).all():
        raise ValueError(f"q is {q!r}, must be one or several numbers in [0, 1]")
    order = np.argsort(probabilities, kind="stable")
    found = np.empty((len(X), len(probabilities)))
    core_quantiles(
        forest.core_with_weight,
        X,
        samples.start,
        samples.ranks,
        samples.shares,
        samples.values,
        probabilities[order],
        skip,
        found,
        n_threads(n_jobs),
    )
    out = np.empty_like(found)
    out[:, order] = found
    return out


def central_interval(coverage: Any) -> tuple[float, float]:
    """Probabilities of the lower and upper end of the central interval of a coverage."""
    share = check_number("coverage", coverage, 0, 1, hint=", for example 0.9")
    return (1 - share) / 2, (1 + share) / 2
