"""Rows out of the bags of trees: some of them in one place, to calibrate by, and sums over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats, Whole
from hedgerow.distributed.rows.row_blocks import RowBlock
from hedgerow.distributed.tree_growth.population import Population
from hedgerow.estimators.fitting.bagging import OutOfBag
from hedgerow.forest.forest import Forest
from hedgerow.growth.poisson import PoissonDraws, rows_digest

__all__ = ["Bags", "KeptRows", "Overview", "look_over", "merge_overviews"]


@dataclass(frozen=True)
class Bags:
    """Which rows are in the bag of each tree."""

    draws: PoissonDraws
    only: tuple[bool, ...]
    """Trees whose bags are a single row."""

    def mask(self, numbers: Whole, weight: Floats) -> NDArray[np.uint8]:
        """Bit mask of rows in the bag of each tree, (n_trees, ceil(n / 8)), given their numbers and weights."""
        used = weight > 0
        packed = np.zeros((len(self.only), -(-len(numbers) // 8)), np.uint8)
        for tree, only in enumerate(self.only):
            if only:
                drawn = used & (numbers == self.draws.only_row(tree))
            else:
                drawn = used & (self.draws.counts_of(tree, numbers, weight) > 0)
            packed[tree] = np.packbits(drawn, bitorder="little")
        return packed

    def of(self, forest: Forest, X: Floats, numbers: Whole, weight: Floats, n_jobs: int | None) -> OutOfBag:
        """Rows with the trees that have not seen them."""
        return OutOfBag(forest, np.ascontiguousarray(X), self.mask(numbers, weight), n_jobs)


@dataclass(frozen=True)
class KeptRows:
    """Rows in one place, in order."""

    at: Whole
    """Numbers among all rows."""
    numbers: Whole
    """Numbers among those of positive weight."""
    X: Floats
    target: NDArray[Any]
    weight: Floats

    @classmethod
    def concatenate(cls, several: Sequence[KeptRows]) -> KeptRows:
        """Rows of several, by their numbers."""
        arrays = [
            np.concatenate([getattr(rows, name) for rows in several])
            for name in ("at", "numbers", "X", "target", "weight")
        ]
        order = np.argsort(arrays[0], kind="stable")
        return cls(*(array[order] for array in arrays))


@dataclass(frozen=True)
class Overview:
    """Result of a pass after growth."""

    kept: KeptRows
    digest: int
    """Sum of the hashes of the rows of positive weight, modulo 2**64."""
    class_weight: Floats
    """Weight of each class; empty for regression."""


def look_over(block: RowBlock, population: Population, step: int, n_classes: int) -> Overview:
    """Every `step`-th row of a part, and sums over all of them."""
    at = np.arange(-block.first % step, len(block), step)
    numbers = population.numbers(block)[at]
    kept = KeptRows(block.first + at, numbers, block.X[at], block.target[at], block.weight[at])
    rows = population.used(block)
    digest = rows_digest(rows.first, [*rows.X.T, rows.weight, rows.target], len(rows))
    weight = np.zeros(n_classes)
    if n_classes:
        weight += np.bincount(block.target, block.weight, n_classes)
    return Overview(kept, digest, weight)


def merge_overviews(one: Overview, other: Overview) -> Overview:
    """The overview of both parts."""
    kept = KeptRows.concatenate([one.kept, other.kept])
    return Overview(kept, (one.digest + other.digest) % 2**64, one.class_weight + other.class_weight)
