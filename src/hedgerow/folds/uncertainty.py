"""Total, aleatoric and epistemic uncertainty, by entropy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.folds.fold import Fold
from hedgerow.walk import LeafTable, Link

__all__ = ["EntropyUncertainty", "Uncertainty", "all_aleatoric", "entropy_bits"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Uncertainty:
    """Uncertainty of predictions, one number per row: total = aleatoric + epistemic."""

    total: Floats
    aleatoric: Floats
    epistemic: Floats
    measure: str


@dataclass(frozen=True)
class EntropyUncertainty(Fold[Floats, Uncertainty]):
    """Entropy in bits of the trees' mean probabilities (total) and the mean of their own entropies (aleatoric).

    The link −p·log2 p is applied to the probabilities of a tree for a row, so that a row that reaches several leaves of
    a tree gets the entropy of their mixture.
    """

    probability: Fold[Floats, Floats]
    """Fold whose table has the probabilities of each leaf."""

    def table(self, counts: Floats, prior: Floats) -> LeafTable:
        shares = np.asarray(self.probability.table(counts, prior))
        links: tuple[Link, ...] = ("identity",) * shares.shape[1] + ("entropy",) * shares.shape[1]
        return LeafTable.of(np.concatenate([shares, shares], axis=1), link=links)

    def finish(self, folded: Floats, n_trees: int, prior: Floats) -> Uncertainty:
        shares, bits = np.hsplit(folded / n_trees, 2)
        total = entropy_bits(shares)
        if n_trees == 1:
            return all_aleatoric(total, "entropy")
        aleatoric = bits.sum(axis=1)
        return Uncertainty(total, aleatoric, np.maximum(total - aleatoric, 0.0), "entropy")


def all_aleatoric(total: Floats, measure: str) -> Uncertainty:
    """Uncertainty of a single tree: no between-tree variance, so all of it is aleatoric."""
    return Uncertainty(total, total, np.zeros_like(total), measure)


def entropy_bits(probabilities: Floats) -> Floats:
    """−Σ p·log2 p over the last axis."""
    positive = np.where(probabilities > 0, probabilities, 1.0)
    bits: Floats = -(positive * np.log2(positive)).sum(axis=-1)
    return bits + 0.0  # not -0.0
