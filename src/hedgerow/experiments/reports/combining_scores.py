"""Scores of Busch et al.'s methods over datasets, ranked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from hedgerow import rules
from hedgerow.experiments.published import published
from hedgerow.experiments.study import Results

__all__ = ["EVEN", "LEAF_SIZES", "METHODS", "NINE", "UNEVEN", "MethodScores"]

Floats = NDArray[np.float64]

LEAF_SIZES = (1, 2, 3, 4, 8, 32)
NINE = rules.names()
METHODS = (*NINE, "tree", "forest")
EVEN, UNEVEN = "even", "uneven"
"""Datasets with a class ratio of .4 to .6; below .3 or above .7."""


class MethodScores:
    """Means over the splits of the datasets that are ranked."""

    def __init__(self, results: Results, datasets: Sequence[str]) -> None:
        self.results = results
        self.datasets = list(datasets)
        ratios = {row["dataset"]: float(row["class_ratio"]) for row in published("combining_table1")}
        found = results.means(datasets, ["data"], "positive share")[:, 0]
        self._ratio = np.array([ratios.get(one, share) for one, share in zip(datasets, found, strict=True)])

    def means(self, settings: Sequence[str], measure: str) -> Floats:
        return self.results.means(self.datasets, settings, measure)

    def at(self, methods: Sequence[str], size: int, measure: str) -> Floats:
        """(n_datasets, n_methods) at one leaf size."""
        return self.means([f"{method}/{size}" for method in methods], measure)

    def ranks(self, methods: Sequence[str], size: int, measure: str) -> Floats:
        """Rank of each method in each dataset, 1 for the best."""
        ranks: Floats = stats.rankdata(-self.at(methods, size, measure), axis=1)
        return ranks

    def of_ratio(self, kind: str) -> list[int]:
        """Numbers of the datasets with even, or with uneven, classes."""
        even = (self._ratio >= 0.4) & (self._ratio <= 0.6)
        uneven = (self._ratio < 0.3) | (self._ratio > 0.7)
        return np.flatnonzero(even if kind == EVEN else uneven).tolist()
