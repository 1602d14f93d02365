"""The probabilities of a leaf, from its class counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.growth import choose

__all__ = ["Frequency", "Laplace", "LeafProbability", "MEstimate", "leaf_probability"]

Floats = NDArray[np.float64]


class LeafProbability(Protocol):
    """Class counts (n_leaves, n_classes) and the classes' prior to probabilities of the same shape."""

    def __call__(self, counts: Floats, prior: Floats) -> Floats: ...


@dataclass(frozen=True)
class Frequency:
    """k/n, the share of each class in the leaf; the prior where a leaf is empty."""

    def __call__(self, counts: Floats, prior: Floats) -> Floats:
        total = counts.sum(axis=1, keepdims=True)
        return np.where(total > 0, counts / np.where(total > 0, total, 1.0), prior)


@dataclass(frozen=True)
class Laplace:
    """(k + 1)/(n + C) with C classes: certainty grows with the size of the leaf."""

    def __call__(self, counts: Floats, prior: Floats) -> Floats:
        return _normalised(counts + 1.0)


@dataclass(frozen=True)
class MEstimate:
    """(k + m·p)/(n + m) with p the share of the class in the training data (Cestnik, 1990)."""

    m: float = 2.0

    def __post_init__(self) -> None:
        if not self.m > 0 or not np.isfinite(self.m):
            raise ValueError(f"MEstimate: m is {self.m!r}, must be a positive number")

    def __call__(self, counts: Floats, prior: Floats) -> Floats:
        return _normalised(counts + self.m * prior)


def _normalised(smoothed: Floats) -> Floats:
    shares: Floats = smoothed / smoothed.sum(axis=1, keepdims=True)
    return shares


_ALIASES: dict[str, LeafProbability] = {"frequency": Frequency(), "laplace": Laplace()}


def leaf_probability(given: Any) -> LeafProbability:
    """The estimator for `leaf_probability`: an alias or an instance."""
    chosen: LeafProbability = choose("leaf_probability", given, _ALIASES, (Frequency, Laplace, MEstimate))
    return chosen
