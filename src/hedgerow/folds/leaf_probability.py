"""Class probabilities of a leaf, from its class counts."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._params import check_number, choose
from hedgerow._registry import register
from hedgerow.folds.fold import Fold

__all__ = [
    *("Frequency", "Laplace", "LeafProbability", "MEstimate"),
    *("corrected_shares", "leaf_probability", "uniform"),
]

Floats = NDArray[np.float64]


def corrected_shares(counts: Floats, centre: Floats, amount: float) -> Floats:
    """(w_y + amount·c_y)/(n + amount), class frequencies shrunk toward `centre`, which an empty leaf gets."""
    total = counts.sum(axis=1, keepdims=True) + amount
    shares: Floats = np.where(total > 0, (counts + amount * centre) / np.where(total > 0, total, 1.0), centre)
    return shares


def uniform(n_classes: int) -> Floats:
    """Uniform distribution over the classes."""
    return np.full(n_classes, 1 / n_classes)


class LeafProbability(Fold[Floats, Floats]):
    """Abstract: estimates the probabilities of a leaf, (n_leaves, n_classes); a forest's are their mean over trees."""

    @abstractmethod
    def table(self, counts: Floats, prior: Floats) -> Floats:
        """Probabilities from class counts, (n_leaves, n_classes), and the classes' prior."""

    def finish(self, folded: Floats, n_trees: Any, prior: Floats) -> Floats:
        mean: Floats = folded / n_trees
        return mean

    def __call__(self, counts: Floats, prior: Floats) -> Floats:
        return self.table(counts, prior)


@dataclass(frozen=True)
class Frequency(LeafProbability):
    """k/n, the share of each class in the leaf; the prior where a leaf is empty."""

    def table(self, counts: Floats, prior: Floats) -> Floats:
        return corrected_shares(counts, prior, 0.0)


@dataclass(frozen=True)
class Laplace(LeafProbability):
    """(k + 1)/(n + C) with C classes: certainty grows with the size of the leaf."""

    def table(self, counts: Floats, prior: Floats) -> Floats:
        n_classes = counts.shape[1]
        return corrected_shares(counts, uniform(n_classes), n_classes)


@dataclass(frozen=True)
class MEstimate(LeafProbability):
    """(k + m·p)/(n + m) with p the share of the class in the training data (Cestnik, 1990)."""

    m: float = 2.0

    def __post_init__(self) -> None:
        check_number("MEstimate: m", self.m)

    def table(self, counts: Floats, prior: Floats) -> Floats:
        return corrected_shares(counts, prior, self.m)


for _strategy in (Frequency, Laplace, MEstimate):
    register(_strategy, name=f"hedgerow.probability.{_strategy.__name__}")
_ALIASES: dict[str, LeafProbability] = {"frequency": Frequency(), "laplace": Laplace()}


def leaf_probability(given: Any) -> LeafProbability:
    """Return the strategy for `leaf_probability`: an alias or an instance."""
    chosen: LeafProbability = choose("leaf_probability", given, _ALIASES, (Frequency, Laplace, MEstimate))
    return chosen
