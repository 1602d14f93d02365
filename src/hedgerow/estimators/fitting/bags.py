"""Bags that are drawn again after `fit`, and the rows that trees have not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import checksum, draw_bags
from hedgerow._params import check_whole
from hedgerow._registry import register
from hedgerow.data.training import Training
from hedgerow.walk import n_threads

__all__ = ["Bags", "UnseenRows"]

Floats = NDArray[np.float64]


class UnseenRows(NamedTuple):
    """Rows as the trees read them, what is true of them, and which of them each tree has not seen."""

    values: Floats
    """(n, n_features), row-major."""
    truth: Floats
    """Class numbers or targets, (n,)."""
    weight: Floats
    seen: NDArray[np.uint8] | None
    """Bit mask of the rows in the bag of each tree, (n_trees, ceil(n / 8)); None: none."""
    left_out: bool = False
    """Whether the rows are counted in the leaves of every tree, and each is to be left out in turn."""


@dataclass(frozen=True)
class Bags:
    """What the rows in the bag of each tree follow from, beside the training rows: a few numbers, not a byte a row."""

    seed: int
    n_draws: int
    fingerprint: str
    """Checksum of the training rows, their targets and weights."""

    def __post_init__(self) -> None:
        check_whole("Bags: seed", self.seed, 0)
        check_whole("Bags: n_draws", self.n_draws, 1)

    @classmethod
    def of(cls, training: Training, seed: int, n_draws: int) -> Bags | None:
        """Bags of the trees grown from these rows; None without a bootstrap."""
        return cls(int(seed), int(n_draws), _fingerprint(training)) if n_draws > 0 else None

    def masks(self, training: Training, n_trees: int, n_jobs: int | None) -> NDArray[np.uint8]:
        """Bit mask of the rows in the bag of each tree, (n_trees, ceil(n_rows / 8)), given the training rows again."""
        if _fingerprint(training) != self.fingerprint:
            raise ValueError(
                "X, y or sample_weight is not what the model was fitted with, which tells the rows out of each tree's "
                "bag: give the training data in the same order, or rows='all' for rows that it has not seen"
            )
        flat = draw_bags(training.sample_weight, self.n_draws, self.seed, n_trees, n_threads(n_jobs))
        return flat.reshape(n_trees, -1)


def _fingerprint(training: Training) -> str:
    truth = training.targets if training.labels is None else training.labels
    parts = (training.values.ravel(order="F"), training.sample_weight, truth)
    sums = [checksum(np.ascontiguousarray(part).view(np.uint8)) for part in parts]
    return f"{checksum(np.array([*training.values.shape, *sums], dtype=np.uint64).view(np.uint8)):016x}"


register(Bags, name="hedgerow.Bags")
