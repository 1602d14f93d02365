"""What estimators keep and return beside plain arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.walk import LeafTable

__all__ = ["FinishedTable", "Uncertainty", "entropy_uncertainty"]


@dataclass(frozen=True)
class Uncertainty:
    """How unsure predictions are, a number for each row: total = aleatoric + epistemic."""

    total: NDArray[np.float64]
    aleatoric: NDArray[np.float64]
    epistemic: NDArray[np.float64]
    measure: str


def entropy_uncertainty(mean: NDArray[np.float64], mean_entropy: NDArray[np.float64] | None = None) -> Uncertainty:
    """Entropy of the mean in bits, less the trees' mean entropy; one tree (None) leaves nothing epistemic."""
    total = entropy_bits(mean)
    aleatoric = total if mean_entropy is None else mean_entropy
    return Uncertainty(total, aleatoric, np.maximum(total - aleatoric, 0.0), "entropy")


def entropy_bits(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """−Σ p·log2 p over the last axis."""
    positive = np.where(probabilities > 0, probabilities, 1.0)
    bits: NDArray[np.float64] = -(positive * np.log2(positive)).sum(axis=-1)
    return bits + 0.0  # not -0.0


class FinishedTable:
    """The leaf table of the current parameters, made when they change; never pickled.

    Its content is replaced in one assignment, so that threads that predict at the same time see one or the other.
    """

    def __init__(self) -> None:
        self._content: tuple[Any, LeafTable] | None = None

    def get(self, key: Any, make: Callable[[], LeafTable]) -> LeafTable:
        content = self._content
        if content is None or content[0] != key:
            content = self._content = (key, make())
        return content[1]

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return FinishedTable, ()
