"""Rows that are chosen by their global number and brought to one place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats, Whole
from hedgerow.distributed.rows.row_blocks import RowBlock
from hedgerow.distributed.rows.row_hash import hash_rows

__all__ = ["LeastHashes", "SomeRows", "merge_rows", "sample_rows", "thin_rows"]


@dataclass(frozen=True)
class SomeRows:
    """Rows with their global numbers, in any order."""

    numbers: Whole
    X: Floats
    target: NDArray[Any]
    weight: Floats

    def __len__(self) -> int:
        return len(self.numbers)

    def take(self, at: NDArray[Any]) -> SomeRows:
        """Some of the rows."""
        return SomeRows(self.numbers[at], self.X[at], self.target[at], self.weight[at])

    def sorted(self) -> SomeRows:
        """The rows in the order of their numbers."""
        return self.take(np.argsort(self.numbers))


def sample_rows(block: RowBlock, most: int, seed: int) -> SomeRows:
    """The rows of positive weight whose numbers have the least hashes."""
    used = np.flatnonzero(block.weight > 0)
    if len(used) > most:
        hashes = hash_rows(block.first + used, seed)
        used = used[np.argpartition(hashes, most - 1)[:most]]
    return SomeRows(*block.take(used))


def thin_rows(block: RowBlock, step: int) -> SomeRows:
    """The rows whose numbers are multiples of `step`."""
    return SomeRows(*block.take(np.arange(-block.first % step, len(block), step)))


def merge_rows(one: SomeRows, other: SomeRows) -> SomeRows:
    """All rows of both."""
    return SomeRows(
        np.concatenate([one.numbers, other.numbers]),
        np.concatenate([one.X, other.X]),
        np.concatenate([one.target, other.target]),
        np.concatenate([one.weight, other.weight]),
    )


@dataclass(frozen=True)
class LeastHashes:
    """Merge two samples to the sample of both; the same rows for every division into parts."""

    most: int
    seed: int

    def __call__(self, one: SomeRows, other: SomeRows) -> SomeRows:
        both = merge_rows(one, other)
        if len(both) <= self.most:
            return both
        return both.take(np.argpartition(hash_rows(both.numbers, self.seed), self.most - 1)[: self.most])
