"""Poisson bootstrap: every row is drawn for every tree on its own, as a hash of (seed, tree, number of the row) says.

A multinomial bag of n draws is a Poisson bag of n draws on average, given that there are n. Since no draw depends on
another row, rows may be anywhere: a forest that is grown on several machines has the bags of one that is not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow._core import GrowOptions, child_key, only_row, poisson_counts
from hedgerow._hashing import GOLDEN_GAMMA, mix

__all__ = ["PoissonDraws", "round_targets", "rows_digest", "tree_key"]

_VALUES_AT_ONCE = 1 << 18
_BITS = 52  # of whole numbers that doubles add up exactly
_NAN = np.uint64(0x7FF8000000000000)


def tree_key(seed: int, tree: int) -> int:
    """Address of a tree's draws."""
    return child_key(seed, tree)


@dataclass(frozen=True)
class PoissonDraws:
    """How often rows are drawn: `n_draws` in all, on average, in proportion to their weights."""

    seed: int
    n_draws: int
    n_rows: int
    """All rows of positive weight."""
    total: float
    """Sum of their weights."""

    def counts(self, tree: int, first: int, n_rows: int, weight: Floats | None = None) -> NDArray[np.uint32]:
        """How often each row of a block is drawn for a tree; `first` is the number of the block's first row."""
        counts = np.empty(n_rows, np.uint32)
        poisson_counts(tree_key(self.seed, tree), first, None, self.n_draws / self.total, weight, counts)
        return counts

    def counts_of(self, tree: int, numbers: NDArray[np.int64], weight: Floats | None = None) -> NDArray[np.uint32]:
        """How often rows with these numbers are drawn for a tree."""
        counts = np.empty(len(numbers), np.uint32)
        poisson_counts(tree_key(self.seed, tree), 0, numbers, self.n_draws / self.total, weight, counts)
        return counts

    def only_row(self, tree: int) -> int:
        """The one row in the bag of a tree for which no row was drawn."""
        return only_row(tree_key(self.seed, tree), self.n_rows)


def round_targets(options: GrowOptions, least: float, greatest: float) -> None:
    """Let growth round targets, for the choice of splits alone, so that sums of drawn targets are exact.

    They are rounded to 2**-52 of their range times the number of draws: to 32 bits for a million rows.
    """
    centre = least / 2 + greatest / 2
    _, exponent = np.frexp(max(greatest - centre, centre - least))
    draws = (2 * options.n_draws + 1024).bit_length()  # more are drawn with a probability below 1e-300
    options.round_targets(centre, float(np.ldexp(1.0, exponent)), float(np.ldexp(1.0, exponent + draws - _BITS)))


def rows_digest(first: int, columns: Iterable[NDArray[np.generic]], n_rows: int) -> int:
    """Sum of a hash of each row and its number: of several blocks it is the sum of theirs, modulo 2**64.

    `columns` has all that is hashed of the rows, an array each; `first` is the number of the first row.
    """
    of_row = mix(np.arange(first + 1, first + n_rows + 1).astype(np.uint64) * GOLDEN_GAMMA)
    for column in columns:
        numbers = np.asarray(column, dtype=np.float64) + 0.0  # -0.0 is 0.0
        of_row = mix(of_row ^ np.where(np.isnan(numbers), _NAN, numbers.view(np.uint64)))
    return int(of_row.sum(dtype=np.uint64))
