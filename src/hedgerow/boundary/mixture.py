"""Weight of the boundary's estimate beside the tree's own probabilities, and its bandwidth, by held-out rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow._params import check_number

__all__ = ["FROZEN_WEIGHT", "WEIGHTS", "HeldOutAnswers", "boundary_weight", "choose_mixture", "mix"]

WEIGHTS = (0.1, 0.25, 0.5, 0.75, 0.9)
"""Candidates for the weight of the boundary's estimate; below 1, so that no class has the probability 0."""
FROZEN_WEIGHT = 0.5
"""Weight for a tree that can't be grown again without some of its rows."""
_LEAST_SHARE = 1e-6  # one certain error costs 13.8


def boundary_weight(given: Any) -> float | None:
    """Check the parameter `boundary_weight`; None for "held_out"."""
    if isinstance(given, str) and given == "held_out":
        return None
    return check_number("boundary_weight", given, 0, 1, closed="both", hint=", or 'held_out'")


def mix(tree: Floats, smooth: Floats, weight: float) -> Floats:
    """(1 − weight)·(the tree's probabilities) + weight·(the boundary's estimate)."""
    return (1 - weight) * tree + weight * smooth


@dataclass(frozen=True)
class HeldOutAnswers:
    """Probabilities for rows that a tree has not seen: its own, and the boundary's for each candidate bandwidth."""

    tree: Floats
    smooth: tuple[Floats, ...]
    labels: NDArray[np.int32]
    """Positions of the true classes in the columns of the probabilities."""
    weight: Floats

    def losses(self, weights: tuple[float, ...]) -> Floats:
        """Log-loss of the mixtures, (bandwidths, weights)."""
        rows = np.arange(len(self.labels))
        own = self.tree[rows, self.labels]
        of_truth = [[mix(own, smooth[rows, self.labels], weight) for weight in weights] for smooth in self.smooth]
        return -np.log(np.maximum(of_truth, _LEAST_SHARE)) @ self.weight


def choose_mixture(folds: Iterable[HeldOutAnswers], n_bandwidths: int, weights: tuple[float, ...]) -> tuple[int, float]:
    """Return the number of the bandwidth, and the weight, with the least log-loss; the last of ties."""
    losses = np.zeros((n_bandwidths, len(weights)))
    for fold in folds:
        losses += fold.losses(weights)
    best = losses.size - 1 - int(np.argmin(losses.ravel()[::-1]))
    bandwidth, weight = divmod(best, len(weights))
    return bandwidth, weights[weight]
