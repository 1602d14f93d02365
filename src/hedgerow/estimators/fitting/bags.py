"""Bags that are drawn again after `fit`, and the rows that trees have not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import DrawScheme, checksum, draw_bags
from hedgerow._params import check_whole
from hedgerow._registry import register
from hedgerow.data.training import Training
from hedgerow.growth.poisson import rows_digest
from hedgerow.walk import n_threads

__all__ = ["Bags", "PoissonBags", "UnseenRows", "fingerprint_text"]

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
    """Inputs of the draw of bags, beside the training rows: a few numbers, not a byte a row."""

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
        return _masks(self, DrawScheme.multinomial, _fingerprint(training), training, n_trees, n_jobs)


@dataclass(frozen=True)
class PoissonBags:
    """As :class:`Bags`, of ``bootstrap="poisson"``."""

    seed: int
    n_draws: int
    fingerprint: str
    """Sum of hashes of the training rows with their numbers, targets and weights."""

    def __post_init__(self) -> None:
        check_whole("PoissonBags: seed", self.seed, 0)
        check_whole("PoissonBags: n_draws", self.n_draws, 1)

    @classmethod
    def of(cls, training: Training, seed: int, n_draws: int) -> PoissonBags:
        """Bags of the trees grown from these rows."""
        return cls(int(seed), int(n_draws), fingerprint_text(_rows_digest(training)))

    def masks(self, training: Training, n_trees: int, n_jobs: int | None) -> NDArray[np.uint8]:
        """Bit mask of the rows in the bag of each tree, (n_trees, ceil(n_rows / 8)), given the training rows again."""
        fingerprint = fingerprint_text(_rows_digest(training))
        return _masks(self, DrawScheme.poisson, fingerprint, training, n_trees, n_jobs)


def _masks(
    bags: Bags | PoissonBags,
    scheme: DrawScheme,
    fingerprint: str,
    training: Training,
    n_trees: int,
    n_jobs: int | None,
) -> NDArray[np.uint8]:
    if fingerprint != bags.fingerprint:
        raise ValueError(
            "X, y or sample_weight is not what the model was fitted with, which tells the rows out of each tree's "
            "bag: give the training data in the same order, or rows='all' for rows that it has not seen"
        )
    flat = draw_bags(training.sample_weight, bags.n_draws, scheme, bags.seed, n_trees, n_threads(n_jobs))
    return flat.reshape(n_trees, -1)


def _fingerprint(training: Training) -> str:
    truth = training.targets if training.labels is None else training.labels
    parts = (training.values.ravel(order="F"), training.sample_weight, truth)
    sums = [checksum(np.ascontiguousarray(part).view(np.uint8)) for part in parts]
    return f"{checksum(np.array([*training.values.shape, *sums], dtype=np.uint64).view(np.uint8)):016x}"


def _rows_digest(training: Training) -> int:
    truth = training.targets if training.labels is None else training.labels
    assert truth is not None
    return rows_digest(0, [*training.values.T, training.sample_weight, truth], len(truth))


def fingerprint_text(digest: int) -> str:
    """Sixteen digits, as models have them."""
    return f"{digest % 2**64:016x}"


register(Bags, name="hedgerow.Bags")
register(PoissonBags, name="hedgerow.PoissonBags")
