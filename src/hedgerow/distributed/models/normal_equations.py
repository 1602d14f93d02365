"""Normal equations of a tree of soft regions, as sums over rows that are exact in any order.

Least squares needs PᵀWP and PᵀWy alone, of memberships P, weights W and targets y. Each row becomes a few whole
numbers of at most 21 bits: its memberships, 1 and its targets, times the root of its weight, in units of 2⁻²⁰. Products
of 4,096 such rows add up exactly in doubles, and those sums in two integers each, so that neither parts nor their order
change a bit. Targets and their squares have two such numbers each, and so 40 bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow.distributed.rows.row_blocks import RowBlock
from hedgerow.measured.errors.error_sizes import ErrorSizes
from hedgerow.measured.laws.column_laws import ColumnLaw
from hedgerow.measured.laws.joint_law import JointLaw
from hedgerow.measured.regions import Regions, joint_membership

__all__ = ["NormalSums", "RowTerms", "add_up_rows"]

_BITS = 20
_ONE = 2.0**_BITS
_ROWS_AT_ONCE = 1 << 12  # 2**12 products of 2**40 stay below 2**53
_LOW_BITS = 26

Sums = dict[str, NDArray[np.int64]]


@dataclass(frozen=True)
class RowTerms:
    """How a row becomes whole numbers: memberships, 1, and its class or its scaled target and the square of that."""

    regions: Regions
    laws: Sequence[ColumnLaw]
    sizes: ErrorSizes
    names: tuple[str, ...]
    heaviest: float
    """Largest weight."""
    n_classes: int
    """0 for regression."""
    centre: float = 0.0
    reach: float = 1.0
    """Targets are within `centre` ± `reach`."""

    def of(self, X: Floats, target: NDArray[np.generic], weight: Floats) -> Floats:
        """Whole numbers of at most 2**20, (n, m)."""
        X = np.asfortranarray(X)
        joint = JointLaw(self.laws, self.sizes.pairs)
        shares = joint_membership(self.regions, joint, X, self.sizes.of_rows(X, self.names))
        root = np.sqrt(weight / self.heaviest)
        one = np.rint(root * _ONE)[:, np.newaxis]
        terms = [np.rint(root[:, np.newaxis] * shares * _ONE), one]
        if self.n_classes:
            terms.append(one * np.eye(self.n_classes)[target.astype(np.intp)])
        else:
            scaled = (target.astype(np.float64) - self.centre) / self.reach
            for value in (scaled, scaled**2):
                fine = np.rint(root * value * _ONE**2)
                coarse = np.floor(fine / _ONE)
                terms += [coarse[:, np.newaxis], (fine - coarse * _ONE)[:, np.newaxis]]
        return np.concatenate(terms, axis=1)


def add_up_rows(block: RowBlock, terms: RowTerms) -> Sums:
    """Products of the terms of the rows of a part, in two integers each: high · 2**26 + low."""
    size = len(terms.regions) + 1 + (terms.n_classes or 4)
    high, low = np.zeros((size, size), np.int64), np.zeros((size, size), np.int64)
    for first in range(0, len(block), _ROWS_AT_ONCE):
        rows = slice(first, first + _ROWS_AT_ONCE)
        used = block.weight[rows] > 0
        found = terms.of(block.X[rows][used], block.target[rows][used], block.weight[rows][used])
        products = (found.T @ found).astype(np.int64)
        high += products >> _LOW_BITS
        low += products & ((1 << _LOW_BITS) - 1)
    return {"high": high, "low": low}


class NormalSums:
    """Sums over all rows, per unit of weight: `gram` PᵀWP, `mass` PᵀW1, `products` PᵀWy, `mean` of y.

    Targets of regression are scaled, and `squares` is PᵀWy² of them.
    """

    def __init__(self, sums: Sums, terms: RowTerms) -> None:
        whole = (sums["high"].astype(object) << _LOW_BITS) + sums["low"]
        found: Floats = whole.astype(np.float64)
        k = len(terms.regions)
        self.total = float(found[k, k]) / _ONE**2 * terms.heaviest
        """Sum of the weights."""
        found = found / found[k, k]
        self.gram, self.mass = found[:k, :k], found[:k, k]
        if terms.n_classes:
            self.products, self.mean = found[:k, k + 1 :], found[k, k + 1 :]
            return
        coarse, fine = found[: k + 1, [k + 1, k + 3]], found[: k + 1, [k + 2, k + 4]]
        joined = coarse + fine / _ONE
        self.products, self.mean = joined[:k, :1], joined[k, :1]
        self.squares: Floats = joined[:k, 1]
