"""How unsure predictions are, and of what kind: by entropies, or by degrees of plausibility."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hedgerow.estimators.walking import Walk
from hedgerow.rules import plausibility_degrees
from hedgerow.rules.degrees import rest
from hedgerow.walk import LeafTable

__all__ = ["Uncertainty", "entropy_bits", "entropy_uncertainty", "plausibility_uncertainty"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Uncertainty:
    """How unsure predictions are, a number for each row: total = aleatoric + epistemic."""

    total: Floats
    aleatoric: Floats
    epistemic: Floats
    measure: str


def entropy_uncertainty(walk: Walk, rows: Floats, probabilities: LeafTable) -> Uncertainty:
    """Entropy of the mean over the trees in bits, and what of it is the mean of their entropies (aleatoric)."""
    bits_of_leaf = replace(LeafTable.of(entropy_bits(probabilities.values)[:, np.newaxis]), row_of=probabilities.row_of)
    shares, bits = walk.fold(rows, [probabilities, bits_of_leaf])
    # In a row that reaches several leaves of a tree, the tree's answer is their mixture, which has its own entropy.
    spread = walk.divided(rows)
    if spread.any():
        answers = walk.gather(rows[spread], probabilities)
        bits[spread, 0] = entropy_bits(answers).sum(axis=1)
    total = entropy_bits(shares / walk.forest.n_trees)
    aleatoric = bits[:, 0] / walk.forest.n_trees
    return Uncertainty(total, aleatoric, np.maximum(total - aleatoric, 0.0), "entropy")


def entropy_bits(probabilities: Floats) -> Floats:
    """−Σ p·log2 p over the last axis."""
    positive = np.where(probabilities > 0, probabilities, 1.0)
    bits: Floats = -(positive * np.log2(positive)).sum(axis=-1)
    return bits + 0.0  # not -0.0


def plausibility_uncertainty(walk: Walk, rows: Floats) -> Uncertainty:
    """The mean over the trees of the leaves' u_a and u_e (see :func:`hedgerow.rules.plausibility_degrees`).

    With more than two classes also the mean over the classes, each against the rest; of two both are the same.
    """
    table = LeafTable.by_counts(walk.forest.distinct_counts, _mean_degrees)
    aleatoric, epistemic = walk.fold(rows, [table])[0].T / walk.forest.n_trees
    return Uncertainty(aleatoric + epistemic, aleatoric, epistemic, "plausibility")


def _mean_degrees(counts: Floats) -> LeafTable:
    degrees = plausibility_degrees(counts, rest(counts))
    return LeafTable.of(np.stack([degrees.aleatoric.mean(axis=1), degrees.epistemic.mean(axis=1)], axis=1))
